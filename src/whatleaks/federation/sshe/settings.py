"""How a regression without an arbiter is trained: what the two parties agree on beforehand."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.arrays import Ints
from whatleaks.errors import SpecError, nearest
from whatleaks.federation.regression.settings import LINKS, Link, SecureLinearSettings


@dataclass(frozen=True)
class SharedSettings:
    """How to train. ``link`` is ``linear`` or ``logistic``; ``batch_size`` None: all records."""

    link: str = "linear"
    epochs: int = 20
    batch_size: int | None = None
    learning_rate: float = 0.01
    alpha: float = 0.01
    initial_spread: float = 0.1
    backend: str = "heu-paillier"
    key_bits: int = 2048
    insecure_test_key: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        if self.link not in LINKS:
            raise SpecError(
                f"unknown link {self.link!r}: use one of {', '.join(LINKS)}."
                f"{nearest(self.link, LINKS)}"
            )
        _ = self.regression

    @property
    def regression(self) -> SecureLinearSettings:
        """The same training with an arbiter: what it refuses is refused here."""
        return SecureLinearSettings(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            alpha=self.alpha,
            initial_spread=self.initial_spread,
            queries=False,
            backend=self.backend,
            key_bits=self.key_bits,
            insecure_test_key=self.insecure_test_key,
        )

    @property
    def formula(self) -> Link:
        """How the residual follows from the outputs."""
        return LINKS[self.link]

    def batches(self, records: int) -> tuple[Ints, ...]:
        """Return the rows of every batch of an epoch: consecutive, the same in every one."""
        return self.regression.batches(records)
