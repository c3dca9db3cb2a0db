"""Score residual: what own columns do not explain of the scores is the partner's doing (ours).

Of an additive model the log-odds are own part plus partner's part, so what a regression on own columns
leaves is the partner's part, as far as it does not go with own columns: people are put in order by it.
No model is needed, and nobody is known. Which end of the order is which stays open, one bit for the
whole table, and a partner who knows what the column means has it. So there are two attacks: higher scores
are taken for higher values, or for lower ones. Else a word would go by which class is written first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.additive import log_ratios
from whatleaks.models.ridge import fitted
from whatleaks.threat.grants import Ranges
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import PredictionView

ENOUGH = 2  # records for each own column: with fewer, a ridge chosen by leaving records out
NOTHING = 1e-9  # of the scores' spread: what is left is rounding


@attack(
    "score-residual",
    title="What own columns do not explain of the scores, as an order of people",
    paper="whatleaks",
    needs="its own columns and scores",
    again=False,
)
@attack(
    "score-residual-falling",
    title="The same order of people, higher scores taken for lower values",
    paper="whatleaks",
    needs="its own columns and scores",
    again=False,
    settings={"falling": True},
)
@travels
@dataclass(frozen=True)
class ScoreResidual:
    """Every unknown column gets the same answer: the residual, brought to the column's range.

    ``falling``: turned round. The rising one names this as the other answer.
    """

    falling: bool = False

    @property
    def name(self) -> str:
        """The attack and its convention."""
        return "score-residual-falling" if self.falling else "score-residual"

    def infer(self, view: PredictionView, rng: np.random.Generator) -> ValueGuess:
        """Regress the log-ratios of all records on their own columns."""
        del rng
        return in_order(view, log_ratios(view.scores), self.falling)


class Seen(Protocol):
    """What an order of people is made from beside what was released."""

    @property
    def own(self) -> Floats:
        """The own columns of the records under attack."""

    @property
    def unknown(self) -> int:
        """How many columns are asked for."""

    @property
    def ranges(self) -> Ranges | None:
        """Their public ranges, where they are granted."""


def in_order(view: Seen, told: Floats, falling: bool) -> ValueGuess:
    """Put people in the order of what own columns do not explain of ``told``, within the columns' ranges."""
    return placed(view, along_main_direction(unexplained(view.own, told)), falling)


def placed(view: Seen, place: Floats, falling: bool) -> ValueGuess:
    """Answer places from 0 to 1 as values within the columns' ranges."""
    low, high = (0.0, 1.0) if view.ranges is None else (view.ranges.low, view.ranges.high)
    values = low + np.repeat(place[:, None], view.unknown, axis=1) * (np.asarray(high) - low)
    turned = sealed(np.asarray(high) + low - values)
    return ValueGuess(turned) if falling else ValueGuess(sealed(values), (turned,))


def unexplained(own: Floats, ratios: Floats) -> Floats:
    """Return what a linear regression on own columns leaves of the ratios; zero if that is rounding."""
    centred = ratios - ratios.mean(axis=0) if len(ratios) else ratios
    if len(own) >= ENOUGH * (own.shape[1] + 1):
        inputs = own - own.mean(axis=0)
        left = centred - inputs @ np.linalg.lstsq(inputs, centred, rcond=None)[0]
    elif len(own) > 2:
        left = ratios - fitted(own, ratios)(own)
    else:
        left = centred
    return above_rounding(left, centred)


def above_rounding(left: Floats, told: Floats) -> Floats:
    """Return what is left of what was told; zero if that is rounding."""
    size = float(np.abs(told).max(initial=0.0))
    return np.where(np.abs(left).max(initial=0.0) > NOTHING * size, left, 0.0)


def along_main_direction(left: Floats) -> Floats:
    """Return every record's place from 0 to 1 along the direction in which residuals differ most.

    Of two classes there is one ratio and one direction. Its sign: towards later classes.
    """
    if not left.any():
        return np.full(len(left), 0.5)
    direction = np.linalg.svd(left, full_matrices=False)[2][0]
    # A sum of exactly zero is turned by the last ratio, so that equal residuals give equal answers.
    sign = direction.sum() if abs(direction.sum()) > NOTHING else direction[-1]
    along = left @ (direction if sign > 0.0 else -direction)
    return np.asarray((along - along.min()) / (along.max() - along.min()))
