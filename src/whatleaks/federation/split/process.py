"""A party of a split network as a process of its own: honest, and watched by nobody.

Every passive party keeps its bottom model in its own folder; the active party writes the
scores that it makes of the embeddings.
"""

from __future__ import annotations

from collections.abc import Mapping

from whatleaks.errors import SpecError
from whatleaks.federation.roles import ActiveSeat
from whatleaks.federation.schedule import agreed_batches
from whatleaks.federation.split.parties import HonestActive, PassiveParty
from whatleaks.federation.summed.process import ClassProcess
from whatleaks.models.split_top import TopSettings
from whatleaks.models.torch_network import export
from whatleaks.seeds import Streams
from whatleaks.wire.node import Hello, Node
from whatleaks.wire.parties import ACTIVE, PASSIVE


class SplitProcess(ClassProcess):
    """The honest active party, or a passive one."""

    def work(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        """Train from the start, and send or score embeddings if the plan says so."""
        del first
        settings, name = self.plan.settings, self.config.name
        if settings.network != "layers" or settings.scaling != "none":
            raise SpecError(
                "plan.settings: between processes a split network is made of layers, and every "
                "party scales its own file: leave network and scaling out"
            )
        rng = Streams(self.plan.seed).rng("batches")
        schedule = agreed_batches(self.records, settings, rng)
        if name != ACTIVE:
            import torch

            start = self.streams.rng("bottom" if name == PASSIVE else f"bottom/{name}")
            passive = PassiveParty(name, self.table.x, settings, start)
            node.run(passive.train(schedule, node))
            assert isinstance(passive.bottom, torch.nn.Sequential)
            self.store("part.wlk", export(passive.bottom, settings.bottom))
            if self.plan.prediction is not None:
                node.run(passive.release(self.wanted.x, settings.steps, node))
            return
        passives = self.plan.passives
        widths = self.widths(peers)
        seat = ActiveSeat(
            self.table.x,
            self.labels(),
            self.classes(peers),
            passives,
            (settings.bottom.output,) * len(passives),
            (settings.bottom,) * len(passives),
            tuple(widths[passive] for passive in passives),
            schedule,
            probed=False,
            scaling=settings.scaling,
            precision=settings.precision,
        )
        top = TopSettings(bottom=settings.structure, precision=settings.precision)
        active = HonestActive(seat, top, self.streams.rng("honest"))
        node.run(active.train(node))
        if self.plan.prediction is not None:
            self.write_scores(node.run(active.take_scores(self.wanted.x, settings.steps)))
