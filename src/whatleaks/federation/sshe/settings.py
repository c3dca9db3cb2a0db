"""How a regression without an arbiter is trained: what the two parties agree on beforehand."""

from __future__ import annotations

from dataclasses import dataclass, fields

from whatleaks.arrays import Floats, Ints
from whatleaks.errors import SpecError, nearest
from whatleaks.federation.regression.settings import (
    LINKS,
    Link,
    RegressionSettings,
    SecureLinearSettings,
)


@dataclass(frozen=True)
class SharedSettings:
    """How to train. ``link`` is ``linear`` or ``logistic``; ``batch_size`` None: all records.

    The other fields mean what they mean with an arbiter.
    """

    link: str = "linear"
    epochs: int = 20
    batch_size: int | None = None
    learning_rate: float = 0.01
    alpha: float = 0.01
    initial_spread: float = 0.1
    fake_columns: int = 0
    fake_spread: float = 0.1
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
        kept = {f.name: getattr(self, f.name) for f in fields(SharedSettings) if f.name != "link"}
        return SecureLinearSettings(queries=False, **kept)

    @property
    def formula(self) -> Link:
        """How the residual follows from the outputs."""
        return LINKS[self.link]

    def batches(self, records: int) -> tuple[Ints, ...]:
        """Return the rows of every batch of an epoch: consecutive, the same in every one."""
        return self.regression.batches(records)


@dataclass(frozen=True)
class SharedModelSettings(SharedSettings):
    """Settings that fit themselves to the batch which an audit trains on and attacks.

    ``records`` 0: as many as the active party has columns, from 10 to 40. ``fake_columns`` -1: as
    many as its equations lack, so the audit looks at the worst case. ``learning_rate`` 0: one
    that is always stable. All as with an arbiter.
    """

    epochs: int = 12
    learning_rate: float = 0.0
    fake_columns: int = -1
    records: int = 0

    @property
    def regression(self) -> RegressionSettings:
        """The same with an arbiter."""
        kept = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "link"}
        return RegressionSettings(queries=False, **kept)

    def for_batch(self, own: Floats, unknown: int) -> SharedSettings:
        """Return the settings for a batch of these own columns and so many unknown ones."""
        plain = self.regression.for_batch(own, unknown)
        kept = {f.name: getattr(plain, f.name) for f in fields(SharedSettings) if f.name != "link"}
        return SharedSettings(self.link, **kept)
