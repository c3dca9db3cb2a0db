"""GRNA on embeddings (Luo et al. 2021, adapted in Yao et al. VI-B): a generator that queries.

A generator makes passive columns from the own columns and noise; it is trained until the
passive party's bottom model gives its records the embeddings that were received. The bottom
model must be there to be asked, and to be differentiated: a strong grant, which is why
Yao et al. call the attack impractical.

Deviations: embeddings are compared, not predictions; the generator is trained on the target
records themselves, whose embeddings the adversary holds (Yao et al.'s code trains it on
auxiliary records and then generates from own columns and noise alone). Several draws of noise
are averaged, as the guess of least squared error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.scaling import scale_of
from whatleaks.models.torch_network import Layers, Optimiser, build
from whatleaks.seeds import torch_seed
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.split import QueryView


@attack(
    "grna-embeddings",
    title="A generator that queries the passive party's network",
    paper="Luo et al. 2021 (ICDE), adapted to split networks as in Yao et al. 2025",
    needs="the passive party's trained network, embeddings, the range of auxiliary records",
)
@travels
@dataclass(frozen=True)
class QueriedGenerator:
    """Two hidden layers; ``draws`` of noise are averaged in the end."""

    extra: ClassVar[str] = "networks"

    steps: int = 1000
    batch: int = 64
    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-3
    draws: int = 5
    name: str = "grna-embeddings"

    def infer(self, view: QueryView, rng: np.random.Generator) -> ValueGuess:
        """Train the generator against the received embeddings and let it speak."""
        import torch

        victim = view.victim(self.name)
        own_scale = scale_of(view.network.scaling, view.own)
        out_scale = scale_of(view.network.scaling, view.auxiliary.passive)
        centre, spread = (torch.tensor(part) for part in (out_scale.centre, out_scale.spread))
        own = torch.tensor(own_scale.apply(view.own))
        wanted = torch.tensor(view.embeddings)
        noise = torch.Generator().manual_seed(torch_seed(rng))
        generator = build(
            own.shape[1] + view.unknown, Layers(self.hidden, view.unknown), rng, "float64"
        )
        step = Optimiser(generator.parameters(), self.learning_rate)

        def made(rows: torch.Tensor) -> torch.Tensor:
            drawn = torch.randn(len(rows), view.unknown, generator=noise, dtype=torch.float64)
            values: torch.Tensor = generator(torch.cat([rows, drawn], dim=1)) * spread + centre
            return values

        for _ in range(self.steps):
            chosen = torch.randint(len(own), (min(self.batch, len(own)),), generator=noise)
            off = victim(made(own[chosen])) - wanted[chosen]
            step.follow((off**2).mean())
        with torch.no_grad():
            found = sum(made(own).numpy() for _ in range(self.draws)) / self.draws
        return ValueGuess(sealed(found))
