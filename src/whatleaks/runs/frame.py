"""Results as a table for pandas, polars or any reader of parquet: one row per measurement.

Failed runs keep one row without a measurement, so that a missing number has a reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whatleaks.errors import StoreError
from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.record import Record
from whatleaks.runs.work import work_to_dict
from whatleaks.trial.outcome import Quantity

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = ("quantity", "role", "value", "low", "high", "n", "unit", "over", "text")


def frame(records: Iterable[Record]) -> pd.DataFrame:
    """Flatten records: the work's fields, tables in it as ``table.name``, then the numbers."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for record in records:
        base = _base(record)
        found = [
            {**base, **_row(name, "measurement", value)}
            for name, value in record.measurements.items()
        ]
        found += [
            {**base, **_row(name, "baseline", value)} for name, value in record.baselines.items()
        ]
        rows += found or [{**base, **dict.fromkeys(_NUMBERS)}]
    table = pd.DataFrame(rows)
    for name in _NUMBERS:
        if name not in table:
            table[name] = None
    for name in ("value", "low", "high", "n"):
        table[name] = pd.to_numeric(table[name])
    return table


def to_parquet(records: Iterable[Record], path: Path) -> int:
    """Write the table to a parquet file, whole or not at all; return the number of rows."""
    table = frame(records)
    for name in table.columns:
        kinds = {type(value) for value in table[name].dropna()}
        if len(kinds) > 1 and not kinds <= {int, float}:  # a setting with texts and numbers
            table[name] = table[name].map(lambda v: v if isinstance(v, str) else json.dumps(v))
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        table.to_parquet(part, index=False)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreError(
            f"{path} cannot be written: {error}. Free some space or name another"
        ) from None
    return len(table)


def _base(record: Record) -> dict[str, Any]:
    row: dict[str, Any] = {"hash": record.hash, "status": record.status}
    row |= _flat(work_to_dict(record.work))
    row["sources"] = record.sources
    row["grants"] = "; ".join(record.outcome.grants) if record.outcome else ""
    row["stop"] = (record.outcome.stop or "") if record.outcome else ""
    row.update(seconds=record.seconds, created=record.created, error=record.error)
    return row


def _row(name: str, role: str, value: Quantity) -> dict[str, Any]:
    row: dict[str, Any] = {**dict.fromkeys(_NUMBERS), "quantity": name, "role": role}
    if isinstance(value, Measurement):
        row.update(value=value.value, low=value.low, high=value.high)
        row.update(n=value.n, unit=value.unit, over=value.over)
    elif isinstance(value, bool | int | float):
        row["value"] = float(value)
    else:
        row["text"] = value if isinstance(value, str) else json.dumps(value)
    return row


def _flat(tree: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            row |= _flat(value, f"{above}{name}.")
        else:
            row[above + name] = json.dumps(value) if isinstance(value, list) else value
    return row
