"""How a vertical regression is trained: what every party must agree on beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.crypto.keys import check_key_settings
from whatleaks.errors import SpecError, TableError, nearest
from whatleaks.seeds import Streams
from whatleaks.wire.parties import ACTIVE

FEWEST, MOST = 10, 40  # records in a batch that an audit chooses
OPTIMISERS = ("sgd", "adam")
MOST_RECORDS = 400  # that train on ciphertexts where the whole table is meant to


@dataclass(frozen=True)
class Link:
    """How the residual follows from the sum z of all outputs: d = slope z + offset - y."""

    name: str
    slope: float
    offset: float

    def loss(self, z: Floats, y: Floats) -> float:
        """Return the sum over records whose derivative by z is d.

        Linear: (z - y)^2 / 2. Logistic: log 2 + (1/2 - y) z + z^2 / 8, the Taylor polynomial
        of log(1 + e^z) - y z around zero.
        """
        if self.offset == 0.0:
            d = z - y
            return 0.5 * float(d @ d)
        half = 0.5 * self.slope
        return float(len(z) * np.log(2.0) + ((self.offset - y) @ z) + half * (z @ z))

    def score(self, z: Floats) -> Floats:
        """Return the prediction: z itself, or its sigmoid (no longer a polynomial: z is plain)."""
        if self.offset == 0.0:
            return sealed(z)
        return sealed(0.5 * (1.0 + np.tanh(0.5 * z)))


LINEAR = Link("linear", 1.0, 0.0)
# The sigmoid to first order around zero, as FATE takes it: 0.25 z + 0.5.
LOGISTIC = Link("logistic", 0.25, 0.5)
LINKS = {link.name: link for link in (LINEAR, LOGISTIC)}


@dataclass(frozen=True)
class SecureLinearSettings:
    """How to train. ``batch_size`` None takes all records as one batch.

    Batches are consecutive rows, the same in every epoch; with ``shuffle`` each epoch takes
    the rows in another order that follows from ``shuffle_seed``, which all data parties know.
    ``mask_gradients`` hides every gradient from the arbiter under a random vector.
    ``fake_columns`` random columns are added by the active party to its own (section 4.1),
    uniform in +-``fake_spread``. ``queries`` opens the prediction phase, in which the active
    party asks about as many made-up records as the passive party has columns. ``optimiser``: sgd, or
    adam, which the arbiter runs: it returns directions, not gradients.
    """

    epochs: int = 20
    batch_size: int | None = None
    learning_rate: float = 0.01
    alpha: float = 0.01
    initial_spread: float = 0.1
    fake_columns: int = 0
    fake_spread: float = 0.1
    queries: bool = True
    backend: str = "paillier"
    key_bits: int = 2048
    insecure_test_key: bool = False
    mask_gradients: bool = False
    shuffle: bool = False
    shuffle_seed: int = 0
    optimiser: str = "sgd"

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        if self.optimiser not in OPTIMISERS:
            raise SpecError(
                f"optimiser is {self.optimiser!r}: use one of {', '.join(OPTIMISERS)}."
                f"{nearest(self.optimiser, OPTIMISERS)}"
            )
        if self.optimiser != "sgd" and self.mask_gradients:
            raise SpecError("an arbiter that cannot read gradients runs no adam: choose one")
        if self.epochs < 1:
            raise SpecError(f"epochs is {self.epochs}: train for at least 1")
        if self.batch_size is not None and self.batch_size < 1:
            raise SpecError(f"batch_size is {self.batch_size}: use at least 1, or None for all")
        if not self.learning_rate > 0.0:
            raise SpecError(f"learning_rate is {self.learning_rate}: use a positive number")
        if self.alpha < 0.0 or self.initial_spread < 0.0 or self.fake_spread < 0.0:
            raise SpecError("alpha, initial_spread and fake_spread must not be negative")
        if self.fake_columns < 0:
            raise SpecError(f"fake_columns is {self.fake_columns}: use 0 or more")
        if self.shuffle_seed < 0:
            raise SpecError(f"shuffle_seed is {self.shuffle_seed}: use 0 or more")
        check_key_settings(self.backend, self.key_bits, self.insecure_test_key)
        if self.backend == "okamoto-uchiyama":
            # Numbers above its secret prime come back modulo it: one difference is a multiple.
            raise SpecError(
                "backend okamoto-uchiyama gives its secret key away where decrypted "
                "numbers are returned: use paillier"
            )

    def batch_count(self, records: int) -> int:
        """Return the number of batches, and so of steps, in an epoch."""
        return 1 if self.batch_size is None else -(-records // self.batch_size)

    def batches(self, records: int, epoch: int = 0) -> tuple[Ints, ...]:
        """Return the rows of every batch of an epoch."""
        size = records if self.batch_size is None else self.batch_size
        order = np.arange(records)
        if self.shuffle:
            order = Streams(self.shuffle_seed).rng(f"shuffle/{epoch}").permutation(order)
        return tuple(sealed_ints(order[first : first + size]) for first in range(0, records, size))

    def all_batches(self, records: int) -> tuple[Ints, ...]:
        """Return the rows of one full round: an epoch, or the whole training if it shuffles."""
        epochs = range(self.epochs if self.shuffle else 1)
        return tuple(rows for epoch in epochs for rows in self.batches(records, epoch))


@dataclass(frozen=True)
class RegressionSettings(SecureLinearSettings):
    """Settings that fit themselves to the batch which an audit trains on and attacks.

    ``records`` 0: as many as the active party has columns, from 10 to 40. ``whole``: all records
    (at most 400), in batches of that size that take turns, as a table is really trained on.
    ``fake_columns`` -1:
    as many as its equations lack. ``learning_rate`` 0: gradients are sums over the batch and
    values lie in 0..1, so one over records times columns is always stable. ``link``: linear, or
    logistic with the sigmoid taken to first order. ``fakes_by``: the party that adds the fake
    columns, the one that is curious. ``least_batch``: no batch of ``whole`` is smaller, and nobody
    has more columns than agreed, so none are made up; 0: batches as they suit the curious one.
    """

    epochs: int = 12
    learning_rate: float = 0.0
    fake_columns: int = -1
    records: int = 0
    whole: bool = False
    link: str = LINEAR.name
    fakes_by: str = ACTIVE
    least_batch: int = 0

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        if self.link not in LINKS:
            raise SpecError(f"link is {self.link!r}: use one of {', '.join(LINKS)}")
        if self.records < 0:
            raise SpecError(f"records is {self.records}: use 1 or more, or 0 for as many as fit")
        if self.whole and (self.records or self.batch_size):
            raise SpecError("whole chooses records and batches itself: leave the others out")
        if self.least_batch < 0:
            raise SpecError(f"least_batch is {self.least_batch}: use 1 or more, or 0 for any")
        if self.fake_columns < -1 or self.learning_rate < 0.0:
            raise SpecError(
                "fake_columns and learning_rate must not be negative (-1 and 0 choose them), got "
                f"{self.fake_columns} and {self.learning_rate}"
            )
        self._plain(max(self.fake_columns, 0), self.learning_rate or 1.0)

    def sizes(self, own: int, records: int) -> tuple[int, int]:
        """Return how many of the records train, and how many of them are in a batch."""
        batch = min(records, max(FEWEST, min(own, MOST), self.least_batch))
        if self.whole:
            return min(records, MOST_RECORDS) // batch * batch, batch
        count = min(records, self.records or batch)
        return count, count

    def for_batch(
        self, own: Floats, unknown: int, curious: Floats | None = None
    ) -> SecureLinearSettings:
        """Return the settings for a batch of these own columns and so many unknown ones.

        ``curious`` are the columns of the party that adds fakes, where it is not the active one.
        """
        records, width = own.shape
        size = self.sizes(width, records)[1] if self.whole else self.batch_size or records
        size = self._evenly(records) if self.whole and self.least_batch else size
        size = min(size, records)
        agreed = 0 if self.least_batch else self.fake_columns
        fakes, room = agreed, agreed
        if agreed < 0:
            table = own if curious is None else curious
            cuts = [table[rows] for rows in self._plain(0, 1.0, size).all_batches(records)]
            fakes = max(len(cut) - min(len(cut), int(np.linalg.matrix_rank(cut))) for cut in cuts)
            room = size
        rate = self.learning_rate or 1.0 / (size * (width + room + unknown))
        return self._plain(fakes, rate, size if self.whole else self.batch_size)

    def _evenly(self, records: int) -> int:
        """Return a size that leaves the last batch as large as it must be, too."""
        count = max(1, records // self.least_batch)
        while records - (count - 1) * -(-records // count) < min(records, self.least_batch):
            count -= 1
        return -(-records // count)

    def _plain(
        self, fake_columns: int, learning_rate: float, batch_size: int | None = None
    ) -> SecureLinearSettings:
        kept = {f.name: getattr(self, f.name) for f in fields(SecureLinearSettings)}
        kept |= {"fake_columns": fake_columns, "learning_rate": learning_rate}
        kept["batch_size"] = batch_size or self.batch_size
        return SecureLinearSettings(**kept)


def draw_weights(columns: int, settings: SecureLinearSettings, rng: np.random.Generator) -> Floats:
    """Draw a party's first weights from its own stream."""
    return sealed(rng.normal(0.0, settings.initial_spread, columns))


