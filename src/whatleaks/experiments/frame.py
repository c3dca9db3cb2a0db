"""Results as a table for pandas, polars or any reader of parquet: one row per measurement.

Failed runs keep one row without a measurement, so that a missing number has a reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whatleaks.errors import StoreError
from whatleaks.experiments.outcome import Quantity
from whatleaks.experiments.record import Record
from whatleaks.metrics.measurement import Measurement

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = ("quantity", "role", "value", "low", "high", "n", "unit", "over", "text")


def frame(records: Iterable[Record]) -> pd.DataFrame:
    """Flatten records: the spec's fields, settings as ``options.name``, then the numbers."""
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
    for name, value in record.spec.to_dict().items():
        if isinstance(value, dict):
            row.update({f"{name}.{key}": _flat(item) for key, item in value.items()})
        else:
            row[name] = _flat(value)
    row["versions"] = json.dumps(dict(record.versions), sort_keys=True)
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


def _flat(value: Mapping[str, Any] | list[Any] | Any) -> Any:
    return json.dumps(value) if isinstance(value, list) else value
