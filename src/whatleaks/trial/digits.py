"""How many digits of a score tell whole records: lattice decoding on scores cut ever shorter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import guesser
from whatleaks.defenses.rounding import Rounding
from whatleaks.errors import AttackError
from whatleaks.models.bits_rule import Bits, bits_of
from whatleaks.models.precision import Precision, decimals, float64
from whatleaks.seeds import Streams
from whatleaks.trial.evaluator import Evaluator
from whatleaks.trial.isolation import commit
from whatleaks.trial.outcome import Quantity
from whatleaks.trial.scorers.values import Scored

DECODER = "lattice-decoding"
DIGITS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
WHOLE = 16  # digits of a double
LOOKED_AT = 20  # records whose bits are averaged


def named_by_digits(
    view: Any, evaluator: Evaluator, streams: Streams
) -> tuple[dict[str, Quantity], list[str]]:
    """Return how many records have every column with a grid named, for each number of digits.

    Nothing where no column has a grid, or where free columns take up all equations.
    """
    grids = None if view.schema is None else view.schema.grids
    places = [] if grids is None else [j for j, g in enumerate(grids.columns) if not g.free]
    if grids is None or not places:
        return {}, []
    released, named, hidden = [], [], 0.0
    for digits in (*DIGITS, WHOLE):
        whole = digits == WHOLE
        attack = guesser(DECODER).build(**({} if whole else {"cut": digits}))
        shown = view if whole else replace(view, scores=_cut(view.scores, digits))
        try:
            bits = _bits(attack, shown, float64() if whole else decimals(digits))
            if bits[0].short:
                return {}, []
            answer = commit(attack, shown, streams.rng(f"digits/{digits}"))
        except AttackError as refused:
            return {}, [f"digits: {refused}"]
        scored = evaluator.score(replace(answer, name=f"{DECODER} {digits} digits"), "digits")
        assert isinstance(scored, Scored)
        named.append(float(scored.named[:, places].all(axis=1).sum()))
        released.append(float(np.mean([one.released for one in bits])))
        hidden = bits[0].hidden
    return {
        "digits": [float(digits) for digits in (*DIGITS, WHOLE)],
        "digits named": list(named),
        "digits released": released,
        "digits hidden": hidden,
        "digits columns": [float(j) for j in places],
    }, []


def _cut(scores: Any, digits: int) -> Any:
    return sealed(Rounding(digits).release(scores, np.random.default_rng(0)))


def _bits(attack: Any, view: Any, precision: Precision) -> list[Bits]:
    scores = view.scores
    if precision.absolute:
        scores = np.minimum(scores + precision.absolute, 1.0)
    grids = view.schema.grids
    rows = slice(0, LOOKED_AT)
    readings = attack.readings(view.own[rows], scores[rows], view.model, grids, precision)
    return [bits_of(readings, grids, row) for row in range(len(readings))]
