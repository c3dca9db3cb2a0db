"""The release gate (Luo et al., section VII, post-processing): attack first, release after.

The gate runs where both parties' columns may be seen: in an enclave that both trust. It
simulates an attack on the scores that would be released and withholds those from which the
attack comes too close to the truth. What it releases is safe from the simulated attack with
the simulated randomness, and promises nothing about a better one. That a score is withheld
also tells something: the attack would have come close.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Floats
from whatleaks.catalog import defense
from whatleaks.defenses.protocol import Simulate, WithholdingDefense
from whatleaks.errors import UsageError


@defense(
    "gate-0.01",
    title="Scores withheld where a simulated attack comes within 0.01",
    paper="Luo et al. 2021",
    needs="an enclave that sees both parties' columns",
    settings={"threshold": 0.01},
    family=("gate", "threshold"),
)
@dataclass(frozen=True)
class ReleaseGate(WithholdingDefense):
    """Withhold the scores of records whose simulated error is below ``threshold``.

    ``attack`` names the attack that is simulated. The error is the mean squared error over a
    record's columns (U Eq 10 for one record).
    """

    threshold: float = 0.01
    attack: str = "equality-solving-clipped"

    def __post_init__(self) -> None:
        """Refuse a threshold that means nothing."""
        if not self.threshold > 0.0:
            raise UsageError(f"the gate's threshold must be above 0, got {self.threshold}")

    @property
    def name(self) -> str:
        """The gate and its threshold."""
        return f"gate-{self.threshold:g}"

    def allow(self, own: Floats, truth: Floats, scores: Floats, simulate: Simulate) -> Bools:
        """Say for every record whether its score may be released.

        An attack that learns from many records guesses otherwise when some are missing. So
        the attack is simulated again on what would be released, until nothing more has to be
        withheld: the adversary who runs it gets what was checked. An attack that treats
        every record by itself needs two rounds. ``simulate`` must give the same values for the
        same arguments.
        """
        released: Bools = np.ones(len(scores), dtype=np.bool_)
        while released.any():
            # As they are while nothing is withheld: tables may be large.
            asked, told, true = (
                part if released.all() else part[released] for part in (own, scores, truth)
            )
            missed = simulate(self.attack, asked, told) - true
            error = np.square(missed, out=missed).mean(axis=1)
            safe = error >= self.threshold
            if safe.all():
                break
            released[released] = safe
        return released
