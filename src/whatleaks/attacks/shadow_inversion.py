"""GIA on embeddings (Jiang et al. 2022, adapted in Yao et al. VI-B): invert a shadow.

The adversary has auxiliary records answered by the passive party's network, trains a shadow of
it on these pairs, and then moves a guess for every target record, from the auxiliary mean on,
until the shadow gives it the received embedding.

Deviations: embeddings are compared, not predictions; Yao et al.'s code compares with the
shadow's own answer to the true record, which an adversary does not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.scaling import scale_of
from whatleaks.models.structures import made
from whatleaks.models.torch_network import Optimiser, torch_dtype
from whatleaks.seeds import torch_seed
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.split import QueryView


@attack(
    "gia-embeddings",
    title="Inversion of a shadow of the passive party's network",
    paper="Jiang et al. 2022 (PoPETs), adapted to split networks as in Yao et al. 2025",
    needs="auxiliary records and the passive party's answers to them, embeddings",
)
@travels
@dataclass(frozen=True)
class ShadowInversion:
    """``shadow_steps`` to train the shadow, then ``steps`` for all guesses at once."""

    extra: ClassVar[str] = "networks"

    shadow_steps: int = 1000
    steps: int = 1000
    batch: int = 64
    learning_rate: float = 1e-3
    search_rate: float = 1e-2
    name: str = "gia-embeddings"

    def infer(self, view: QueryView, rng: np.random.Generator) -> ValueGuess:
        """Train the shadow on queried auxiliary records and invert it."""
        import torch

        model = view.model(self.name)
        dtype = torch_dtype(model.network.precision)
        scale = scale_of(model.scaling, view.auxiliary.passive)
        inputs = torch.tensor(scale.apply(view.auxiliary.passive), dtype=dtype)
        answers = torch.tensor(model.answers(view.auxiliary.passive), dtype=dtype)
        shadow = made(model.network.structure, view.unknown, rng, model.network.precision)
        chance = torch.Generator().manual_seed(torch_seed(rng))
        learn = Optimiser(shadow.parameters(), self.learning_rate)
        for _ in range(self.shadow_steps):
            chosen = torch.randint(len(inputs), (self.batch,), generator=chance)
            learn.follow(((shadow(inputs[chosen]) - answers[chosen]) ** 2).mean())
        wanted = torch.tensor(view.embeddings, dtype=dtype)
        start = inputs.mean(dim=0).repeat(len(wanted), 1)
        guess = torch.nn.Parameter(start)
        search = Optimiser([guess], self.search_rate)
        for _ in range(self.steps):
            # A sum over records: every record is searched for by itself.
            search.follow(((shadow(guess) - wanted) ** 2).mean(dim=1).sum())
        return ValueGuess(sealed(scale.undo(sealed(guess.detach().numpy()))))
