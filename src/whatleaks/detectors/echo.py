"""The echo: now and then every record of a batch is sent with the same embedding.

Not in the paper: it looks for a detector that needs neither labels nor public records. An honest
active party makes its answer from the embedding, the label and *its own columns*, so equal embeddings
of different people get different answers. The critic of FSHA sees the embedding alone, that of URVFL
the embedding and the label (Eqs 4 and 5): a whole batch gets one answer, or one for each class.

What it cannot see: a hijack whose critic looks at the own columns too (AGN), one that knows of the echo and
adds a little noise to its answers or answers equal embeddings honestly, as many classes as the batch has
records, several passive parties (the answer may depend on the others' embeddings), and whether answers
differ where the active party's columns do not.
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
    Probe,
    Received,
    Signal,
    Watch,
)
from whatleaks.detectors.recent_mean import RecentMean
from whatleaks.errors import UsageError

SAME = 1e-5  # of the longer of two answers: more than rounding in single precision


def distinct_share(answers: Floats) -> float | None:
    """Return how many answers differ from all before them, as a share; None if fewer than two are left.

    Answers of zero are left out: a person of whom nothing is left to learn gets them from anybody. Two
    are held against their own lengths: where the model is sure of most people, most answers are short.
    """
    lengths = np.linalg.norm(answers, axis=1)
    answers, lengths = answers[lengths > 0.0], lengths[lengths > 0.0]
    if len(answers) < 2:
        return None
    longer = np.maximum(lengths[:, None], lengths[None])
    apart = np.linalg.norm(answers[:, None] - answers[None], axis=2) > SAME * longer
    new = [bool(apart[i, :i].all()) for i in range(len(answers))]
    return float(np.mean(new))


@detector(
    "echo",
    title="One embedding is sent for a whole batch: answers must differ from person to person",
    paper="ours; answers of URVFL depend on embedding and label alone (Yao et al. 2025, Eqs 4, 5)",
)
@dataclass(frozen=True)
class Echo(Detector):
    """Probes a ``share`` of the batches after ``start_after``; halts on the mean of ``window`` scores.

    The score of a probe is the share of answers that are new; below ``threshold`` the mean halts.
    The bottom model is not trained on a probe.
    """

    share: float = 0.05
    start_after: int = 10
    window: int = 3
    threshold: float = 0.5
    name: str = "echo"
    grants: tuple[DetectorGrant, ...] = ()  # a party may send whatever embeddings it likes

    def __post_init__(self) -> None:
        """Refuse settings under which nothing would be probed or judged."""
        if not 0.0 < self.share < 1.0 or not 0.0 < self.threshold < 1.0:
            raise UsageError(
                f"share and threshold must lie between 0 and 1, got {self.share} and {self.threshold}"
            )
        if self.window < 1 or self.start_after < 0:
            raise UsageError(
                f"window must be at least 1 and start_after 0, got {self.window} and {self.start_after}"
            )

    def start(self) -> EchoWatch:
        """Begin one training run with a clean memory."""
        return EchoWatch(self)


class EchoWatch(Watch):
    """The last scores of one run."""

    def __init__(self, settings: Echo) -> None:
        self._settings = settings
        self._recent = RecentMean(settings.window, settings.threshold)

    def choose(self, step: int, size: int, rng: np.random.Generator) -> Probe | None:
        """Repeat the embedding of one record of the batch, now and then."""
        drawn, anchor = rng.random(), int(rng.integers(size))
        if step < self._settings.start_after or drawn > self._settings.share or size < 2:
            return None
        return Probe(anchor=anchor)

    def observe(
        self, step: int, received: Received, probe: Probe | None, rng: np.random.Generator
    ) -> Signal:
        """Count the answers to an echo that differ; all others are not looked at."""
        del step, rng
        score = None if probe is None else distinct_share(received.embedding)
        return Continue() if score is None else self._recent.judge(score)
