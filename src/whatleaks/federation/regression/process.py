"""A party of a vertical regression as a process of its own.

The programmes are those of ``regression.parties``; only the post differs from a run in one
process. A party writes to its own folder alone: its weights after each epoch, its final
weights, and the active party its scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whatleaks.arrays import Floats, sealed
from whatleaks.federation.processes.party_base import PartyProcess
from whatleaks.federation.processes.party_config import PartyConfig
from whatleaks.federation.regression.parties import ActiveParty, Arbiter, PassiveParty
from whatleaks.federation.regression.prediction import collect_scores, return_scores, send_outputs
from whatleaks.federation.regression.settings import (
    LINKS,
    LOGISTIC,
    SecureLinearSettings,
    check_labels,
    with_fakes,
)
from whatleaks.wire.expected import Programme
from whatleaks.wire.node import Hello, Node
from whatleaks.wire.parties import ACTIVE, ARBITER


class WithFakesProcess(PartyProcess):
    """A party of a regression, whose active party may make columns up."""

    @property
    def columns(self) -> int:
        """The own columns, and the active party's fake ones."""
        fakes: int = self.plan.settings.fake_columns if self.config.role == ACTIVE else 0
        return super().columns + fakes

    def names(self) -> tuple[str, ...]:
        """Name them all."""
        extra = self.columns - len(self.table.columns)
        return self.table.columns + tuple(f"(fake {i + 1})" for i in range(extra))


class RegressionProcess(WithFakesProcess):
    """Linear or logistic regression with an arbiter."""

    def __init__(self, config: PartyConfig, *rest: Any) -> None:
        assert isinstance(config.plan.settings, SecureLinearSettings)
        self._settings = config.plan.settings
        self._link = LINKS[config.plan.protocol]
        super().__init__(config, *rest)
        if self._link is LOGISTIC and self.table.y is not None:
            check_labels(self.table.y)

    def limit(self, records: int, columns: int) -> int:
        """A ciphertext for every record or column, or as many queries as there are columns."""
        cipher = self._settings.key_bits // 4 + 32
        queries = 8 * columns**2 if self._settings.queries else 0
        return cipher * max(records, columns, 2) + queries

    def work(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        """Train from the last common epoch, predict if the plan says so."""
        if self.config.role == ARBITER:
            self._arbitrate(node, peers, first)
        else:
            self._take_part(node, peers, first)

    def _arbitrate(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        assert self.keys is not None
        settings, plan = self._settings, self.plan
        columns = {name: peers[name].columns for name in (ACTIVE, *plan.passives)}
        records = self.records if plan.align else peers[ACTIVE].records
        node.run(Arbiter(*self.keys, settings, node).serve(records, columns, first))
        if plan.prediction is not None:
            step = settings.epochs * settings.batch_count(records) + 1
            count = self.predictions if plan.align else peers[ACTIVE].predictions
            node.run(return_scores(count, step, plan.prediction, self.keys, node, self._link))

    def _take_part(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        config, plan, settings, link = self.config, self.plan, self._settings, self._link
        public = self.public(peers)
        x = self.table.x
        if config.role == ACTIVE:
            x = with_fakes(x, settings, self.streams.rng("active/fakes"))
        rng = self.streams.rng(f"{config.name}/weights")
        party: ActiveParty | PassiveParty
        if config.role == ACTIVE:
            assert self.table.y is not None
            y, passives = self.table.y, plan.passives
            party = ActiveParty(x, y, settings, rng, public, node, link, passives, remember=False)
        else:
            party = PassiveParty(config.name, x, settings, rng, public, node, link, remember=False)
        if first:
            party.weights = self.saved[first]

        def epoch_end(epoch: int, weights: Floats) -> None:
            self.keep(epoch, weights, settings.epochs)

        node.run(party.train(first, epoch_end))
        step = settings.epochs * settings.batch_count(len(x))
        if settings.queries:
            columns = {name: peers[name].columns for name in plan.passives if name in peers}
            asking: Programme[Any] = (
                party.ask_queries(step, columns)
                if isinstance(party, ActiveParty)
                else party.answer_queries(step)
            )
            node.run(asking)
        self.write("weights.csv", "column,weight", self.names(), party.weights)
        if plan.prediction is None:
            return
        style, new = plan.prediction, self.wanted.x
        # Fake columns mean nothing: new records get zeros there.
        z = sealed(new @ party.weights[: new.shape[1]])
        if config.role == ACTIVE:
            programme = collect_scores(z, step + 1, style, public, node, link, plan.passives)
            rows = self.wanted.ids or tuple(map(str, range(len(z))))
            self.write("scores.csv", "row,score", rows, node.run(programme))
        else:
            node.run(send_outputs(config.name, z, step + 1, style, public, node))
