"""An adaptive optimiser at the arbiter: what it returns is a direction, not a gradient."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense


@defense(
    "arbiter-adam",
    title="The arbiter runs adam and returns directions",
    paper="whatleaks",
    needs="an encrypted regression with an arbiter",
)
@dataclass(frozen=True)
class ArbiterAdam(TrainingDefense):
    """The first direction can be undone in doubles; of later ones every number fits two gradients.

    Whoever has, or makes up, more columns than a batch has records finds which: it stops little.
    """

    @property
    def name(self) -> str:
        """The defense."""
        return "arbiter-adam"

    def adapt(self, settings: Any) -> Any | None:
        """Let the arbiter run adam where a federation has one."""
        if "optimiser" not in {f.name for f in fields(settings)}:
            return None
        return replace(settings, optimiser="adam")
