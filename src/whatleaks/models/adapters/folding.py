"""From the model's own inputs to the audit's encoded columns: scalers and encoders folded away.

The audit scales every encoded column to [0, 1]. A linear layer's weights are rescaled, which
is exact up to rounding. A tree's thresholds are moved to the other side of all scalers: the
border is found by bisection among the doubles, so every record takes the branch that it takes
in the library. A test that always goes the same way (a category that the table does not have,
a constant column) is taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed
from whatleaks.models.adapters.given import Boosted, Core, Dense, Feature, Votes
from whatleaks.models.adapters.tree_nodes import numbered
from whatleaks.models.network import Network
from whatleaks.models.tree import LEAF, Tree


@dataclass(frozen=True)
class EncodedColumn:
    """A column as the audit trains on it: ``(value - low) / span`` of a number or of a word's 0/1.

    ``bounded``: every record lies within 0 and 1, so a test outside of them tells nothing.
    """

    source: str
    word: str | None
    low: float
    high: float
    bounded: bool = False

    @property
    def span(self) -> float:
        """What is scaled to 1."""
        return self.high - self.low or 1.0


@dataclass(frozen=True)
class Target:
    """Where inputs go: the encoded columns in order, and what is known of the columns left out."""

    columns: Sequence[EncodedColumn]
    fixed: Mapping[str, float | str]  # the only value of a column that was left out
    active: int  # how many of the columns, the first ones, are the active party's

    @cached_property
    def _places(self) -> dict[tuple[str, str | None], int]:
        return {(one.source, one.word): place for place, one in enumerate(self.columns)}

    def place(self, feature: Feature) -> int | None:
        """Return the encoded column that an input is made from; None: it has one value only."""
        return self._places.get((feature.column, feature.word))

    def constant(self, feature: Feature) -> float:
        """Return the value before all steps of an input that has one value only."""
        held = self.fixed.get(feature.column)
        if feature.word is not None:
            return float(held == feature.word)
        return float(held if held is not None else 0.0)


@singledispatch
def folded(core: Core, features: Sequence[Feature], target: Target) -> Core:
    """Return the same model over the encoded columns."""
    raise TypeError(type(core).__name__)


@folded.register
def _(core: Dense, features: Sequence[Feature], target: Target) -> Core:
    first, bias = core.layers.weights[0], core.layers.biases[0].copy()
    weights = np.zeros((len(target.columns), first.shape[1]))
    for feature, weight in zip(features, first, strict=True):
        slope, offset = feature.affine()
        place = target.place(feature)
        if place is None:
            bias += (slope * target.constant(feature) + offset) * weight
            continue
        column = target.columns[place]
        weights[place] += slope * column.span * weight
        bias += (slope * column.low + offset) * weight
    layers = core.layers
    return Dense(
        replace(
            layers,
            weights=(sealed(weights), *layers.weights[1:]),
            biases=(sealed(bias), *layers.biases[1:]),
        )
    )


@folded.register
def _(core: Votes, features: Sequence[Feature], target: Target) -> Core:
    return replace(core, trees=_folded_trees(core.trees, features, target))


@folded.register
def _(core: Boosted, features: Sequence[Feature], target: Target) -> Core:
    return replace(core, trees=_folded_trees(core.trees, features, target))


@singledispatch
def reordered(core: Core, order: Sequence[int]) -> Core:
    """Return the model with its classes in another order: the new class i was ``order[i]``."""
    raise TypeError(type(core).__name__)


@reordered.register
def _(core: Dense, order: Sequence[int]) -> Core:
    layers = core.layers
    last, bias = layers.weights[-1], layers.biases[-1]
    if len(bias) == 1:
        sign = 1.0 if order[0] < order[1] else -1.0
        last, bias = sign * last, sign * bias
    else:
        last, bias = last[:, list(order)], bias[list(order)]
    return Dense(
        Network(
            (*layers.weights[:-1], sealed(last)),
            (*layers.biases[:-1], sealed(bias)),
            layers.activation,
        )
    )


@reordered.register
def _(core: Votes, order: Sequence[int]) -> Core:
    trees = tuple(replace(tree, value=sealed(tree.value[:, list(order)])) for tree in core.trees)
    return replace(core, trees=trees)


@reordered.register
def _(core: Boosted, order: Sequence[int]) -> Core:
    if len(core.base) == 1:
        if order[0] < order[1]:
            return core
        trees = tuple(replace(tree, value=sealed(-tree.value)) for tree in core.trees)
        return Boosted(trees, core.outputs, sealed(-core.base))
    new = np.argsort(order)
    outputs = tuple(int(new[output]) for output in core.outputs)
    return Boosted(core.trees, outputs, sealed(core.base[list(order)]))


def _folded_trees(
    trees: Sequence[Tree], features: Sequence[Feature], target: Target
) -> tuple[Tree, ...]:
    """Move the tests of all trees at once: one bisection for each input."""
    counts = [tree.nodes for tree in trees]
    feature = np.concatenate([tree.feature for tree in trees])
    border = np.concatenate([tree.threshold for tree in trees])
    column, threshold = np.full(len(feature), LEAF), np.zeros(len(feature))
    always = np.zeros(len(feature), dtype=np.int64)  # 1: always left, -1: always right
    for number in np.unique(feature[feature >= 0]):
        at = np.flatnonzero(feature == number)
        one = features[number]
        place = target.place(one)
        if place is None:
            left = one.of(np.array([target.constant(one)])) <= border[at]
            always[at] = np.where(left, 1, -1)
            continue
        moved, ways = _moved(one, border[at], target.columns[place])
        column[at], threshold[at], always[at] = place, moved, ways
    cuts = np.cumsum(counts)[:-1]
    parts = zip(
        trees,
        *(np.split(array, cuts) for array in (column, threshold, always)),
        strict=True,
    )
    return tuple(
        numbered(
            np.where(tree.inner, c, LEAF), t, tree.left, tree.right, tree.value, target.active, a
        )
        for tree, c, t, a in parts
    )


def _moved(feature: Feature, border: Floats, column: EncodedColumn) -> tuple[Floats, Ints]:
    """Return the borders on the audit's scale, and which tests always go one way."""
    with np.errstate(all="ignore"):
        if feature.word is not None:
            at_0, at_1 = (feature.of(np.array([value])) <= border for value in (0.0, 1.0))
            raw = np.full(len(border), 0.5)
            ways = np.where(at_1, 1, np.where(at_0, 0, -1))  # never 1 without 0: steps rise
        else:
            raw = last_true(lambda values: np.asarray(feature.of(values) <= border), len(border))
            ways = np.zeros(len(border), dtype=np.int64)
        moved = _apart(raw, (raw - column.low) / column.span, column)
    if column.bounded:
        ways = np.where(moved < 0.0, -1, np.where(moved >= 1.0, 1, ways))
    ways = np.where(np.isfinite(moved), ways, np.where(moved > 0.0, 1, -1))
    return np.where(ways == 0, moved, 0.0), ways


