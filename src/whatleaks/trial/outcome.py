"""What a task hands back: measurements, baselines, and what was granted to reach them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from whatleaks.errors import SpecError
from whatleaks.metrics.measurement import Measurement

Plain = str | bool | int | float | None
Quantity = Measurement | Plain | list[float]


@dataclass(frozen=True)
class Outcome:
    """The numbers of one run. A list is a curve (a detector's score by step, say).

    ``stop`` tells when and why a detector halted the training; that is a result too.
    """

    measurements: Mapping[str, Quantity]
    baselines: Mapping[str, Quantity] = field(default_factory=dict)
    grants: tuple[str, ...] = ()
    stop: str | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values in a fixed order; equal outcomes give equal bytes."""
        return {
            "measurements": _pack(self.measurements),
            "baselines": _pack(self.baselines),
            "grants": list(self.grants),
            "stop": self.stop,
            "notes": list(self.notes),
        }

    @staticmethod
    def from_dict(tree: Mapping[str, Any]) -> Outcome:
        """Read back what ``to_dict`` wrote."""
        return Outcome(
            _unpack(tree["measurements"]),
            _unpack(tree["baselines"]),
            tuple(tree["grants"]),
            tree["stop"],
            tuple(tree["notes"]),
        )


def _pack(quantities: Mapping[str, Quantity]) -> dict[str, Any]:
    packed: dict[str, Any] = {}
    for name in sorted(quantities):
        value = quantities[name]
        if isinstance(value, Measurement):
            packed[name] = asdict(value)
            continue
        numbers = value if isinstance(value, list) else [value]
        for number in numbers:
            if not (number is None or isinstance(number, str | bool | int | float)):
                raise SpecError(
                    f"a task returned {name} as {type(number).__name__}: "
                    "return a Measurement, a plain scalar or a list of floats"
                )
            if isinstance(number, float) and not math.isfinite(number):
                raise SpecError(
                    f"a task returned {name} = {number}: only finite numbers are stored"
                )
        packed[name] = value
    return packed


def _unpack(tree: Mapping[str, Any]) -> dict[str, Quantity]:
    return {
        name: Measurement(**value) if isinstance(value, dict) else value
        for name, value in tree.items()
    }
