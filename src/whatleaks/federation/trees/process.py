"""A party of joint trees as a process of its own.

The coordinator must be trusted by all: it is handed the training records and grows the
trees. It stands for a secure protocol; whoever wants one that needs no such trust uses
SecureBoost. Every data party is told its own nodes and keeps them; the coordinator keeps the
model, and the active party writes the votes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from whatleaks.federation.summed.process import ClassProcess
from whatleaks.federation.trees.parties import TreeCoordinator, contribute
from whatleaks.wire.node import Hello, Node
from whatleaks.wire.parties import ACTIVE, COORDINATOR


class TreesProcess(ClassProcess):
    """An owner of nodes, or the coordinator."""

    unit = "tree"

    def work(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        """Grow the trees, and predict if the plan says so."""
        del first
        settings, name = self.plan.settings, self.config.name
        classes, widths = self.classes(peers), self.widths(peers)
        records, predictions = self.counts(peers)
        if name == COORDINATOR:
            coordinator = TreeCoordinator(widths, classes, settings)
            node.run(coordinator.train(records, self.streams.rng("trees"), node))
            self.store("model.wlk", coordinator.model)
            if self.plan.prediction is not None:
                node.run(coordinator.release(predictions, 1, node))
            return
        labels = self.labels() if name == ACTIVE else None
        owner = node.run(contribute(name, self.table.x, labels, widths[name], node))
        self.store("nodes.wlk", owner.nodes)
        if self.plan.prediction is None:
            return
        x, trees = self.wanted.x, settings.trees
        if name == ACTIVE:
            self.write_scores(node.run(owner.ask(x, np.arange(len(x)), trees, classes, 1, node)))
        else:
            node.run(owner.serve(x, trees, 1, node))
