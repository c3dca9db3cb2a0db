"""What every judge needs of its records, beside ``whatleaks.runs.grouping``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from whatleaks.metrics.intervals import clipped, wilson
from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import over_seeds
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario, from_dict


def grid(base: Mapping[str, Any], **axes: Iterable[Any]) -> list[Scenario]:
    """Return one scenario per combination of the axes.

    A key such as ``model_options__dropout`` sets one option.
    """
    names = [name.replace("__", ".") for name in axes]
    return [
        from_dict({**base, **dict(zip(names, values, strict=True))}, "claim")
        for values in product(*axes.values())
    ]


def numbers(record: Record, name: str) -> list[float]:
    """Return a list of numbers of a run, such as errors column by column."""
    found = record.measurements.get(name)
    if not isinstance(found, list):
        raise KeyError(f"run {record.hash[:12]} has no list {name!r}")
    return [float(number) for number in found]


def has(record: Record, name: str) -> bool:
    """Say whether a run has a number."""
    return name in record.measurements or name in record.baselines


def averaged_runs(records: Sequence[Record], name: str) -> Measurement:
    """Average a number over runs, for a figure; an error's interval does not go below zero."""
    return clipped(over_seeds(records, name), 0.0, float("inf"))


def rate_of(part: int, whole: int) -> Measurement:
    """Return the share of runs with Wilson's interval: the number behind a verdict on runs."""
    return wilson(part, whole, "share of runs", "runs")


def share_of(part: int, whole: int, what: str) -> str:
    """Say ``3 of 4 runs``."""
    return f"{part} of {whole} {what}"
