"""The word for a leak, low to complete, or unsettled where an interval leaves the word open.

What joining adds is measured on two scales, differences that are followed and people whose exact
value is named, and the worse of the two decides.

Luck is held down in both directions. That something is added is said only if luck seldom shows
as much in any of all comparisons (Bonferroni). That little is added is said only if every
interval ends below "low": who is wrong then has missed a leak with its own 95 % interval, or ruled out
the rival that knows most, each at most once in 40 times, however many columns there are. So this
needs no correction for their number (an intersection-union test). Nor is it said where whoever learns
from complete records of other people follows much more with what is sent than without.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whatleaks.auditor.result import (
    NAMED,
    Added,
    ColumnFinding,
    GuessFinding,
    Headline,
    Learnt,
    People,
    ThreatFinding,
)
from whatleaks.metrics.measurement import Measurement

LOW, MEDIUM, COMPLETE = 0.1, 0.5, 0.99
ALARMS = 0.05  # how many audits may raise an alarm where nothing is told
NOISE, LEAST = (
    1e-9,
    1e-3,
)  # a share that is 0 or 1 but for rounding; the least that is told in digits
UNKNOWN = "unknown"  # the level where no attack ran
UNSETTLED = "unsettled"  # the level where little was found and more is not ruled out
MORE = "more records or seeds would say"
ALIKE = "nobody attacked differs in this column"  # so that no repetition says more of it

Found = tuple[ThreatFinding, GuessFinding, ColumnFinding]


def share(measured: Measurement) -> str:
    """Show a share as a whole percentage."""
    return percent(max(measured.value, 0.0))


def percent(value: float, digits: int = 0) -> str:
    """Show a share in percent, here and on every page: never rounded up to the bound of a word.

    Close to 0 and 100 it has one more digit, so that neither is claimed falsely.
    """
    if abs(value) < NOISE or abs(value - 1.0) < NOISE:
        return f"{round(value) * 100} %"
    if 0.0 < value < 0.01 or 0.99 < value < 1.0:
        if value < LEAST / 2:
            return f"under {100 * LEAST:g} %"
        if value >= 1.0 - LEAST / 2:
            return f"over {100 * (1.0 - LEAST):g} %"
        digits = max(digits, 1)
    above = next((100 * bound for bound in (LOW, MEDIUM) if value < bound), math.inf)
    for shown in (f"{100 * value:.{digits}f}", f"{100 * value:.{digits + 1}f}"):
        if float(shown) < above:
            return f"{shown} %" if float(shown) else f"{shown.removeprefix('-')} %"
    return f"under {above:.0f} %"


def attacked(threats: Sequence[ThreatFinding]) -> Iterator[Found]:
    """Go through every column under every attack."""
    for threat in threats:
        for guess in threat.of("attack"):
            for column in guess.columns:
                yield threat, guess, column


def level(found: ColumnFinding, added: Added | None = None) -> str:
    """Put what joining adds into words: low below 0.1, medium below 0.5, high, or complete.

    ``added``: on which scale; else on the worse one. Complete: all that the partner did not know
    before, and the values themselves.
    """
    added = added or found.worse
    adds = added.measured.value
    if adds < LOW:
        return "low"
    exact = found.recovered.value >= COMPLETE
    known = max(found.control.value, found.alone)
    if found.people is not None:
        exact = exact or found.people.named.value >= COMPLETE
        known = found.people.named_without.value if added.scale == NAMED else known
    if exact and adds >= COMPLETE * (1.0 - known):
        return "complete"
    return "medium" if adds < MEDIUM else "high"


def counted(people: People) -> str:
    """Say of how many people the exact value is named, with joining and without."""
    n = people.named.n
    with_, without = (round(share.value * n) for share in (people.named, people.named_without))
    return f"the exact value of {with_:,} of {n:,} people, {without:,} of {n:,} without joining"


def comparisons(tried: Sequence[Found]) -> int:
    """Count what was compared: an attack told again under a stronger threat is the same comparison.

    So is a copy of a column that the same guess follows as far. Equal to the last digit, they
    raise an alarm together or not at all. Where an attack and its rival name the same people, or
    none, luck cannot raise an alarm on that scale, so it is not counted.
    """
    found: set[tuple[object, ...]] = set()
    for _, _, c in tried:
        for added in c.scales:
            adds = added.measured
            if added.scale != NAMED:
                found.add((c.leakage.value, c.control.value, adds.value, added.chance, adds.n))
            elif c.people is not None and (adds.value != 0.0 or added.chance < 1.0):
                shares = c.people.named.value, c.people.named_without.value
                found.add((NAMED, *shares, added.chance, adds.n))
    return len(found)


def learnt(threats: Sequence[ThreatFinding]) -> Learnt | None:
    """Find where whoever learns from other people's records gains most from what is sent.

    Held against the same regressor on the own columns alone: both have the same records, so what
    records tell without joining is not counted. None if it is less than "low", or may be luck.
    """
    found = [
        (threat, column)
        for threat in threats
        if threat.of("alone")
        for guess in threat.of("learner")
        for column in guess.columns
    ]
    compared = len({(c.leakage.value, c.control.value, c.chance) for _, c in found})
    sure = [
        Learnt(c.column, t.name, c.leakage.value, c.control.value, c.adds)
        for t, c in found
        if c.adds.value >= LOW and c.chance * compared <= ALARMS
    ]
    return max(sure, key=lambda one: one.adds.value, default=None)


def told_of_learner(found: Learnt, unread: bool) -> str:
    """Say what whoever learns follows, with what is sent and without; ``unread``: attacks show little."""
    start = "no attack tried here reads it beyond luck, but " if unread else ""
    return (
        f"{start}whoever learns from complete records of other people follows "
        f"{percent(found.follows)} of “{found.column}” ({percent(found.alone)} without joining)"
    )


@dataclass(frozen=True)
class Rated:
    """Where most is added, on which scale, whether beyond luck, the word, and what is not ruled out.

    ``up_to``: the largest upper end of all intervals, in ``open_column``. Where the word is
    unsettled, that is the column to look at. ``learnt``: that no attack reads it, and whoever
    learns from complete records of others would, where that is a worse word. Where nobody attacked
    ``differs`` in it, ``next_to`` is the largest end of a column that was measured.
    """

    worst: Found
    added: Added
    beyond: bool
    word: str
    up_to: float
    open_column: str
    open_scale: str
    learnt: Learnt | None = None
    differs: bool = True
    next_to: float = 0.0
    next_column: str = ""

    @property
    def open(self) -> str:
        """Say how much more is not ruled out, where it would be another word."""
        if not self.reaches_further:
            return ""
        if self.learnt is not None and self.differs:
            return told_of_learner(self.learnt, self.word == UNSETTLED)
        more = " more people named exactly" if self.open_scale == NAMED else ""
        if self.word != UNSETTLED and self.open_column == self.worst[2].column:
            return f"up to {percent(self.up_to)}{more} is not ruled out"
        said = f"up to {percent(self.up_to)}{more} in “{self.open_column}” is not ruled out"
        return said if self.differs else f"{said}, as {ALIKE}"

    @property
    def unsettled(self) -> str:
        """Say what is open, and what would settle it where anything does."""
        if self.differs:
            return self.open if self.learnt is not None else f"{self.open}; {MORE}"
        if self.next_to < LOW:
            return self.open
        also = f"up to {percent(self.next_to)} in “{self.next_column}”"
        return f"{self.open}, nor is {also}, of which {MORE}"

    @property
    def reaches_further(self) -> bool:
        """Whether some interval reaches a worse word than the one that is said."""
        return self.word == UNSETTLED or (self.word == "medium" and self.up_to >= MEDIUM)


def rated(tried: Sequence[Found], compared: int, learner: Learnt | None = None) -> Rated:
    """Find the column in which most is added beyond luck, and the word that its interval allows.

    The largest of many numbers is large by luck: the chance is held against ``ALARMS`` over all
    comparisons that were made. ``learner``: what whoever learns gains under the same threats.
    """
    every = [(found, added) for found in tried for added in found[2].scales]
    sure = [(found, added) for found, added in every if added.chance * compared <= ALARMS]
    worst, added = max(sure or every, key=_strength)
    open_, farthest = max(every, key=lambda one: (one[1].measured.high, _strength(one)))
    up_to = min(farthest.measured.high, 1.0)
    word = level(worst[2], added) if sure else "low"
    if word == "low" and up_to >= LOW:
        worst, added, word = open_, farthest, UNSETTLED
    column, scale, differs = open_[2].column, farthest.scale, open_[2].differs
    if learner is not None and learner.adds.high > up_to:
        up_to, column, scale, differs = min(learner.adds.high, 1.0), learner.column, "", True
    elif word not in ("low", UNSETTLED):
        learner = None  # the attacks show as much
    if word == "low" and learner is not None:
        word = UNSETTLED
    elif word != UNSETTLED and learner is not None and learner.adds.value <= added.measured.value:
        learner = None  # its interval reaches further; what it follows is not more than is said
    measured = [(one[2].column, added_) for one, added_ in every if one[2].differs]
    next_column, after = max(measured, key=lambda one: one[1].measured.high, default=("", None))
    next_to = 0.0 if after is None else min(after.measured.high, 1.0)
    return Rated(
        worst, added, bool(sure), word, up_to, column, scale, learner, differs, next_to, next_column
    )


def _strength(one: tuple[Found, Added]) -> tuple[float, float, float]:
    (_, _, column), added = one
    named = 0.0 if column.people is None else column.people.named.value
    return added.measured.value, named, column.leakage.value  # as ``ColumnFinding.strength``


def above(head: Headline, most: float) -> str | None:
    """Say why what joining adds is not shown to be at most ``most``; None if it is."""
    if head.up_to <= most:
        return None
    if head.beyond_guessing and head.level != UNSETTLED and head.adds.value > most:
        return f"joining adds {head.adds.value:.3f}"
    if head.learnt is not None and head.differs:
        return told_of_learner(head.learnt, head.level == UNSETTLED)
    why = f"; {MORE}" if head.differs else f", as nobody attacked differs in “{head.open_column}”"
    return f"joining may add up to {head.up_to:.3f} (that is not ruled out{why})"
