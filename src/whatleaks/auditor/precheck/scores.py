"""Precheck of released scores: equality solving's threshold and the bits rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from whatleaks.auditor.precheck.finding import EXACT, KNOWN, OPEN, PARTLY, Line
from whatleaks.errors import UsageError, argument
from whatleaks.models.bits_rule import ROOM, simple_rule
from whatleaks.models.grids import Grid, Grids, free
from whatleaks.models.precision import Precision, decimals

DOUBLES = 17


@dataclass(frozen=True)
class Scores:
    """``levels``: how many values each of the partner's columns can take, 0 where it is free."""

    UNSAID: ClassVar[Mapping[str, str]] = {"levels": "all free"}  # what a default of nothing means

    partner: int
    classes: int
    levels: tuple[int, ...] = ()
    digits: int = DOUBLES

    def __post_init__(self) -> None:
        """Refuse settings that no model has."""
        if self.partner < 1:
            raise UsageError(f"{argument('partner')} must be at least 1, got {self.partner}")
        if self.classes < 2:
            raise UsageError(f"{argument('classes')} must be at least 2, got {self.classes}")
        if not 1 <= self.digits <= DOUBLES:
            raise UsageError(f"{argument('digits')} must be 1 to {DOUBLES}, got {self.digits}")
        if self.levels and len(self.levels) != self.partner:
            raise UsageError(
                f"{argument('levels')} names {len(self.levels)} columns, the partner has "
                f"{self.partner}: give one number for each, 0 for a free one"
            )
        if any(level < 0 or level == 1 for level in self.levels):
            raise UsageError(f"{argument('levels')} are 2 or more values, or 0 for a free column")

    def assumes(self) -> tuple[str, ...]:
        """Say what the counts take for granted."""
        return (
            "the partner knows the whole model (white box), as section III of Luo et al. does",
            "every score near 1 / classes and log-ratios that vary by about 1: the lattice attack of "
            "an audit applies the rule to the trained model itself",
        )

    def lines(self) -> tuple[Line, ...]:
        """Apply both rules."""
        return (self._equality(), *self._bits())

    def _equality(self) -> Line:
        n, equations = self.partner, self.classes - 1
        source = "Luo et al., section IV-A (Eqs 3-8): d <= c - 1"
        told = f"{n} columns of every scored record, with scores in full precision"
        stops = (
            "release the class only",
            f"bring more than {equations} columns that vary freely",
            "round scores",
        )
        if self.digits < DOUBLES:
            return Line(
                told, OPEN, f"scores have {self.digits} digits: equations hold to that precision only", source,
                stops=stops,
            )  # fmt: skip
        says = f"{equations} equations, {n} unknowns"
        if n <= equations:
            return Line(told, EXACT, says, source, stops=stops)
        short = n - equations
        return Line(
            told,
            KNOWN,
            f"{says}: {short} known values of each record open the rest",
            source,
            short,
            short / n,
            stops,
        )

    def _bits(self) -> tuple[Line, ...]:
        if not self.levels:
            return ()
        grids = Grids(tuple(free() if not level else Grid(levels=level) for level in self.levels))
        precision = Precision() if self.digits == DOUBLES else decimals(self.digits)
        released, hidden = simple_rule(self.classes, precision, grids)
        count = sum(level > 0 for level in self.levels)
        told = f"the {count} columns of few values, from one record's scores"
        source = "the bits rule (docs/attacks/lattice-decoding.md)"
        says = f"scores release about {released:.0f} bits, the columns hide {hidden:.0f}"
        stops = ("round scores", "release the class only")
        short = sum(level == 0 for level in self.levels) - (self.classes - 1)
        if short >= 0 or not hidden:
            return (Line(told, OPEN, f"{says}: free columns take every equation", source),)
        if released > hidden + ROOM:
            return (Line(told, EXACT, says, source, stops=stops),)
        if released > hidden:
            return (Line(told, PARTLY, f"{says}: several points may fit", source, stops=stops),)
        return (Line(told, OPEN, says, source),)
