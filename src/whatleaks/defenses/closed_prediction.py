"""Closed prediction: the partner's plain output leaves it at no time (Li et al., 4.1, asks for it)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense


@defense(
    "closed-prediction",
    title="No plain outputs at prediction, and no made-up records",
    paper="whatleaks",
    needs="an encrypted regression with an arbiter",
)
@dataclass(frozen=True)
class ClosedPrediction(TrainingDefense):
    """Weights cannot be solved for. A score, if the arbiter opens one, is one equation on all parties."""

    @property
    def name(self) -> str:
        """The defense."""
        return "closed-prediction"

    def adapt(self, settings: Any) -> Any | None:
        """Close the prediction of an encrypted regression; boosted trees could not be used then."""
        if not {"fake_columns", "queries"} <= {f.name for f in fields(settings)}:
            return None
        return replace(settings, queries=False)
