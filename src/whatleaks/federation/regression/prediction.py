"""Prediction with a vertical regression, in two styles.

``plain``: every passive party sends its plain z of the wanted records to the label holder,
who adds them up. This is what the paper's attacked systems do (section 4.1).

``coordinator``: every passive party sends [[z]] to the label holder, who adds its own and
passes the sum on; the coordinator, who holds the secret key, decrypts the sum alone and
returns the score alone. With two parties and an invertible score the label holder still
computes the other's z; with three or more it gets only the sum of the others'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.errors import SpecError, nearest
from whatleaks.federation.ciphers import read_output, read_sum, send_encrypted, send_new
from whatleaks.federation.regression.settings import Link
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Expected, Post, Programme, read_plain
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE, ARBITER

STYLES = ("plain", "coordinator")


def check_style(style: str) -> None:
    """Refuse an unknown style."""
    if style not in STYLES:
        raise SpecError(
            f"unknown prediction style {style!r}: use one of {', '.join(STYLES)}."
            f"{nearest(style, STYLES)}"
        )


def send_outputs(
    name: str, z: Floats, step: int, style: str, key: PublicKey, post: Post
) -> Programme[None]:
    """Be a passive party: send z of the wanted records, plain or encrypted."""
    check_style(style)
    if style == "plain":
        post.send(step, name, ACTIVE, "output", Plain(sealed(z)))
    else:
        send_new(post, key, step, (name, ACTIVE), "encrypted-output", z)
    yield from ()


def collect_scores(
    z: Floats,
    step: int,
    style: str,
    key: PublicKey,
    post: Post,
    link: Link,
    passives: Sequence[str],
) -> Programme[Floats]:
    """Be the active party: add up what comes, ask the coordinator if sums are encrypted."""
    check_style(style)
    shape = (len(z),)
    if style == "plain":
        total = np.array(z)
        for passive in passives:
            total += read_plain((yield Expected(step, passive, "output", shape, True)))
        return link.score(total)
    encrypted = key.encrypt(z)
    for passive in passives:
        payload = yield Expected(step, passive, "encrypted-output", shape, False)
        encrypted = key.add(encrypted, read_output(key, payload))
    send_encrypted(post, key, step, (ACTIVE, ARBITER), "encrypted-sum", encrypted)
    return read_plain((yield Expected(step, ARBITER, "score", shape, True)))


def return_scores(
    records: int, step: int, style: str, keys: tuple[PublicKey, SecretKey], post: Post, link: Link
) -> Programme[None]:
    """Be the coordinator: decrypt the sum of all outputs, return the score and nothing else."""
    check_style(style)
    if style == "plain":
        return
    public, secret = keys
    payload = yield Expected(step, ACTIVE, "encrypted-sum", (records,), False)
    z = secret.decrypt(read_sum(public, payload))
    post.send(step, ARBITER, ACTIVE, "score", Plain(link.score(z)))


def predict(
    link: Link,
    tables: Mapping[str, Floats],
    weights: Mapping[str, Floats],
    style: str,
    keys: tuple[PublicKey, SecretKey],
    channel: Channel,
    step: int = 0,
) -> Floats:
    """Predict with all parties in this process; ``tables`` and ``weights`` go by party name."""
    exchange = Exchange(channel)
    outputs = {name: sealed(x @ weights[name]) for name, x in tables.items()}
    passives = tuple(name for name in tables if name != ACTIVE)
    mine = outputs[ACTIVE]
    programmes: dict[str, Programme[Any]] = {
        ACTIVE: collect_scores(mine, step, style, keys[0], exchange, link, passives),
        **{n: send_outputs(n, outputs[n], step, style, keys[0], exchange) for n in passives},
        ARBITER: return_scores(len(mine), step, style, keys, exchange, link),
    }
    scores: Floats = exchange.drive(programmes)[ACTIVE]
    return scores
