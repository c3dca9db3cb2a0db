"""What the schema adds to the regression on known people: errors with and without it.

    python benchmarks/snapped_regression.py

Seeds that no claim uses; the public data sets must be there (WHATLEAKS_DATA).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from whatleaks.metrics.measurement import Measurement
from whatleaks.trial.scenario import Scenario, from_dict
from whatleaks.trial.trial import run_group

SETS = (("credit-card-default", 8), ("adult", 5), ("bank-marketing", 8), ("statlog-satellite", 12))
ATTACKS = ("known-regression", "known-regression-snapped", "shadow-regression")


def cases(dataset: str, unknown: int) -> list[Scenario]:
    """Return one set with few and with many known people, on two seeds."""
    fields = {
        "dataset": dataset,
        "unknown": unknown,
        "data": {"rows": 1500},
        "targets": 100,
        "threat": "black-box-known",
        "model_options": {"steps": 300},
        "attacks": list(ATTACKS),
    }
    return [
        from_dict({**fields, "known": known, "seed": seed})
        for known in (10, 25, 100)
        for seed in (3, 4)
    ]


def main() -> None:
    """Print every case and how often the schema lowers the error."""
    lower = same = higher = 0
    for dataset, unknown in SETS:
        for scenario, trial in zip(
            cases(dataset, unknown), run_group(cases(dataset, unknown)), strict=True
        ):
            found = [trial.outcome.measurements[name] for name in ATTACKS]
            errors = [one.value for one in found if isinstance(one, Measurement)]
            plain, moved = (round(error, 4) for error in errors[:2])
            lower, same, higher = (
                lower + (moved < plain),
                same + (moved == plain),
                higher + (moved > plain),
            )
            told = ", ".join(f"{name} {e:.4f}" for name, e in zip(ATTACKS, errors, strict=True))
            print(f"{dataset}, {scenario.known} people, seed {scenario.seed}: {told}", flush=True)
    print(f"to four digits the schema lowers {lower}, leaves {same}, raises {higher}")


if __name__ == "__main__":
    main()
