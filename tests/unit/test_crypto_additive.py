"""Additive encryption: both schemes against exact integers, and what must not leak or pass."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

from whatleaks.arrays import Floats
from whatleaks.crypto.additive import Encrypted, PublicKey, SecretKey
from whatleaks.crypto.fixed_point import FixedPoint
from whatleaks.crypto.keys import BACKENDS, generate_keys
from whatleaks.errors import CryptoError, SpecError

Keys = tuple[PublicKey, SecretKey]
TEST_BITS = {"paillier": 512, "okamoto-uchiyama": 1024}


@pytest.fixture(scope="module", params=BACKENDS)
def keys(request: pytest.FixtureRequest) -> Keys:
    return generate_keys(request.param, TEST_BITS[request.param], insecure_test_key=True)


def again(public: PublicKey, sent: Encrypted) -> Encrypted:
    """What the other end reads when it expects exactly this."""
    return public.incoming(public.outgoing(sent), sent.count, sent.fraction, sent.bits)


def gradient_like(public: PublicKey, secret: SecretKey) -> Floats:
    """Everything a gradient needs: encrypt, add, add plain, multiply, travel, decrypt."""
    rng = np.random.default_rng(1)
    z, mine, x, w = rng.normal(size=9), rng.normal(size=9), rng.normal(size=(9, 4)), np.arange(4.0)
    d = public.add_plain(public.add(public.encrypt(z), public.encrypt(z)), mine)
    g = public.add_plain(public.matmul_plain(x.T, again(public, d)), w)
    return secret.decrypt(again(public, g))


def test_the_result_is_that_of_exact_integers(keys: Keys) -> None:
    rng = np.random.default_rng(1)
    z, mine, x, w = rng.normal(size=9), rng.normal(size=9), rng.normal(size=(9, 4)), np.arange(4.0)
    numbers = FixedPoint()
    d = 2 * numbers.encode(z) + numbers.encode(mine)
    exact = numbers.encode(x).T @ d + numbers.encode(w, 2 * numbers.fraction)
    result = gradient_like(*keys)
    np.testing.assert_array_equal(result, numbers.decode(exact, 2 * numbers.fraction))
    np.testing.assert_allclose(result, x.T @ (2 * z + mine) + w, atol=1e-12)


def test_backends_agree_bit_by_bit() -> None:
    results = [
        gradient_like(*generate_keys(b, TEST_BITS[b], insecure_test_key=True)).tobytes()
        for b in BACKENDS
    ]
    assert len(set(results)) == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_keys_of_2048_bits_work(backend: str) -> None:
    public, secret = generate_keys(backend)
    values = np.array([-(2.0**30), -1.5, 0.0, 2.0**-48, 2.0**30])
    product = public.matmul_plain(np.eye(5) * -3.0, public.encrypt(values))
    np.testing.assert_array_equal(secret.decrypt(product), -3.0 * values)


def test_encrypting_twice_differs(keys: Keys) -> None:
    public, secret = keys
    values = np.array([0.25, 0.25])
    first, second = public.encrypt(values), public.encrypt(values)
    assert public._ciphers.to_bytes(first.vector) != public._ciphers.to_bytes(second.vector)
    np.testing.assert_array_equal(secret.decrypt(first), secret.decrypt(second))


def test_what_goes_out_is_new_each_time_and_decrypts_alike(keys: Keys) -> None:
    public, secret = keys
    encrypted = public.encrypt(np.array([1.0, -2.0, 0.0]))
    kept = public._ciphers.to_bytes(encrypted.vector)
    sent = [public.outgoing(encrypted) for _ in range(5)]
    assert len({*sent}) == 5
    assert all(kept not in data for data in sent)

    def read(data: bytes) -> Encrypted:
        return public.incoming(data, 3, encrypted.fraction, encrypted.bits)

    for data in sent:
        np.testing.assert_array_equal(secret.decrypt(read(data)), [1.0, -2.0, 0.0])


def test_a_product_with_zeros_and_ones_leaves_without_a_trace(keys: Keys) -> None:
    # Without fresh randomness 0 * [[d]] is the constant 1 and 1 * [[d]] is [[d]] itself.
    public, _ = keys
    product = public.matmul_plain(np.zeros((2, 1)), public.encrypt(np.array([0.5])))
    first, second = public.outgoing(product), public.outgoing(product)
    assert first != second
    half = (len(first) - 16) // 2
    assert first[16 : 16 + half] != first[16 + half :]


def test_sizes_depend_on_the_count_only(keys: Keys) -> None:
    public, _ = keys
    rng = np.random.default_rng(2)
    tables = [np.zeros(6), np.full(6, -(2.0**30)), np.full(6, 1e-14), *rng.normal(size=(40, 6))]
    assert len({len(public.outgoing(public.encrypt(values))) for values in tables}) == 1


def test_worst_case_overflow_is_refused_before_it_happens(keys: Keys) -> None:
    public, secret = keys
    value = np.nextafter(2.0**31, 0.0)
    encrypted, expected, growth = public.encrypt(np.full(2, value)), value, 2 * value
    matrix = np.full((2, 2), value)
    with pytest.raises(CryptoError, match="overflows the key"):  # noqa: PT012
        for _ in range(20):
            encrypted = public.matmul_plain(matrix, encrypted)
            expected *= growth
            # As long as it is allowed, even the largest numbers come out right.
            np.testing.assert_allclose(secret.decrypt(encrypted), expected, rtol=1e-15)
    assert expected > value


def test_numbers_out_of_range_are_refused(keys: Keys) -> None:
    public, _ = keys
    encrypted = public.encrypt(np.array([1.0]))
    for attempt in (
        lambda: public.encrypt(np.array([2.0**31])),
        lambda: public.add_plain(encrypted, np.array([-(2.0**31)])),
        lambda: public.matmul_plain(np.array([[np.nan]]), encrypted),
    ):
        with pytest.raises(CryptoError, match="does not fit"):
            attempt()


def test_integers_beyond_their_bits_are_refused(keys: Keys) -> None:
    public, secret = keys
    zero = public.encrypt_integers(np.array([0], dtype=object), 4)
    for number in (16, -16, 1 << 5000):
        beyond = np.array([number], dtype=object)
        for attempt in (
            lambda beyond=beyond: public.add_integers(zero, beyond, 4),
            lambda beyond=beyond: public.encrypt_integers(beyond, 4),
        ):
            with pytest.raises(CryptoError, match="does not fit into the 4 bits"):
                attempt()
    sums = public.add_integers(zero, np.array([-15], dtype=object), 4)
    assert secret.decrypt_integers(sums).tolist() == [-15]


def test_shapes_and_scales_must_agree(keys: Keys) -> None:
    public, _ = keys
    two = public.encrypt(np.zeros(2))
    with pytest.raises(CryptoError, match="lengths and scales"):
        public.add(two, public.matmul_plain(np.eye(2), two))
    with pytest.raises(CryptoError, match="lengths and scales"):
        public.add(two, public.encrypt(np.zeros(3)))
    with pytest.raises(CryptoError, match="cannot add 3 plain"):
        public.add_plain(two, np.zeros(3))
    with pytest.raises(CryptoError, match="its columns"):
        public.matmul_plain(np.zeros((2, 3)), two)
    with pytest.raises(CryptoError, match="takes a vector"):
        public.encrypt(np.zeros((2, 2)))


def test_another_key_and_damaged_bytes_are_refused(keys: Keys) -> None:
    public, _ = keys
    other, other_secret = generate_keys("paillier", 512, insecure_test_key=True)
    encrypted = public.encrypt(np.zeros(2))
    data = public.outgoing(encrypted)
    form = (encrypted.fraction, encrypted.bits)
    for attempt in (
        lambda: other.rerandomise(encrypted),
        lambda: other.incoming(data, 2, *form),
        lambda: other_secret.decrypt(encrypted),
    ):
        with pytest.raises(CryptoError, match="another key"):
            attempt()
    for broken, count in ((data, 3), (data[:-1], 2), (data[:10], 2), (data + b"x", 2)):
        with pytest.raises(CryptoError):
            public.incoming(broken, count, *form)
    with pytest.raises(CryptoError):
        public.incoming(data[:16] + b"\xff" * (len(data) - 16), 2, *form)


@pytest.mark.parametrize("bits", [512, 1024, 2047])
@pytest.mark.parametrize("backend", BACKENDS)
def test_short_keys_are_refused(backend: str, bits: int) -> None:
    with pytest.raises(SpecError, match=f"key_bits is {bits}: use 2048 or 3072"):
        generate_keys(backend, bits)


def test_an_unknown_backend_is_refused_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="Did you mean 'paillier'"):
        generate_keys("heu-paillier")


def test_the_secret_key_shows_nothing_and_stays(keys: Keys) -> None:
    _, secret = keys
    for text in (repr(secret), str(secret), f"{secret}"):
        assert not any(letter.isdigit() for letter in text)
    assert not hasattr(secret, "__dict__")
    for attempt in (lambda: pickle.dumps(secret), lambda: copy.copy(secret)):
        with pytest.raises(TypeError, match="does not leave its process"):
            attempt()
    with pytest.raises(TypeError, match="does not leave its process"):
        copy.deepcopy({"key": secret})


def test_the_standard_output_stays_clean() -> None:
    program = (
        "import numpy as np\n"
        "from whatleaks.crypto.keys import generate_keys\n"
        "public, _ = generate_keys('paillier', 512, insecure_test_key=True)\n"
        "public.outgoing(public.encrypt(np.zeros(100)))\n"
        "print('only this')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == "only this\n"
