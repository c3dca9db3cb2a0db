"""Path restriction (Luo et al. 2021, section IV-B, Algorithm 1): which way a record may have gone.

The adversary walks the tree with its own columns, goes both ways where the other party's
column is tested, and keeps the leaves that predict the released class. All records walk
together: the loops are over nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed, sealed_ints
from whatleaks.attacks.possible_values import middle
from whatleaks.catalog import attack, baseline
from whatleaks.citations import LUO
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.tree import Tree
from whatleaks.threat.guess import BranchGuess, ValueGuess
from whatleaks.threat.views.tree import WhiteBoxTreeView

LOWEST, HIGHEST = 0.0, 1.0  # the public range of every column


def reachable(tree: Tree, own: Floats) -> Bools:
    """Return nodes x records: the indicator beta of Algorithm 1, lines 1 to 14.

    As printed, line 12 also runs at leaves and marks children that do not exist. The worked
    example leaves them at 0, and so do we; no path depends on it, since alpha is 0 there.
    """
    if own.ndim != 2 or own.shape[1] != tree.active_columns:
        raise AttackError(
            f"the tree has {tree.active_columns} active columns, the view shows {own.shape[-1]}"
        )
    columns = np.ascontiguousarray(own.T)
    beta = np.zeros((tree.nodes, len(own)), dtype=np.bool_)
    beta[0] = True  # line 3
    mine = tree.active
    for i in np.flatnonzero(tree.inner):  # a parent's number is below its children's
        left, right = tree.left[i], tree.right[i]
        if mine[i]:  # lines 6 to 10
            goes_left = columns[tree.feature[i]] <= tree.threshold[i]
            np.logical_and(beta[i], goes_left, out=beta[left])
            np.greater(beta[i], goes_left, out=beta[right])
        else:  # line 12
            beta[left] = beta[right] = beta[i]
    return beta


def candidate_paths(tree: Tree, own: Floats, released: Ints | None) -> Bools:
    """Return records x leaves (ascending): the paths that Algorithm 1 leaves.

    Without a released class (None) only the own columns restrict the path.
    """
    leaves = tree.leaf_nodes
    beta = reachable(tree, own)[leaves]
    if released is not None:
        alpha = released == np.arange(tree.classes)[:, None]  # classes x records
        beta &= alpha[tree.labels[leaves]]  # lines 15 and 16
    return beta.T


def choose_uniformly(candidates: Bools, counts: Ints, rng: np.random.Generator) -> Ints:
    """Choose one of every record's candidates, each with the same chance; return its column.

    ``counts`` are the records' numbers of candidates. Of n, number floor(u n) is taken.
    """
    small = _small_ints(candidates)
    wanted = np.floor(rng.random(len(counts)) * counts).astype(small)
    passed = np.zeros(len(counts), dtype=small)
    chosen = np.zeros(len(counts), dtype=small)
    for leaf in candidates.T:
        passed += leaf
        chosen += passed <= wanted
    return chosen.astype(np.int64)


def _small_ints(candidates: Bools) -> np.dtype[Any]:
    """Return the smallest integers that count leaves: a byte up to depth 6."""
    return np.min_scalar_type(-candidates.shape[1] - 1)


def path_bounds(tree: Tree, unknown: int) -> tuple[Floats, Floats]:
    """Return leaves x unknown columns: between which borders each path keeps each value.

    A value lies above ``low`` and at most at ``high``. Sides without a test are the public
    range's.
    """
    theirs = np.flatnonzero(tree.passive)
    column = tree.feature[theirs] - tree.active_columns
    border = tree.threshold[theirs]
    if column.size and column.max() >= unknown:
        raise AttackError(
            f"the tree tests passive column {column.max()}, the partner has {unknown}"
        )
    if ((border < LOWEST) | (border > HIGHEST)).any():
        raise AttackError(
            "a passive threshold of the tree lies outside the public range from 0 to 1: "
            "scale the columns before training"
        )
    ways = tree.routes()[:, theirs].T
    shape = (unknown, len(tree.leaf_nodes))
    low, high = np.full(shape, LOWEST), np.full(shape, HIGHEST)
    for j, threshold, way in zip(column, border, ways, strict=True):
        low[j] = np.where(way < 0, np.maximum(low[j], threshold), low[j])
        high[j] = np.where(way > 0, np.minimum(high[j], threshold), high[j])
    return sealed(low.T), sealed(high.T)


def released_class(released: Floats, tree: Tree) -> Ints:
    """Read the class off a release: the largest score."""
    if released.ndim != 2 or released.shape[1] != tree.classes:
        raise AttackError(
            f"the tree has {tree.classes} classes, the release {released.shape[-1]} scores"
        )
    return np.asarray(released.argmax(axis=1), dtype=np.int64)


def refuse_records_without_path(candidates: Bools, released: Ints) -> None:
    """Refuse a view in which some record has no path: its release is not this tree's."""
    lost = np.flatnonzero(~candidates.any(axis=1))
    if lost.size:
        raise AttackError(
            f"path restriction finds no path for {lost.size} of {len(candidates)} records (the "
            f"first is record {lost[0]}): no leaf that its own columns reach predicts class "
            f"{released[lost[0]]}, so the released class is not this tree's answer"
        )


