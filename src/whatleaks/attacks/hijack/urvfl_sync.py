"""URVFL_sync (Yao et al. 2025, Algorithm 3): URVFL without pre-training.

Encoder, decoder and own bottom model take one step on auxiliary records in every round of the
training, before the gradient of that round is made.
"""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks import catalog
from whatleaks.attacks.hijack.urvfl import NEEDS, PAPER, Urvfl
from whatleaks.codec import travels


@catalog.hijack(
    "urvfl-sync",
    title="Hijacking by a discriminator that knows the labels, networks trained along",
    paper=f"{PAPER}, algorithm 3",
    needs=NEEDS,
    again=False,
)
@travels
@dataclass(frozen=True)
class UrvflSync(Urvfl):
    """URVFL whose networks are trained while the training runs."""

    pretraining: int = 0
    name: str = "urvfl-sync"
