"""A party of a joint network as a process of its own."""

from __future__ import annotations

from whatleaks.arrays import Floats
from whatleaks.federation.joint_network.parties import LearningCoordinator, joint_holder
from whatleaks.federation.summed.parties import Coordinator, Holder, output_count
from whatleaks.federation.summed.process import SummedProcess


class JointNetworkProcess(SummedProcess):
    """A holder of input weights, or the coordinator with the layers above."""

    def holder(self, x: Floats, classes: int, joined: int) -> Holder:
        """Return this data party with its first weights."""
        del classes
        name = self.config.name
        return joint_holder(
            name, x, joined, self.plan.settings, self.streams.rng(f"weights/{name}")
        )

    def coordinator(self, parties: tuple[str, ...], classes: int) -> Coordinator:
        """Return the coordinator with its first weights."""
        return LearningCoordinator(parties, output_count(classes), self.plan.settings, self.streams)

    def keep_above(self, coordinator: Coordinator) -> None:
        """Write the layers above the first."""
        assert isinstance(coordinator, LearningCoordinator)
        self.store("part.wlk", coordinator.export())
