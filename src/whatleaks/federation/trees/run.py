"""Joint trees: a decision tree or a random forest over all parties' columns (U section VI-A).

Training is centralised, as in the paper: it stands for a secure protocol that discloses the
final model and nothing else, so no training message is recorded.

Prediction runs through the parties. The active party asks for records by number, the
coordinator passes the numbers on, every party answers the tests of its own nodes, and the
coordinator releases the class (a score of one) or the vote fractions.

Stream used: ``trees``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import Guard
from whatleaks.detectors.protocol import Detector
from whatleaks.errors import UsageError
from whatleaks.federation.coalitions import victims
from whatleaks.federation.protocol import Fact, Federation, Progress, likeliest
from whatleaks.federation.roles import Hijacker
from whatleaks.federation.summed.trained import public_ranges
from whatleaks.federation.trees.parties import (
    NodeOwner,
    TreeCoordinator,
    contribute,
    disclosed,
    grow,
    refuse_gaps,
    renumbered,
    trees_of,
)
from whatleaks.federation.trees.settings import FOREST, TREE, TreeSettings
from whatleaks.models.forest import Forest
from whatleaks.models.tree import Tree
from whatleaks.seeds import Streams
from whatleaks.threat.grants import ForestModel, Grant, Ranges, TreeModel
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.mailbox import UNBOUNDED
from whatleaks.wire.parties import ACTIVE, COORDINATOR
from whatleaks.wire.transcript import Transcript


class TreesTrained:
    """Node owners and a coordinator; ``train`` or ``install`` puts a model in place."""

    stop: str | None = None
    reading: Any = None

    def __init__(self, holdings: Holdings, settings: TreeSettings) -> None:
        if holdings.classes < 2:
            raise UsageError(
                f"a federation needs at least 2 classes to predict, got {holdings.classes}"
            )
        refuse_gaps(holdings.columns)
        self.holdings = holdings
        self.settings = settings
        self._widths = {name: table.shape[1] for name, table in holdings.columns.items()}
        self._coordinator = TreeCoordinator(self._widths, holdings.classes, settings)
        self._owners: dict[str, NodeOwner] = {}

    @property
    def model(self) -> Tree | Forest:
        """The joint model. Only the evaluator and the grants room may ask for it."""
        return self._coordinator.model

    def train(self, rows: Ints, streams: Streams) -> None:
        """Grow the model on ``rows``, over a channel that no adversary listens to."""
        exchange = Exchange(Channel(Transcript([])), UNBOUNDED)
        labels = sealed_ints(self.holdings.labels[rows])
        programmes: dict[str, Programme[Any]] = {
            name: contribute(
                name,
                table[rows],
                labels if name == ACTIVE else None,
                self._widths[name],
                exchange,
            )
            for name, table in self.holdings.columns.items()
        }
        rng = streams.rng("trees")
        programmes[COORDINATOR] = self._coordinator.train(len(labels), rng, exchange)
        results = exchange.drive(programmes)
        self._owners = {name: results[name] for name in self.holdings.columns}

    def install(self, model: Tree | Forest) -> None:
        """Put a model in place that was grown elsewhere; one beyond the limits is refused."""
        self._coordinator.install(model)
        self._owners = {
            name: NodeOwner(name, disclosed(model, first, self._widths[name]))
            for name, first in self._coordinator.firsts().items()
        }

    def release(self, rows: Ints, channel: Channel, guard: Guard) -> Floats:
        """Send the active party the votes for ``rows`` and return them as it holds them."""
        if guard.gate is not None:
            raise UsageError(f"joint trees have no gate: {guard.gate.name} cannot withhold votes")
        trees, exchange = len(trees_of(self.model)), Exchange(channel, UNBOUNDED)
        tables, classes = self.holdings.columns, self.holdings.classes
        programmes: dict[str, Programme[Any]] = {
            name: owner.ask(tables[name], rows, trees, classes, 0, exchange)
            if name == ACTIVE
            else owner.serve(tables[name], trees, 0, exchange)
            for name, owner in self._owners.items()
        }
        programmes[COORDINATOR] = self._coordinator.release(len(rows), 0, exchange, guard)
        votes: Floats = exchange.drive(programmes)[ACTIVE]
        return votes

    def classes(self, rows: Ints, guard: Guard) -> Ints:
        """Return the class with most votes of every record."""
        return likeliest(self.release(rows, Channel(Transcript([]), guard.alter), guard))

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return the model with the coalition's columns numbered first, and the ranges."""
        unknown = victims(self.holdings, coalition)
        own = sum(self._widths[party] for party in coalition)
        firsts, place = self._coordinator.firsts(), 0
        order = [0] * sum(self._widths.values())
        for party in (*coalition, *unknown):
            for column in range(self._widths[party]):
                order[firsts[party] + column] = place
                place += 1
        model = renumbered(self.model, order, own)
        grant = ForestModel(model) if isinstance(model, Forest) else TreeModel(model)
        return (grant, public_ranges(len(order) - own))

    def memory(self, party: str) -> tuple[object, ...]:
        """Nobody keeps anything of the training but its nodes."""
        del party
        return ()

    def facts(self) -> dict[str, Fact]:
        """Count the nodes that test a passive column."""
        return {"passive tests": sum(int(tree.passive.sum()) for tree in trees_of(self.model))}

    def notes(self) -> tuple[str, ...]:
        """Say which of the passive parties' columns the model looks at."""
        model = self.model
        tested = np.unique(np.concatenate([t.feature[t.passive] for t in trees_of(model)]))
        columns = self.holdings.joined_names(self.holdings.passives)
        names = [columns[j - model.active_columns] for j in tested]
        return (
            f"the joint {self.settings.kind} tests {len(names)} of your {len(columns)} columns"
            + (f": {', '.join(names)}." if names else "."),
        )

    def outputs(self) -> Floats | None:
        """There is nothing in between that the evaluator would judge."""
        return None


