"""A client or the arbiter of a horizontal regression as a process of its own.

Only the secret-shared averaging runs between processes. For the encrypted one the clients
would have to share a secret key, and a secret key does not leave its process here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whatleaks.arrays import Floats
from whatleaks.errors import WireError
from whatleaks.federation.horizontal.parties import AveragingArbiter, Client
from whatleaks.federation.horizontal.settings import HorizontalSettings, first_weights
from whatleaks.federation.processes.party_base import PartyProcess
from whatleaks.federation.processes.party_config import PartyConfig
from whatleaks.wire.node import Hello, Node
from whatleaks.wire.parties import ARBITER


class HorizontalProcess(PartyProcess):
    """Clients with records of their own and an arbiter who sees sums of shares."""

    unit, key_role = "round", ""

    def __init__(self, config: PartyConfig, *rest: Any) -> None:
        assert isinstance(config.plan.settings, HorizontalSettings)
        self._settings = config.plan.settings
        super().__init__(config, *rest)

    def agree_on_rows(self, own: Hello, data: Mapping[str, Hello]) -> None:
        """Clients hold other records, but the same columns."""
        columns = {name: hello.columns for name, hello in data.items()}
        if len(set(columns.values())) > 1:
            raise WireError(f"the clients hold different numbers of columns: {columns}")

    def limit(self, records: int, columns: int) -> int:
        """Two halves of a share for every column."""
        del records
        return 16 * columns

    def work(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        """Train from the last round that all clients have."""
        settings, clients = self._settings, self.plan.clients
        if self.config.role == ARBITER:
            start = first_weights(peers[clients[0]].columns, settings, self.streams)
            arbiter = AveragingArbiter(start, settings, clients, None, node)
            node.run(arbiter.serve(first))
            return
        assert self.table.y is not None

        def round_end(rounds: int, weights: Floats) -> None:
            self.keep(rounds, weights, settings.rounds)

        client = Client(
            self.config.name, self.table.x, self.table.y, settings, clients, None, node, False
        )
        saved = self.saved[first] if first else None
        weights = node.run(client.train(first, saved, round_end))
        self.write("weights.csv", "column,weight", self.table.columns, weights)
