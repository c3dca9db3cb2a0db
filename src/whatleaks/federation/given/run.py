"""A model that was trained elsewhere, over all columns: nothing is trained here.

The parties hold their columns of the table; a coordinator holds the model and sends the active
party what the model says of the records that it asks about, by the same messages as after a
training here. What is offered is the model, split at the parties' columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Bools, Floats, Ints, sealed
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import Guard
from whatleaks.detectors.protocol import Detector
from whatleaks.errors import UsageError
from whatleaks.federation.coalitions import victims
from whatleaks.federation.given.settings import GivenSettings
from whatleaks.federation.protocol import Fact, Federation, Progress, likeliest
from whatleaks.federation.roles import Hijacker
from whatleaks.federation.summed.trained import public_ranges
from whatleaks.federation.trees.parties import renumbered
from whatleaks.models.adapters.given import Boosted, Core, Dense, Votes
from whatleaks.models.additive import Additive, Bottom
from whatleaks.models.forest import Forest
from whatleaks.models.joined_parts import OwnPart
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.models.tree import Tree
from whatleaks.seeds import Streams
from whatleaks.threat.grants import (
    ForestModel,
    Grant,
    JointModel,
    LinearModel,
    Ranges,
    TreeModel,
)
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE, COORDINATOR
from whatleaks.wire.transcript import Transcript


class GivenTrained:
    """The model in place, as if it had been trained here. ``kind`` is what its scores are sent as."""

    stop: str | None = None
    reading: Any = None

    def __init__(self, holdings: Holdings, model: Core, kind: str) -> None:
        self.holdings = holdings
        self.model = model
        self.kind = kind

    def release(self, rows: Ints, channel: Channel, guard: Guard) -> Floats:
        """Send the active party the scores of ``rows``; with a gate, of the released ones."""
        return self._released(rows, channel, guard)[0]

    def classes(self, rows: Ints, guard: Guard) -> Ints:
        """Return the likeliest class of every record, -1 where the gate withholds it."""
        scores, released = self._released(rows, Channel(Transcript([]), guard.alter), guard)
        found = np.full(len(rows), -1, dtype=np.int64)
        found[released] = likeliest(scores)
        return found

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return the model with the coalition's columns first, and the public ranges."""
        unknown, places = victims(self.holdings, coalition), self._places()
        own, other = (
            np.concatenate([places[party] for party in parties]) for parties in (coalition, unknown)
        )
        ranges = public_ranges(len(other))
        if isinstance(self.model, Boosted):
            return (ranges,)
        if isinstance(self.model, Votes):
            order = np.argsort(np.concatenate([own, other])).tolist()
            return (_trees(self.model, order, len(own)), ranges)
        return (_layers(self.model, own, other), ranges)

    def memory(self, party: str) -> tuple[object, ...]:
        """Nobody remembers a training; of a linear model every party holds its own part.

        The bias goes with the active party's.
        """
        if not isinstance(self.model, Dense) or len(self.model.layers.weights) > 1:
            return ()
        weights, bias = self.model.layers.weights[0], self.model.layers.biases[0]
        mine = sealed(weights[self._places()[party]])
        return (OwnPart(Linear(mine, bias if party == ACTIVE else sealed(np.zeros_like(bias)))),)

    def facts(self) -> dict[str, Fact]:
        """There is nothing to tell."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """There is nothing to tell of one split of the records: the model is the same in all."""
        return ()

    def outputs(self) -> Floats | None:
        """There is nothing in between that the evaluator would judge."""
        return None

    def _places(self) -> dict[str, Ints]:
        """Return where every party's columns stand among those of the model."""
        places, at = {}, 0
        for party, columns in self.holdings.columns.items():
            places[party] = np.arange(at, at + columns.shape[1])
            at += columns.shape[1]
        return places

    def _released(self, rows: Ints, channel: Channel, guard: Guard) -> tuple[Floats, Bools]:
        own = self.holdings.joined((ACTIVE,), rows)
        truth = self.holdings.joined(self.holdings.passives, rows)
        scores = guard.apply(self.model.scores(np.concatenate([own, truth], axis=1)))
        released = np.ones(len(rows), dtype=np.bool_)
        if guard.gate is not None:
            released = guard.gate.allow(own, truth, scores, guard.simulate)
            channel.send(0, COORDINATOR, ACTIVE, "released", Plain(sealed(released)))
        payload = Plain(sealed(scores[released]))
        sent = channel.send(0, COORDINATOR, ACTIVE, self.kind, payload)
        assert isinstance(sent, Plain)
        return sent.values, released


def _layers(model: Dense, own: Ints, other: Ints) -> Grant:
    """Split the first layer at the columns; its bias goes with the coalition's part."""
    layers = model.layers
    first, bias = layers.weights[0], layers.biases[0]
    active = Linear(sealed(first[own]), bias)
    passive = Linear(sealed(first[other]), sealed(np.zeros(len(bias))))
    if len(layers.weights) == 1:
        return LinearModel(Additive(active, passive))
    weights, biases = layers.weights[1:], layers.biases[1:]
    rest: Bottom = Linear(weights[0], biases[0])
    if len(weights) > 1:
        rest = Network(weights, biases, layers.activation)
    return JointModel(JointNetwork(active, passive, rest, layers.activation))


def _trees(model: Votes, order: list[int], own: int) -> Grant:
    if model.forest:
        forest = renumbered(Forest(model.trees, soft=True), order, own)
        assert isinstance(forest, Forest)
        return ForestModel(forest)
    tree = renumbered(model.trees[0], order, own)
    assert isinstance(tree, Tree)
    return TreeModel(tree)


class _Given(Federation):
    """What both kinds of given models share."""

    settings_type = GivenSettings
    models: ClassVar[Mapping[str, GivenSettings]] = {}
    trains = False
    grants: ClassVar[Mapping[str, type[Grant]]]  # by form

    def offers(self, settings: GivenSettings) -> frozenset[type[Grant]]:
        """What the form can be granted as, where a view shows it, and the ranges."""
        kinds = [self.grants[settings.form]] if settings.form in self.grants else []
        return frozenset({*kinds, Ranges})

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: GivenSettings,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> GivenTrained:
        """Put the model in place."""
        del rows, streams, channel, progress
        self.refuse(hijacker, detector)
        if settings.model is None:
            raise UsageError(
                f"{settings.form} is a model that was trained elsewhere: give it along"
            )
        (kind,) = self.shows
        return GivenTrained(holdings, settings.model, kind)


@catalog.federation(
    "given",
    title="A model that was trained elsewhere: logistic regression, a network, boosted trees",
    paper="",
)
class GivenFederation(_Given):
    """Models that release scores."""

    forms: ClassVar[Mapping[str, GivenSettings]] = {
        name: GivenSettings(name) for name in ("given-linear", "given-network", "given-scores")
    }
    grants: ClassVar[Mapping[str, type[Grant]]] = {
        "given-linear": LinearModel,
        "given-network": JointModel,
    }
    shows = frozenset({"scores"})
    gated = True


@catalog.federation(
    "given-trees",
    title="A tree or a forest that was trained elsewhere",
    paper="",
)
class GivenTreesFederation(_Given):
    """Models that release the shares of the classes in the leaves."""

    forms: ClassVar[Mapping[str, GivenSettings]] = {
        name: GivenSettings(name) for name in ("given-tree", "given-forest")
    }
    grants: ClassVar[Mapping[str, type[Grant]]] = {
        "given-tree": TreeModel,
        "given-forest": ForestModel,
    }
    shows = frozenset({"votes"})