@catalog.federation(
    "trees",
    title="A decision tree or a random forest over all columns",
    paper="Luo, Wu, Xiao, Ooi 2021 (ICDE), section VI-A",
)
class TreesFederation(Federation):
    """Trees that stand for a secure protocol which discloses the final model."""

    stream = "joint-trees"
    settings_type = TreeSettings
    models: ClassVar[Mapping[str, TreeSettings]] = {"tree": TREE, "forest": FOREST}
    shows = frozenset({"votes"})

    def offers(self, settings: TreeSettings) -> frozenset[type[Grant]]:
        """A tree or a forest, as declared."""
        return frozenset({ForestModel if settings.kind == "forest" else TreeModel, Ranges})

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: TreeSettings,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> TreesTrained:
        """Grow on ``rows.training``; ``channel`` stays silent, only the model is disclosed."""
        del channel, progress
        self.refuse(hijacker, detector)
        trained = TreesTrained(holdings, settings)
        trained.train(rows.training, streams)
        return trained

    def alone(
        self, holdings: Holdings, rows: Rows, settings: TreeSettings, streams: Streams
    ) -> Ints:
        """Grow on the own columns only."""
        return self._grown_alone(holdings, rows, settings, streams).predict(
            sealed(holdings.columns[ACTIVE][rows.judged])
        )

    def alone_scores(
        self, holdings: Holdings, rows: Rows, settings: TreeSettings, streams: Streams
    ) -> Floats | None:
        """Say that there are only classes: one tree's votes are no probabilities."""
        del holdings, rows, settings, streams
        return None

    def _grown_alone(
        self, holdings: Holdings, rows: Rows, settings: TreeSettings, streams: Streams
    ) -> Tree | Forest:
        own, labels = holdings.columns[ACTIVE], holdings.labels[rows.training]
        x, rng = own[rows.training], streams.rng("trees")
        return grow(x, labels, holdings.classes, own.shape[1], settings, rng)
