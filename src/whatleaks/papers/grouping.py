"""Sorting records and averaging them over seeds: what every judge needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from whatleaks.metrics.intervals import clipped, mean_over_seeds, wilson
from whatleaks.metrics.measurement import Measurement
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


def scenario_of(record: Record) -> Scenario:
    """Return what a run tried; a worked example is no scenario and is refused."""
    if not isinstance(record.work, Scenario):
        raise TypeError(f"run {record.hash[:12]} is of kind {record.work.kind!r}, not a scenario")
    return record.work


def value(record: Record, name: str) -> float:
    """Return one number of a run, measurement or baseline, without its interval."""
    found = record.measurements.get(name, record.baselines.get(name))
    if isinstance(found, Measurement):
        return found.value
    if isinstance(found, bool | int | float):
        return float(found)
    raise KeyError(f"run {record.hash[:12]} has no number {name!r}")


def numbers(record: Record, name: str) -> list[float]:
    """Return a list of numbers of a run, such as errors column by column."""
    found = record.measurements.get(name)
    if not isinstance(found, list):
        raise KeyError(f"run {record.hash[:12]} has no list {name!r}")
    return [float(number) for number in found]


def has(record: Record, name: str) -> bool:
    """Say whether a run has a number."""
    return name in record.measurements or name in record.baselines


def over_seeds(records: Sequence[Record], name: str) -> Measurement:
    """Average a number over runs that differ in their seed; one seed keeps its interval over records."""
    if len(records) == 1:
        found = records[0].measurements.get(name, records[0].baselines.get(name))
        if isinstance(found, Measurement):
            return found
        single = value(records[0], name)
        return Measurement(single, single, single, 1, name, "seeds")
    return mean_over_seeds([value(record, name) for record in records], name)


def grouped(records: Sequence[Record], *fields: str) -> dict[tuple[Any, ...], list[Record]]:
    """Put records with equal fields together; ``model_options.x`` names an option."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        scenario = scenario_of(record)
        groups.setdefault(tuple(_field(scenario, name) for name in fields), []).append(record)
    return groups


def _field(scenario: Scenario, name: str) -> Any:
    first, _, key = name.partition(".")
    found = getattr(scenario, first)
    return found[key] if key else found


def averaged_runs(records: Sequence[Record], name: str) -> Measurement:
    """Average a number over runs, for a figure; an error's interval does not go below zero."""
    return clipped(over_seeds(records, name), 0.0, float("inf"))


def rate_of(part: int, whole: int) -> Measurement:
    """Return the share of runs with Wilson's interval: the number behind a verdict on runs."""
    return wilson(part, whole, "share of runs", "runs")


def share_of(part: int, whole: int, what: str) -> str:
    """Say ``3 of 4 runs``."""
    return f"{part} of {whole} {what}"
