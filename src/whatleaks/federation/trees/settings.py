"""What joint trees are grown: the limits that all parties agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from whatleaks.errors import UsageError


@dataclass(frozen=True)
class TreeSettings:
    """What to grow: U VI-A has one tree of depth 5, or 100 trees of depth 3.

    The paper names no other limit and none is set here. The authors' published program also
    asks for 5 records in a leaf and a gain of 1e-5 (``smallest_leaf``, ``least_gain``).
    """

    kind: Literal["tree", "forest"] = "tree"
    depth: int = 5
    trees: int = 1
    smallest_leaf: int = 1
    least_gain: float = 0.0

    def __post_init__(self) -> None:
        """Refuse settings that grow nothing."""
        if self.kind not in ("tree", "forest"):
            raise UsageError(f"a joint model of kind {self.kind!r} is unknown: use tree or forest")
        for name in ("depth", "trees", "smallest_leaf"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.least_gain < 0:
            raise UsageError(f"least_gain must not be negative, got {self.least_gain}")
        if self.kind == "tree" and self.trees != 1:
            raise UsageError(f"kind 'tree' is one tree, got trees={self.trees}: use kind 'forest'")


TREE = TreeSettings()
FOREST = TreeSettings("forest", depth=3, trees=100)
