"""A party of a regression without an arbiter as a process of its own.

Each of the two makes a key pair and tells the other its public key. Training starts from the
beginning: shares of two broken runs do not fit together, so none are kept on a disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whatleaks.crypto.keys import load_public
from whatleaks.crypto.masking import digit_count
from whatleaks.crypto.ring import BITS
from whatleaks.federation.processes.party_config import PartyConfig
from whatleaks.federation.regression.process import WithFakesProcess
from whatleaks.federation.regression.settings import LOGISTIC, check_labels, with_fakes
from whatleaks.federation.sshe.parties import SharingParty
from whatleaks.federation.sshe.settings import SharedSettings
from whatleaks.wire.node import Hello, Node
from whatleaks.wire.parties import ACTIVE


class SharedProcess(WithFakesProcess):
    """The active or the passive party."""

    key_role = ACTIVE  # and the other one, below

    def __init__(self, config: PartyConfig, *rest: Any) -> None:
        assert isinstance(config.plan.settings, SharedSettings)
        self._settings = config.plan.settings
        super().__init__(config, *rest)
        self.keys = self.keys or self.make_keys()
        if self._settings.formula is LOGISTIC and self.table.y is not None:
            check_labels(self.table.y)

    def limit(self, records: int, columns: int) -> int:
        """A ciphertext for every record or column, or a share of every weight."""
        cipher = self._settings.key_bits // 4 + 32
        return cipher * max(records, columns, 2) + 8 * digit_count(BITS) * columns

    def work(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        """Train, and write the own weights."""
        del first
        assert self.keys is not None
        name, settings, x = self.config.name, self._settings, self.table.x
        ((other, hello),) = peers.items()
        if name == ACTIVE:
            x = with_fakes(x, settings.regression, self.streams.rng("active/fakes"))
        party = SharingParty(
            (name, other),
            x,
            hello.columns,
            settings,
            self.streams.rng(f"{name}/weights"),
            self.keys,
            load_public(settings.backend, settings.key_bits, hello.key),
            node,
            self.table.y if name == ACTIVE else None,
        )
        weights = node.run(party.train())
        self.write("weights.csv", "column,weight", self.names(), weights)
