"""The joint network: parties hold their input weights, the coordinator the layers above (U VI-A).

The parties send their parts of the first layer's sums. The coordinator activates them, runs
the layers above, and returns the gradient by the sums. Together they train exactly the
network that one holder of all columns would train.

Streams used: ``weights/PARTY`` for every data party, ``weights/coordinator``, ``dropout`` and
``batches``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from whatleaks import catalog
from whatleaks.arrays import sealed
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.detectors.protocol import Detector
from whatleaks.federation.coalitions import victims
from whatleaks.federation.joint_network.parties import LearningCoordinator, joint_holder
from whatleaks.federation.joint_network.settings import JointNetworkSettings
from whatleaks.federation.protocol import Federation, Progress
from whatleaks.federation.roles import Hijacker
from whatleaks.federation.summed.parties import output_count
from whatleaks.federation.summed.trained import SummedTrained, public_ranges
from whatleaks.models.joined_parts import joined_part
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Grant, JointModel, Ranges
from whatleaks.wire.channel import Channel


class JointNetworkTrained(SummedTrained):
    """Holders of input weights and a coordinator that holds the rest of the network."""

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return the joint network with the coalition's input weights first, and the ranges."""
        assert isinstance(self.coordinator, LearningCoordinator)
        unknown = victims(self.holdings, coalition)
        own, other = (
            joined_part([self.holders[party].export() for party in parties])
            for parties in (coalition, unknown)
        )
        assert isinstance(own, Linear)
        assert isinstance(other, Linear)
        model = JointNetwork(own, other, self.coordinator.export(), self.coordinator.activation)
        columns = sum(self.holdings.columns[party].shape[1] for party in unknown)
        return (JointModel(model), public_ranges(columns))


@catalog.federation(
    "joint-network",
    title="One network over all columns, its first layer split between the parties",
    paper="Luo, Wu, Xiao, Ooi 2021 (ICDE), section VI-A",
)
class JointNetworkFederation(Federation):
    """The network that one holder of all columns would train."""

    stream = "additive"  # as before it had a name of its own
    settings_type = JointNetworkSettings
    models: ClassVar[Mapping[str, JointNetworkSettings]] = {"joint-network": JointNetworkSettings()}
    shows = frozenset({"scores"})
    gated = True

    def offers(self, settings: JointNetworkSettings) -> frozenset[type[Grant]]:
        """The whole network, whatever its layers."""
        del settings
        return frozenset({JointModel, Ranges})

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: JointNetworkSettings,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> JointNetworkTrained:
        """Train on ``rows.training``; every value between the parties crosses ``channel``."""
        self.refuse(hijacker, detector)
        trained = untrained(holdings, rows, settings, streams)
        trained.train(rows, settings, streams, channel, progress)
        return trained


def untrained(
    holdings: Holdings, rows: Rows, settings: JointNetworkSettings, streams: Streams
) -> JointNetworkTrained:
    """Return the parties with their first weights."""
    joined = sum(columns.shape[1] for columns in holdings.columns.values())
    holders = {
        name: joint_holder(
            name, sealed(columns[rows.training]), joined, settings, streams.rng(f"weights/{name}")
        )
        for name, columns in holdings.columns.items()
    }
    outputs = output_count(holdings.classes)
    coordinator = LearningCoordinator(tuple(holders), outputs, settings, streams)
    return JointNetworkTrained(holdings, holders, coordinator)
