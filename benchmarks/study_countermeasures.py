"""Every countermeasure of an encrypted regression against every attack on it that can use it.

WHATLEAKS_DATA=... python benchmarks/study_countermeasures.py --seeds 3

Breast cancer, 240 records that train, 10 own columns, 20 of the partner. Numbers are shares of the
differences between people, over all columns, as audits count them: the mean over seeds with its t
interval. After them the bar: the same people's regression without messages, or the learner with own
columns.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn.datasets import load_breast_cancer

from whatleaks.errors import WhatleaksError
from whatleaks.metrics.intervals import mean_over_seeds
from whatleaks.models.adam import Adam
from whatleaks.models.adam_roots import Averages, undone
from whatleaks.trial.plan import plan
from whatleaks.trial.records import Trial
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.scorers.values import Scored
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_group

# No number depends on the key: tests/unit/test_key_sizes.py.
OPTIONS = {"key_bits": 512, "insecure_test_key": True, "whole": True, "epochs": 30}
BASE = Scenario(
    "breast-cancer",
    unknown=20,
    data=Settings({"rows": 400, "training_fraction": 0.6}),
    model="encrypted-logistic",
    model_options=Settings(OPTIONS),
    seed=10,
)
CASES = (
    ("encrypted", "intermediate-recovery", ""),
    ("encrypted-known", "subspace-regression", "auxiliary-regression"),
    ("colluding-arbiter", "arbiter-inversion", "alone"),
    ("encrypted-label", "label-reading", "alone"),
)
SPARES = (0, 1, 2, 4, 10)
DEFENSES = (
    "",
    "shuffled-batches",
    "masked-gradients",
    "closed-prediction",
    "least-batch-80",
    "arbiter-adam",
)


def scored(done: Trial, name: str) -> Scored | None:
    """Return what a guess was worth, or None if nobody made it."""
    found = next((s for s in done.records.scored if s.name == name), None)
    return found if isinstance(found, Scored) else None


def follows(done: Trial, one: Scored) -> float:
    """Return how far a guess follows differences, averaged over columns."""
    return float(one.followed(done.records.apart).value.mean())


def told(trials: Sequence[Trial], name: str) -> str:
    """Say what one guess got in all seeds."""
    found = [(done, scored(done, name)) for done in trials]
    made = [(done, one) for done, one in found if one is not None]
    if not made:
        return "nothing"
    shares = [follows(done, one) for done, one in made]
    said = f"{mean_over_seeds(shares, '')}" if len(shares) > 1 else f"{shares[0]:.3f}"
    if trials[0].records.apart.shape[1] == 1:
        named = [int(one.named.sum()) for _, one in made]
        said += f", named {named} of {len(made[0][1].named)}"
    return said if len(made) == len(trials) else f"{said} in {len(made)} of {len(trials)} seeds"


def tried(defense: str, seeds: Sequence[int]) -> None:
    """Run every attack under one defense and print what it got."""
    every: dict[str, list[Trial]] = {}
    for seed in seeds:
        wanted, names = [], []
        for threat, attack, _ in CASES:
            one = replace(
                BASE, threat=threat, attacks=(attack,), defense=defense, known=25, seed=seed,
                references=("baselines", "alone", "control"),
            )  # fmt: skip
            try:
                plan(one)
            except WhatleaksError as refused:  # a defense that leaves the adversary nothing to hold
                print(f"{defense} | {attack} | nothing to hold: {refused}")
                continue
            wanted.append(one)
            names.append(attack)
        for attack, done in zip(names, run_group(wanted), strict=True):
            every.setdefault(attack, []).append(done)
    for _, attack, bar in CASES:
        trials = every.get(attack, [])
        exact = [done.outcome.measurements.get(attack) for done in trials]
        errors = [value for value in exact if isinstance(value, float)]
        notes = {n for done in trials for n in done.outcome.notes if n.startswith(attack)}
        if errors:
            line = f"z to {max(errors):.0e} in {len(errors)} seeds"
        elif not bar or not any(scored(done, attack) for done in trials):
            line = "; ".join(sorted(notes)) or "nothing"
        else:
            line = f"{told(trials, attack)} | control {told(trials, attack + ' control')} | bar {told(trials, bar)}"
        print(f"{defense or 'none'} | {attack} | {line}", flush=True)


def adam(records: int = 10, steps: int = 24) -> None:
    """Say what is left of own gradients if an arbiter returns Adam's directions, in doubles.

    Not in the protocol: one pass over breast cancer's first ten columns and made-up spare ones.
    """
    x, y = load_breast_cancer(return_X_y=True)
    x = ((x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0)))[:, :records]
    rng = np.random.default_rng(10)
    rows = rng.permutation(len(x))[: records * steps]
    made_up = rng.uniform(-0.1, 0.1, (len(rows), max(SPARES)))
    batches = np.split(np.arange(len(rows)), steps)
    for spare in SPARES:
        columns = np.concatenate([x[rows], made_up[:, :spare]], axis=1)
        width = columns.shape[1]
        weights, told = np.full((steps + 1, width), 0.1), np.empty((steps, width))
        gradients, both = np.empty((steps, width)), np.zeros((steps, width))
        state, averages = Adam(np.zeros(width), 1.0), Averages(np.zeros(width), np.zeros(width))
        for step, batch in enumerate(batches):
            d = 0.25 * columns[batch] @ weights[step] + 0.5 - y[rows][batch]
            gradients[step] = columns[batch].T @ d
            told[step] = state.direction(gradients[step])
            both[step] = ~np.isnan(averages.roots(told[step])).any(axis=0) if step else 0.0
            averages = averages.after(gradients[step])
            weights[step + 1] = weights[step] - 0.002 * told[step]
        found = undone(told, weights, columns, batches, 0.0)
        off = np.abs(found - gradients[: len(found)]).max()
        print(
            f"adam | {spare} spare columns | two gradients fit {both[1:].mean():.2f} of later numbers "
            f"| {len(found)} of {steps} gradients undone, to {off:.0e}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--defenses", nargs="*", default=DEFENSES)
    chosen = parser.parse_args()
    adam()
    for name in chosen.defenses:
        tried(name, range(10, 10 + chosen.seeds))
