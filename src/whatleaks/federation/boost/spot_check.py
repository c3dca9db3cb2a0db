"""A passive party's spot check: are the derivatives that it adds up those of the loss?

In the first round every record has the same margin, so all have the same h, and g differs by
exactly 1 where labels differ. Of as many records taken with a plus as with a minus the pairs
(g, h) therefore add up to a multiple of 2**modulus_bits: where g counts whole ones. The passive
party draws such records, adds their ciphertexts up under a random mask, and has the remainder
opened. An honest active party's remainder is that of the mask, always: there are no false
alarms, and it tells nothing about any label. An active party that chose some derivatives to
spell out who is where (Weng et al., reverse sum) must guess which of these were drawn.

What it does not do: later rounds have other margins; multiples of the modulus pass; and a
passive party that breaks the protocol can have half a derivative opened, and so a label.
"""

from __future__ import annotations

import secrets

import numpy as np

from whatleaks.arrays import Buckets, Floats
from whatleaks.crypto.additive import Encrypted, PublicKey, SecretKey
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.crypto.masking import digit_count, from_digits, mask, to_digits
from whatleaks.errors import WireError
from whatleaks.models.boosted_trees import FRACTION


def modulus_bits(shift: int) -> int:
    """Return the bits below the whole ones of g in a pair."""
    return shift + FRACTION


def draws(records: int, count: int) -> Buckets:
    """Draw for every check (columns) who is added (0), left out (1) or subtracted (2).

    Records are paired at random, from the system's randomness; every pair takes part or not, and
    in either order: as many are added as subtracted.
    """
    found: Buckets = np.ones((records, count), dtype=np.int8)
    for k in range(count):
        keys = np.frombuffer(secrets.token_bytes(8 * records), dtype=np.uint64)
        pairs = np.argsort(keys, kind="stable")[: records // 2 * 2].reshape(-1, 2)
        coins = np.frombuffer(secrets.token_bytes(len(pairs)), dtype=np.uint8)
        used, turned = coins & 1 > 0, (coins & 2 > 0).astype(np.int64)
        rows = np.arange(len(pairs))
        found[pairs[rows, turned][used], k] = 0
        found[pairs[rows, 1 - turned][used], k] = 2
    return found


def challenge(key: PublicKey, gradients: Encrypted, count: int) -> tuple[Encrypted, BigInts]:
    """Return ``count`` masked sums, one ciphertext each, and the masks, which stay here."""
    (sums,) = key.bucket_sums(
        gradients, draws(gradients.count, count), 3, [np.ones(gradients.count, dtype=np.bool_)]
    )
    # Sums are cumulative: added, added and left out, all. Added less subtracted is 1st + 2nd - 3rd.
    first, second, third = (key.take(sums, 3 * np.arange(count) + k) for k in range(3))
    return mask(key, key.subtract(key.add(first, second), third))


def opened(secret: SecretKey, asked: Encrypted, shift: int) -> Floats:
    """Decrypt at the active party, and return the remainders as digits: nothing else leaves."""
    bits = modulus_bits(shift)
    return to_digits(secret.decrypt_integers(asked) % (1 << bits), digit_count(bits))


def check(told: Floats, drawn: BigInts, shift: int) -> None:
    """Refuse remainders that derivatives of one margin cannot leave."""
    if ((from_digits(told) - drawn) % (1 << modulus_bits(shift))).any():
        raise WireError(
            "the active party's derivatives are not those of the first round's loss: it may be "
            "spelling out who is where"
        )
