"""A party of an additive federation as a process of its own."""

from __future__ import annotations

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError
from whatleaks.federation.additive.parties import AddingCoordinator, additive_holder
from whatleaks.federation.summed.parties import Coordinator, Holder, output_count
from whatleaks.federation.summed.process import SummedProcess


class AdditiveProcess(SummedProcess):
    """A holder of a model of its own, or the coordinator who adds up."""

    def holder(self, x: Floats, classes: int, joined: int) -> Holder:
        """Return this data party with its first weights."""
        del joined
        if self.plan.settings.epsilon:
            raise UsageError("private training runs in one process: leave epsilon at 0 here")
        name = self.config.name
        rng = self.streams.rng(f"weights/{name}")
        return additive_holder(name, x, output_count(classes), self.plan.settings, rng)

    def coordinator(self, parties: tuple[str, ...], classes: int) -> Coordinator:
        """Return the coordinator, who has nothing to learn."""
        return AddingCoordinator(parties, output_count(classes))