@attack(
    "path-restriction",
    title="Path restriction: which way a record goes at your tests",
    paper=LUO,
    needs="the released class and the whole tree",
)
@baseline(
    "path-restriction-own-columns",
    title="Paths that the own columns leave, without the released class",
    needs="the whole tree",
    settings={"use_release": False},
)
@travels
@dataclass(frozen=True)
class PathRestriction:
    """Commit to a path chosen uniformly among the candidates (U section IV-B).

    ``use_release`` off: not in the paper. The own columns alone restrict the path, which
    shows what the released class adds.
    """

    use_release: bool = True

    @property
    def name(self) -> str:
        """Path restriction, with or without the released class."""
        return "path-restriction" if self.use_release else "path-restriction-own-columns"

    def infer(self, view: WhiteBoxTreeView, rng: np.random.Generator) -> BranchGuess:
        """Walk all records at once and choose."""
        candidates = self.candidates(view)
        low, high = path_bounds(view.model, view.unknown)
        counts = candidates.sum(axis=1, dtype=_small_ints(candidates)).astype(np.int64)
        chosen = choose_uniformly(candidates, counts, rng)
        return BranchGuess(
            sealed_ints(view.model.leaf_nodes[chosen]),
            sealed_ints(counts),
            sealed(low.take(chosen, axis=0)),
            sealed(high.take(chosen, axis=0)),
        )

    def candidates(self, view: WhiteBoxTreeView) -> Bools:
        """Return records x leaves: the possible paths of Algorithm 1."""
        released = released_class(view.released, view.model)
        candidates = candidate_paths(view.model, view.own, released if self.use_release else None)
        refuse_records_without_path(candidates, released)
        return candidates


@attack(
    "path-restriction-values",
    title="Path restriction, middles of the remaining intervals",
    paper=f"whatleaks, after {LUO}",
    needs="the released class, the whole tree and the columns' ranges",
)
@travels
@dataclass(frozen=True)
class PathRestrictionValues:
    """Turn the candidate paths into values: not in the paper, which stops at branches.

    Every candidate is equally likely to the adversary, so a value's guess is the average
    over the candidates of the mean of the values that the column can take in its interval on
    that path (its middle, where the schema leaves it free). A column that no candidate tests
    gets the middle of its range. No draw is involved.
    """

    name: str = "path-restriction-values"

    def infer(self, view: WhiteBoxTreeView, rng: np.random.Generator) -> ValueGuess:
        """Average the middles of the candidates' intervals."""
        del rng
        candidates = PathRestriction().candidates(view)
        low, high = path_bounds(view.model, view.unknown)
        weight = candidates / candidates.sum(axis=1, keepdims=True)
        return ValueGuess(sealed(weight @ _middles(low, high, view)))


def _middles(low: Floats, high: Floats, view: WhiteBoxTreeView) -> Floats:
    """Return the mean of what each column can be on each path: leaves x unknown columns."""
    if view.schema is None:
        return 0.5 * (low + high)
    columns = view.schema.grids.columns
    return np.stack([middle(grid, low[:, j], high[:, j]) for j, grid in enumerate(columns)], axis=1)
