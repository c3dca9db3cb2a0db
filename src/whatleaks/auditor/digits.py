"""From what trials measured of digits to one finding over all seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whatleaks.auditor.combine import Entry
from whatleaks.auditor.result import DigitsFinding
from whatleaks.metrics.intervals import wilson

ENOUGH = 0.99  # of the records are named whole


def digits_of(entries: Sequence[Entry]) -> DigitsFinding | None:
    """Return from how many digits on one score names whole records; None where none can."""
    runs = [e for e in entries if e.plain and "digits" in e.outcome.measurements]
    if not runs:
        return None
    first: Any = runs[0].outcome.measurements
    digits = tuple(int(d) for d in first["digits"])
    told: Any = [run.outcome.measurements for run in runs]
    records = sum(len(run.records.spread) for run in runs)
    exact = tuple(
        wilson(int(sum(one["digits named"][k] for one in told)), records, "share of people")
        for k in range(len(digits))
    )
    enough = None
    for k in reversed(range(len(digits))):
        if exact[k].value < ENOUGH:
            break
        enough = digits[k]
    return DigitsFinding(
        threat=runs[0].scenario.threat,
        columns=tuple(runs[0].records.columns[int(j)] for j in first["digits columns"]),
        digits=digits,
        exact=exact,
        released=tuple(
            sum(one["digits released"][k] for one in told) / len(told) for k in range(len(digits))
        ),
        hidden=float(first["digits hidden"]),
        enough=enough,
    )
