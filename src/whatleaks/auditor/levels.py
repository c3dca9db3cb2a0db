"""The word for a leak, low to complete, or unsettled where an interval leaves the word open.

Luck is held down in both directions. That something is added is said only if luck seldom shows
as much in any of all comparisons (Bonferroni). That little is added is said only if every
interval ends below "low": who is wrong then has missed a leak with its own 95 % interval, or ruled out
the rival that knows most, each at most once in 40 times, however many columns there are. So this
needs no correction for their number (an intersection-union test).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whatleaks.auditor.result import ColumnFinding, GuessFinding, Headline, ThreatFinding
from whatleaks.metrics.measurement import Measurement

LOW, MEDIUM, COMPLETE = 0.1, 0.5, 0.99
ALARMS = 0.05  # how many audits may raise an alarm where nothing is told
UNKNOWN = "unknown"  # the level where no attack ran
UNSETTLED = "unsettled"  # the level where little was found and more is not ruled out
MORE = "more records or seeds would say"
ALIKE = "nobody attacked differs in this column"  # so that no repetition says more of it

Found = tuple[ThreatFinding, GuessFinding, ColumnFinding]


def share(measured: Measurement) -> str:
    """Show a share as a whole percentage."""
    return percent(max(measured.value, 0.0))


def percent(value: float, digits: int = 0) -> str:
    """Show a share in percent."""
    return f"{100 * value:.{digits}f} %"


def attacked(threats: Sequence[ThreatFinding]) -> Iterator[Found]:
    """Go through every column under every attack."""
    for threat in threats:
        for guess in threat.of("attack"):
            for column in guess.columns:
                yield threat, guess, column


def level(found: ColumnFinding) -> str:
    """Put what joining adds into words: low below 0.1, medium below 0.5, high, or complete.

    Complete: all that the partner did not know before, and the values themselves.
    """
    adds = found.adds.value
    if adds < LOW:
        return "low"
    exact = found.recovered.value >= COMPLETE
    if found.people is not None:
        exact = exact or found.people.named.value >= COMPLETE
    if exact and adds >= COMPLETE * (1.0 - max(found.control.value, found.alone)):
        return "complete"
    return "medium" if adds < MEDIUM else "high"


def comparisons(tried: Sequence[Found]) -> int:
    """Count what was compared: an attack told again under a stronger threat is the same comparison.

    So is a copy of a column that the same guess follows as far. Equal to the last digit, they
    raise an alarm together or not at all.
    """
    return len(
        {(c.leakage.value, c.control.value, c.adds.value, c.chance, c.adds.n) for _, _, c in tried}
    )


@dataclass(frozen=True)
class Rated:
    """Where most is added, whether beyond luck, the word for it, and what is not ruled out.

    ``up_to``: the largest upper end of all intervals, in ``open_column``. Where the word is
    unsettled, that is the column to look at. Where nobody attacked ``differs`` in it, ``next_to`` is
    the largest end of a column that was measured.
    """

    worst: Found
    beyond: bool
    word: str
    up_to: float
    open_column: str
    differs: bool = True
    next_to: float = 0.0
    next_column: str = ""

    @property
    def open(self) -> str:
        """Say how much more is not ruled out, where it would be another word."""
        if not self.reaches_further:
            return ""
        if self.word != UNSETTLED and self.open_column == self.worst[2].column:
            return f"up to {percent(self.up_to)} is not ruled out"
        said = f"up to {percent(self.up_to)} in “{self.open_column}” is not ruled out"
        return said if self.differs else f"{said}, as {ALIKE}"

    @property
    def unsettled(self) -> str:
        """Say what is open, and what would settle it where anything does."""
        if self.differs:
            return f"{self.open}; {MORE}"
        if self.next_to < LOW:
            return self.open
        also = f"up to {percent(self.next_to)} in “{self.next_column}”"
        return f"{self.open}, nor is {also}, of which {MORE}"

    @property
    def reaches_further(self) -> bool:
        """Whether some interval reaches a worse word than the one that is said."""
        return self.word == UNSETTLED or (self.word == "medium" and self.up_to >= MEDIUM)


def rated(tried: Sequence[Found], compared: int) -> Rated:
    """Find the column in which most is added beyond luck, and the word that its interval allows.

    The largest of many numbers is large by luck: the chance is held against ``ALARMS`` over all
    comparisons that were made.
    """
    sure = [found for found in tried if found[2].chance * compared <= ALARMS]
    worst = max(sure or tried, key=lambda found: found[2].strength)
    open_ = max(tried, key=lambda found: (found[2].adds.high, found[2].strength))
    up_to = min(open_[2].adds.high, 1.0)
    word = level(worst[2]) if sure else "low"
    if word == "low" and up_to >= LOW:
        worst, word = open_, UNSETTLED
    measured = [column for _, _, column in tried if column.differs]
    after = max(measured, key=lambda column: column.adds.high, default=open_[2])
    return Rated(
        worst, bool(sure), word, up_to, open_[2].column, open_[2].differs,
        min(after.adds.high, 1.0) if measured else 0.0, after.column,
    )  # fmt: skip


def above(head: Headline, most: float) -> str | None:
    """Say why what joining adds is not shown to be at most ``most``; None if it is."""
    if head.up_to <= most:
        return None
    if head.beyond_guessing and head.level != UNSETTLED and head.adds.value > most:
        return f"joining adds {head.adds.value:.3f}"
    why = f"; {MORE}" if head.differs else f", as nobody attacked differs in “{head.open_column}”"
    return f"joining may add up to {head.up_to:.3f} (that is not ruled out{why})"
