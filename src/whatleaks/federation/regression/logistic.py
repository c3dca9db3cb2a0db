"""Encrypted logistic regression with an arbiter: the sigmoid as a polynomial (section 2.1).

The parties and messages are those of the linear regression. Ciphertexts add but do not
exponentiate, so the sigmoid is taken to first order around zero, as FATE does:
sigmoid(z) ~ 0.25 z + 0.5, hence [[d]] = 0.25 (sum of [[z_A]] + z_B) + 0.5 - y with y 0 or 1.
Every party scales its own z before it encrypts, so no product under encryption is needed.

The loss is the matching polynomial: sum of log 2 + (1/2 - y) z + z^2 / 8, plus the L2 term.
It is a quadratic, so the polynomial model is a linear regression of y - 1/2 on z / 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.arrays import Floats
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.federation.regression.linear import PlainRun, Run, plain_regression, run_regression
from whatleaks.federation.regression.settings import LOGISTIC, SecureLinearSettings, check_labels
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel


def run_logistic(
    x_active: Floats,
    x_passive: Floats | Sequence[Floats],
    y: Floats,
    settings: SecureLinearSettings,
    streams: Streams,
    channel: Channel,
    keys: tuple[PublicKey, SecretKey] | None = None,
) -> Run:
    """Train over ``channel`` with all parties in this process; ``y`` is 0 or 1."""
    check_labels(y)
    return run_regression(LOGISTIC, x_active, x_passive, y, settings, streams, channel, keys)


def plain_logistic(
    x_active: Floats,
    x_passive: Floats | Sequence[Floats],
    y: Floats,
    settings: SecureLinearSettings,
    streams: Streams,
) -> PlainRun:
    """Train with the same maths in doubles: the reference."""
    check_labels(y)
    return plain_regression(LOGISTIC, x_active, x_passive, y, settings, streams)
