"""Encrypted linear regression with an arbiter (Li et al., section 2.1, Fig 2).

Each passive party A sends [[z_A]] to the active party B, which holds the targets y. B forms
[[d]] = sum of [[z_A]] + z_B - y and sends it back. Each party forms its encrypted gradient
X^T [[d]] + alpha W and sends it to the arbiter, who holds the secret key, decrypts, and
returns to each its own gradient. After training B may ask for predictions: A answers with
plain z (section 4.1); ``regression.prediction`` has both styles of prediction on real records.

The loss is L = (||d||^2 + alpha ||W_A||^2 + alpha ||W_B||^2) / 2, a sum over the batch as
in the paper. There is no bias: a party that wants one holds a constant column.

Error of the fixed point: with eps = half a step (1.8e-15 by default) one encrypted gradient
differs from the plain one by at most sum_i(2 eps |x_i| + eps |d_i| + 2 eps^2) + eps per
column, besides the rounding of doubles; ``gradient_error`` computes it. Every further
passive party adds eps |x_i| per record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.fixed_point import FixedPoint
from whatleaks.crypto.keys import generate_keys
from whatleaks.federation.regression.parties import ActiveParty, Arbiter, PassiveParty
from whatleaks.federation.regression.settings import (
    LINEAR,
    Link,
    SecureLinearSettings,
    as_tables,
    check_tables,
    draw_weights,
    with_fakes,
)
from whatleaks.models.adam import Adam
from whatleaks.models.regression_history import OwnSteps, RegressionHistory
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.parties import ACTIVE, ARBITER, PASSIVE, passive_names
from whatleaks.wire.transcript import Transcript


@dataclass(frozen=True)
class Run:
    """A finished training, for the experimenter.

    An adversary's view takes ``active`` (the own memory of the active party), ``queries``
    (records it made up, answers it got from the first passive party; in ``asked`` those of
    all) and
    ``transcript.received_by("active")``. The rest, the passive weights (side by side, and in
    ``weights`` by party) and the losses at the start of each epoch and at the end, no party
    sees as a whole.
    """

    active: RegressionHistory
    queries: tuple[Floats, Floats] | None
    asked: Mapping[str, tuple[Floats, Floats]]
    transcript: Transcript
    active_weights: Floats
    passive_weights: Floats
    losses: tuple[float, ...]
    weights: Mapping[str, Floats]
    passive: Mapping[str, OwnSteps]  # what each passive party remembers of its own steps


def run(
    x_active: Floats,
    x_passive: Floats | Sequence[Floats],
    y: Floats,
    settings: SecureLinearSettings,
    streams: Streams,
    channel: Channel,
    keys: tuple[PublicKey, SecretKey] | None = None,
) -> Run:
    """Train over ``channel``. ``keys`` reuses a pair (tests, timings); else one is made.

    A sequence of tables is one passive party each: passive, passive-2, passive-3, ...
    """
    return run_regression(LINEAR, x_active, x_passive, y, settings, streams, channel, keys)


def run_regression(
    link: Link,
    x_active: Floats,
    x_passive: Floats | Sequence[Floats],
    y: Floats,
    settings: SecureLinearSettings,
    streams: Streams,
    channel: Channel,
    keys: tuple[PublicKey, SecretKey] | None = None,
) -> Run:
    """Train a regression with any link, all parties in this process."""
    tables = dict(zip(passive_names(len(as_tables(x_passive))), as_tables(x_passive), strict=True))
    for table in tables.values():
        check_tables(x_active, table, y)
    public, secret = keys or generate_keys(
        settings.backend, settings.key_bits, insecure_test_key=settings.insecure_test_key
    )
    own = with_fakes(x_active, settings, streams.rng("active/fakes"))
    exchange = Exchange(channel)
    rng = streams.rng("active/weights")
    active = ActiveParty(own, y, settings, rng, public, exchange, link, tuple(tables))
    passives = {
        name: PassiveParty(
            name, table, settings, streams.rng(f"{name}/weights"), public, exchange, link
        )
        for name, table in tables.items()
    }
    columns = {name: table.shape[1] for name, table in tables.items()}
    arbiter = Arbiter(public, secret, settings, exchange)
    programmes: dict[str, Programme[Any]] = {
        ACTIVE: active.train(),
        **{name: passive.train() for name, passive in passives.items()},
        ARBITER: arbiter.serve(len(y), {ACTIVE: own.shape[1], **columns}),
    }
    exchange.drive(programmes)
    asked: dict[str, tuple[Floats, Floats]] = {}
    if settings.queries:
        step = settings.epochs * settings.batch_count(len(y))
        asking: dict[str, Programme[Any]] = {
            ACTIVE: active.ask_queries(step, columns),
            **{name: passive.answer_queries(step) for name, passive in passives.items()},
        }
        asked = exchange.drive(asking)[ACTIVE]
    weights = {ACTIVE: active.weights} | {n: p.weights for n, p in passives.items()}
    x = np.concatenate([own, *tables.values()], axis=1)
    parties = (active, *passives.values())
    epochs = [
        *zip(*(party.epoch_weights for party in parties), strict=True),
        tuple(weights.values()),
    ]
    return Run(
        active.history(),
        asked.get(PASSIVE),
        asked,
        channel.transcript,
        active.weights,
        sealed(np.concatenate([passive.weights for passive in passives.values()])),
        tuple(loss(link, x, np.concatenate(parts), y, settings.alpha) for parts in epochs),
        weights,
        {name: passive.own_steps() for name, passive in passives.items()},
    )


@dataclass(frozen=True)
class PlainRun:
    """The same training without parties or ciphertexts: the reference for tests and utility."""

    active_weights: Floats
    passive_weights: Floats
    outputs: tuple[Floats, ...]
    residuals: tuple[Floats, ...]
    losses: tuple[float, ...]


def plain_linear(
    x_active: Floats,
    x_passive: Floats | Sequence[Floats],
    y: Floats,
    settings: SecureLinearSettings,
    streams: Streams,
) -> PlainRun:
    """Train with the same maths, first weights and fake columns, in doubles.

    ``outputs`` and ``residuals`` are z_A (summed over passive parties) and d of every step,
    for the experimenter only.
    """
    return plain_regression(LINEAR, x_active, x_passive, y, settings, streams)


def plain_regression(
    link: Link,
    x_active: Floats,
    x_passive: Floats | Sequence[Floats],
    y: Floats,
    settings: SecureLinearSettings,
    streams: Streams,
) -> PlainRun:
    """Train a regression with any link in doubles, on the joined passive columns."""
    tables = as_tables(x_passive)
    for table in tables:
        check_tables(x_active, table, y)
    own = with_fakes(x_active, settings, streams.rng("active/fakes"))
    w_active = draw_weights(own.shape[1], settings, streams.rng("active/weights"))
    theirs = np.concatenate(tables, axis=1)
    names = passive_names(len(tables))
    w_passive = sealed(
        np.concatenate(
            [
                draw_weights(table.shape[1], settings, streams.rng(f"{name}/weights"))
                for name, table in zip(names, tables, strict=True)
            ]
        )
    )
    x = np.concatenate([own, theirs], axis=1)
    eta, alpha = settings.learning_rate, settings.alpha
    losses, outputs, residuals = [], [], []
    adam = [Adam(np.zeros(len(part)), 1.0) for part in (w_active, w_passive)]
    for epoch in range(settings.epochs):
        losses.append(loss(link, x, np.concatenate([w_active, w_passive]), y, alpha))
        for rows in settings.batches(len(y), epoch):
            z = theirs[rows] @ w_passive
            d = link.slope * (z + own[rows] @ w_active) + link.offset - y[rows]
            steps = [own[rows].T @ d + alpha * w_active, theirs[rows].T @ d + alpha * w_passive]
            if settings.optimiser == "adam":
                steps = [one.direction(step) for one, step in zip(adam, steps, strict=True)]
            w_active, w_passive = (
                sealed(w_active - eta * steps[0]),
                sealed(w_passive - eta * steps[1]),
            )
            outputs.append(sealed(z))
            residuals.append(sealed(d))
    losses.append(loss(link, x, np.concatenate([w_active, w_passive]), y, alpha))
    return PlainRun(w_active, w_passive, tuple(outputs), tuple(residuals), tuple(losses))


def gradient_error(x: Floats, d: Floats, numbers: FixedPoint) -> Floats:
    """Bound how far an encrypted gradient lies from the plain one, for every column of ``x``.

    z_A and z_B - y are rounded once each, so d errs by 2 eps; a column's value errs by eps;
    alpha W errs by at most eps, as it is encoded at the finer scale of the product.
    """
    eps = numbers.error
    bound: Floats = (
        2 * eps * np.abs(x).sum(axis=0) + eps * np.abs(d).sum() + 2 * eps**2 * len(d) + eps
    )
    return bound


def loss(link: Link, x: Floats, weights: Floats, y: Floats, alpha: float) -> float:
    """Return the loss of section 2.1 over all records; the experimenter's, no party's."""
    return link.loss(x @ weights, y) + 0.5 * alpha * float(weights @ weights)
