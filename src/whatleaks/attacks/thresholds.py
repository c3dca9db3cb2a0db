"""Thresholds of SecureBoost (Li et al., section 5): every record's interval in every column.

A node's column and threshold follow from records of which both the values and the side are
known: made-up ones (Algorithm 1), or real people. A node that more than one column explains
is left out. The sides that a record takes then bound its values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.catalog import attack
from whatleaks.citations import LI
from whatleaks.codec import travels
from whatleaks.models.threshold_search import bounds_from
from whatleaks.threat.guess import IntervalGuess, ValueGuess
from whatleaks.threat.views.routing import KnownRoutingView, ProbedView


@attack(
    "threshold-intervals",
    title="Each record's interval, from thresholds found with made-up records",
    paper=LI,
    needs="the sides of records at the partner's nodes; answers about made-up records",
    again=False,
)
@travels
@dataclass(frozen=True)
class ThresholdIntervals:
    """Answers bounds, as the paper does."""

    name: str = "threshold-intervals"

    def infer(self, view: ProbedView, rng: np.random.Generator) -> IntervalGuess:
        """Find the thresholds, then every record's bounds."""
        del rng
        return IntervalGuess(*map(sealed, _probed_bounds(view)))


@attack(
    "threshold-search",
    title="The middle of each record's interval, thresholds found with made-up records",
    paper=LI,
    needs="the sides of records at the partner's nodes; answers about made-up records",
)
@travels
@dataclass(frozen=True)
class ThresholdSearch:
    """Answers the middle of the bounds."""

    name: str = "threshold-search"

    def infer(self, view: ProbedView, rng: np.random.Generator) -> ValueGuess:
        """Find the thresholds, then every record's bounds."""
        del rng
        low, high = _probed_bounds(view)
        return ValueGuess(sealed((low + high) / 2.0))


@attack(
    "threshold-known",
    title="The middle of each record's interval, thresholds found with known people",
    paper="whatleaks",
    needs="the sides of records at any of the partner's nodes; complete records of some people",
)
@travels
@dataclass(frozen=True)
class ThresholdKnown:
    """Made for an adversary who cannot have made-up records enrolled."""

    name: str = "threshold-known"

    def infer(self, view: KnownRoutingView, rng: np.random.Generator) -> ValueGuess:
        """Isolate the columns of nodes with known people, then bound every record."""
        del rng
        low, high = bounds_from(
            view.known_bits, view.auxiliary.passive, view.bits, view.ranges.low, view.ranges.high
        )
        return ValueGuess(sealed((low + high) / 2.0))


def _probed_bounds(view: ProbedView) -> tuple[Floats, Floats]:
    """Lay the answers out as records x nodes, NaN where a pair was not asked."""
    probes = view.probes
    asked = np.full((len(probes.records), view.bits.shape[1]), np.nan)
    asked[probes.record, probes.node] = probes.left
    return bounds_from(asked, probes.records, view.bits, view.ranges.low, view.ranges.high)
