"""Masked gradients: an arbiter decrypts noise, and each party takes its own mask off."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense


@defense(
    "masked-gradients",
    title="Gradients under a mask that their party takes off",
    paper="whatleaks",
    needs="an encrypted regression with an arbiter",
)
@dataclass(frozen=True)
class MaskedGradients(TrainingDefense):
    """It keeps gradients from the arbiter. The party that asked still gets its own."""

    @property
    def name(self) -> str:
        """The defense."""
        return "masked-gradients"

    def adapt(self, settings: Any) -> Any | None:
        """Mask where a federation can."""
        if "mask_gradients" not in {f.name for f in fields(settings)}:
            return None
        return replace(settings, mask_gradients=True)
