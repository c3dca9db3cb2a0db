"""What runs of a paper share that are no scenarios: all their fields are their identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self


@dataclass(frozen=True)
class OwnWork:
    """A run that trains for itself or not at all; subclasses add fields and ``perform_group``."""

    label: ClassVar[str] = ""

    def identity(self) -> dict[str, Any]:
        """Return all fields: each decides the numbers."""
        return asdict(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields; ``from_dict`` reads them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> Self:
        """Read back what ``to_dict`` wrote."""
        return cls(**tree)

    def title(self) -> str:
        """Say which run."""
        return " ".join(f"{key}={item}" for key, item in asdict(self).items())

    def training_key(self) -> str:
        """Nothing is shared with another run."""
        return self.title()

    def modules(self) -> tuple[str, ...]:
        """Name the module of the run: all of its package counts."""
        return (type(self).__module__,)
