"""What joining is worth to the model: together against alone, on every record that did not train."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.auditor.combine import Entry
from whatleaks.auditor.result import Worth
from whatleaks.metrics.intervals import mean_over_records, ratio_over_records, wilson
from whatleaks.metrics.measurement import Measurement
from whatleaks.metrics.worth import auc_parts, log_losses
from whatleaks.seeds import Streams


def accuracy(hits: Sequence[int] | np.ndarray[Any, Any]) -> Measurement:
    """Return the share of records classed right, with Wilson's interval."""
    array = np.asarray(hits)
    return wilson(int(array.sum()), len(array), "accuracy")


def worth_of(entries: Sequence[Entry], streams: Streams) -> Worth:
    """Compare together and alone, record by record; a person of several seeds is one in the interval."""
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
    if not all(records.joint.size and records.own.size for records in held):
        return found
    auc = [(auc_parts(r.joint, r.labels), auc_parts(r.own, r.labels)) for r in held]
    loss = [(log_losses(r.joint, r.labels), log_losses(r.own, r.labels)) for r in held]
    return Worth(
        found.accuracy,
        found.accuracy_alone,
        found.accuracy_gain,
        mean([a for a, _ in auc], "AUC"),
        mean([b for _, b in auc], "AUC"),
        mean([a - b for a, b in auc], "AUC"),
        mean([a for a, _ in loss], "log loss"),
        mean([b for _, b in loss], "log loss"),
        mean([b - a for a, b in loss], "log loss"),
    )
