"""Guessed paths through a tree, or the paths that guessed values take, against the true ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Ints, sealed_ints
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.metrics.branching import count_branches, count_value_branches
from whatleaks.threat.guess import BranchGuess, ValueGuess
from whatleaks.trial.truth import Committed, Truth


@travels
@dataclass(frozen=True)
class BranchScored:
    """One guess of paths against the truth: per record the passive nodes on its path, the right ones.

    ``candidates``: how many paths the attack still held possible.
    """

    name: str
    role: str
    nodes: Ints
    right: Ints
    candidates: Ints
    seconds: float
    isolated: str


def score_branches(committed: Committed, role: str, truth: Truth) -> BranchScored:
    """Score paths through the one tree that was trained."""
    guess = committed.guess
    assert isinstance(guess, BranchGuess)
    if len(truth.trees) != 1:
        raise AttackError(
            f"{committed.name} guessed paths, but {len(truth.trees)} trees were grown"
        )
    if len(guess.leaf) != len(truth.values):
        raise AttackError(
            f"{committed.name} guessed paths for {len(guess.leaf)} records, "
            f"the truth has {len(truth.values)}"
        )
    nodes, right = count_branches(truth.trees[0], guess.leaf, truth.values)
    return _scored(committed, role, nodes, right, guess.candidates)


def branches_of_values(committed: Committed, role: str, truth: Truth) -> BranchScored:
    """Score the branches that guessed values take through all trees (U Fig 8)."""
    guess = committed.guess
    assert isinstance(guess, ValueGuess)
    nodes, right = count_value_branches(truth.trees, truth.own, guess.values, truth.values)
    return _scored(committed, role, nodes, right, np.ones(len(nodes), dtype=np.int64))


def _scored(
    committed: Committed, role: str, nodes: Ints, right: Ints, candidates: Ints
) -> BranchScored:
    return BranchScored(
        committed.name,
        role,
        sealed_ints(nodes),
        sealed_ints(right),
        sealed_ints(candidates),
        committed.seconds,
        committed.isolated,
    )