def with_fakes(x: Floats, settings: SecureLinearSettings, rng: np.random.Generator) -> Floats:
    """Append the fake columns: small random values that mean nothing (section 4.1)."""
    spread = settings.fake_spread
    fakes = rng.uniform(-spread, spread, (len(x), settings.fake_columns))
    return sealed(np.concatenate([x, fakes], axis=1))


def check_tables(x_active: Floats, x_passive: Floats, y: Floats) -> None:
    """Refuse tables whose records do not match or whose values are not finite."""
    if x_active.ndim != 2 or x_passive.ndim != 2 or y.ndim != 1:
        raise TableError("both parties' columns must be tables and the target one column")
    if not len(x_active) == len(x_passive) == len(y) or not len(y):
        raise TableError(
            f"the parties must hold the same records: {len(x_active)} active, "
            f"{len(x_passive)} passive, {len(y)} targets"
        )
    if not all(np.isfinite(values).all() for values in (x_active, x_passive, y)):
        raise TableError("a column or the target has a value that is not finite: fill or drop it")


def check_labels(y: Floats) -> None:
    """Refuse targets of a logistic regression that are not 0 and 1."""
    if not np.isin(y, (0.0, 1.0)).all():
        raise TableError("the target of a logistic regression must be 0 or 1 in every row")


def as_tables(x_passive: Floats | Sequence[Floats]) -> tuple[Floats, ...]:
    """Return the passive parties' tables: one array is one party, a sequence one each."""
    if isinstance(x_passive, np.ndarray):
        return (x_passive,)
    if not x_passive:
        raise TableError("there is no passive party: pass at least one table")
    return tuple(x_passive)
