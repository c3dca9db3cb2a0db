"""A regression with an arbiter trained in the clear: what its parties would have held and heard.

Controls ask what the same training tells if the partner's records are other people's. Without a
key the answer costs next to nothing; its numbers are those of the ciphertexts up to the rounding
of the fixed point (``linear.gradient_error``). Masks change nothing that a party remembers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.federation.regression.linear import Run, loss
from whatleaks.federation.regression.parties import made_up_records
from whatleaks.federation.regression.settings import (
    Link,
    SecureLinearSettings,
    draw_weights,
    with_fakes,
)
from whatleaks.models.adam import Adam
from whatleaks.models.regression_history import OwnSteps, RegressionHistory
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE, ARBITER, PASSIVE, passive_names


class _Party:
    """A data party: its columns, its weights, and every step that it took."""

    def __init__(self, x: Floats, settings: SecureLinearSettings, rng: np.random.Generator) -> None:
        self.x = x
        self.weights = draw_weights(x.shape[1], settings, rng)
        self.before: list[Floats] = []
        self.gradients: list[Floats] = []
        self.adam = Adam(np.zeros(x.shape[1]), 1.0)  # the arbiter's, for this party

    def take_step(self, along: Floats, rate: float) -> None:
        self.before.append(self.weights)
        self.gradients.append(along)
        self.weights = sealed(self.weights - rate * along)

    def own_steps(self, settings: SecureLinearSettings, link: Link) -> OwnSteps:
        return OwnSteps(
            self.x,
            sealed(np.stack(self.before)),
            sealed(np.stack(self.gradients)),
            settings.all_batches(len(self.x)),
            settings.learning_rate,
            settings.alpha,
            link.slope,
            link.offset,
            settings.optimiser,
        )


def replay(
    link: Link,
    x_active: Floats,
    x_passive: Sequence[Floats],
    y: Floats,
    settings: SecureLinearSettings,
    streams: Streams,
    channel: Channel,
) -> Run:
    """Train as ``linear.run_regression`` does, with the same first weights and fake columns.

    What the arbiter returns and what is answered to queries goes over ``channel``.
    """
    tables = dict(zip(passive_names(len(x_passive)), x_passive, strict=True))
    tables = {ACTIVE: with_fakes(x_active, settings, streams.rng("active/fakes")), **tables}
    parties = {
        name: _Party(table, settings, streams.rng(f"{name}/weights"))
        for name, table in tables.items()
    }
    x = np.concatenate(list(tables.values()), axis=1)

    def at_present() -> float:
        weights = np.concatenate([party.weights for party in parties.values()])
        return loss(link, x, weights, y, settings.alpha)

    losses, step = [], 0
    for epoch in range(settings.epochs):
        losses.append(at_present())
        for rows in settings.batches(len(y), epoch):
            z = np.sum([party.x[rows] @ party.weights for party in parties.values()], axis=0)
            d = link.slope * z + link.offset - y[rows]
            for name, party in parties.items():
                along = party.x[rows].T @ d + settings.alpha * party.weights
                if settings.optimiser == "adam":
                    along = party.adam.direction(along)
                heard = channel.send_plain(step, ARBITER, name, "gradient", along)
                party.take_step(heard, settings.learning_rate)
            step += 1
    losses.append(at_present())
    active = parties.pop(ACTIVE)
    asked = {}
    if settings.queries:
        for name, party in parties.items():
            records = made_up_records(party.x.shape[1])
            told = records @ party.weights
            asked[name] = (records, channel.send_plain(step, name, ACTIVE, "intermediate", told))
    held = active.own_steps(settings, link)
    history = RegressionHistory(**{f.name: getattr(held, f.name) for f in fields(held)}, targets=y)
    return Run(
        history,
        asked.get(PASSIVE),
        asked,
        channel.transcript,
        active.weights,
        sealed(np.concatenate([party.weights for party in parties.values()])),
        tuple(losses),
        {ACTIVE: active.weights, **{name: party.weights for name, party in parties.items()}},
        {name: party.own_steps(settings, link) for name, party in parties.items()},
    )
