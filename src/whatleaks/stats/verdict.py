"""What the rows come to: the headline, its word, and the recommendation with its reasons."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from whatleaks.errors import UsageError, argument, nearest
from whatleaks.stats.columns import FEWEST
from whatleaks.stats.rows import Row

LUCK = 0.05  # above: nothing is found, whatever the largest number is
NEAR = 0.05  # of the highest lower end
LEVELS = {"low": 0.1, "medium": 0.5, "high": 0.9}  # a leak below
JOIN, CONDITIONS, STAY_OUT, OPEN = (
    "join",
    "join-with-conditions",
    "do-not-join",
    "not-decided",
)

Worth = Mapping[str, tuple[float, float]]  # accuracy, AUC, log loss: ends of what joining gains


@dataclass(frozen=True)
class Headline:
    """The row that stands for all, and what holds for all rows of its partner together."""

    row: Row
    index: int  # among the rows that were given
    low: float
    high: float
    chance: float  # that the largest gain of this partner is luck

    @property
    def found(self) -> bool:
        """Say whether luck is excluded."""
        return self.chance <= LUCK


@dataclass(frozen=True)
class Recommendation:
    """One of four outcomes, and all that it was decided by."""

    outcome: str
    accept: float
    headline: Headline | None
    defenses: tuple[str, ...] = ()  # with any of which joining is recommended
    untried: tuple[str, ...] = ()  # partners of the arrangement that were not tried
    above: tuple[Row, ...] = ()  # rows whose upper end is too high
    few: tuple[Row, ...] = ()  # rows with too few unknown people to rule anything out
    small: tuple[str, ...] = ()  # columns with too few people in every row
    people: int | None = None  # about how many would decide it, where more people would
    recurring: bool = False  # values recur over rows, and no person is named
    unfit: bool = False  # the joint model shows nothing of what joining is worth


def headline(rows: Sequence[Row], matters: Iterable[str] = ()) -> Headline | None:
    """Return the row for the first line: partners are judged apart, the worst of them is taken.

    Not the largest leak, which is the smallest group's luck: of those whose lower end is near the
    highest, the row in which most people are gained.
    """
    wanted = _columns(rows, matters)
    apart: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(rows):
        if row.counts and row.column in wanted:
            apart.setdefault((row.partner, row.threat, row.release, row.defense), []).append(i)
    heads = []
    for places in apart.values():
        i = _worst(rows, places)
        chance = min(rows[j].chance for j in places)
        heads.append(Headline(rows[i], i, rows[i].lowest, rows[i].highest, chance))
    heads = [h for h in heads if h.found] or heads
    if not heads:
        return None
    worst = _worst(rows, [h.index for h in heads])
    return next(h for h in heads if h.index == worst)


def _columns(rows: Sequence[Row], matters: Iterable[str]) -> Collection[str]:
    """Return the columns that matter: all where none is named."""
    known, wanted = dict.fromkeys(row.column for row in rows), tuple(matters)
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"{argument('matters')} names {name!r}, a column that was not asked about."
                f"{nearest(name, known)}"
            )
    return wanted or known


def _worst(rows: Sequence[Row], places: Sequence[int]) -> int:
    highest = max(rows[i].low for i in places)
    near = [i for i in places if rows[i].low >= highest - NEAR]
    return max(near, key=lambda i: (round(rows[i].with_ - rows[i].without, 6), rows[i].leak))


def word(row: Row, chance: float) -> str:
    """Say a leak in a word; ``chance`` is that of the headline, or of the row by itself."""
    if not row.counts:
        anyway = row.without >= 0.9 * row.people and row.people >= FEWEST
        return "known anyway" if anyway else "too few people"
    if chance > LUCK:
        return "nothing found"
    return next((w for w, below in LEVELS.items() if row.leak < below), "nearly all")


def recommend(
    rows: Sequence[Row],
    accept: float = 0.1,
    *,
    untried: Sequence[str] = (),
    worth: Mapping[str, Worth] | None = None,
    recurring: bool = False,
    unfit: bool = False,
    matters: Iterable[str] = (),
    omits: Mapping[str, Collection[str]] | None = None,
) -> Recommendation:
    """Recommend by rule. ``rows``: of all partners of the arrangement, with and without defenses.

    ``worth``: for each defense, by how much the joint model beats the partner's own one: both ends
    of the interval, the larger the better (log loss: by how much it falls). ``omits``: for each
    defense, the columns that it leaves out. Of all others every question of the plan must be
    among the defense's rows, of the same partner and threat. The release may be another one: a
    defense is what changes it ("class only"), so its rows stand for all releases of the plan.
    """
    if not 0.0 < accept < 1.0:
        raise UsageError(f"accept must be a share above 0 and below 1, got {accept:g}")
    wanted = _columns([row for row in rows if not row.defense], matters)
    places = [i for i, row in enumerate(rows) if not row.defense and row.column in wanted]
    planned, omits = Findings([rows[i] for i in places], accept), omits or {}
    enough = []
    for name in dict.fromkeys([*(row.defense for row in rows if row.defense), *omits]):
        defended = [row for row in rows if row.defense == name and row.column in wanted]
        left = Findings(defended, accept)
        due = {key for key in planned.questions if key[2] not in omits.get(name, ())}
        safe = due <= left.questions and (left.safe or not (due or defended))
        ends = (worth or {}).get(name, {}).values()
        gains = any(low > 0 for low, _ in ends) and not any(high < 0 for _, high in ends)
        if safe and gains and not untried:
            enough.append(name)
    head = headline(planned.rows)
    outcome = OPEN
    if recurring or unfit:
        pass  # neither is decided, whatever the rows say
    elif planned.leaks:
        outcome = CONDITIONS if enough else STAY_OUT
    elif planned.safe and not untried:
        outcome = JOIN
    return Recommendation(
        outcome=outcome,
        accept=accept,
        headline=replace(head, index=places[head.index]) if head else None,
        defenses=tuple(enough) if outcome == CONDITIONS else (),
        untried=tuple(untried),
        above=planned.above,
        few=planned.few,
        small=planned.small,
        people=planned.needed if outcome == OPEN else None,
        recurring=recurring,
        unfit=unfit,
    )


@dataclass(frozen=True)
class Findings:
    """The rows of all partners with one defense or none, against what the user accepts."""

    rows: Sequence[Row]
    accept: float

    @property
    def partners(self) -> set[tuple[str, str, str]]:
        return {(row.partner, row.threat, row.release) for row in self.rows}

    @property
    def questions(self) -> set[tuple[str, str, str, str]]:
        """Return what was asked, whatever was released."""
        return {(row.partner, row.threat, row.column, row.question) for row in self.rows}

    @property
    def leaks(self) -> bool:
        """Say whether some partner's headline is above what is accepted, and no luck."""
        apart = (
            headline([r for r in self.rows if (r.partner, r.threat, r.release) == partner])
            for partner in self.partners
        )
        return any(head and head.found and head.low > self.accept for head in apart)

    @property
    def safe(self) -> bool:
        """Say whether no end is above what is accepted, where there are people enough to say so."""
        low = not any(row.counts and row.lowest > self.accept for row in self.rows)
        return bool(self.rows) and low and not self.above and not self.small

    @property
    def above(self) -> tuple[Row, ...]:
        """Return the rows whose upper end is too high."""
        return tuple(row for row in self._high() if self._enough(row.unknown))

    @property
    def few(self) -> tuple[Row, ...]:
        """Return the rows that have too few unknown people to rule anything out."""
        return tuple(row for row in self._high() if not self._enough(row.unknown))

    @property
    def small(self) -> tuple[str, ...]:
        """Return the columns asked about too few people: that nobody is unknown says nothing."""
        return tuple(name for name, count in self._people().items() if not self._enough(count))

    @property
    def needed(self) -> int | None:
        """Estimate how many people would decide: an end comes nearer as the root of the people."""
        people, accept = self._people(), self.accept
        needed = [4 / accept] if self.small else []
        for row in self.above:
            end = row.high if row.leak < accept else min(row.low, accept)
            if row.leak != accept:
                needed.append(people[row.column] * ((end - row.leak) / (accept - row.leak)) ** 2)
        return math.ceil(max(needed)) if needed else None

    def _high(self) -> list[Row]:
        return [row for row in self.rows if row.counts and row.high > self.accept]

    def _enough(self, people: float) -> bool:
        return people >= max(4 / self.accept, FEWEST) - 1e-9

    def _people(self) -> dict[str, int]:
        """Return how many people each column was asked about: those of its largest row."""
        people: dict[str, int] = {}
        for row in self.rows:
            people[row.column] = max(row.people, people.get(row.column, 0))
        return people
