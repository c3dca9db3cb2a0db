"""The joint model of an additive federation: each party's outputs are summed, then linked.

Binary models have one output and the sigmoid; models with k > 2 classes have k outputs
and the softmax (J Eq 9, U Eqs 3-5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network

Bottom = Linear | Network


@travels
@dataclass(frozen=True)
class Additive:
    """Both parties' trained parts: what the white-box threat model hands to the active party."""

    active: Bottom
    passive: Bottom

    def logits(self, own: Floats, other: Floats) -> Floats:
        """Sum the parties' outputs."""
        return self.active.logits(own) + self.passive.logits(other)

    def scores(self, own: Floats, other: Floats) -> Floats:
        """Return the confidence scores, one column per class."""
        return link(self.logits(own, other))


def link(logits: Floats) -> Floats:
    """Turn summed outputs into class scores: sigmoid for one output, softmax for several.

    Both columns of the binary case are computed from the logit, never one from the
    other: ``1 - p`` would lose the digits that the log-ratio needs.
    """
    if logits.shape[1] == 1:
        return np.concatenate([expit(-logits), expit(logits)], axis=1)
    scores: Floats = softmax(logits, axis=1)
    return scores


def log_ratios(scores: Floats) -> Floats:
    """Return ``ln c[m+1] - ln c[m]`` for adjacent classes (J Eq 13, A Eq 3).

    A score of exactly zero (rounded, or below the smallest float) carries no ratio. It is
    read as half of the smallest positive score in the same release: a rule that uses only
    what was released.
    """
    if scores.size and float(scores.min()) <= 0.0:
        positive = scores[scores > 0.0]
        floor = 0.5 * float(positive.min()) if positive.size else 0.5
        scores = np.where(scores <= 0.0, floor, scores)
    logs = np.log(scores)
    ratios: Floats = logs[:, 1:] - logs[:, :-1]
    return ratios


def adjacent_differences(outputs: Floats) -> Floats:
    """Apply J of A Eq 4 along the last axis: what adjacent log-ratios say about the outputs.

    With one output (binary) the log-ratio is that output itself.
    """
    if outputs.shape[-1] == 1:
        return outputs
    differences: Floats = outputs[..., 1:] - outputs[..., :-1]
    return differences
