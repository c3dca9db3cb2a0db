"""Numeric columns and a real target, as papers on regression use them: no classes, no split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.errors import TableError, nearest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Numbers:
    """Columns in a drawn order, the first ``unknown`` of them the passive party's."""

    names: tuple[str, ...]
    values: Floats
    target: Floats
    labels: Ints


def prepare_numbers(frame: pd.DataFrame, label: str, rng: np.random.Generator) -> Numbers:
    """Take the varying numeric columns in a random order, scaled to their ranges in the whole set."""
    if label not in frame:
        raise TableError(f"there is no column {label!r} to predict.{nearest(label, frame.columns)}")
    numbers = frame.select_dtypes("number")
    features = [c for c in numbers.columns if c != label and numbers[c].nunique() > 1]
    if len(features) < 2:
        raise TableError(f"{len(features)} numeric columns vary: two parties need at least 2")
    column = frame[label]
    target = (
        column.to_numpy(float)
        if column.dtype.kind in "if"
        else column.astype("category").cat.codes.to_numpy(float)
    )
    order = [str(name) for name in rng.permutation(features)]
    x = numbers[order].to_numpy(float)
    low, high = x.min(axis=0), x.max(axis=0)
    spread = float(target.max() - target.min())
    if spread <= 0.0:
        raise TableError(f"the target column {label!r} does not vary: there is nothing to predict")
    scaled = (target - target.min()) / spread
    return Numbers(
        tuple(order),
        sealed((x - low) / (high - low)),
        sealed(scaled),
        sealed_ints(np.rint(scaled)),
    )
