"""The evaluator: the sole holder of the truth. One guess per attack, then the score.

What leaves it are squared errors. Nothing flows back into an attack: a second guess under
the same name is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.auditor.isolation import Committed
from whatleaks.auditor.limit import predict_from_evidence
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.metrics.branching import count_branches, count_value_branches
from whatleaks.metrics.reconstruction import spread, squared_errors
from whatleaks.models.tree import Tree
from whatleaks.threat.guess import BranchGuess, Guess, ValueGuess


@travels
@dataclass(frozen=True)
class Scored:
    """One guess against the truth: records x columns. Errors and deviations, not values.

    ``squared``: the squared error. ``together``: the product of the guess's and the truth's
    deviations from their column means. ``moved``: the guess's squared deviation.
    """

    name: str
    role: str
    squared: Floats
    together: Floats
    moved: Floats
    alternatives: int
    best_alternative: float
    seconds: float
    isolated: bool
    settings: dict[str, str | int | float | bool]


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
    isolated: bool


class Evaluator:
    """Holds the truth of the target records and of other records for the limit."""

    def __init__(self, truth: Floats, other_truth: Floats) -> None:
        self.__truth = sealed(truth)
        self.__other = sealed(other_truth)
        self.__heard: dict[str, Guess] = {}

    def spread(self) -> Floats:
        """Return the targets' squared distances from their columns' means."""
        return spread(self.__truth)

    def score(self, committed: Committed, role: str) -> Scored:
        """Score the one answer of an attack or a baseline."""
        self._hear(committed)
        guess = committed.guess
        if not isinstance(guess, ValueGuess):
            raise AttackError(f"{committed.name} guessed no values: score it by its own metric")
        if guess.values.shape != self.__truth.shape:
            raise AttackError(
                f"{committed.name} guessed {guess.values.shape[0]} x {guess.values.shape[1]} values, "
                f"the truth has {self.__truth.shape[0]} x {self.__truth.shape[1]}"
            )
        tables = (guess.values, *guess.alternatives)
        return self._scored(
            committed.name,
            role,
            guess.values,
            len(guess.alternatives),
            min(float(((table - self.__truth) ** 2).mean()) for table in tables),
            committed.seconds,
            committed.isolated,
            committed.settings,
        )

    def score_branches(self, committed: Committed, role: str, model: Tree) -> BranchScored:
        """Score the one answer of an attack that guesses paths through ``model``."""
        self._hear(committed)
        guess = committed.guess
        if not isinstance(guess, BranchGuess):
            raise AttackError(f"{committed.name} guessed no paths: score it by its own metric")
        if len(guess.leaf) != len(self.__truth):
            raise AttackError(
                f"{committed.name} guessed paths for {len(guess.leaf)} records, "
                f"the truth has {len(self.__truth)}"
            )
        nodes, right = count_branches(model, guess.leaf, self.__truth)
        return BranchScored(
            committed.name,
            role,
            sealed_ints(nodes),
            sealed_ints(right),
            sealed_ints(guess.candidates),
            committed.seconds,
            committed.isolated,
        )

    def branches_of_values(
        self, committed: Committed, role: str, trees: Sequence[Tree], own: Floats
    ) -> BranchScored:
        """Score the branches that an already scored guess of values takes (U Fig 8).

        ``own`` are the adversary's columns of the targets: with the guessed values they take
        one path through each tree.
        """
        guess = committed.guess
        if self.__heard.get(committed.name) is not guess or not isinstance(guess, ValueGuess):
            raise AttackError(f"score the values of {committed.name} first, then their branches")
        nodes, right = count_value_branches(trees, own, guess.values, self.__truth)
        return BranchScored(
            committed.name,
            role,
            sealed_ints(nodes),
            sealed_ints(right),
            sealed_ints(np.ones(len(nodes))),
            committed.seconds,
            committed.isolated,
        )

    def _hear(self, committed: Committed) -> None:
        if committed.name in self.__heard:
            raise AttackError(f"{committed.name} has already answered: one guess, then the score")
        self.__heard[committed.name] = committed.guess

    def _scored(
        self,
        name: str,
        role: str,
        values: Floats,
        alternatives: int,
        best_alternative: float,
        seconds: float,
        isolated: bool,
        settings: dict[str, str | int | float | bool],
    ) -> Scored:
        guessed = values - values.mean(axis=0)
        return Scored(
            name,
            role,
            squared_errors(values, self.__truth),
            sealed(guessed * (self.__truth - self.__truth.mean(axis=0))),
            sealed(guessed**2),
            alternatives,
            best_alternative,
            seconds,
            isolated,
            settings,
        )

    def limit(
        self,
        evidence: Floats,
        other_evidence: Floats,
        rng: np.random.Generator,
        role: str = "limit",
    ) -> Scored:
        """Score the supervised regressor on the adversary's evidence.

        With ``role`` "alone" the evidence is the adversary's own columns: what somebody who
        knows other people's truth could say without any federation.
        """
        values = predict_from_evidence(evidence, self.__truth, other_evidence, self.__other, rng)
        error = float(((values - self.__truth) ** 2).mean())
        return self._scored(role, role, values, 0, error, 0.0, False, {})

    def relative_errors(self, committed: Committed) -> tuple[float, float]:
        """Return mean error over mean size (Li et al. 6.2), for one guess as for any score.

        The first is that of the committed table, the second that of the best among the tables
        which the attack says fit equally well.
        """
        self._hear(committed)
        guess = committed.guess
        if not isinstance(guess, ValueGuess):
            raise AttackError(f"{committed.name} guessed no values: score it by its own metric")
        size = float(np.abs(self.__truth).mean())
        errors = [
            float(np.abs(table - self.__truth).mean()) / size
            for table in (guess.values, *guess.alternatives)
        ]
        return errors[0], min(errors)

    def samples(
        self, committed: Committed, column: int, count: int
    ) -> tuple[tuple[float, float], ...]:
        """Return truth beside guess for a few records: only when the user asked to see values."""
        guess = committed.guess
        if self.__heard.get(committed.name) is not guess or not isinstance(guess, ValueGuess):
            raise AttackError(f"score the values of {committed.name} first, then show some")
        pairs = zip(self.__truth[:count, column], guess.values[:count, column], strict=True)
        return tuple((float(truth), float(value)) for truth, value in pairs)
