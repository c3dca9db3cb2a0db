"""SplitGuard (Erdogan, Kupcu and Cicek 2022), in a vertical federation as in Yao et al. VI-B.

The passive party has some batches answered for random labels. An active party that learns
the labels must push elsewhere on such a fake batch than on a regular one; a hijacker whose
loss ignores labels pushes the same way.

- Gradients compared: those of the bottom model's first weight matrix, as in SplitGuard's
  published code. (Yao et al.'s code compares the embeddings' gradients instead.)
- Only fake batches are scored. Yao et al.'s code also records a zero for every regular batch,
  which drags the mean of any training, honest or not, under the threshold.
- Fake labels are drawn from all classes. The passive party of a vertical federation knows no
  label, so some fake labels are right by chance: one in ten with ten classes, half with two.
- A fake batch does not train the bottom model; the active party does train on it, as in the
  original, where it cannot know.
- Not in the original: here the active party owns the labels and is told which ones to
  replace, so it knows every fake batch. A hijacker that answers those honestly would pass.
  What is measured here are hijackers that do not try.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

from whatleaks.arrays import Floats, sealed_ints
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


def _angle(a: Floats, b: Floats) -> float:
    """Return the angle between two vectors in radians; a zero vector has no direction: 0."""
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.arccos(np.clip(a @ b / lengths, -1.0, 1.0))) if lengths > 0.0 else 0.0


@dataclass
class GradientSet:
    """A set of gradients, kept as what the score needs: count, sum of vectors, sum of lengths."""

    count: int = 0
    total: Floats = field(default_factory=lambda: np.zeros(1))
    lengths: float = 0.0

    def add(self, gradient: Floats) -> None:
        """Take one gradient in."""
        self.total = self.total + gradient
        self.lengths += float(np.linalg.norm(gradient))
        self.count += 1

    @property
    def mean(self) -> Floats:
        """The mean vector."""
        return self.total / self.count

    @property
    def length(self) -> float:
        """The mean length, not the length of the mean."""
        return self.lengths / self.count


def splitguard_score(
    fake: GradientSet, one: GradientSet, two: GradientSet, alpha: float, beta: float
) -> float:
    """Return SG = sigmoid(alpha S)^beta; S compares fake against regular with regular against regular.

    S = (theta(F, R) d(F, R) - theta(R1, R2) d(R1, R2)) / (d(F, R) + d(R1, R2)), with theta
    the angle between mean gradients and d the difference of mean lengths. R stands for both
    regular halves, each with weight one half. Where both d are 0 nothing tells fake from
    regular: S = 0.
    """
    fake_distance = abs(fake.length - (one.length + two.length) / 2.0)
    regular_distance = abs(one.length - two.length)
    both = fake_distance + regular_distance
    if both == 0.0:
        difference = 0.0
    else:
        fake_angle = _angle(fake.mean, (one.mean + two.mean) / 2.0)
        regular_angle = _angle(one.mean, two.mean)
        difference = (fake_angle * fake_distance - regular_angle * regular_distance) / both
    return float(expit(alpha * difference) ** beta)


@detector(
    "splitguard",
    title="SplitGuard watches the training and may halt it",
    paper="Erdogan, Kupcu, Cicek 2022 (WPES), as in Yao et al. 2025",
)
@dataclass(frozen=True)
class SplitGuard(Detector):
    """Settings as published: alpha 5, beta 2, a tenth of the batches fake, from batch 20 on.

    The mean of the last ``window`` scores is compared with ``threshold`` as soon as there are
    ``window`` of them (Yao et al. VI-B: 10 and 0.9). The whole batch gets fake labels.
    """

    classes: int
    alpha: float = 5.0
    beta: float = 2.0
    fake_share: float = 0.1
    start_after: int = 20
    window: int = 10
    threshold: float = 0.9
    name: str = "splitguard"
    grants: tuple[DetectorGrant, ...] = (DetectorGrant.REPLACE_LABELS, DetectorGrant.CLASSES)

    def __post_init__(self) -> None:
        """Refuse settings under which no score could mean anything."""
        if self.classes < 2:
            raise UsageError(f"SplitGuard needs at least 2 classes, got {self.classes}")
        if not 0.0 < self.fake_share < 1.0:
            raise UsageError(f"fake_share must lie between 0 and 1, got {self.fake_share}")
        if self.window < 1:
            raise UsageError(f"window must be at least 1, got {self.window}")

    def start(self) -> SplitGuardWatch:
        """Begin one training run with a clean memory."""
        return SplitGuardWatch(self)


class SplitGuardWatch(Watch):
    """SplitGuard during one run: three sets of gradients and the last scores."""

    def __init__(self, settings: SplitGuard) -> None:
        self._settings = settings
        self._fake = GradientSet()
        self._halves = (GradientSet(), GradientSet())
        self._recent = RecentMean(settings.window, settings.threshold)

    def choose(self, step: int, size: int, rng: np.random.Generator) -> Probe | None:
        """Make a tenth of the batches fake, once the first ones have passed."""
        drawn = rng.random()
        if step <= self._settings.start_after or drawn > self._settings.fake_share:
            return None
        return Probe(sealed_ints(rng.integers(0, self._settings.classes, size)))

    def observe(
        self, step: int, received: Received, probe: Probe | None, rng: np.random.Generator
    ) -> Signal:
        """Score a fake batch against all that came before; put a regular one into R1 or R2."""
        if probe is None:
            if step > self._settings.start_after:
                self._halves[int(rng.integers(2))].add(received.first_weights)
            return Continue()
        self._fake.add(received.first_weights)
        one, two = self._halves
        if one.count == 0 or two.count == 0:
            return Continue()
        score = splitguard_score(self._fake, one, two, self._settings.alpha, self._settings.beta)
        return self._recent.judge(score)
