"""Key pairs: which backends there are, and how short a key may be."""

from __future__ import annotations

from whatleaks.crypto.additive import IntegerCiphers, PublicKey, SecretKey
from whatleaks.crypto.fixed_point import FixedPoint
from whatleaks.errors import CryptoError, SpecError, nearest

BACKENDS = ("heu-paillier", "heu-ou", "phe-paillier")
KEY_BITS = (2048, 3072)


def check_key_settings(backend: str, key_bits: int, insecure_test_key: bool) -> None:
    """Refuse settings with an unknown backend or a key that is too short, before any key is made."""
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
    backend: str = "heu-paillier",
    bits: int = 2048,
    numbers: FixedPoint | None = None,
    *,
    insecure_test_key: bool = False,
) -> tuple[PublicKey, SecretKey]:
    """Make a key pair of 2048 or 3072 bits; others only with ``insecure_test_key``."""
    check_key_settings(backend, bits, insecure_test_key)
    if bits < 256 or bits % 8:
        raise CryptoError(f"a key of {bits} bits cannot be made: use 2048 or 3072")
    ciphers: IntegerCiphers
    try:
        if backend == "phe-paillier":
            from whatleaks.crypto import phe_backend

            ciphers, decrypt = phe_backend.generate(bits)
        else:
            from whatleaks.crypto import heu_backend

            ciphers, decrypt = heu_backend.generate(backend, bits)
    except ModuleNotFoundError as error:
        raise CryptoError(
            f"backend {backend!r} needs {error.name}: pip install 'whatleaks[secure]'"
        ) from None
    public = PublicKey(ciphers, numbers if numbers is not None else FixedPoint())
    return public, SecretKey(decrypt, public)


def load_public(
    backend: str, bits: int, key_bytes: bytes, numbers: FixedPoint | None = None
) -> PublicKey:
    """Read a public key that another process made; a shorter key than agreed is refused."""
    ciphers: IntegerCiphers
    try:
        if backend == "phe-paillier":
            from whatleaks.crypto import phe_backend

            ciphers = phe_backend.load(bits, key_bytes)
        else:
            from whatleaks.crypto import heu_backend

            ciphers = heu_backend.load(backend, bits, key_bytes)
    except ModuleNotFoundError as error:
        raise CryptoError(
            f"backend {backend!r} needs {error.name}: pip install 'whatleaks[secure]'"
        ) from None
    # Okamoto-Uchiyama encrypts numbers of a third of the key's length, Paillier of all of it.
    least = bits // 3 - 8 if backend == "heu-ou" else bits - 8
    if ciphers.largest.bit_length() - 1 < least:
        raise CryptoError(f"a public key is shorter than the agreed {bits} bits: it is refused")
    return PublicKey(ciphers, numbers if numbers is not None else FixedPoint())
