"""Tables for the lattice study: encoded, scaled on training rows, with the grid of each column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed_ints
from whatleaks.data.loading import load
from whatleaks.data.schema import read
from whatleaks.models.additive import Additive
from whatleaks.models.grids import BOOLEAN, Grid, Grids, decimal_step, scaled_grid
from whatleaks.models.linear import Linear
from whatleaks.models.logistic import fit_logistic
from whatleaks.threat.grants import Auxiliary, Schema
from whatleaks.threat.views.prediction import WhiteBoxLinearView

TRAINING = 4000
NAMES = {
    "satellite": "statlog-satellite",
    "credit": "credit-card-default",
    "adult": "adult",
    "bank": "bank-marketing",
    "drive": "sensorless-drive",
}


@dataclass(frozen=True)
class Table:
    """All columns scaled by the training rows; ``unknowns``: columns that belong together."""

    x: Floats
    labels: Ints
    grids: Grids
    unknowns: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    model: Linear

    def split(self, hidden: Ints) -> tuple[Ints, Ints, Linear, Linear]:
        """Return own and unknown encoded columns and both parts of the model."""
        theirs = np.array([j for h in hidden for j in self.unknowns[h]], dtype=np.int64)
        own = np.setdiff1d(np.arange(self.x.shape[1]), theirs)
        weights, bias = self.model.weights, self.model.bias
        return (
            own,
            theirs,
            Linear(weights[own], bias),
            Linear(weights[theirs], np.zeros_like(bias)),
        )


def table(name: str, one_hot: bool = False, rows: int = 8000, seed: int = 0) -> Table:
    """Load, encode and scale a table and train a logistic regression on its first rows."""
    data = load(NAMES[name])
    rng = np.random.default_rng(seed)
    frame = data.frame.iloc[rng.permutation(len(data.frame))[:rows]].reset_index(drop=True)
    labels = np.unique(frame[data.label].to_numpy(), return_inverse=True)[1].astype(np.int64)
    columns: list[Floats] = []
    grids: list[Grid] = []
    groups: list[tuple[int, ...]] = []
    unknowns: list[tuple[int, ...]] = []
    names: list[str] = []
    for column in frame.columns:
        if column == data.label:
            continue
        values = read(str(column), frame[column])
        raw = values.numbers if values.numbers is not None else values.codes.astype(np.float64)
        kind = values.column.kind
        if kind == "constant" or raw[:TRAINING].min() == raw[:TRAINING].max():
            continue
        names.append(str(column))
        if one_hot and kind == "category" and len(values.vocabulary) > 2:
            found = np.unique(raw)
            unknowns.append(tuple(range(len(columns), len(columns) + len(found))))
            groups.append(unknowns[-1])
            columns += [(raw == code).astype(np.float64) for code in found]
            grids += [BOOLEAN] * len(found)
            continue
        low, high = float(raw[:TRAINING].min()), float(raw[:TRAINING].max())
        step = decimal_step(raw) if kind == "number" else 0.0
        unknowns.append((len(columns),))
        columns.append((raw - low) / (high - low))
        grids.append(scaled_grid(kind, float(raw.min()), float(raw.max()), low, high, step))
    x = np.column_stack(columns)
    classes = int(labels.max()) + 1
    outputs = 1 if classes == 2 else classes
    like = Linear(np.zeros((x.shape[1], outputs)), np.zeros(outputs))
    model = fit_logistic(x[:TRAINING], labels[:TRAINING], like)
    return Table(
        x, labels, Grids(tuple(grids), tuple(groups)), tuple(unknowns), tuple(names), model
    )


def released(scores: Floats, precision: str) -> Floats:
    """Return scores as they leave the house: "64", "32" or a number of decimals."""
    if precision == "64":
        return scores
    if precision == "32":
        return scores.astype(np.float32).astype(np.float64)
    return np.round(scores, int(precision))


@dataclass(frozen=True)
class KnowingView(WhiteBoxLinearView):
    """A white box that was also given complete records."""

    auxiliary: Auxiliary


def knowing(
    own: Floats,
    scores: Floats,
    unknown: int,
    model: Additive,
    grids: Grids,
    known_own: Floats,
    known: Floats,
) -> KnowingView:
    """Return the white box with a schema and complete records of other people."""
    records = Auxiliary(known_own, known, sealed_ints([0] * len(known)))
    return KnowingView(own, scores, unknown, model, records, schema=Schema(grids))
