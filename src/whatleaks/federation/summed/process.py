"""A party of an additive federation or of a joint network as a process of its own.

Every data party keeps its part of the model in its own folder, the coordinator the layers
that it holds; the active party writes the scores. Nobody writes the whole model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whatleaks.arrays import Floats
from whatleaks.errors import WireError
from whatleaks.federation.processes.party_base import PartyProcess
from whatleaks.federation.processes.party_config import PartyConfig
from whatleaks.federation.schedule import agreed_batches
from whatleaks.federation.summed.parties import Coordinator, Holder, output_count
from whatleaks.seeds import Streams
from whatleaks.wire.node import Hello, Node
from whatleaks.wire.parties import ACTIVE, COORDINATOR

LARGEST = 2**30  # bytes of one message
MOST_CLASSES = 10_000


class ClassProcess(PartyProcess):
    """A party of a protocol whose active party tells the others how many classes there are."""

    unit, key_role, largest = "step", "", LARGEST

    def __init__(self, config: PartyConfig, *rest: Any) -> None:
        super().__init__(config, *rest)
        self._classes = 0
        if config.role == ACTIVE:
            self._classes = int(self.labels().max()) + 1
            output_count(self._classes)

    @property
    def outputs(self) -> int:
        """How many classes there are; only the active party knows before all have met."""
        return self._classes

    def classes(self, peers: Mapping[str, Hello]) -> int:
        """Return the number of classes that the active party announces."""
        found = self._classes or peers[ACTIVE].outputs
        if not 2 <= found <= MOST_CLASSES:
            raise WireError(f"the active party announces {found} classes: refused")
        return found

    def widths(self, peers: Mapping[str, Hello]) -> dict[str, int]:
        """Return how many columns every data party has, the active one first."""
        held = {name: hello.columns for name, hello in peers.items()}
        held[self.config.name] = self.columns
        return {name: held[name] for name in (ACTIVE, *self.plan.passives)}

    def counts(self, peers: Mapping[str, Hello]) -> tuple[int, int]:
        """Return how many records train and how many are to be predicted."""
        if self.plan.align or self.config.role != COORDINATOR:
            return self.records, self.predictions
        return peers[ACTIVE].records, peers[ACTIVE].predictions


class SummedProcess(ClassProcess):
    """A holder of columns or the coordinator."""

    def holder(self, x: Floats, classes: int, joined: int) -> Holder:
        """Return this data party with its first weights."""
        raise NotImplementedError

    def coordinator(self, parties: tuple[str, ...], classes: int) -> Coordinator:
        """Return the coordinator."""
        raise NotImplementedError

    def keep_above(self, coordinator: Coordinator) -> None:
        """Write what the coordinator holds of the model, if anything."""

    def work(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        """Train from the start, and predict if the plan says so."""
        del first
        settings, role = self.plan.settings, self.config.role
        classes, widths = self.classes(peers), self.widths(peers)
        records, predictions = self.counts(peers)
        rng = Streams(self.plan.seed).rng("batches")
        schedule, step = agreed_batches(records, settings, rng), settings.steps + 1
        if role == COORDINATOR:
            coordinator = self.coordinator(tuple(widths), classes)
            node.run(coordinator.train(schedule, records, node))
            self.keep_above(coordinator)
            if self.plan.prediction is not None:
                node.run(coordinator.release(predictions, tuple(widths.values()), step, node))
            return
        holder = self.holder(self.table.x, classes, sum(widths.values()))
        node.run(holder.train(schedule, node, self.labels() if role == ACTIVE else None))
        self.store("part.wlk", holder.export())
        if self.plan.prediction is None:
            return
        if role == ACTIVE:
            scores, _ = node.run(holder.take_scores(self.wanted.x, step, classes, node))
            self.write_scores(scores)
        else:
            node.run(holder.release(self.wanted.x, step, node))
