"""The picture sets as arrays of uint8: training and test pictures with their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from whatleaks.arrays import Ints
from whatleaks.data.registry import Card

Pixels: TypeAlias = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Images:
    """A picture set: records x height x width (x 3); labels index ``classes``."""

    name: str
    training: Pixels
    training_labels: Ints
    test: Pixels
    test_labels: Ints
    classes: tuple[str, ...]
    card: Card
