"""Gradient-boosted trees on binned columns, in the clear: the maths that SecureBoost shares.

A round adds one tree per output to the margins: one output and the sigmoid for two classes,
one per class and the softmax for more. A tree is grown level by level. A candidate split
sends a record to the left if its value is below a threshold; records with a missing value
go to the side that the candidate names. Its gain is XGBoost's (Chen & Guestrin, Eq 7,
doubled and without gamma, as their library reports it):

    G_L^2 / (H_L + lambda) + G_R^2 / (H_R + lambda) - G^2 / (H + lambda)

with G and H the sums of first and second derivatives. A node splits if the best gain
exceeds ``gamma``. A leaf weighs -G / (H + lambda), times the learning rate (Eq 5).

Derivatives are integers in steps of 2**-24, so sums are exact in any order and a federation
that adds ciphertexts finds the same trees, split for split. Equal gains are broken in favour
of the first in the order of ``candidate_splits.candidates``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from whatleaks.arrays import Bools, Buckets, Floats, Ints, sealed, sealed_bools, sealed_ints
from whatleaks.codec import travels
from whatleaks.errors import SpecError, TableError
from whatleaks.models.additive import link
from whatleaks.models.candidate_splits import MOST_BINS, Bins, Candidates, candidates, fit_bins
from whatleaks.seeds import Streams

FRACTION = 24  # derivatives are counted in steps of 2**-FRACTION: single precision, as in XGBoost
MOST_RECORDS = 1 << 30  # so that a sum of derivatives fits into int64
SMALLEST_GAIN = 1e-6  # as XGBoost: below it a gain is rounding


@travels
@dataclass(frozen=True)
class BoostSettings:
    """How to boost. Names are XGBoost's where it has one for the same thing.

    ``rounds`` of one tree per output; ``subsample`` of the records and ``colsample_bytree``
    of every party's columns are drawn anew for each tree.
    """

    rounds: int = 5
    max_depth: int = 3
    learning_rate: float = 0.3
    reg_lambda: float = 1.0
    gamma: float = 0.0
    min_child_weight: float = 1.0
    max_bin: int = 32
    subsample: float = 1.0
    colsample_bytree: float = 1.0

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        if self.rounds < 1 or not 1 <= self.max_depth <= 20:
            raise SpecError(
                f"rounds is {self.rounds} and max_depth {self.max_depth}: "
                "use at least 1 round and a depth of 1 to 20"
            )
        if not 2 <= self.max_bin <= MOST_BINS:
            raise SpecError(f"max_bin is {self.max_bin}: use 2 to {MOST_BINS}")
        if not 0.0 < self.learning_rate < np.inf:
            raise SpecError(f"learning_rate is {self.learning_rate}: use a positive number")
        for name in ("reg_lambda", "gamma", "min_child_weight"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise SpecError(f"{name} is {getattr(self, name)}: use 0 or more")
        for name in ("subsample", "colsample_bytree"):
            if not 0.0 < getattr(self, name) <= 1.0:
                raise SpecError(f"{name} is {getattr(self, name)}: use a share above 0, up to 1")


def left_sums(values: Ints, seen: Buckets, slot: Ints, slots: int, given: Candidates) -> Ints:
    """Sum ``values`` on the left of every candidate (columns) in every slot (rows), exactly.

    A slot is a node of the level; records in slot -1 take no part.
    """
    views = seen.shape[1]
    inside = slot >= 0
    cells = (slot[inside, None] * views + np.arange(views)) * given.buckets + seen[inside]
    table = np.zeros(slots * views * given.buckets, dtype=np.int64)
    np.add.at(table, cells.ravel(), np.repeat(values[inside], views))
    cumulative = np.cumsum(table.reshape(slots, views, given.buckets), axis=2)
    sums: Ints = cumulative.reshape(slots, -1)[:, given.cell]
    return sums


def node_sums(values: Ints, slot: Ints, slots: int) -> Ints:
    """Sum ``values`` by slot, exactly."""
    sums = np.zeros(slots, dtype=np.int64)
    np.add.at(sums, slot[slot >= 0], values[slot >= 0])
    return sums


def gains(left_g: Ints, left_h: Ints, g: Ints, h: Ints, settings: BoostSettings) -> Floats:
    """Return the gain of every candidate (columns) in every node (rows); -inf if it is refused.

    A side without records, or lighter than ``min_child_weight``, is refused, and so is a
    gain that does not exceed ``gamma``.
    """
    right_g, right_h = g[:, None] - left_g, h[:, None] - left_h
    lightest = np.minimum(left_h, right_h)
    allowed = (lightest > 0) & (_real(lightest) >= settings.min_child_weight)
    gain = (
        _score(left_g, left_h, settings)
        + _score(right_g, right_h, settings)
        - _score(g, h, settings)[:, None]
    )
    enough = gain > max(settings.gamma, SMALLEST_GAIN)
    return np.where(allowed & enough, gain, -np.inf)


def _score(g: Ints, h: Ints, settings: BoostSettings) -> Floats:
    below = _real(h) + settings.reg_lambda
    score: Floats = _real(g) ** 2 / np.where(below > 0.0, below, 1.0)
    return score


def _real(integers: Ints) -> Floats:
    return np.ldexp(integers.astype(np.float64), -FRACTION)


def leaf_weights(g: Ints, h: Ints, settings: BoostSettings) -> Floats:
    """Return -eta G / (H + lambda) of every leaf (Eq 5)."""
    below = _real(h) + settings.reg_lambda
    return -settings.learning_rate * _real(g) / np.where(below > 0.0, below, 1.0)


def outputs_of(classes: int) -> int:
    """Say how many margins a model of so many classes has."""
    return 1 if classes == 2 else classes


def derivatives(margins: Floats, labels: Ints) -> tuple[Ints, Ints]:
    """Return g and h of the log loss for every record and output, in steps of 2**-24.

    For the softmax h is 2 p (1 - p), as in XGBoost: twice the diagonal of the Hessian. No h
    is below one step, so that every record weighs something.
    """
    if margins.shape[1] == 1:
        p, factor = expit(margins), 1.0
        truth = labels[:, None].astype(np.float64)
    else:
        p, factor = softmax(margins, axis=1), 2.0
        truth = np.equal.outer(labels, np.arange(margins.shape[1])).astype(np.float64)
    g = np.rint(np.ldexp(p - truth, FRACTION)).astype(np.int64)
    h = np.rint(np.ldexp(factor * p * (1.0 - p), FRACTION)).astype(np.int64)
    return g, np.maximum(h, 1)


def drawn(count: int, share: float, rng: np.random.Generator) -> Ints:
    """Draw a share of ``count`` things without repetition, at least one, in order."""
    if share >= 1.0:
        return np.arange(count)
    return np.sort(rng.choice(count, drawn_count(count, share), replace=False))


def drawn_count(count: int, share: float) -> int:
    """Say how many ``drawn`` draws."""
    return count if share >= 1.0 else max(1, round(share * count))


class Growth:
    """A tree while it grows: which node each record is in, and which nodes wait to be split.

    Nodes are numbered level by level; a node's children are neighbours, left first.
    """

    def __init__(self, records: int) -> None:
        self.node = np.zeros(records, dtype=np.int64)
        self._children = [-1]
        self._first = 0

    @property
    def slots(self) -> int:
        """How many nodes wait."""
        return len(self._children) - self._first

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self._children)

    @property
    def children(self) -> Ints:
        """The left child of every node, -1 for a leaf."""
        return sealed_ints(self._children)

    def waiting(self) -> Ints:
        """Return every record's slot among the waiting nodes, -1 if it is in none."""
        return np.where(self.node >= self._first, self.node - self._first, -1)

    def descend(self, split: Bools, left: Bools) -> None:
        """Split the waiting nodes marked in ``split``: their records go left or right."""
        child = np.full(self.nodes, -1)
        before, self._first = self._first, self.nodes
        for slot in np.flatnonzero(split).tolist():
            self._children[before + slot] = child[before + slot] = len(self._children)
            self._children += [-1, -1]
        below = child[self.node]
        self.node = np.where(below >= 0, below + ~left, self.node)


