"""Spot checks of the first round's derivatives: a defense of SecureBoost's training."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense


@defense(
    "spot-checks",
    title="Partners check that the derivatives of the first round are those of the loss",
    paper="whatleaks",
    needs="boosted trees on Paillier ciphertexts",
)
@dataclass(frozen=True)
class SpotChecks(TrainingDefense):
    """Stops who chooses numbers in the first round; later rounds nobody can check."""

    checks: int = 5

    @property
    def name(self) -> str:
        """The defense."""
        return "spot-checks"

    def adapt(self, settings: Any) -> Any | None:
        """Check where a federation trains on derivatives that somebody might have chosen."""
        if "spot_checks" not in {f.name for f in fields(settings)}:
            return None
        return replace(settings, spot_checks=self.checks)
