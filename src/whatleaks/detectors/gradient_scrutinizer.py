"""Gradients Scrutinizer (Fu et al. 2023), in a vertical federation as in Yao et al. VI-B.

Under honest training the gradients of records with one label point the same way, those of
different labels do not; a hijacker that ignores labels shows no such gap. For every batch the
mean and the deviation of the similarities between all pairs are kept, same label and different
label apart. From the whole course follow three numbers:

- gap g = (same - different) / (same + different) of the last batch;
- fit error e: how far both courses of means lie from their parabolas, root mean square;
- overlap v of the two bands mean +- deviation: (different's top - same's bottom) over
  (same's top - different's bottom), 0 where the bands are apart.

Score = sigmoid(6 (sign(g) |g|^0.2 * -log(9 e + e^-3) * -log(v + e^-1) - 0.7)), the constants of
Yao et al.'s public code (their text gives none). Its mean over the last scores is compared with
0.8.

Deviations: similarity is (1 + cosine) / 2, as in Fu et al., so that the gap's denominator cannot
be zero or negative (Yao et al.'s code has the bare cosine); a record is not compared with
itself. A passive party of a vertical federation holds no labels: they must be given to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from whatleaks.arrays import Floats, Ints
from whatleaks.catalog import detector
from whatleaks.detectors.protocol import (
    Continue,
    Detector,
    DetectorGrant,
    Probe,
    Received,
    Signal,
    Watch,
)
from whatleaks.detectors.recent_mean import RecentMean
from whatleaks.errors import UsageError

SPAN = 6.0  # how steep the sigmoid is
BORDER = 0.7
ERRORS = 9.0  # weight of the fit error
ROOT = 0.2  # of the gap


def similarities(gradients: Floats, labels: Ints) -> tuple[Floats, Floats]:
    """Return the similarities of all pairs of records: with the same label, with different ones.

    A record whose gradient is zero points nowhere and is in no pair.
    """
    lengths = np.linalg.norm(gradients, axis=1)
    points = lengths > 0.0
    unit = gradients[points] / lengths[points, None]
    known = labels[points]
    one, other = np.triu_indices(len(unit), k=1)
    alike = (1.0 + np.clip((unit @ unit.T)[one, other], -1.0, 1.0)) / 2.0
    same = known[one] == known[other]
    return alike[same], alike[~same]


def fit_error(course: Floats) -> float:
    """Return how far a course lies from the parabola fitted to it, root mean square."""
    steps = np.linspace(-1.0, 1.0, len(course))
    fitted = np.polynomial.polynomial.polyfit(steps, course, 2)
    off = course - np.polynomial.polynomial.polyval(steps, fitted)
    return float(np.sqrt(np.mean(off**2)))


def overlap(same: float, same_deviation: float, other: float, other_deviation: float) -> float:
    """Return by how much the band of different labels reaches into that of the same label."""
    inside = (other + other_deviation) - (same - same_deviation)
    across = (same + same_deviation) - (other - other_deviation)
    return float(max(inside, 0.0) / (across + 1e-8)) if across > 0.0 else 1.0


def scrutiny(courses: Floats) -> float:
    """Return the score of a course: rows are mean and deviation of same, then of different."""
    same, same_deviation, other, other_deviation = courses
    gap = (same[-1] - other[-1]) / max(same[-1] + other[-1], 1e-8)
    error = (fit_error(same) + fit_error(other)) / 2.0
    bands = overlap(same[-1], same_deviation[-1], other[-1], other_deviation[-1])
    told = np.sign(gap) * abs(gap) ** ROOT
    product = told * -np.log(ERRORS * error + np.exp(-3.0)) * -np.log(bands + np.exp(-1.0))
    return float(expit(SPAN * (product - BORDER)))


@detector(
    "gradient-scrutinizer",
    title="Gradients Scrutinizer compares answers by label and may halt the training",
    paper="Fu et al. 2023 (NDSS), as in Yao et al. 2025",
)
@dataclass(frozen=True)
class GradientScrutinizer(Detector):
    """A score every ``every`` batches from batch ``start_after`` on, the mean of the last ``window``.

    Threshold 0.8 as in Yao et al. VI-B.
    """

    start_after: int = 50
    every: int = 10
    window: int = 5
    threshold: float = 0.8
    name: str = "gradient-scrutinizer"
    grants: tuple[DetectorGrant, ...] = (DetectorGrant.LABELS,)

    def __post_init__(self) -> None:
        """Refuse settings under which no score could mean anything."""
        for name, least in (("start_after", 3), ("every", 1), ("window", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be at least {least}, got {getattr(self, name)}")

    def start(self) -> GradientScrutinizerWatch:
        """Begin one training run with a clean memory."""
        return GradientScrutinizerWatch(self)


class GradientScrutinizerWatch(Watch):
    """The course of similarities in one run, and the last scores."""

    def __init__(self, settings: GradientScrutinizer) -> None:
        self._settings = settings
        self._course: list[tuple[float, float, float, float]] = []
        self._recent = RecentMean(settings.window, settings.threshold)

    def choose(self, step: int, size: int, rng: np.random.Generator) -> Probe | None:
        """Probe nothing: it only watches."""
        del step, size, rng
        return None

    def observe(
        self, step: int, received: Received, probe: Probe | None, rng: np.random.Generator
    ) -> Signal:
        """Take one batch into the course; now and then score it."""
        del probe, rng
        if received.labels is None:
            raise UsageError(f"{self._settings.name} needs the labels of every batch")
        same, other = similarities(received.embedding, received.labels)
        if len(same) and len(other):  # a batch of one class tells nothing
            means = (same.mean(), same.std(), other.mean(), other.std())
            self._course.append(
                (float(means[0]), float(means[1]), float(means[2]), float(means[3]))
            )
        count = len(self._course)
        if step < self._settings.start_after or step % self._settings.every or count < 4:
            return Continue()
        score = scrutiny(np.array(self._course).T)
        return self._recent.judge(score)
