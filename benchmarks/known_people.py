"""What known people add where scores are no linear equations: networks and forests, and half* by layers.

python benchmarks/known_people.py [--seeds 10 11] [--targets 150]
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np

from whatleaks.metrics.intervals import mean_over_seeds
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

SETS = {
    "statlog-satellite": {"rows": 1500},
    "wall-following-robot": {"rows": 1500},
    "credit-card-default": {"rows": 1500},
}
SCORES = ("conditional-mean-known", "known-regression", "shadow-regression", "half-star-layers")
MODELS = {
    "network": ("white-box-known", SCORES),
    "joint-network": ("white-box-known", SCORES),
    "forest": ("white-box-forest-known", ("forest-conditional-mean", "known-regression-votes")),
}
BARS = ("half", "auxiliary-regression", "limit")


def main() -> None:
    """Print a line for each model and set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11])
    parser.add_argument("--targets", type=int, default=150)
    asked = parser.parse_args()
    for model, (threat, attacks) in MODELS.items():
        for name, options in SETS.items():
            found: dict[str, list[float]] = defaultdict(list)
            for seed in asked.seeds:
                done = run_trial(
                    Scenario(
                        name,
                        data=Settings(options),
                        share=0.5,
                        model=model,
                        model_options=Settings({} if model == "forest" else {"steps": 300}),
                        threat=threat,
                        attacks=attacks,
                        targets=asked.targets,
                        seed=seed,
                        references=("baselines", "limit"),
                    )
                ).outcome
                numbers = {**done.measurements, **done.baselines}
                for key in (*attacks, *BARS):
                    found[key].append(float(numbers[key].value))
            cells = []
            for key, errors in found.items():
                over = mean_over_seeds(errors, key)
                cells.append(f"{key} {over.value:.4f} [{over.low:.4f}, {over.high:.4f}]")
            ahead = np.array(found[attacks[0]]) < np.minimum(
                found[attacks[1]], found["auxiliary-regression"]
            )
            print(
                f"{model}, {name}: {', '.join(cells)}; ahead of both regressions on {ahead.sum()}"
            )


if __name__ == "__main__":
    main()
