"""The correct branching rate: how many of the target's tests a guessed path answers right.

The definition (U sections III-C and VI-A leave it to words; this is ours, in one place):

- A guess is a path. Its passive nodes are the tests on it that belong to the target party.
- A passive node is right if the record's true value goes the same way there as the path,
  whether or not the record really comes by this node.
- A record's rate is the share of right ones among the passive nodes of its guessed path. The
  rate of a guess is the mean over records, with an interval over records.
- The pooled rate divides all right nodes by all passive nodes, so a long path counts for more.
  The authors' published program prints this one; use it beside the paper's figures.
- A record whose guessed path has no passive node has nothing to be right about. It is left
  out of the mean, and the count of those left in is the measurement's ``n``. It adds nothing
  to either sum of the pooled rate.
- The baseline is the same rate for paths drawn uniformly from the whole tree (U VI-A).

Values can be guessed instead of paths (U Fig 8, forests): the guessed path of a tree is then
the one that the own columns and the guessed values take, and a record's passive nodes are
those of all trees together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.errors import UsageError
from whatleaks.metrics.intervals import mean_over_records, paired_difference, ratio_over_records
from whatleaks.metrics.measurement import Measurement
from whatleaks.models.tree import Tree

UNIT = "correct branching rate"


def count_branches(tree: Tree, leaf: Ints, truth: Floats) -> tuple[Ints, Ints]:
    """Return per record the passive nodes on the path to ``leaf`` and how many of them are right.

    ``truth`` holds the passive columns only: no other test is counted.
    """
    leaves = tree.leaf_nodes
    place = np.searchsorted(leaves, leaf)
    if (place >= len(leaves)).any() or not np.array_equal(leaves[place], leaf):
        raise UsageError("a guessed path ends at a node that is no leaf of the tree")
    theirs = np.flatnonzero(tree.passive)
    ways = tree.routes()[:, theirs]
    nodes = (ways != 0).sum(axis=1)[place]
    right = np.zeros(len(leaf), dtype=np.int64)
    columns = np.ascontiguousarray(truth.T)
    for node, way in zip(theirs, ways.T, strict=True):
        left = columns[tree.feature[node] - tree.active_columns] <= tree.threshold[node]
        right += way[place] == np.where(left, 1, -1)
    return nodes, right


def count_value_branches(
    trees: Sequence[Tree], own: Floats, guess: Floats, truth: Floats
) -> tuple[Ints, Ints]:
    """Count the same for guessed values: each tree's path is where the guessed record goes."""
    joined = np.concatenate([own, guess], axis=1)
    nodes = np.zeros(len(own), dtype=np.int64)
    right = np.zeros(len(own), dtype=np.int64)
    for tree in trees:
        more, good = count_branches(tree, tree.leaves(joined), truth)
        nodes += more
        right += good
    return nodes, right


def branching_rate(nodes: Ints, right: Ints, rng: np.random.Generator) -> Measurement:
    """Average the records' rates; ``n`` counts the records whose path has a passive node."""
    counted = nodes > 0
    if counted.sum() < 2:
        raise UsageError(
            f"{counted.sum()} of {len(nodes)} guessed paths test a passive column: "
            "there is no branching rate to speak of"
        )
    return mean_over_records(right[counted] / nodes[counted], UNIT, rng)


def pooled_branching_rate(nodes: Ints, right: Ints, rng: np.random.Generator) -> Measurement:
    """Divide all right nodes by all passive nodes of the guessed paths; the interval is over records."""
    if not nodes.any():
        raise UsageError("no guessed path tests a passive column: there is no branching rate")
    return ratio_over_records(right, nodes, f"pooled {UNIT}", rng)


def branching_advantage(
    nodes: Ints, right: Ints, base_nodes: Ints, base_right: Ints, rng: np.random.Generator
) -> Measurement:
    """Average rate minus baseline's rate over the records where both paths have a passive node."""
    both = (nodes > 0) & (base_nodes > 0)
    if both.sum() < 2:
        raise UsageError(
            f"{both.sum()} of {len(nodes)} records have a passive node on both guessed paths: "
            "there is nothing to compare"
        )
    return paired_difference(
        right[both] / nodes[both], base_right[both] / base_nodes[both], UNIT, rng
    )
