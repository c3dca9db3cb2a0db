"""One column, a secret epsilon: which weight the adversary who knows the scheme takes, and why.

python benchmarks/secret_epsilon.py [--sets bank-marketing statlog-satellite] [--seeds 10 11 12]

The runs are those of ``adaptive_blur.py``, case iii. Weights are given as multiples of the true one,
with half*'s error: as disclosed, as chosen among those of five distances, the nearest of the five,
and read off the range of the right sides w x, which needs no distance.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from staged import stage_for

from whatleaks.arrays import Floats
from whatleaks.attacks.equations import equations
from whatleaks.models.additive import adjacent_differences, log_ratios
from whatleaks.models.box_solutions import half_star
from whatleaks.models.unblurring import TRIED, turned_back, unblurred
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.stage import Stage

PERCENT = 25


def measured(name: str, seed: int) -> None:
    """Print the weights of one set and seed."""
    plain = Scenario(
        name,
        data=Settings({"rows": 2000}),
        unknown=1,
        attacks=("half-star",),
        targets=300,
        seed=seed,
        model_options=Settings({"steps": 500}),
    )
    options = Settings({"percent": PERCENT, "secret": "epsilon"})
    open_, blurry = (
        stage_for(one)
        for one in (plain, replace(plain, defense="blurred-weights-25", defense_options=options))
    )
    truth = open_.truth
    view, shown = (stage.view(stage.rows.targets) for stage in (open_, blurry))
    right = equations(view.own, log_ratios(view.scores), view.model).right
    true, disclosed = (v.model.passive.weights for v in (view, shown))
    rng = np.random.default_rng(seed)
    tried = [disclosed]
    for share in np.linspace(0.0, 1.0, TRIED)[1:]:
        tried += turned_back(disclosed, right, PERCENT * share, 0.0, rng)
    # The right sides of one column lie on a line; x runs from 0 to 1 on it, or from 1 to 0.
    ends = right[[np.argmax(np.abs(right).sum(axis=1))]]
    guesses = {
        "disclosed": adjacent_differences(disclosed).T,
        "chosen": adjacent_differences(
            unblurred(disclosed, right, percent=PERCENT, secret="epsilon", rng=rng)
        ).T,
        "nearest tried": adjacent_differences(
            min(tried, key=lambda w: float(((w - true) ** 2).sum()))
        ).T,
        "largest right side": ends.T,
    }
    matrix = adjacent_differences(true).T
    cells = []
    for label, guess in guesses.items():
        values = np.clip(half_star(guess, right), 0.0, 1.0)
        times = float((guess * matrix).sum() / (matrix**2).sum())
        cells.append(f"{label} {times:.2f} times (error {((values - truth) ** 2).mean():.4f})")
    print(f"{name}, seed {seed}, {_told(open_, truth)}: " + ", ".join(cells), flush=True)
    told = []
    for weights in tried:
        guess = adjacent_differences(weights).T
        values = half_star(guess, right)
        times = float((guess * matrix).sum() / (matrix**2).sum())
        outside = float(((values < -1e-9) | (values > 1.0 + 1e-9)).mean())
        told.append(f"{times:.2f} times ({outside:.0%} outside the range)")
    print("  tried: " + ", ".join(told), flush=True)


def _told(stage: Stage, truth: Floats) -> str:
    at_ends = float(((truth < 0.05) | (truth > 0.95)).mean())
    (name,) = stage.holdings.joined_names(stage.victims)
    return f"{name} ({at_ends:.0%} of its values at an end, largest {truth.max():.2f})"


def main() -> None:
    """Print two lines for each set and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["bank-marketing", "statlog-satellite"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11, 12])
    asked = parser.parse_args()
    for name in asked.sets:
        for seed in asked.seeds:
            measured(name, seed)


if __name__ == "__main__":
    main()
