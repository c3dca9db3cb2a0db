"""One line of a precheck: what, whether it follows, from which theorem, what ends it."""

from __future__ import annotations

from dataclasses import dataclass

# How a line ends. The first two are what a protocol itself gives away.
EXACT = "exact"  # as many independent equations as unknowns, with nothing known
KNOWN = "needs known values"  # so many values of the partner's own table decide the rest
PARTLY = "in part"  # some of it follows, or several tables fit
OPEN = "not determined"  # fewer equations than unknowns, whatever is computed
ASIDE = "theorem does not apply"  # says nothing about other ways
LENIENT = "rule too lenient"  # another engine's check lets this setting pass
COSTS = "costs queries"  # follows from answers that somebody has to give


@dataclass(frozen=True)
class Line:
    """``known``: values that must be known first; ``stops``: settings that remove it."""

    what: str
    state: str
    says: str
    source: str
    known: int = 0
    ratio: float = 0.0  # known values, as a share of what they open
    stops: tuple[str, ...] = ()


@dataclass(frozen=True)
class Precheck:
    """All lines about one setting. ``assumes`` is what no count can know."""

    protocol: str
    setting: dict[str, float | int | str | bool]
    lines: tuple[Line, ...]
    assumes: tuple[str, ...]
