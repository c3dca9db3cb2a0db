"""Tasks for testing the runner: real functions that log, sleep, raise, die or count threads."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from whatleaks.errors import SpecError
from whatleaks.experiments.outcome import Outcome
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import require_grants, task
from whatleaks.metrics.intervals import mean_over_records
from whatleaks.seeds import Streams

MODULE = "experiment_doubles"


def note(path: str, text: str) -> None:
    """Append one line in one write, so that several processes may log."""
    if path:
        with open(path, "ab", buffering=0) as log:
            log.write(f"{text}\n".encode())


@task("double", version=1, options={"log": "", "pause": 0.0, "sigma": 1.0})
def double(spec: Spec, streams: Streams) -> Outcome:
    """Log who begins, wait, measure noise, log that it is over."""
    note(spec.options.text("log"), f"begin {spec.seed} {os.getpid()}")
    time.sleep(spec.options.number("pause"))
    errors = streams.rng("noise").exponential(spec.options.number("sigma"), 50)
    measured = mean_over_records(errors, "mse", streams.rng("interval"))
    note(spec.options.text("log"), f"end {spec.seed} {os.getpid()}")
    return Outcome({"error": measured, "seed": spec.seed}, {"half": 1 / 12}, ("nothing",))


@task("double-raises", version=1, options={"even": True})
def raises(spec: Spec, streams: Streams) -> Outcome:
    """Fail for odd seeds."""
    if spec.seed % 2:
        raise ZeroDivisionError(f"seed {spec.seed} is odd")
    return Outcome({"seed": spec.seed})


@task("double-dies", version=1, options={"marks": "", "lives": 0})
def dies(spec: Spec, streams: Streams) -> Outcome:
    """Kill the own process with signal 9, ``lives`` times for each seed."""
    marks = Path(spec.options.text("marks"))
    deaths = len(list(marks.glob(f"{spec.seed}-*")))
    if deaths < spec.options.whole("lives"):
        (marks / f"{spec.seed}-{deaths}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome({"deaths": deaths})


@task("double-threads", version=1)
def threads(spec: Spec, streams: Streams) -> Outcome:
    """Report how many threads torch and the BLAS libraries would use."""
    import numpy as np
    import torch
    from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

    np.ones((4, 4)) @ np.ones((4, 4))
    pools = threadpool_info()
    return Outcome(
        {"torch": torch.get_num_threads(), "pools": max(p["num_threads"] for p in pools)}
    )


@task("double-nan", version=1)
def not_finite(spec: Spec, streams: Streams) -> Outcome:
    """Return what cannot be stored."""
    return Outcome({"error": float("nan")})


def _grants(spec: Spec) -> None:
    from whatleaks.threat.grants import Grant
    from whatleaks.threat.prediction import BLACK_BOX, WHITE_BOX

    threats = {t.name: t for t in (WHITE_BOX, BLACK_BOX)}
    if spec.threat not in threats:
        raise SpecError(f"unknown threat {spec.threat!r}")
    require_grants(spec.attack, {Grant.MODEL}, threats[spec.threat])


@task("double-threat", version=1, uses=("threat", "attack"), check=_grants)
def threat(spec: Spec, streams: Streams) -> Outcome:
    """Run only where the model is granted."""
    return Outcome({"ran": True})