def _apart(raw: Floats, moved: Floats, column: EncodedColumn) -> Floats:
    """Keep the table's own number on its side where the next double is the same on the audit's scale.

    LightGBM tests against 1e-35: behind a scaler that takes the median away, that parts 54 from the
    double before it. The one that is written shorter stands in the table.
    """
    after = np.nextafter(raw, np.inf)
    for i in np.flatnonzero((after - column.low) / column.span == moved):
        if len(repr(float(after[i]))) < len(repr(float(raw[i]))):
            moved[i] = np.nextafter(moved[i], -np.inf)
    return moved


_LARGEST = int(np.array([np.finfo(np.float64).max]).view(np.int64)[0])


def last_true(holds: Callable[[Floats], Bools], count: int) -> Floats:
    """Return for each of ``count`` falling predicates the largest double at which it holds.

    Minus infinity where it never holds, infinity where it always does. Doubles are counted
    from zero, negative ones downwards: their bits without the sign.
    """
    low, high = np.full(count, -_LARGEST - 1), np.full(count, _LARGEST)
    while (low < high).any():
        middle = (low | high) - ((low ^ high) >> 1)  # the upper middle, without overflow
        true = holds(_double(middle))
        low, high = np.where(true, middle, low), np.where(true, high, middle - 1)
    return np.where(low == _LARGEST, np.inf, _double(low))


def _double(count: Ints) -> Floats:
    return np.where(count < 0, -1.0, 1.0) * np.abs(count).view(np.float64)
