"""A party's own file: numbers with their column names, and ids and targets where it has them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import encode
from whatleaks.errors import TableError, UsageError


@dataclass(frozen=True)
class OwnTable:
    """A party's own rows: numbers, their column names, ids and targets if there are any."""

    columns: tuple[str, ...] = ()
    x: Floats = field(default_factory=lambda: sealed(np.zeros((0, 0))))
    ids: tuple[str, ...] | None = None
    y: Floats | None = None

    @property
    def digest(self) -> str:
        """A fingerprint of the ids in their order, or nothing where there are no ids."""
        if self.ids is None:
            return ""
        parts = (value.encode() for value in self.ids)
        framed = b"".join(len(part).to_bytes(4, "little") + part for part in parts)
        return hashlib.sha256(framed).hexdigest()

    @property
    def fingerprint(self) -> str:
        """A digest of everything: columns, numbers, ids and targets. It stays at home."""
        return hashlib.sha256(encode((self.columns, self.x, self.ids, self.y))).hexdigest()

    def at(self, rows: Ints) -> OwnTable:
        """Return these rows, in this order."""
        ids = None if self.ids is None else tuple(self.ids[row] for row in rows.tolist())
        y = None if self.y is None else sealed(self.y[rows])
        return OwnTable(self.columns, sealed(self.x[rows]), ids, y)


def read_table(
    path: Path, id_column: str | None, target: str | None, gaps: bool = False
) -> OwnTable:
    """Read a CSV file of numbers; with ``gaps`` a missing value is allowed, and is NaN."""
    import pandas as pd

    try:
        names = {id_column: str} if id_column else None
        # An id is text as it stands: "NA" and "" are no missing values there.
        frame = pd.read_csv(path, dtype=names, **_exactly(pd.__version__))
        if id_column in frame.columns:
            kept = pd.read_csv(path, dtype=str, usecols=[id_column], keep_default_na=False)
            frame[id_column] = kept[id_column]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise TableError(f"{path} is not a CSV table: {error}") from None
    for column in (id_column, target):
        if column is not None and column not in frame.columns:
            raise TableError(f"{path} has no column {column!r}")
    ids = None
    if id_column is not None:
        ids = tuple(str(value) for value in frame.pop(id_column))
        if len(set(ids)) < len(ids):
            raise TableError(f"{path}: the id column {id_column!r} has a value twice")
    try:
        numbers = frame.astype(np.float64)
    except ValueError:
        raise TableError(f"{path} has a column that is not numeric: encode or drop it") from None
    y = None if target is None else sealed(numbers.pop(target).to_numpy())
    x = numbers.to_numpy()
    allowed = np.isfinite(x) | (np.isnan(x) if gaps else False)
    if not len(x) or not allowed.all() or (y is not None and not np.isfinite(y).all()):
        raise TableError(f"{path} is empty or has a value that is not finite: fill or drop it")
    return OwnTable(tuple(map(str, numbers.columns)), sealed(x), ids, y)


def _exactly(version: str) -> dict[str, Any]:
    """Return what has this pandas read every decimal as the nearest double.

    Before 3.1 it has to be asked; since then it always does, and warns about the question.
    """
    major, minor = (int(part) for part in version.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}