@travels
@dataclass(frozen=True)
class BoostedTree:
    """One grown tree, node by node; a leaf has no child and column -1."""

    child: Ints
    column: Ints
    bin: Ints
    threshold: Floats
    missing_left: Bools
    weight: Floats

    def leaves(self, x: Floats) -> Ints:
        """Return the leaf that each record reaches."""
        node = np.zeros(len(x), dtype=np.int64)
        records = np.arange(len(x))
        while (self.child[node] >= 0).any():
            values = x[records, self.column[node]]
            left = goes_left(values, self.threshold[node], self.missing_left[node])
            node = np.where(self.child[node] >= 0, self.child[node] + ~left, node)
        return node


def goes_left(values: Floats, threshold: Floats, missing_left: Bools) -> Bools:
    """Route records: below the threshold to the left, missing ones as the split says."""
    return np.where(np.isnan(values), missing_left, values < threshold)


@travels
@dataclass(frozen=True)
class BoostedTrees:
    """A trained model; tree t adds to output ``t % outputs``."""

    trees: tuple[BoostedTree, ...]
    outputs: int

    def margins(self, x: Floats) -> Floats:
        """Sum the weights of the leaves that each record reaches."""
        margins = np.zeros((len(x), self.outputs))
        for number, tree in enumerate(self.trees):
            margins[:, number % self.outputs] += tree.weight[tree.leaves(x)]
        return margins

    def scores(self, x: Floats) -> Floats:
        """Return the confidence scores, one column per class."""
        return link(self.margins(x))


