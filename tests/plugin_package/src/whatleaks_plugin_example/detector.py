"""A detector: training is halted when an answer is much longer than the first ones were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
)


@detector("example-long-answers", title="Example: answers that grow are refused", paper="example")
@dataclass(frozen=True)
class LongAnswers(Detector):
    """Compare every answer's length with the mean of the first ``first`` ones."""

    first: int = 5
    times: float = 100.0
    name: str = "example-long-answers"
    grants: tuple[DetectorGrant, ...] = ()

    def start(self) -> LongAnswersWatch:
        """Begin one training run with a clean memory."""
        return LongAnswersWatch(self)


class LongAnswersWatch(Watch):
    """The lengths of the first answers, and whoever exceeds them."""

    def __init__(self, settings: LongAnswers) -> None:
        self._settings = settings
        self._first: list[float] = []

    def choose(self, step: int, size: int, rng: np.random.Generator) -> Probe | None:
        """Never ask for anything."""
        del step, size, rng
        return None

    def observe(
        self, step: int, received: Received, probe: Probe | None, rng: np.random.Generator
    ) -> Signal:
        """Remember the first lengths, judge the later ones."""
        del step, probe, rng
        length = float(np.linalg.norm(received.embedding))
        if len(self._first) < self._settings.first:
            self._first.append(length)
            return Continue()
        times = length / max(float(np.mean(self._first)), 1e-300)
        if times > self._settings.times:
            return Halt(times, f"an answer is {times:.0f} times as long as the first ones")
        return Continue(times)
