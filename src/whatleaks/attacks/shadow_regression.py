"""What known people tell about everybody: regressions on them and on a linear shadow, weighed.

Not in the paper, whose black box (``shadow_inversion``) guesses every target from its scores
alone and throws the known people away once the shadow stands. Here they are used twice: as a
shadow, and as a picture of what columns look like. Each candidate is a rule from own columns and
scores to passive columns; how far each is trusted is decided column by column, by leaving known
people out. Nothing else is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from whatleaks.arrays import Bools, Floats, sealed
from whatleaks.attacks.possible_values import snapped_where_nearer
from whatleaks.attacks.searched_before import searched_before
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.additive import adjacent_differences, log_ratios
from whatleaks.models.ridge import FEWEST, fitted, learnt
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known import KnownView

MOST_FOLDS = 25  # with more known people they are left out in groups
KEPT = (
    MOST_FOLDS + 1
)  # sets of known people whose answers are remembered: all, and without each group


@dataclass(frozen=True)
class _People:
    """Own columns, log ratios, and what of the log ratios the own part does not explain."""

    own: Floats
    ratios: Floats
    rest: Floats

    def of(self, rows: Bools) -> _People:
        return _People(self.own[rows], self.ratios[rows], self.rest[rows])


Rule = Callable[[_People, Floats, _People], Floats]


def _from_own(known: _People, wanted: Floats, asked: _People) -> Floats:
    return learnt(known.own, wanted, asked.own)


def _from_scores(known: _People, wanted: Floats, asked: _People) -> Floats:
    return learnt(_beside(known.own, known.ratios), wanted, _beside(asked.own, asked.ratios))


def _from_rest(known: _People, wanted: Floats, asked: _People) -> Floats:
    return learnt(known.rest, wanted, asked.rest)


def _from_own_and_rest(known: _People, wanted: Floats, asked: _People) -> Floats:
    return learnt(_beside(known.own, known.rest), wanted, _beside(asked.own, asked.rest))


def _through_shadow(known: _People, wanted: Floats, asked: _People) -> Floats:
    """Correct the guess from own columns by what a linear shadow of the partner says (J Eq 21).

    The shadow maps passive columns to the rest. With P the covariance of what own columns leave
    open and R the shadow's error, the best linear correction of a guess g is
    P A' (A P A' + R)^-1 (rest - A g - b).
    """
    width = wanted.shape[1]
    copied = fitted(wanted, known.rest)
    base, matrix = copied(np.zeros((1, width)))[0], copied.slope.T
    missed = wanted - _left_out_of_own(known.own, wanted)
    missed = (missed - missed.mean(axis=0)) / np.sqrt(len(missed) - 1)
    weight = width / (width + len(wanted))  # few people: columns are taken as unrelated
    own_spread = weight * np.square(missed).sum(axis=0) + 1e-9
    # A P, without P itself: it has as many rows as there are columns.
    reached = (1 - weight) * (matrix @ missed.T) @ missed + matrix * own_spread
    off = known.rest - _left_out(wanted, known.rest)
    error = np.diag((off**2).mean(axis=0) + 1e-9)
    gain = np.linalg.solve(reached @ matrix.T + error, reached).T
    guess = learnt(known.own, wanted, asked.own)
    return np.asarray(guess + (asked.rest - base - guess @ matrix.T) @ gain.T)


def _left_out(inputs: Floats, wanted: Floats) -> Floats:
    """Return each known record's answer from the others, in at most ten groups.

    Groups of one size are fitted at once: one at a time, calls take longer than arithmetic.
    """
    found = np.empty_like(wanted)
    everybody, groups = np.arange(len(inputs)), min(len(inputs), 10)
    folds = [everybody[i::groups] for i in range(groups)]
    for size in {len(fold) for fold in folds}:
        out = np.array([fold for fold in folds if len(fold) == size])
        rest = np.array([np.delete(everybody, fold) for fold in out])
        found[out] = learnt(inputs[rest], wanted[rest], inputs[out])
    return found


def _left_out_of_own(own: Floats, wanted: Floats) -> Floats:
    """Do so from own columns: whatever scores are released, these answers are the same."""
    return searched_before(("left out", own, wanted), lambda: _left_out(own, wanted), KEPT)


def _folds(records: int, most: int) -> list[Bools]:
    """Return which records each group holds, as masks."""
    groups = np.arange(records) % min(records, most)
    return [groups == i for i in range(min(records, most))]


def _beside(*parts: Floats) -> Floats:
    return np.concatenate(parts, axis=1)


RULES: tuple[Rule, ...] = (
    _from_own,
    _from_scores,
    _from_rest,
    _from_own_and_rest,
    _through_shadow,
)


@attack(
    "shadow-regression",
    title="Regressions on known people and a linear shadow, weighed by leaving people out",
    paper="whatleaks, after Jiang et al. 2022",
    needs="its own columns, scores, and complete records of some people",
)
@travels
@dataclass(frozen=True)
class ShadowRegression:
    """The weights are not negative and fitted to the answers on people who were left out.

    Every rule's answer is moved into the columns' public range: few people extrapolate badly. The
    weighed answers are moved to values that the schema allows, where that meets the people who were
    left out better.
    """

    name: str = "shadow-regression"

    def infer(self, view: KnownView, rng: np.random.Generator) -> ValueGuess:
        """Weigh the rules on the known people, then answer for the targets."""
        del rng
        known = _people(view, view.auxiliary.own, view.auxiliary.released)
        asked = _people(view, view.own, view.scores)
        truth = np.asarray(view.auxiliary.passive)
        # Without an own part to take away the rest is the ratios themselves: both rules are one.
        rules = RULES if view.own_part is not None else RULES[:2]
        low, high = _range(view)
        answers = np.stack([np.clip(rule(known, truth, asked), low, high) for rule in rules])
        if len(truth) <= FEWEST + 1:  # nobody to leave out
            return ValueGuess(sealed(answers.mean(axis=0)))
        tried = np.empty((len(rules), *truth.shape))
        for fold in _folds(len(truth), MOST_FOLDS):
            left = known.of(~fold)
            for i, rule in enumerate(rules):
                tried[i][fold] = np.clip(rule(left, truth[~fold], known.of(fold)), low, high)
        values, left_out = np.empty((len(view.own), view.unknown)), np.empty_like(truth)
        for j in range(view.unknown):
            weights = _weights(tried[:, :, j].T, truth[:, j])
            values[:, j] = weights @ answers[:, :, j]
            left_out[:, j] = weights @ tried[:, :, j]
        return ValueGuess(sealed(snapped_where_nearer(values, left_out, truth, view)))


def _range(view: KnownView) -> tuple[Floats, Floats]:
    """Return the columns' public ranges; where there are none, nothing is out of range."""
    if view.ranges is None:
        return np.full(view.unknown, -np.inf), np.full(view.unknown, np.inf)
    return view.ranges.low, view.ranges.high


def _weights(answers: Floats, truth: Floats) -> Floats:
    """Return weights of sum one, not negative, that fit people who were left out."""
    scale = 1e3 * max(1.0, float(np.abs(answers).max()))  # the sum is held by a heavy equation
    ones = np.full((1, answers.shape[1]), scale)
    found: Floats = nnls(np.concatenate([answers, ones]), np.append(truth, scale))[0]
    total = float(found.sum())
    return found / total if total > 0 else np.full(answers.shape[1], 1 / answers.shape[1])


def _people(view: KnownView, own: Floats, scores: Floats) -> _People:
    ratios = log_ratios(scores)
    if view.own_part is None:
        return _People(own, ratios, ratios)
    return _People(own, ratios, ratios - adjacent_differences(view.own_part.logits(own)))
