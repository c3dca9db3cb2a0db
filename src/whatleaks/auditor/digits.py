"""From what trials measured of digits to one finding over all seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whatleaks.auditor.combine import Entry, beside_of, guesses_of, rivals_of
from whatleaks.auditor.result import DigitsFinding
from whatleaks.metrics.intervals import wilson
from whatleaks.trial.digits import DECODER

ENOUGH = 0.99  # of the records that nobody names without joining are named whole


def digits_of(entries: Sequence[Entry]) -> DigitsFinding | None:
    """Return from how many digits on one score names whole records; None where none can."""
    runs = [e for e in entries if e.plain and "digits" in e.outcome.measurements]
    if not runs:
        return None
    first: Any = runs[0].outcome.measurements
    digits = tuple(int(d) for d in first["digits"])
    told: Any = [run.outcome.measurements for run in runs]
    records = sum(run.records.targets for run in runs)
    named = [int(sum(one["digits named"][k] for one in told)) for k in range(len(digits))]
    places = [int(j) for j in first["digits columns"]]
    without = _without(runs, places)
    enough = None
    for k in reversed(range(len(digits))):
        if without == records or named[k] - without < ENOUGH * (records - without):
            break
        enough = digits[k]
    # Where nobody differs nothing is read: the score need not tell such a column at all.
    differing = [j for j in places if any(run.records.apart[:, j].any() for run in runs)]
    return DigitsFinding(
        threat=runs[0].scenario.threat,
        columns=tuple(runs[0].records.columns[j] for j in differing or places),
        digits=digits,
        exact=tuple(wilson(count, records, "share of people") for count in named),
        released=tuple(
            sum(one["digits released"][k] for one in told) / len(told) for k in range(len(digits))
        ),
        hidden=float(first["digits hidden"]),
        enough=enough,
        without=wilson(without, records, "share of people"),
    )


def _without(runs: Sequence[Entry], columns: Sequence[int]) -> int:
    """Count whole records that the best guess without joining names: no of everybody names the healthy."""
    groups = guesses_of(runs)
    rivals = [*rivals_of(DECODER, groups, groups), *beside_of(groups, groups)]
    seeds = {run.scenario.seed for run in runs}
    return max(
        (
            sum(int(np.sum(one[seed][0].named[:, columns].all(axis=1))) for seed in seeds)
            for one in rivals
            if seeds <= one.keys()
        ),
        default=0,
    )
