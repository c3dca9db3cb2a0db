"""What joining is worth to the model: together against alone, on every record that did not train."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.auditor.combine import Entry
from whatleaks.auditor.result import Worth
from whatleaks.metrics.intervals import mean_over_records, ratio_over_records, wilson
from whatleaks.metrics.measurement import Measurement
from whatleaks.metrics.worth import auc_parts, log_losses
from whatleaks.seeds import Streams
from whatleaks.trial.records import PerRecord

Mean = Callable[[Sequence[Floats], str], Measurement]


def accuracy(hits: Sequence[int] | np.ndarray[Any, Any]) -> Measurement:
    """Return the share of records classed right, with Wilson's interval."""
    array = np.asarray(hits)
    return wilson(int(array.sum()), len(array), "accuracy")


def worth_of(entries: Sequence[Entry], streams: Streams, width: float = 1.0) -> Worth:
    """Compare together and alone, record by record; a person of several seeds is one in the interval.

    ``width``: the range of a numeric label.
    """
    held = [entry.records for entry in entries]
    rng = streams.rng("worth")
    people = np.concatenate([records.judged for records in held])

    def mean(values: Sequence[Floats], unit: str) -> Measurement:
        joined = np.concatenate(values)
        if len(joined) != len(people):
            return mean_over_records(joined, unit, rng)
        # The mean over all seeds, as beside it; the interval is over people, not over their seeds.
        _, place = np.unique(people, return_inverse=True)
        counts = np.bincount(place).astype(np.float64)
        return ratio_over_records(np.bincount(place, weights=joined), counts, unit, rng)

    right = [records.correct.astype(np.float64) for records in held]
    alone = [records.alone.astype(np.float64) for records in held]
    found = Worth(
        accuracy(np.concatenate([records.correct for records in held])),
        accuracy(np.concatenate([records.alone for records in held])),
        mean([a - b for a, b in zip(right, alone, strict=True)], "accuracy"),
    )
    if all(records.joint.size and records.own.size for records in held):
        found = replace(found, **_of_scores(held, mean))
    if all(records.missed.size and records.missed_alone.size for records in held):
        unit = "units of the label"
        found = replace(
            found,
            value_error=mean([width * r.missed for r in held], unit),
            value_error_alone=mean([width * r.missed_alone for r in held], unit),
            value_error_gain=mean([width * (r.missed_alone - r.missed) for r in held], unit),
        )
    return found


def _of_scores(held: Sequence[PerRecord], mean: Mean) -> dict[str, Measurement]:
    """Return what needs scores."""
    auc = [(auc_parts(r.joint, r.labels), auc_parts(r.own, r.labels)) for r in held]
    loss = [(log_losses(r.joint, r.labels), log_losses(r.own, r.labels)) for r in held]
    return {
        "auc": mean([a for a, _ in auc], "AUC"),
        "auc_alone": mean([b for _, b in auc], "AUC"),
        "auc_gain": mean([a - b for a, b in auc], "AUC"),
        "log_loss": mean([a for a, _ in loss], "log loss"),
        "log_loss_alone": mean([b for _, b in loss], "log loss"),
        "log_loss_gain": mean([b - a for a, b in loss], "log loss"),
    }
