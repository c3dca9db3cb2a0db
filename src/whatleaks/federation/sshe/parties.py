"""The two parties of a regression without an arbiter (secret sharing and HE, the SSHE family).

Weights, outputs z, residuals d and gradients exist only as two shares. What is linear in shares
each party computes alone. A product of a party's own columns with the other's share goes under
the other's key: the other sends [[share]], the owner multiplies, adds a mask and sends it back;
the decrypted sum is the other's share of the product, the negative mask the owner's. So whatever
is decrypted is masked by the party that could not read it, and nothing is returned in the clear
until the end, when each party gets the other's share of its own weights.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.crypto.masking import digit_count, from_digits, to_digits
from whatleaks.crypto.ring import BITS, cut, drawn, encoded, opened, reduced
from whatleaks.errors import CryptoError
from whatleaks.federation.ciphers import read_cipher
from whatleaks.federation.regression.settings import draw_weights
from whatleaks.federation.sshe.settings import SharedSettings
from whatleaks.models.shared_history import SharedHistory
from whatleaks.wire.expected import Expected, Post, Programme, read_plain
from whatleaks.wire.message import Cipher, Plain
from whatleaks.wire.parties import ACTIVE

Shared = tuple[BigInts, BigInts]  # of something of mine, and of something of the other's


class SharingParty:
    """One of the two: columns, its own key pair, the other's public key; ``y`` makes it active."""

    def __init__(
        self,
        way: tuple[str, str],
        x: Floats,
        other_columns: int,
        settings: SharedSettings,
        rng: np.random.Generator,
        keys: tuple[PublicKey, SecretKey],
        other_key: PublicKey,
        post: Post,
        y: Floats | None = None,
    ) -> None:
        self._own, self._other = way
        self._x = sealed(x)
        self._y = None if y is None else sealed(y)
        self._other_columns = other_columns
        self._settings = settings
        self._public, self._secret = keys
        self._other_key = other_key
        self._post = post
        self._first = self._own == ACTIVE  # who cuts first is public
        self._fraction = self._public.numbers.fraction
        self._weights = draw_weights(x.shape[1], settings.regression, rng)

    def train(self) -> Programme[Floats]:
        """Share the first weights, take every step on shares, open the own weights at the end."""
        numbers = self._public.numbers
        theirs = drawn(self._x.shape[1])  # the other's share of my weights
        mine = reduced(encoded(self._weights, numbers) - theirs)
        self._send_ring(0, "weight-share", theirs)
        others = yield from self._hear_ring(0, "weight-share", self._other_columns)
        step = 1
        for _ in range(self._settings.epochs):
            for rows in self._settings.batches(len(self._x)):
                mine, others = yield from self._step(step, rows, mine, others)
                step += 1
        self._send_ring(step, "weight-share", others)
        last = yield from self._hear_ring(step, "weight-share", len(mine))
        return opened(mine, last, numbers)

    def history(self, last: Floats) -> SharedHistory:
        """Return what the active party holds after training, without any message."""
        assert self._y is not None
        settings = self._settings
        return SharedHistory(
            self._x,
            self._y,
            self._weights,
            last,
            settings.batches(len(self._x)),
            settings.epochs,
            settings.learning_rate,
            settings.alpha,
            settings.formula.slope,
            settings.formula.offset,
        )

    def _step(self, step: int, rows: Ints, mine: BigInts, others: BigInts) -> Programme[Shared]:
        """Take one step; ``mine`` and ``others`` are my shares of my and of the other's weights."""
        x, link = self._x[rows], self._settings.formula
        z = yield from self._products(step, "output", (x, mine), (len(rows), others))
        d = self._scaled(z, link.slope)
        if self._y is not None:
            d = reduced(d + encoded(link.offset - self._y[rows], self._public.numbers))
        # Both gradients are products with d: mine with my columns, the other's with its own.
        own, other = yield from self._gradients(step, x.T, d)
        return self._descended(mine, own), self._descended(others, other)

    def _descended(self, weights: BigInts, gradient: BigInts) -> BigInts:
        slope = reduced(gradient + self._scaled(weights, self._settings.alpha))
        return reduced(weights - self._scaled(slope, self._settings.learning_rate))

    def _scaled(self, share: BigInts, factor: float) -> BigInts:
        """Multiply a shared vector by a public number."""
        whole = int(self._public.numbers.encode(np.array([factor]))[0])
        return cut(reduced(share * whole), self._fraction, self._first)

    def _products(
        self, step: int, kind: str, own: tuple[Floats, BigInts], other: tuple[int, BigInts]
    ) -> Programme[BigInts]:
        """Return my share of the sum of both parties' products of columns and weights."""
        matrix, mine = own
        rows, others = other
        self._ask(step, kind, others)
        minus = yield from self._multiply(step, kind, matrix, len(mine))
        theirs = yield from self._answer(step, kind, rows, len(others))
        local = self._public.numbers.encode(matrix) @ mine
        return cut(reduced(local + minus + theirs), self._fraction, self._first)

    def _gradients(self, step: int, matrix: Floats, d: BigInts) -> Programme[Shared]:
        """Return my shares of my gradient and of the other's."""
        self._ask(step, "residual", d)
        minus = yield from self._multiply(step, "residual", matrix, len(d))
        theirs = yield from self._answer(step, "residual", self._other_columns, len(d))
        local = self._public.numbers.encode(matrix) @ d
        own = cut(reduced(local + minus), self._fraction, self._first)
        return own, cut(reduced(theirs), self._fraction, self._first)

    def _ask(self, step: int, kind: str, share: BigInts) -> None:
        """Send my share under my key."""
        data = self._public.outgoing_new(share, BITS)
        cipher = Cipher(self._public.scheme, (len(share),), data)
        self._post.send(step, self._own, self._other, f"{kind}-share", cipher)

    def _multiply(self, step: int, kind: str, matrix: Floats, count: int) -> Programme[BigInts]:
        """Multiply my matrix by the other's encrypted share; keep the negative mask."""
        payload = yield Expected(step, self._other, f"{kind}-share", (count,), False)
        product = self._other_key.matmul_plain(
            matrix, read_cipher(self._other_key, payload, 0, BITS)
        )
        # Over the key's whole range: a share that the other made larger than the ring drowns too.
        masked, masks = self._other_key.cover(product)
        data = self._other_key.outgoing(masked)
        cipher = Cipher(self._other_key.scheme, (masked.count,), data)
        self._post.send(step, self._own, self._other, f"{kind}-product", cipher)
        return reduced(-masks)

    def _answer(self, step: int, kind: str, rows: int, count: int) -> Programme[BigInts]:
        """Decrypt the masked product of my share: it is my share of the product."""
        payload = yield Expected(step, self._other, f"{kind}-product", (rows,), False)
        read = read_cipher(self._public, payload, self._fraction, self._public.largest_bits)
        return reduced(self._secret.decrypt_integers(read))

    def _send_ring(self, step: int, kind: str, share: BigInts) -> None:
        digits = Plain(to_digits(share, digit_count(BITS)))
        self._post.send(step, self._own, self._other, kind, digits)

    def _hear_ring(self, step: int, kind: str, count: int) -> Programme[BigInts]:
        shape = (count, digit_count(BITS))
        digits = read_plain((yield Expected(step, self._other, kind, shape, True)))
        if (digits != np.floor(digits)).any() or (digits < 0).any() or (digits >= 2**32).any():
            raise CryptoError("a share is not made of 32-bit digits: the message is damaged")
        return from_digits(digits)
