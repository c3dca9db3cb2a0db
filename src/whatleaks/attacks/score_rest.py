"""Score rest: what the own part of the model does not explain of the scores is the partner's part (ours).

Where a model adds parts up, every party keeps its own: log-odds less own part are the partner's part
itself. ``score-residual`` regresses on own columns, and throws away what the partner's columns have in
common with them; here it stays. What the partner's own weights are stays open, so this is an order of
people too, and there are two attacks. Of one column in equal steps (an age, a count, yes or no) the
order tells more: the partner's part comes in the same steps, so people's values are counted off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.score_residual import above_rounding, along_main_direction, placed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.additive import adjacent_differences, log_ratios
from whatleaks.models.grids import Grid
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import PredictionView

OFF = 1e-3  # of a step: so near must everybody lie
FEW = 32  # people
ENDS = 0.05  # of people stand at either end of an order


@attack(
    "score-rest",
    title="What the own part of the model does not explain of the scores, as an order of people",
    paper="whatleaks",
    needs="scores and its own part of the model",
    again=False,
)
@attack(
    "score-rest-falling",
    title="The same order of people, larger parts taken for lower values",
    paper="whatleaks",
    needs="scores and its own part of the model",
    again=False,
    settings={"falling": True},
)
@travels
@dataclass(frozen=True)
class ScoreRest:
    """Where parts are not added up nothing can be taken off, and everybody gets the same answer.

    Scores as they are would put people in the order of their own columns.
    ``falling``: turned round, as in ``score-residual``.
    """

    falling: bool = False

    @property
    def name(self) -> str:
        """The attack and its convention."""
        return "score-rest-falling" if self.falling else "score-rest"

    def infer(self, view: PredictionView, rng: np.random.Generator) -> ValueGuess:
        """Take the own part off the log-ratios of all records."""
        del rng
        told = log_ratios(view.scores)
        if view.own_part is None:
            rest = np.zeros_like(told)
        else:
            rest = told - adjacent_differences(view.own_part.logits(view.own))
            rest = above_rounding(rest - rest.mean(axis=0), told)
        place = along_main_direction(rest)
        if view.unknown == 1 and view.schema is not None:
            grid = view.schema.grids.columns[0]
            either = [counted_off(one, grid) for one in (place, 1.0 - place)]
            if either[0] is not None and either[1] is not None:
                values, turned = (sealed(one[:, None]) for one in either if one is not None)
                return ValueGuess(turned) if self.falling else ValueGuess(values, (turned,))
        return placed(view, place, self.falling)


def counted_off(place: Floats, grid: Grid) -> Floats | None:
    """Return the values of a column in equal steps from places in its order; None if these fit no steps.

    The fewest steps on which everybody stands are taken; several at a time where these fill the column
    (amounts in fifties). Where they do not, nobody here stands at one of its ends: that is likelier the
    one towards which people thin out, so steps are counted from the other. A count that starts at zero
    starts there.
    """
    most = grid.levels - 1
    seen = np.unique(place)
    if grid.values or len(seen) < 2:
        return None
    steps = 1  # the least common denominator of a few places: of places on no steps it soon is too large
    for one in seen[:: len(seen) // FEW + 1].tolist():
        steps = math.lcm(steps, Fraction(one).limit_denominator(max(most, 1)).denominator)
    if steps > most or np.abs(seen * steps - np.rint(seen * steps)).max() > OFF:
        return None
    each = 1 if most % steps else most // steps
    low, high = np.quantile(place, [ENDS, 1.0 - ENDS])
    above = 0 if low <= 1.0 - high else most - steps * each
    return np.asarray(grid.low + grid.step * (np.rint(place * steps) * each + above))
