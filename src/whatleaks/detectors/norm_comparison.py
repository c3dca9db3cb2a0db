"""The lengths of gradients against rehearsed honest trainings (Yao et al. VIII, Fig 10).

Yao et al. suggest it and leave it open: a passive party rehearses honest training on public
records and compares how long the answers are. Here the comparison is a test with a stated
false-alarm rate. In every window of steps the lengths of this training are compared with the
rehearsals' of the same steps (Kolmogorov-Smirnov distance); the largest distance over all
windows is held against the same number of every rehearsal, each compared with the others. If
honest trainings and rehearsals are exchangeable, the largest of all R + 1 is the new one with
probability 1 / (R + 1): with 19 rehearsals a false halt in at most 5 % of honest trainings.

They are exchangeable only as far as the rehearsal imitates the real active party (networks,
rates, public records like the private ones). That is why these are declared as granted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.catalog import detector
from whatleaks.detectors.protocol import (
    Continue,
    Detector,
    DetectorGrant,
    Halt,
    Probe,
    Received,
    Signal,
    Watch,
    lengths,
)
from whatleaks.errors import UsageError


def ks_distance(one: Floats, other: Floats) -> float:
    """Return the largest difference of two empirical distribution functions."""
    both = np.sort(np.concatenate([one, other]))
    first = np.searchsorted(np.sort(one), both, side="right") / len(one)
    second = np.searchsorted(np.sort(other), both, side="right") / len(other)
    return float(np.abs(first - second).max())


def windows(steps: int, window: int) -> list[slice]:
    """Cut steps into windows; what is left over at the end is not looked at."""
    return [slice(start, start + window) for start in range(0, steps - window + 1, window)]


def calibrated(rehearsed: tuple[Floats, ...], window: int) -> float:
    """Return the largest distance that any rehearsal has from all the others, in any window."""
    found = []
    for index, one in enumerate(rehearsed):
        rest = np.concatenate([r for i, r in enumerate(rehearsed) if i != index], axis=1)
        cuts = windows(len(one), window)
        found.append(max(ks_distance(one[cut].ravel(), rest[cut].ravel()) for cut in cuts))
    return max(found)


@detector(
    "norm-comparison",
    title="The lengths of gradients are compared with rehearsed honest trainings",
    paper="suggested in Yao et al. 2025, section VIII; the test is ours",
)
@dataclass(frozen=True)
class NormComparison(Detector):
    """``rehearsals`` of ``watched`` steps; false halts in 1 of (``rehearsals`` + 1) honest trainings."""

    rehearsals: int = 19
    watched: int = 100
    window: int = 20
    name: str = "norm-comparison"
    grants: tuple[DetectorGrant, ...] = (DetectorGrant.PUBLIC_RECORDS,)

    def __post_init__(self) -> None:
        """Refuse settings under which no comparison could mean anything."""
        for name, least in (("rehearsals", 2), ("window", 1), ("watched", self.window)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be at least {least}, got {getattr(self, name)}")

    def start(self) -> Watch:
        """Without rehearsals there is nothing to compare with."""
        raise UsageError(f"{self.name} needs rehearsals: it is started with compare()")

    def compare(self, rehearsed: tuple[Floats, ...]) -> NormComparisonWatch:
        """Begin one training run."""
        return NormComparisonWatch(self, rehearsed)


class NormComparisonWatch(Watch):
    """The lengths of the window under way, the rehearsals, and how far honest ones lie apart."""

    def __init__(self, settings: NormComparison, rehearsed: tuple[Floats, ...]) -> None:
        self._settings = settings
        self._window = min(settings.window, len(rehearsed[0]))
        self._rehearsed = np.concatenate(rehearsed, axis=1)
        self._border = calibrated(rehearsed, self._window)
        self._kept: list[Floats] = []

    def choose(self, step: int, size: int, rng: np.random.Generator) -> Probe | None:
        """Probe nothing: it only watches."""
        del step, size, rng
        return None

    def observe(
        self, step: int, received: Received, probe: Probe | None, rng: np.random.Generator
    ) -> Signal:
        """Compare at the end of every window; the score is the distance that is still allowed."""
        del probe, rng
        end = step + 1
        if end > len(self._rehearsed):
            return Continue()
        self._kept.append(lengths(received.embedding))
        if end % self._window:
            return Continue()
        mine = np.concatenate(self._kept)
        self._kept = []
        other = self._rehearsed[end - self._window : end].ravel()
        distance = ks_distance(mine, other)
        score = self._border - distance
        if distance > self._border:
            return Halt(
                score,
                f"lengths are {distance:.3f} away from the rehearsed ones, honest trainings at most "
                f"{self._border:.3f}",
            )
        return Continue(score)
