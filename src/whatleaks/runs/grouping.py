"""Records put together: by what they tried, over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whatleaks.metrics.intervals import mean_over_seeds
from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario


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
