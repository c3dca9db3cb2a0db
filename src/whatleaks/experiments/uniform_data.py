"""A small task that is true by theory: guesses that know nothing, on uniform data.

On U(0, 1) the uniform guess errs by 1/6, the constant one half by 1/12. The task trains
nothing and reads no file; it shows how a task is written and lets a new cluster be tried.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.errors import SpecError, nearest
from whatleaks.experiments.outcome import Outcome
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import task
from whatleaks.seeds import Streams


def _names() -> tuple[str, ...]:
    from whatleaks.attacks.baselines import BASELINES

    return tuple(guess.name for guess in BASELINES)


def check(spec: Spec) -> None:
    """Refuse an attack that is no baseline, and tables without an interval."""
    if spec.attack not in _names():
        known = ", ".join(_names())
        raise SpecError(
            f"task 'uniform-data' knows no attack {spec.attack!r}."
            f"{nearest(spec.attack, _names())} Known: {known}."
        )
    if spec.targets == 1:
        raise SpecError("targets = 1 gives no interval: attack at least 2 records")


@task(
    "uniform-data",
    version=1,
    options={"columns": 5},
    uses=("attack", "targets"),
    check=check,
)
def uniform_data(spec: Spec, streams: Streams) -> Outcome:
    """Measure a baseline's squared error on uniform data."""
    from whatleaks.attacks.baselines import BASELINES, Half, Nothing
    from whatleaks.metrics.intervals import mean_over_records

    shape = (spec.targets or 100, spec.options.whole("columns"))
    truth = sealed(streams.rng("data").uniform(0.0, 1.0, shape))
    guess = next(g for g in BASELINES if g.name == spec.attack)
    measured = {}
    for one in (guess, Half()):
        values = one.infer(Nothing(*shape), streams.rng(f"attack {one.name}")).values
        errors = np.square(values - truth).mean(axis=1)
        measured[one.name] = mean_over_records(errors, "mse", streams.rng(f"interval {one.name}"))
    return Outcome({"error": measured[guess.name]}, baselines={"half": measured["half"]})
