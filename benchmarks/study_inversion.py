"""Why inversion and equality solving differ on logistic regression (J02, J04): errors, split in two.

    python benchmarks/study_inversion.py [bank robot satellite drive]

The scores are equations A x = b in the unknown columns. They fix the part of x in the row space of
A and say nothing about the part in its null space. An answer that meets the equations differs from
equality solving's in the null space alone; one that has not arrived differs in the row space too.
The public data sets must be there (WHATLEAKS_DATA); seed 7, which no claim uses.
"""

from __future__ import annotations

import os
import sys
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.attacks.equations import equations
from whatleaks.attacks.gradient_inversion import GradientInversion
from whatleaks.models.additive import log_ratios
from whatleaks.models.box_solutions import null_space, parts
from whatleaks.trial.phases import Phases
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import from_dict
from whatleaks.trial.trial import stage_of, train
from whatleaks_lab.papers.jiang_linear import FEW
from whatleaks_lab.papers.jiang_setup import SETS, SHORT

RECORDS = 50
ATTACKS: tuple[tuple[str, Any], ...] = (
    ("equality solving", EqualitySolving()),
    ("Adam, 1,500 steps", GradientInversion(steps=1500)),
    ("Adam, 6,000 steps", GradientInversion(steps=6000)),
    ("Adam, KL, 6,000 steps", GradientInversion(distance="kl", steps=6000)),
    ("L-BFGS, KL", GradientInversion(distance="kl", steps=500, optimiser="lbfgs")),
)


def study(dataset: str, columns: dict[str, Any]) -> None:
    """Print one case: the whole error, its part in the row space and its part in the null space."""
    scenario = from_dict(
        {
            "dataset": dataset, "data": {"rows": 1500}, "targets": RECORDS, "seed": 7,
            "model_options": {"steps": 500}, **columns,
        }
    )  # fmt: skip
    plans = plan(scenario)
    trained = train(scenario, plans, None, Phases())
    if isinstance(trained, str):
        raise SystemExit(trained)
    stage = stage_of(scenario, plans, trained)
    view, truth = stage.view(stage.rows.targets), stage.truth
    matrix = equations(view.own, log_ratios(view.scores), view.model).matrix
    pieces = parts(matrix)
    sizes = np.linalg.svd(matrix, compute_uv=False)[: len(pieces.rows)]
    print(
        f"{SHORT[dataset]}, {truth.shape[1]} unknown, {len(pieces.rows)} equations, singular values "
        f"{sizes.max():.2f} to {sizes.min():.2g}, largest score above 0.99 in "
        f"{(view.scores.max(axis=1) > 0.99).mean():.0%}"
    )
    for name, attack in ATTACKS:
        off = attack.infer(view, np.random.default_rng(0)).values - truth
        row = float(((off @ pieces.rows.T) ** 2).sum(axis=1).mean()) / truth.shape[1]
        null = float(((off @ null_space(matrix)) ** 2).sum(axis=1).mean()) / truth.shape[1]
        print(
            f"  {name:22} error {(off**2).mean():.4g} = {row:.3g} (row) + {null:.3g} (null)",
            flush=True,
        )


def main() -> None:
    """Study the named sets, or all."""
    for dataset in SETS:
        if len(sys.argv) < 2 or SHORT[dataset] in sys.argv[1:]:
            for columns in ({"unknown": FEW[dataset]}, {"share": 0.5}, {"share": 0.9}):
                study(dataset, columns)


if __name__ == "__main__":
    main()
