"""The evaluator: the sole holder of the truth. One guess per attack, then the score.

What leaves it are errors. Nothing flows back into an attack: a second guess under the same
name is refused. Which scorer takes a guess is decided by the guess's type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.errors import AttackError
from whatleaks.metrics.reconstruction import apart
from whatleaks.threat.guess import (
    BranchGuess,
    Guess,
    IntervalGuess,
    OutputGuess,
    PictureGuess,
    ValueGuess,
)
from whatleaks.trial.limit import predict_from_evidence
from whatleaks.trial.scorers.branches import BranchScored, branches_of_values, score_branches
from whatleaks.trial.scorers.intervals import IntervalScored, score_intervals
from whatleaks.trial.scorers.outputs import OutputScored, score_outputs
from whatleaks.trial.scorers.pictures import PictureScored, score_pictures
from whatleaks.trial.scorers.values import (
    Scored,
    named,
    named_by_commonest,
    relative_errors,
    score_values,
    scored_table,
)
from whatleaks.trial.truth import Committed, Truth

CONSTANT = "constant"  # name and role of whoever says the same of everybody
AnyScored = Scored | BranchScored | IntervalScored | OutputScored | PictureScored
SCORERS: dict[type[Any], Callable[[Committed, str, Truth], AnyScored]] = {
    ValueGuess: score_values,
    BranchGuess: score_branches,
    IntervalGuess: score_intervals,
    OutputGuess: score_outputs,
    PictureGuess: score_pictures,
}


class Evaluator:
    """Holds the truth of the target records and of other records for the limit."""

    def __init__(self, truth: Truth) -> None:
        self.__truth = truth
        self.__heard: dict[str, Guess] = {}

    def apart(self) -> Floats:
        """Return the targets' distances from their columns' means."""
        return apart(self.__truth.values)

    def score(self, committed: Committed, role: str) -> AnyScored:
        """Score the one answer of an attack or a baseline."""
        if committed.name in self.__heard:
            raise AttackError(f"{committed.name} has already answered: one guess, then the score")
        scorer = SCORERS.get(type(committed.guess))
        if scorer is None:
            raise AttackError(
                f"{committed.name} returned {type(committed.guess).__name__}, which is no guess"
            )
        self.__heard[committed.name] = committed.guess
        return scorer(committed, role, self.__truth)

    def branches(self, committed: Committed, role: str) -> BranchScored:
        """Score the branches that an already scored guess of values takes (U Fig 8)."""
        self._scored_before(committed, "its branches")
        return branches_of_values(committed, role, self.__truth)

    def relative_errors(self, committed: Committed) -> tuple[float, float]:
        """Return the relative errors of an already scored guess: of its table, of the best that fits."""
        self._scored_before(committed, "its relative error")
        return relative_errors(committed, self.__truth.values)

    def attack_accuracy(
        self, committed: Committed, classifier: Callable[[Floats], Ints]
    ) -> tuple[int, int]:
        """Count the records of which guess and truth are classed alike (J Eq 24), and all."""
        guess = self._scored_before(committed, "its attack accuracy")
        same = classifier(guess.values) == classifier(self.__truth.values)
        return int(same.sum()), len(same)

    def error(self, committed: Committed) -> float:
        """Return the error of an answer that is a diagnostic: it stands beside no attack."""
        if not isinstance(committed.guess, ValueGuess):
            raise AttackError(f"{committed.name} guesses no values")
        return float(((committed.guess.values - self.__truth.values) ** 2).mean())

    def samples(
        self, committed: Committed, column: int, count: int
    ) -> tuple[tuple[float, float], ...]:
        """Return truth beside guess for a few records: only when the user asked to see values."""
        guess = self._scored_before(committed, "some of it")
        truth = self.__truth.values
        pairs = zip(truth[:count, column], guess.values[:count, column], strict=True)
        return tuple((float(true), float(value)) for true, value in pairs)

    def pictures(self, committed: Committed, count: int) -> tuple[Floats, Floats]:
        """Return truth and guess of a few records: only when the user asked to see them."""
        guess = self._scored_before(committed, "some of it")
        return sealed(self.__truth.values[:count]), sealed(guess.values[:count])

    def limit(
        self, evidence: Floats, others: Floats, rng: np.random.Generator, role: str = "limit"
    ) -> Scored:
        """Score the supervised regressor on the adversary's evidence.

        With ``role`` "alone" the evidence is the adversary's own columns: what somebody who
        knows other people's truth could say without any federation.
        """
        truth = self.__truth
        values = predict_from_evidence(evidence, truth.values, others, truth.others, rng)
        answer = Committed(role, ValueGuess(values), 0.0, "")
        error = float(((values - truth.values) ** 2).mean())
        made = scored_table(answer, role, values, truth.values, best=error)
        return replace(made, named=named(values, truth.values, truth.grids))

    def constant(self) -> Scored:
        """Score whoever says the same of everybody: the middle of a column, and to name its commonest value.

        What such a guess reaches nobody needs to be told. It holds no value: only where it is right.
        """
        values, grids = self.__truth.values, self.__truth.grids
        middle = np.broadcast_to(np.median(values, axis=0), values.shape)
        error = float(((middle - values) ** 2).mean())
        answer = Committed(CONSTANT, ValueGuess(sealed(middle)), 0.0, "")
        made = scored_table(answer, CONSTANT, sealed(middle), values, best=error)
        return replace(made, named=named_by_commonest(values, grids))

    def _scored_before(self, committed: Committed, what: str) -> ValueGuess:
        guess = committed.guess
        if self.__heard.get(committed.name) is not guess or not isinstance(guess, ValueGuess):
            raise AttackError(f"score the values of {committed.name} first, then {what}")
        return guess