def check_labels(labels: Ints, records: int) -> int:
    """Refuse labels that do not fit; return the number of classes."""
    if labels.shape != (records,) or not 0 < records <= MOST_RECORDS:
        raise TableError(f"{records} records need as many labels, got shape {labels.shape}")
    classes = int(labels.max()) + 1
    if classes < 2 or len(np.unique(labels)) != classes or int(labels.min()) != 0:
        raise TableError("labels must be 0, 1, ... with every class present, and at least two")
    return classes


def train_joined(
    tables: Sequence[Floats], labels: Ints, settings: BoostSettings, streams: Streams
) -> BoostedTrees:
    """Boost in the clear on the joined columns of several parties: the reference.

    The parties matter for ``colsample_bytree`` alone, of which each draws its own share.
    """
    x = np.concatenate(tables, axis=1)
    outputs = outputs_of(check_labels(labels, len(x)))
    bins = fit_bins(x, settings.max_bin)
    codes = bins.codes(x)
    row_rng = streams.rng("rows")
    column_rngs = [streams.rng(f"columns/{party}") for party in range(len(tables))]
    offsets = np.cumsum([0, *(table.shape[1] for table in tables)])
    margins = np.zeros((len(x), outputs))
    trees = []
    for _ in range(settings.rounds):
        g, h = derivatives(margins, labels)
        for output in range(outputs):
            rows = drawn(len(x), settings.subsample, row_rng)
            columns = np.concatenate(
                [
                    offset + drawn(table.shape[1], settings.colsample_bytree, rng)
                    for offset, table, rng in zip(offsets, tables, column_rngs, strict=False)
                ]
            )
            tree, node = _grow(codes, bins, columns, rows, g[:, output], h[:, output], settings)
            margins[:, output] += tree.weight[node]
            trees.append(tree)
    return BoostedTrees(tuple(trees), outputs)


def _grow(
    codes: Buckets,
    bins: Bins,
    columns: Ints,
    rows: Ints,
    g: Ints,
    h: Ints,
    settings: BoostSettings,
) -> tuple[BoostedTree, Ints]:
    """Grow one tree; return it with the leaf of every record."""
    given = candidates(bins, columns)
    seen = given.seen(codes, bins)
    growth = Growth(len(codes))
    chosen: list[Ints] = []
    for _ in range(settings.max_depth if len(given.cell) else 0):
        slot, slots = growth.waiting(), growth.slots
        here = slot[rows]
        gain = gains(
            left_sums(g[rows], seen[rows], here, slots, given),
            left_sums(h[rows], seen[rows], here, slots, given),
            node_sums(g[rows], here, slots),
            node_sums(h[rows], here, slots),
            settings,
        )
        best, split = first_best(gain)
        chosen.append(np.where(split, best, -1))
        left = given.left(codes, bins, best[slot])
        growth.descend(split, left)
        if not growth.slots:
            break
    pick = np.concatenate([*chosen, np.full(growth.slots, -1)])
    weight = leaf_weights(
        node_sums(g[rows], growth.node[rows], growth.nodes),
        node_sums(h[rows], growth.node[rows], growth.nodes),
        settings,
    )
    return _tree(growth, given, bins, pick, weight), growth.node


def _tree(growth: Growth, given: Candidates, bins: Bins, pick: Ints, weight: Floats) -> BoostedTree:
    """Write the grown tree down; ``pick`` is the candidate of every node, -1 for a leaf."""
    inner = pick >= 0
    column, bin_ = np.full(len(pick), -1), np.full(len(pick), -1)
    threshold, missing_left = np.full(len(pick), np.nan), np.zeros(len(pick), dtype=np.bool_)
    column[inner], bin_[inner] = given.column[pick[inner]], given.bin[pick[inner]]
    threshold[inner] = bins.thresholds(column[inner], bin_[inner])
    missing_left[inner] = given.missing_left[pick[inner]]
    return BoostedTree(
        growth.children,
        sealed_ints(column),
        sealed_ints(bin_),
        sealed(threshold),
        sealed_bools(missing_left),
        sealed(np.where(inner, 0.0, weight)),
    )


def first_best(gain: Floats) -> tuple[Ints, Bools]:
    """Return the first best candidate of every node, and whether it may split."""
    best = np.argmax(gain, axis=1)
    return best, gain[np.arange(len(gain)), best] > -np.inf
