"""How a horizontal regression is trained, and how its weights are averaged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.crypto.keys import check_key_settings
from whatleaks.errors import SpecError, nearest
from whatleaks.seeds import Streams
from whatleaks.wire.parties import CLIENT

AVERAGING = ("encrypted", "shared")


def client_names(count: int) -> tuple[str, ...]:
    """Return client-1, client-2, ..."""
    return tuple(f"{CLIENT}-{i + 1}" for i in range(count))


@dataclass(frozen=True)
class HorizontalSettings:
    """How to train: ``local_steps`` steps over all own records between two averages."""

    rounds: int = 20
    local_steps: int = 1
    learning_rate: float = 0.01
    alpha: float = 0.0
    initial_spread: float = 0.1
    averaging: str = "encrypted"
    backend: str = "paillier"
    key_bits: int = 2048
    insecure_test_key: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        if self.rounds < 1 or self.local_steps < 1:
            raise SpecError("rounds and local_steps must be at least 1")
        if not self.learning_rate > 0.0:
            raise SpecError(f"learning_rate is {self.learning_rate}: use a positive number")
        if self.alpha < 0.0 or self.initial_spread < 0.0:
            raise SpecError("alpha and initial_spread must not be negative")
        if self.averaging not in AVERAGING:
            raise SpecError(
                f"unknown averaging {self.averaging!r}: use one of {', '.join(AVERAGING)}."
                f"{nearest(self.averaging, AVERAGING)}"
            )
        check_key_settings(self.backend, self.key_bits, self.insecure_test_key)


def train_locally(x: Floats, y: Floats, weights: Floats, settings: HorizontalSettings) -> Floats:
    """Take a client's steps of one round."""
    w = np.array(weights)
    for _ in range(settings.local_steps):
        w -= settings.learning_rate * (x.T @ (x @ w - y) + settings.alpha * w)  # Eq 6
    return sealed(w)


def first_weights(columns: int, settings: HorizontalSettings, streams: Streams) -> Floats:
    """Draw the weights that everybody starts from."""
    rng = streams.rng("arbiter/weights")
    return sealed(rng.normal(0.0, settings.initial_spread, columns))
