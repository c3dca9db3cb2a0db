"""Does blurring the weights stop lattice decoding? Satellite, 6 unknown columns, 6 classes.

python benchmarks/blurred_lattice.py
"""

from __future__ import annotations

from dataclasses import replace

from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_group


def main() -> None:
    """Print the errors of half* and of lattice decoding at several distances."""
    plain = Scenario(
        "statlog-satellite",
        data=Settings({"rows": 1200}),
        unknown=6,
        threat="white-box",
        attacks=("half-star", "lattice-decoding"),
        targets=60,
        seed=10,
        model_options=Settings({"steps": 500}),
    )
    tiny = Settings({"epsilon": 1e-8})
    runs = [
        plain,
        replace(plain, defense="blurred-weights-25", defense_options=tiny),
        replace(plain, defense="blurred-weights-1"),
        replace(plain, defense="blurred-weights-25"),
    ]
    for scenario, done in zip(runs, run_group(runs), strict=True):
        found = {**done.outcome.measurements, **done.outcome.baselines}
        told = ", ".join(f"{n} {found[n].value:.5f}" for n in (*plain.attacks, "half"))
        print(f"{scenario.defense or 'true weights'} {dict(scenario.defense_options)}: {told}")


if __name__ == "__main__":
    main()
