"""Ciphertexts as messages: how every encrypted protocol sends and reads them."""

from __future__ import annotations

from whatleaks.arrays import Floats
from whatleaks.crypto.additive import Encrypted, PublicKey
from whatleaks.errors import WireError
from whatleaks.wire.expected import Post
from whatleaks.wire.message import Cipher, Payload

PARTIES_BITS = 8  # outputs of up to 256 parties are added up


def read_cipher(key: PublicKey, cipher: Payload, fraction: int, bits: int) -> Encrypted:
    """Read a ciphertext message under ``key``: at this scale, of at most so many bits."""
    if not isinstance(cipher, Cipher) or cipher.scheme != key.scheme or len(cipher.shape) != 1:
        raise WireError(f"expected a vector under {key.scheme}, got another payload")
    return key.incoming(cipher.data, cipher.shape[0], fraction, bits)


def read_output(key: PublicKey, cipher: Payload) -> Encrypted:
    """Read numbers that a party has just encrypted: at the key's own scale and size."""
    return read_cipher(key, cipher, key.numbers.fraction, key.numbers.bits)


def read_sum(key: PublicKey, cipher: Payload) -> Encrypted:
    """Read a sum of such numbers over the parties."""
    return read_cipher(key, cipher, key.numbers.fraction, key.numbers.bits + PARTIES_BITS)


def send_encrypted(
    post: Post,
    key: PublicKey,
    step: int,
    way: tuple[str, str],
    kind: str,
    encrypted: Encrypted,
    to_owner: bool = True,
) -> None:
    """Send a vector from one party to another; it is re-randomised on its way out."""
    cipher = Cipher(key.scheme, (encrypted.count,), key.outgoing(encrypted, to_owner))
    post.send(step, *way, kind, cipher)


def send_new(
    post: Post, key: PublicKey, step: int, way: tuple[str, str], kind: str, values: Floats
) -> None:
    """Encrypt numbers and send them: new ciphertexts are random already."""
    cipher = Cipher(key.scheme, values.shape, key.outgoing_values(values))
    post.send(step, *way, kind, cipher)
