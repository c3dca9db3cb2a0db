"""All detectors, one card each: the paper and what each is granted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whatleaks.cards import card_of
from whatleaks.detectors.protocol import Detector
from whatleaks.detectors.splitguard import SplitGuard


@dataclass(frozen=True)
class DetectorCard:
    """How a detector is listed and built; ``build`` takes the number of classes."""

    name: str
    title: str
    paper: str
    granted: str
    acts_on: str
    build: Callable[[int], Detector]


DETECTORS: tuple[DetectorCard, ...] = (
    DetectorCard(
        "splitguard",
        "SplitGuard watches the training and may halt it",
        "Erdogan, Kupcu, Cicek 2022 (WPES), as in Yao et al. 2025",
        "; ".join(grant.value for grant in SplitGuard(2).grants),
        "training",
        SplitGuard,
    ),
)


def detector_card(name: str) -> DetectorCard:
    """Return the card of a detector; an unknown name is refused with the nearest one."""
    return card_of("detector", DETECTORS, name)
