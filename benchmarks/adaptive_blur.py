"""What blurred weights are worth against whoever knows the scheme, with and without secrets.

python benchmarks/adaptive_blur.py [--seeds 10 11 12] [--percent 25] [--case ii]

For every case of the paper: errors of half* with the true weights, with the disclosed ones, and
with those that the adaptive adversary works out (Remarks 10 and 13). Seeds 10 and up were not
used while the attack was written.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import replace

from whatleaks.defenses.blurred_weights import BlurredWeights
from whatleaks.metrics.intervals import mean_over_seeds
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_group

CASES = (
    ("i", "statlog-satellite", 10),
    ("i", "pendigits", 10),
    ("ii", "statlog-satellite", 4),
    ("ii", "pendigits", 5),
    ("iii", "bank-marketing", 1),
    ("iii", "statlog-satellite", 1),
    ("iv", "bank-marketing", 6),
    ("iv", "adult", 5),
)


def main() -> None:
    """Print a line for each case and secret."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11, 12])
    parser.add_argument("--percent", type=int, default=25)
    parser.add_argument("--targets", type=int, default=300)
    parser.add_argument("--case", choices=["i", "ii", "iii", "iv"], help="only this case")
    asked = parser.parse_args()
    for case, name, unknown in CASES:
        if asked.case not in (None, case):
            continue
        found: dict[str, list[float]] = defaultdict(list)
        for seed in asked.seeds:
            plain = Scenario(
                name,
                data=Settings({"rows": 2000}),
                unknown=unknown,
                attacks=("half-star",),
                targets=asked.targets,
                seed=seed,
                model_options=Settings({"steps": 500}),
            )
            runs = {"true weights": plain}
            for secret in ("", "epsilon", "sign"):
                options = {"percent": asked.percent, "secret": secret}
                blurry = replace(
                    plain, defense="blurred-weights-25", defense_options=Settings(options)
                )
                told = Settings(BlurredWeights(**options).told())
                label = f"secret {secret}" if secret else "no secret"
                runs[f"{label}, believed"] = blurry
                runs[f"{label}, adaptive"] = replace(blurry, attack_options=told)
            for label, done in zip(runs, run_group(list(runs.values())), strict=True):
                found[label].append(float(done.outcome.measurements["half-star"].value))
                if label == "true weights":
                    found["half"].append(float(done.outcome.baselines["half"].value))
        print(f"case {case}, {name}, {unknown} columns, {len(asked.seeds)} seeds", flush=True)
        for label, errors in found.items():
            over = mean_over_seeds(errors, label)
            print(f"  {label}: {over.value:.4f} [{over.low:.4f}, {over.high:.4f}]", flush=True)


if __name__ == "__main__":
    main()
