"""The papers' worked examples as runs, so that their claims are judged like all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.attacks.equations import equations
from whatleaks.attacks.path_restriction import PathRestriction, candidate_paths, reachable
from whatleaks.errors import SpecError, nearest
from whatleaks.models.additive import Additive
from whatleaks.models.linear import Linear
from whatleaks.models.tree import Tree
from whatleaks.runs.work import work
from whatleaks.seeds import Streams
from whatleaks.threat.views.prediction import WhiteBoxLinearView
from whatleaks.threat.views.tree import WhiteBoxTreeView
from whatleaks.trial.outcome import Outcome


@work
@dataclass(frozen=True)
class WorkedExample:
    """One printed example: no data, no federation, no seed that could change it."""

    kind: ClassVar[str] = "worked-example"
    seed: ClassVar[int] = 0
    label: ClassVar[str] = ""

    example: str

    def __post_init__(self) -> None:
        """Refuse an example that does not exist."""
        if self.example not in EXAMPLES:
            raise SpecError(
                f"there is no worked example {self.example!r}.{nearest(self.example, EXAMPLES)}"
            )

    def identity(self) -> dict[str, Any]:
        """Return the example's name: nothing else decides the numbers."""
        return {"example": self.example}

    def to_dict(self) -> dict[str, Any]:
        """Return the example's name; ``from_dict`` reads it back."""
        return self.identity()

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> WorkedExample:
        """Read back what ``to_dict`` wrote."""
        return cls(**tree)

    def title(self) -> str:
        """Say which example it is."""
        return f"example={self.example}"

    def training_key(self) -> str:
        """Nothing is trained, so nothing is shared."""
        return self.example

    def modules(self) -> tuple[str, ...]:
        """Name this file; the attacks are found by its imports."""
        return (__name__,)

    @classmethod
    def perform_group(
        cls, works: Sequence[WorkedExample], table: bytes | None
    ) -> Iterator[tuple[Outcome, bytes]]:
        """Work the examples out; nothing about them is private."""
        del table
        for one in works:
            yield EXAMPLES[one.example](Streams(one.seed)), b""


def luo_1(streams: Streams) -> Outcome:
    """Solve Luo et al.'s Example 1 with its printed, rounded logarithms and with exact scores."""
    theta = np.array(
        [[0.08, 0.0002, 0.0005, 0.09], [0.06, 0.0005, 0.0002, 0.08], [0.01, 0.0001, 0.0004, 0.05]]
    ).T
    nothing = sealed(np.zeros(3))
    model = Additive(Linear(sealed(theta[:2]), nothing), Linear(sealed(theta[2:]), nothing))
    own = sealed([[25.0, 2000.0]])
    system = equations(own, sealed([[-2.334, -0.539]]), model)
    printed = (system.right @ np.linalg.pinv(system.matrix).T)[0]
    scores = sealed(model.scores(own, sealed([[8000.0, 3.0]])))
    view = WhiteBoxLinearView(own, scores, 2, model)
    exact = EqualitySolving().infer(view, streams.rng("attack")).values[0]
    return Outcome(
        {
            "deposit": float(printed[0]),
            "shopping": float(printed[1]),
            "deposit from exact scores": float(exact[0]),
            "shopping from exact scores": float(exact[1]),
        },
        notes=("luo-1: ln v1/v2 = 2.334 and ln v2/v3 = 0.539 as printed",),
    )


def luo_2(streams: Streams) -> Outcome:
    """Restrict the paths of the tree in Luo et al.'s Fig 2 for age 25, income 2K and class 1.

    The tree is rebuilt from the text: 0 tests age <= 30, 1 deposit <= 5K, 2 shopping <= 6,
    3 income (its threshold is not printed; 3K here); 4 to 8 are leaves, of which 4, 6 and 8
    have class 1. Age is in units of 100, money of 10K, shopping of 10.
    """
    age, income, deposit, shopping = range(4)
    leaf = [-1] * 5
    tree = Tree(
        sealed_ints([age, deposit, shopping, income, *leaf]),
        sealed([0.30, 0.50, 0.60, 0.30, 0, 0, 0, 0, 0]),
        sealed_ints([1, 3, 5, 7, *leaf]),
        sealed_ints([2, 4, 6, 8, *leaf]),
        sealed([[1, 1]] * 4 + [[0, 1], [1, 0], [0, 1], [1, 0], [0, 1]]),
        2,
    )
    own = sealed([[0.25, 0.2]])
    beta, alpha = np.zeros(15), np.zeros(15)
    beta[: tree.nodes] = reachable(tree, own)[:, 0]
    alpha[tree.leaf_nodes] = tree.labels[tree.leaf_nodes] == 1
    guess = PathRestriction().infer(
        WhiteBoxTreeView(own, sealed([[0.0, 1.0]]), 2, tree), streams.rng("attack")
    )
    return Outcome(
        {
            "beta": [float(b) for b in beta],
            "alpha": [float(a) for a in alpha],
            "paths": len(tree.leaf_nodes),
            "paths by own columns": int(candidate_paths(tree, own, None).sum()),
            "paths by class too": int(guess.candidates[0]),
            "leaf": int(guess.leaf[0]),
            "deposit above": float(guess.low[0, 0]) * 10_000,
            "deposit up to": float(guess.high[0, 0]) * 10_000,
        }
    )


EXAMPLES: dict[str, Callable[[Streams], Outcome]] = {"luo-1": luo_1, "luo-2": luo_2}
