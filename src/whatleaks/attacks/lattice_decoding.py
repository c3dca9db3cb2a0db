"""Lattice decoding: released scores are equations in whole numbers (ours; in none of the papers).

Where the scores carry more bits than the unknown columns hold, the record is read exactly and
proven to be the only one. Where they do not, the answer is the posterior's mean or mode over the
grid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.errors import AttackError, UsageError
from whatleaks.models.additive import Additive
from whatleaks.models.grid_posterior import posterior
from whatleaks.models.grid_priors import Prior, auxiliary_prior, flat_prior, frequency_prior
from whatleaks.models.grids import Grids
from whatleaks.models.lattice import CANNOT, NONE, UNIQUE, LatticeSettings, decode
from whatleaks.models.linear import Linear
from whatleaks.models.precision import LAST_PLACES, Precision, decimals, seen_precision
from whatleaks.models.purifier import copy_of_purifier, undone
from whatleaks.models.readings import Readings, score_readings
from whatleaks.threat.grants import Auxiliary
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxLinearView

DEFAULT = LatticeSettings()


WEAK = 6.0  # deviations of noise
SINGLE = LAST_PLACES * 2.0**-24
PRIORS = ("none", "frequencies", "auxiliary")


def decoded(
    readings: Readings,
    grids: Grids,
    believed: Prior,
    settings: LatticeSettings = DEFAULT,
    answer: str = "mean",
) -> tuple[Floats, Ints]:
    """Return every record's values and status: the point that fits, else the posterior's answer."""
    found = decode(readings, grids, settings)
    values = found.values.copy()
    # One point fits and less than one more is expected: nothing better is to be had. A free
    # column that is solved from coarse scores can be anywhere: there the prior counts.
    alone = (found.fits == 1) & (found.luck < 0.0) & (not grids.free)
    still = np.flatnonzero((found.status != UNIQUE) & ~alone)
    if len(still):
        weighed = posterior(readings.pick(still), grids, believed.pick(still), settings)
        values[still] = weighed.mean if answer == "mean" else weighed.mode
    return values, found.status


@attack(
    "lattice-decoding",
    title="Lattice decoding: exact scores as equations in whole numbers",
    paper="whatleaks",
    needs="exact scores, the whole linear model, and what values the columns can take",
)
@travels
@dataclass(frozen=True)
class LatticeDecoding:
    """``prior``: what is used of granted auxiliary records; ``answer``: mean or mode.

    ``noise``: the deviation of noise added to the scores, where the defense is public. ``cut``:
    after how many digits the scores are cut off (not rounded), where that is; -1: they are not.
    ``purifier``: what the autoencoder was trained on that they passed, which is undone where it can be.
    """

    prior: str = "none"
    answer: str = "mean"
    noise: float = 0.0
    cut: int = -1
    purifier: str = ""
    settings: LatticeSettings = DEFAULT

    def __post_init__(self) -> None:
        """Refuse settings with no meaning."""
        if self.prior not in PRIORS:
            raise UsageError(f"lattice decoding's prior is one of {PRIORS}, got {self.prior!r}")
        if self.answer not in ("mean", "mode"):
            raise UsageError(f"lattice decoding answers mean or mode, got {self.answer!r}")
        if not 0.0 <= self.noise <= 1.0:
            raise UsageError(f"noise on scores is a deviation from 0 to 1, got {self.noise}")

    @property
    def name(self) -> str:
        """Lattice decoding under its prior."""
        return "lattice-decoding" + ("" if self.prior == "none" else f"-{self.prior}")

    def infer(self, view: WhiteBoxLinearView, rng: np.random.Generator) -> ValueGuess:
        """Decode every record; the precision is read off the scores themselves."""
        del rng
        if view.schema is None:
            raise AttackError("lattice decoding needs the schema: what values a column can take")
        grids = view.schema.grids
        # A view with auxiliary records is one of these and has them besides.
        prior = self._prior(grids, view.own, getattr(view, "auxiliary", None))
        scores = view.scores
        copied = copy_of_purifier(self.purifier, view.model, view.own, view.unknown)
        scores = scores if copied is None else undone(copied, scores)
        if self.cut >= 0:  # a score that is cut off stands half a step below its middle
            scores = np.minimum(scores + 0.5 * 10.0**-self.cut, 1.0)
        fine = seen_precision(scores) if self.cut < 0 else decimals(self.cut)
        # Scores may look finer than the arithmetic behind them: a model in 32-bit floats. Then
        # no point fits most records, and coarser equations are tried.
        coarse = Precision(max(fine.relative, SINGLE), fine.absolute, 2.0**-24)
        answers = []
        for precision in (fine, coarse):
            values, status = self.decode(view.own, scores, view.model, grids, precision, prior)
            answers.append((int((status == NONE).sum()), values))
            if 2 * answers[-1][0] <= len(values):
                break
        return ValueGuess(sealed(min(answers, key=lambda answer: answer[0])[1]))

    def decode(
        self,
        own: Floats,
        scores: Floats,
        model: Additive,
        grids: Grids,
        precision: Precision,
        prior: Prior | None = None,
    ) -> tuple[Floats, Ints]:
        """Return the values of every record and its status (see ``models.lattice``)."""
        believed = prior or flat_prior(grids)
        if self.noise * np.sqrt(3.0) >= 1.0:
            raise AttackError(f"noise of {self.noise:g} on scores leaves nothing to decode")
        if self.noise:  # no interval bounds normal noise: all points are weighed, none is proven
            wide = Precision(
                precision.relative,
                precision.absolute + self.noise * float(np.sqrt(3.0)),
                precision.arithmetic,
            )
            readings = self.readings(own, scores, model, grids, wide)
            # A score within a few deviations of zero may stand for any smaller one.
            weak = scores < WEAK * self.noise
            readings = replace(
                readings,
                low=np.where(weak, -np.inf, readings.low),
                high=np.where(weak, np.log(scores + WEAK / 2 * self.noise), readings.high),
            )
            weighed = posterior(readings, grids, believed, self.settings, noisy=True)
            values = weighed.mean if self.answer == "mean" else weighed.mode
            return values, np.full(len(values), CANNOT, dtype=np.int64)
        readings = self.readings(own, scores, model, grids, precision)
        return decoded(readings, grids, believed, self.settings, self.answer)

    def readings(
        self, own: Floats, scores: Floats, model: Additive, grids: Grids, precision: Precision
    ) -> Readings:
        """Write down what the scores say of the model's outputs."""
        if not isinstance(model.passive, Linear):
            raise AttackError(
                "a lattice needs unknown columns that enter linearly: attack others by inversion"
            )
        return score_readings(own, scores, model.active, model.passive, grids, precision)

    def _prior(self, grids: Grids, own: Floats, known: Auxiliary | None) -> Prior:
        if self.prior == "none":
            return flat_prior(grids)
        if known is None or not len(known.own):
            raise AttackError(f"the prior {self.prior!r} needs auxiliary records: none are granted")
        if self.prior == "frequencies":
            return frequency_prior(grids, known.passive)
        return auxiliary_prior(grids, own, known.own, known.passive)
