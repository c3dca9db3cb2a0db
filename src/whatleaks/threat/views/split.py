"""Views with auxiliary records: of whoever was given some, and of a split federation's active party."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.threat.grants import Auxiliary, Grant, PassiveNetwork, Ranges

if TYPE_CHECKING:
    import torch


@travels
@dataclass(frozen=True)
class AuxiliaryView:
    """Own columns of the target records and complete records of other people; no message.

    ``ranges``: the public ranges of the unknown columns, where the threat grants them.
    """

    needs: ClassVar[tuple[type[Grant], ...]] = (Auxiliary,)

    own: Floats
    unknown: int
    auxiliary: Auxiliary
    ranges: Ranges | None = field(default=None, kw_only=True)

    def exchanged(self, order: Ints) -> Self:
        """Return the view itself: there is no message to exchange."""
        del order
        return self

    def evidence(self) -> Floats:
        """Return one row per record: only the own columns speak of it."""
        return self.own


@travels
@dataclass(frozen=True)
class SplitView(AuxiliaryView):
    """The same, and the embeddings received for the target records."""

    embeddings: Floats

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every record's embedding taken from another; own columns stay."""
        return replace(self, embeddings=sealed(self.embeddings[order]))

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.embeddings], axis=1)


@travels
@dataclass(frozen=True)
class QueryView(SplitView):
    """The same, and the passive party's trained bottom model to be asked about any record."""

    needs: ClassVar[tuple[type[Grant], ...]] = (Auxiliary, PassiveNetwork)

    network: PassiveNetwork

    def model(self, who: str) -> PassiveNetwork:
        """Return the model that made the embeddings; of several parties' no single one did."""
        held = self.network.network.inputs, len(self.network.answers(self.auxiliary.passive[:1])[0])
        if held != (self.unknown, self.embeddings.shape[1]):
            raise AttackError(f"{who} asks the network of one passive party: here are several")
        return self.network

    def victim(self, who: str) -> Callable[[torch.Tensor], torch.Tensor]:
        """Return the model as a differentiable function of unscaled columns."""
        import torch

        found = self.model(who)
        network = found.network.network()
        centre, spread = torch.tensor(found.scale.centre), torch.tensor(found.scale.spread)
        dtype = next(network.parameters()).dtype

        def answers(columns: torch.Tensor) -> torch.Tensor:
            told: torch.Tensor = network(((columns - centre) / spread).to(dtype))
            return told.to(torch.float64)

        return answers
