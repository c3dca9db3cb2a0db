"""How often an audit raises an alarm where nothing is told: scores exchanged before release.

Every record is sent the scores of another one, so what is sent has nothing to do with its
passive columns. Where a message is of a whole batch (``--threats encrypted``) the federation trains on passive
records that were exchanged between people of the same label. Small tables of many kinds, under every threat that
looks at the model (``--model``); an alarm is a headline beyond guessing. Prints the rate with its interval, and leaves with 1 if it is
above 1 in 20. Models train for fewer steps than in an audit: their scores tell nothing anyway.
``--generative`` tries the slow generative attack too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from whatleaks.auditor.advice import headline
from whatleaks.auditor.combine import Entry, combine_threats
from whatleaks.auditor.levels import UNSETTLED
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.result import Headline
from whatleaks.auditor.spec import AuditSpec
from whatleaks.metrics.intervals import wilson
from whatleaks.seeds import Streams
from whatleaks.trial.control import within
from whatleaks.trial.plan import models
from whatleaks.trial.stage import Stage
from whatleaks.trial.trial import run_group

SLOW = ("generative-regression", "generative-regression-snapped", "forest-generative-regression")
STEPS = 300  # of training
MOST = 0.05  # of the audits may raise an alarm


@contextmanager
def exchanged_messages(rng: np.random.Generator) -> Iterator[None]:
    """Have every view hold the messages of other records while this lasts."""
    real = Stage.view
    replaying = False

    def view(self: Stage, rows: Any) -> Any:
        nonlocal replaying
        seen = real(self, rows)
        if replaying or hasattr(seen, "exchanged"):
            return seen if replaying else seen.exchanged(rng.permutation(len(rows)))
        replaying = True  # a replayed stage shows itself through this method too
        try:
            alike = self.holdings.labels[rows] if self.holds_labels else np.zeros(len(rows), int)
            return self.replayed(within(alike, rng))
        finally:
            replaying = False

    Stage.view = view  # type: ignore[method-assign]
    try:
        yield
    finally:
        Stage.view = real  # type: ignore[method-assign]


def table(seed: int, most: int) -> tuple[pd.DataFrame, list[str]]:
    """Return a small table: numbers, yes/no, whole numbers and heavy tails, correlated or not."""
    rng = np.random.default_rng(seed)
    own, theirs = int(rng.integers(1, 6)), int(rng.integers(1, 10))
    rows, width = int(rng.integers(most // 5, most)), own + theirs
    values = rng.normal(size=(rows, width)) @ (
        np.eye(width) + rng.uniform(0, 1) * rng.normal(size=(width, width))
    )
    values /= values.std(axis=0)
    for j in range(width):
        kind = rng.integers(4)
        if kind == 1:
            values[:, j] = values[:, j] > np.median(values[:, j])
        elif kind == 2:
            values[:, j] = np.rint(3 * values[:, j])
        elif kind == 3:
            values[:, j] = np.exp(values[:, j])
    drive = values @ rng.normal(size=width) + rng.normal(size=rows)
    names = [f"c{j}" for j in range(width)]
    frame = pd.DataFrame(values, columns=names).assign(y=(drive > np.median(drive)).astype(int))
    return frame, names[own:]


def audit_of_nothing(
    seed: int,
    seeds: int = 1,
    generative: bool = False,
    rows: int = 300,
    targets: int = 100,
    model: str = "lr",
    threats: tuple[str, ...] = (),
) -> Headline:
    """Audit one table whose scores were exchanged and return the headline."""
    frame, passive = table(seed, rows)
    spec = AuditSpec(
        "y", tuple(passive), model, seeds=seeds, targets=targets, inversion_steps=20, defenses=False,
        drop_constant=True, **({"threats": threats} if threats else {}),
    )  # fmt: skip
    planned = [
        replace(
            scenario,
            attacks=tuple(a for a in scenario.attacks if generative or a not in SLOW),
            references=("baselines", "alone", "control"),
            model_options=scenario.model_options.merged(brief(scenario.model)),
            measures=(),
        )
        for scenario in scenarios(spec, "table", "none")
    ]
    with exchanged_messages(np.random.default_rng(10_000 + seed)):
        entries = [
            Entry(scenario, done.outcome, done.records)
            for scenario, done in zip(planned, run_group(planned, frame), strict=True)
        ]
    return headline(combine_threats(entries, spec.model, Streams(seed)))


def brief(model: str) -> dict[str, int]:
    """Return fewer steps for a model that is trained in steps."""
    return {"steps": STEPS} if hasattr(models()[model][1], "steps") else {}


def main() -> None:
    """Print the rate of false alarms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=300, help="tables have a fifth of it or more")
    parser.add_argument("--targets", type=int, default=100)
    parser.add_argument("--model", default="lr")
    parser.add_argument("--threats", type=lambda told: tuple(told.split(",")), default=())
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--generative", action="store_true")
    chosen = parser.parse_args()
    alarms, raised, unsettled = 0, 0, 0
    tables = range(chosen.first, chosen.first + chosen.tables)
    told = ("seeds", "generative", "rows", "targets", "model", "threats")
    asked = {name: getattr(chosen, name) for name in told}
    one = partial(audit_of_nothing, **asked)
    with ProcessPoolExecutor(chosen.workers) as pool:
        for seed, head in zip(tables, pool.map(one, tables), strict=True):
            alarms += head.beyond_guessing
            raised += head.level not in ("low", UNSETTLED)
            unsettled += head.level == UNSETTLED
            if head.beyond_guessing:
                said = f"table {seed}: {head.attack} under {head.threat}, {head.sentence}"
                print(said, file=sys.stderr, flush=True)
    rate = wilson(alarms, chosen.tables, "alarms")
    print(
        f"{alarms} alarms in {chosen.tables} tables: {rate.value:.1%} (95 % interval {rate.low:.1%} "
        f"to {rate.high:.1%}); medium or worse: {raised}; unsettled: {unsettled}"
    )
    sys.exit(int(rate.value > MOST))


if __name__ == "__main__":
    main()
