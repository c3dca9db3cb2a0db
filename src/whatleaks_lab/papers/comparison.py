"""Comparing runs pairwise by seed: ratios and differences with an interval over pairs.

Two runs with one seed have the same columns, the same split and the same targets, so their
ratio is known better than either error. With a single pair there is no interval: the number
alone decides, which is what the fast profile does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from whatleaks.metrics.intervals import mean_over_seeds
from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import scenario_of, value
from whatleaks.runs.record import Record
from whatleaks_lab.papers.claim import Verdict


def averaged(numbers: Sequence[float], unit: str) -> Measurement:
    """Average numbers, one per pair of runs."""
    if len(numbers) == 1:
        return Measurement(numbers[0], numbers[0], numbers[0], 1, unit, "seeds")
    return mean_over_seeds(list(numbers), unit)


def ratio(
    top: Sequence[Record], name: str, bottom: Sequence[Record], other: str = ""
) -> Measurement:
    """Return the geometric mean of ``top``'s number over ``bottom``'s, paired as ``paired`` does.

    The interval is Student's over the logarithms: ratios are skewed and never below zero, and
    a ratio and its inverse then give the same answer.
    """
    pairs = paired(top, bottom)
    return ratio_of([(value(a, name), value(b, other or name)) for a, b in pairs])


def ratio_of(pairs: Sequence[tuple[float, float]]) -> Measurement:
    """Return the geometric mean of first over second numbers, one pair for each seed."""
    logs = averaged([math.log(first / second) for first, second in pairs], "log")
    centre, low, high = (math.exp(min(x, 700.0)) for x in (logs.value, logs.low, logs.high))
    return Measurement(centre, low, high, logs.n, "ratio", logs.over)


def difference(
    first: Sequence[Record], name: str, second: Sequence[Record], other: str = ""
) -> Measurement:
    """Average the differences of two numbers."""
    pairs = paired(first, second)
    return averaged([value(a, name) - value(b, other or name) for a, b in pairs], "difference")


def paired(first: Sequence[Record], second: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Pair runs of equal data set, share and seed; an axis in which one side is constant is left out."""
    shares = {scenario_of(r).share for r in first} == {scenario_of(r).share for r in second}

    def key(record: Record) -> tuple[str, float, int]:
        scenario = scenario_of(record)
        return scenario.dataset, scenario.share if shares else 0.0, scenario.seed

    others = {key(record): record for record in second}
    if len(others) != len(second):
        raise ValueError("several runs have one data set, share and seed: compare fewer")
    return [(record, others[key(record)]) for record in first]


def below(measured: Measurement, border: float) -> bool:
    """Say whether the whole interval lies below a border."""
    return measured.high < border


def above(measured: Measurement, border: float) -> bool:
    """Say whether the whole interval lies above a border."""
    return measured.low > border


def run_by_run(records: Sequence[Record], name: str, others: Sequence[str]) -> str:
    """Count the single runs in which a number is below others of the same run: for notes, no verdict."""
    counts = ", ".join(
        f"{other} {sum(value(r, name) < value(r, other) for r in records)}" for other in others
    )
    return f"Single runs below, of {len(records)}: {counts}."


OPEN_IS_NOT_FAILED = (
    " Fails only if the numbers, intervals aside, lean that way in fewer than half of these: what a few seeds "
    "leave open is no failure. Else partly."
)


def weighed(shown: Sequence[bool], leaning: Sequence[bool]) -> Verdict:
    """Holds if all statements are shown, fails if fewer than half even lean that way, else partly."""
    if all(shown):
        return Verdict.HOLDS
    return Verdict.FAILS if sum(leaning) < len(leaning) / 2 else Verdict.PARTLY


def weighed_words(shown: Sequence[bool], leaning: Sequence[bool]) -> str:
    """Say how many statements are shown and how many only lean that way."""
    return f"Shown beyond chance: {sum(shown)} of {len(shown)} statements; leaning that way: {sum(leaning)}."


def told(measured: Measurement, digits: int = 2) -> str:
    """Write a number with its interval, if it has one."""
    if measured.n == 1:
        return f"{measured.value:.{digits}f}"
    return f"{measured.value:.{digits}f} [{measured.low:.{digits}f}, {measured.high:.{digits}f}]"
