"""A party of SecureBoost as a process of its own.

There is no arbiter: the active party holds the secret key. After every tree each party keeps
what it needs to go on. In the end the active party writes the shape of the trees and every
party its own splits, each to its own folder; nobody writes the whole model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import TableError, UsageError, WireError
from whatleaks.federation.boost.active import ActiveMemory, ActiveParty
from whatleaks.federation.boost.passive import PassiveParty
from whatleaks.federation.boost.settings import LARGEST, SecureBoostSettings
from whatleaks.federation.boost.walking import SplitOwner, walk
from whatleaks.federation.processes.party_base import PartyProcess
from whatleaks.federation.processes.party_config import PartyConfig
from whatleaks.models.additive import link
from whatleaks.models.boosted_trees import check_labels, outputs_of
from whatleaks.models.shared_trees import OwnedSplits
from whatleaks.wire.node import Hello, Node
from whatleaks.wire.parties import ACTIVE

MOST_OUTPUTS = 10_000


class BoostProcess(PartyProcess):
    """The active or a passive party."""

    unit, key_role, largest, gaps = "tree", ACTIVE, LARGEST, True

    def __init__(self, config: PartyConfig, *rest: Any) -> None:
        assert isinstance(config.plan.settings, SecureBoostSettings)
        self._settings = config.plan.settings
        super().__init__(config, *rest)
        if config.role == ACTIVE:
            self._classes = check_labels(self.labels(), len(self.table.x))

    @property
    def outputs(self) -> int:
        """One tree a round for two classes, else one per class; passive parties are told."""
        return outputs_of(self._classes) if self.config.role == ACTIVE else 0

    def limit(self, records: int, columns: int) -> int:
        """Derivatives of all records, the sums of a level, or the questions of a prediction."""
        boost = self._settings.boost
        cipher = self._settings.key_bits // 4 + 128
        candidates = 2 * columns * (boost.max_bin + 1)
        nodes = min(records, 1 << boost.max_depth)
        asked = 16 * records * boost.rounds * MOST_OUTPUTS if self.plan.prediction else 0
        return int(cipher * max(records, nodes * candidates) + asked)

    def work(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        """Grow the trees from the last common one, predict if the plan says so."""
        boost = self._settings.boost
        outputs = self.outputs if self.config.role == ACTIVE else peers[ACTIVE].outputs
        if not 1 <= outputs <= MOST_OUTPUTS:
            raise WireError(f"the active party announces {outputs} trees a round: refused")
        total = boost.rounds * outputs

        def tree_end(trees: int, state: Any) -> None:
            self.keep(trees, state, total)

        steps = range(total * boost.max_depth, (total + 1) * boost.max_depth)
        if self.config.role == ACTIVE:
            self._lead(node, first, tree_end, steps)
        else:
            self._follow(node, peers, outputs, first, tree_end, steps)

    def _lead(self, node: Node, first: int, tree_end: Any, steps: range) -> None:
        assert self.keys is not None
        labels = self.labels()
        if check_labels(labels, len(labels)) != self._classes:
            raise TableError("a class has no record in common with the other parties: drop it")
        passives = self.plan.passives
        party = ActiveParty(
            self.table.x, labels, self._settings, self.streams, self.keys, node, passives
        )
        if first:
            memory = self.saved[first]
            if not isinstance(memory, ActiveMemory):
                raise UsageError("own.state holds no checkpoint of SecureBoost: delete it")
            party.resume(memory)
        node.run(party.train(first, tree_end))
        own = party.columns.owned()
        self._write_splits(own)
        self.store("trees.wlk", tuple(party.trees))
        if self.plan.prediction is not None:
            programme = walk(party.trees, party.outputs, own, self.wanted.x, passives, steps, node)
            self.write_scores(link(node.run(programme)))

    def _follow(
        self,
        node: Node,
        peers: Mapping[str, Hello],
        outputs: int,
        first: int,
        tree_end: Any,
        steps: range,
    ) -> None:
        name = self.config.name
        number = 1 + self.plan.passives.index(name)
        party = PassiveParty(
            name,
            self.table.x,
            self._settings,
            self.streams.rng(f"columns/{number}"),
            self.public(peers),
            node,
        )
        if first:
            party.resume(first, self.saved[first])
        node.run(party.train(outputs, first, tree_end))
        own = party.columns.owned()
        self._write_splits(own)
        if self.plan.prediction is not None:
            node.run(SplitOwner(name, self.wanted.x, own, node).serve(steps))

    def _write_splits(self, own: OwnedSplits) -> None:
        """Write the own splits: one line each, in the order of their numbers."""
        self.store("splits.wlk", own)
        names = tuple(self.table.columns[column] for column in own.column.tolist())
        missing: Floats = own.missing_left.astype(np.float64)
        self.write(
            "splits.csv", "column,threshold,missing goes left", names, own.threshold, missing
        )
