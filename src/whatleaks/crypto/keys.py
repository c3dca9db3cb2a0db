"""Key pairs: which schemes there are, and how short a key may be."""

from __future__ import annotations

from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.fixed_point import FixedPoint
from whatleaks.errors import CryptoError, SpecError, nearest

BACKENDS = ("paillier", "okamoto-uchiyama")
KEY_BITS = (2048, 3072)


def check_key_settings(backend: str, key_bits: int, insecure_test_key: bool) -> None:
    """Refuse settings with an unknown scheme or a key that is too short, before any key is made."""
    if backend not in BACKENDS:
        raise SpecError(
            f"unknown backend {backend!r}: use one of {', '.join(BACKENDS)}."
            f"{nearest(backend, BACKENDS)}"
        )
    if key_bits not in KEY_BITS and not insecure_test_key:
        raise SpecError(
            f"key_bits is {key_bits}: use 2048 or 3072 (tests may say insecure_test_key)"
        )


def generate_keys(
    backend: str = "paillier",
    bits: int = 2048,
    numbers: FixedPoint | None = None,
    *,
    insecure_test_key: bool = False,
) -> tuple[PublicKey, SecretKey]:
    """Make a key pair of 2048 or 3072 bits; others only with ``insecure_test_key``."""
    check_key_settings(backend, bits, insecure_test_key)
    if bits < 256 or bits % 16:
        raise CryptoError(f"a key of {bits} bits cannot be made: use 2048 or 3072")
    from whatleaks.crypto.ciphers import SCHEMES

    ciphers, decrypt = SCHEMES[backend].generate(bits)
    public = PublicKey(ciphers, numbers if numbers is not None else FixedPoint())
    return public, SecretKey(decrypt, public)


def load_public(
    backend: str, bits: int, key_bytes: bytes, numbers: FixedPoint | None = None
) -> PublicKey:
    """Read a public key that another process made; a shorter key than agreed is refused."""
    from whatleaks.crypto.ciphers import SCHEMES

    if backend not in SCHEMES:
        raise CryptoError(f"unknown scheme {backend!r}: use one of {', '.join(BACKENDS)}")
    ciphers = SCHEMES[backend].load(bits, key_bytes)
    return PublicKey(ciphers, numbers if numbers is not None else FixedPoint())
