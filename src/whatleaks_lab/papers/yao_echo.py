"""A detector of URVFL for a party with neither labels nor public records: measured, either way.

No claim of the paper. ``python -m whatleaks_lab.papers.yao_echo`` makes the runs (about four minutes of one
core), judges them by the rule below, which stood here before the first run, and keeps the counts in
``results/gallery/yao-echo.json``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from whatleaks.files import write_atomically
from whatleaks.metrics.intervals import wilson
from whatleaks.seeds import Streams
from whatleaks.trial.preparing import ready
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.trial import run_trial
from whatleaks.wire.parties import ACTIVE
from whatleaks_lab.papers.ledger import results_home
from whatleaks_lab.papers.yao_setup import (
    BREAKING,
    CREDIT,
    FIRST_SEED,
    IOT,
    MNIST,
    OURS,
    hijacked,
    honest,
    pictures,
    table,
)

RULE = (
    "Trainings of 150 steps watched by the echo (5 % of the batches from step 10 on, the mean of three scores against "
    "one half). Found if, over Credit, RT-IoT2022 and MNIST together, URVFL and its synchronous variant are each halted in "
    "more than half of the runs (Wilson's interval above one half) and honest training in less than 5 % (its interval "
    "below 0.05)."
)
STEPS = 150
HONEST = {CREDIT: 40, IOT: 40, MNIST: 10}
HIJACKED = {CREDIT: 6, IOT: 6, MNIST: 4}
NAME = "honest"
# A hijacker that knows of the echo and blurs its answers a little: Laplace noise of a tenth of their size.
BLURRED, NOISE = "urvfl, blurred", "gradient-noise-10"
MOST_FALSE = 0.05
BATCH, DRAWN = 64, 20  # of the look at the own columns


def echo_path() -> Path:
    """Return where the counts are kept."""
    return results_home() / "gallery" / "yao-echo.json"


def runs() -> Iterator[tuple[str, str, Scenario]]:
    """Yield set, role and run."""
    for dataset, count in HONEST.items():
        base = pictures("standard") if dataset == MNIST else table("standard", dataset)
        base["model_options"] = {**base["model_options"], "steps": STEPS}
        base |= {"detector": "echo", "targets": 50}
        seeds = range(FIRST_SEED, FIRST_SEED + count)
        for run in honest(base, seed=seeds):
            yield dataset, NAME, run
        for role in BREAKING:
            for run in hijacked(base, role, seed=seeds[: HIJACKED[dataset]]):
                yield dataset, role, run
        for run in hijacked({**base, "defense": NOISE}, "urvfl", seed=seeds[: HIJACKED[dataset]]):
            yield dataset, BLURRED, run


def counted() -> dict[str, Any]:
    """Run everything; return by set and role how many were halted, of how many, after which steps."""
    found: dict[str, Any] = {}
    for dataset, role, scenario in runs():
        measured = run_trial(scenario).outcome.measurements
        at = found.setdefault(dataset, {}).setdefault(role, {"halted": 0, "of": 0, "steps": []})
        at["of"] += 1
        at["halted"] += bool(measured["halted"])
        at["steps"].append(measured["steps"])
    return found


def judged(counts: dict[str, Any]) -> dict[str, Any]:
    """Pool the sets and judge by the rule."""
    rates = {
        role: wilson(
            sum(found[role]["halted"] for found in counts.values()),
            sum(found[role]["of"] for found in counts.values()),
            over="runs",
        )
        for role in (NAME, *BREAKING, BLURRED)
    }
    found = rates[NAME].high < MOST_FALSE and all(rates[role].low > 0.5 for role in OURS)
    return {
        "rule": RULE,
        "found": found,
        "rates": {role: asdict(rate) for role, rate in rates.items()},
        "counts": counts,
    }


def told_apart() -> dict[str, list[float]]:
    """Return by table and seed how much of a batch the active party's own columns tell apart.

    An honest answer cannot differ where they do not: it is the reason that was looked for after the
    runs, when all false halts were on one table.
    """
    found: dict[str, list[float]] = {}
    for dataset, role, scenario in runs():
        if role != NAME or dataset == MNIST:
            continue
        streams = Streams(scenario.seed)
        data = ready(scenario, None, streams)
        own, rng = data.holdings.joined((ACTIVE,), data.training), streams.rng("told apart")
        batches = (own[rng.permutation(len(own))[:BATCH]] for _ in range(DRAWN))
        share = np.mean([len(np.unique(batch, axis=0)) / BATCH for batch in batches])
        found.setdefault(dataset, []).append(round(float(share), 3))
    return found


def main(arguments: Sequence[str] = ()) -> None:
    """Make all runs, judge and keep the counts; with ``apart`` only look for the reason again."""
    from whatleaks.runs.executors.inline import one_thread

    with one_thread():
        if "apart" in arguments:
            tree = json.loads(echo_path().read_text("utf-8"))
        else:
            tree = judged(counted())
        tree["apart"] = told_apart()
    write_atomically(echo_path(), (json.dumps(tree, indent=1, allow_nan=False) + "\n").encode())


if __name__ == "__main__":
    main(sys.argv[1:])
