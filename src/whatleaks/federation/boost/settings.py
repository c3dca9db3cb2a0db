"""How to boost and how to encrypt: what the parties of SecureBoost agree on."""

from __future__ import annotations

from dataclasses import dataclass, field

from whatleaks.crypto.additive import PublicKey
from whatleaks.crypto.keys import check_key_settings
from whatleaks.errors import SpecError
from whatleaks.models.boosted_trees import FRACTION, BoostSettings

LARGEST = 2**30  # bytes of one message: Paillier ciphertexts of two million records
MOST_CANDIDATES = 1 << 24  # of one party in one tree: more is no table but an attempt on memory


@dataclass(frozen=True)
class SecureBoostSettings:
    """How to boost and how to encrypt.

    ``subtract_above``: a node's sums are taken as parent less sibling if the node holds more
    records than so many per bucket. Subtracting a ciphertext costs as much as adding ten to
    twenty: inverses are taken many at a time. ``pack`` puts many sums into a ciphertext before they are
    sent: with Paillier this saves most decryptions, with Okamoto-Uchiyama only bytes.
    """

    boost: BoostSettings = field(default_factory=BoostSettings)
    backend: str = "paillier"
    key_bits: int = 2048
    insecure_test_key: bool = False
    subtract_above: int = 16
    pack: bool = True

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        check_key_settings(self.backend, self.key_bits, self.insecure_test_key)
        if self.subtract_above < 0:
            raise SpecError(f"subtract_above is {self.subtract_above}: use 0 or more")


@dataclass(frozen=True)
class PairFormat:
    """How derivatives share a ciphertext: g above, h below, with room for all records' sums."""

    shift: int
    bits: int
    width: int

    @staticmethod
    def of(records: int, max_depth: int) -> PairFormat:
        """Derive the format from public numbers alone: |g| <= 1 and 0 < h <= 1."""
        room = records.bit_length()
        shift = FRACTION + 1 + room
        bits = shift + FRACTION + 1
        # A subtraction may add one bit at every level.
        return PairFormat(shift, bits, bits + room + max_depth)

    def used(self, key: PublicKey, count: int, pack: bool) -> int:
        """Return how many bits of a plaintext the sums of ``count`` candidates take, with a sign."""
        return (key.packed_bits(count, self.width) if pack else self.width) + 1


@dataclass(frozen=True)
class BoostModelSettings:
    """What an audit trains: ``records`` of the table, small trees, and the search afterwards.

    ``queries`` opens the prediction phase to made-up records: ``per_query`` of them at a time,
    until every threshold is known to ``epsilon`` on the scale 0 to 1. ``together`` searches all
    nodes with every query; off, one node after another as Algorithm 1 does. ``real_paths``: an
    owner answers only about records that can have come to the node, as far as its own nodes tell.
    ``most_queries`` ends the search early; 0: never.
    """

    records: int = 200
    rounds: int = 3
    max_depth: int = 3
    max_bin: int = 32
    learning_rate: float = 0.3
    min_child_weight: float = 1.0
    backend: str = "paillier"
    key_bits: int = 2048
    insecure_test_key: bool = False
    queries: bool = True
    per_query: int = 401
    epsilon: float = 1e-6
    together: bool = True
    real_paths: bool = False
    most_queries: int = 0

    def __post_init__(self) -> None:
        """Refuse settings that cannot train or search."""
        if self.records < 10:
            raise SpecError(f"records is {self.records}: grow trees on at least 10")
        if self.most_queries < 0:
            raise SpecError(f"most_queries is {self.most_queries}: use 1 or more, or 0 for any")
        if self.per_query < 3 or not self.epsilon > 0.0:
            raise SpecError(
                f"per_query is {self.per_query} and epsilon {self.epsilon:g}: use at least 3 "
                "records in a query and a positive epsilon"
            )
        _ = self.secure

    @property
    def secure(self) -> SecureBoostSettings:
        """The protocol's own settings."""
        boost = BoostSettings(
            rounds=self.rounds,
            max_depth=self.max_depth,
            max_bin=self.max_bin,
            learning_rate=self.learning_rate,
            min_child_weight=self.min_child_weight,
        )
        return SecureBoostSettings(boost, self.backend, self.key_bits, self.insecure_test_key)
