"""Every countermeasure of an encrypted regression against every attack on it that can use it.

WHATLEAKS_DATA=... python benchmarks/study_countermeasures.py

Breast cancer, 240 records that train, 10 own columns, 20 of the partner. ``follows``: share of the
differences between people, over all columns, as audits count it; in brackets the bar: the same
people's regression without messages, or the learner with own columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.datasets import load_breast_cancer

from whatleaks.errors import WhatleaksError
from whatleaks.metrics.association import followed
from whatleaks.models.adam import Adam
from whatleaks.models.adam_roots import Averages, undone
from whatleaks.trial.records import Trial
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.scorers.values import Scored
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

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
    ("encrypted-label", "label-reading", "alone"),
    ("colluding-arbiter", "arbiter-inversion", "alone"),
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


def follows(done: Trial, name: str) -> str:
    """Return how far a guess follows differences, averaged over columns."""
    scored = next((s for s in done.records.scored if s.name == name), None)
    if not isinstance(scored, Scored):
        return "nothing"
    spread = done.records.spread
    shares = [
        followed(scored.together[:, j], scored.moved[:, j], spread[:, j]).value
        for j in range(spread.shape[1])
    ]
    named = f", {int(scored.named.sum())} of {len(scored.named)} named" if len(shares) == 1 else ""
    return f"{float(np.mean(shares)):.2f}{named}"


def tried(defense: str, threat: str, attack: str, bar: str) -> str:
    """Run one attack under one defense and say what it got."""
    wanted = replace(
        BASE, threat=threat, attacks=(attack,), defense=defense, known=25,
        references=("baselines", "alone"),
    )  # fmt: skip
    try:
        done = run_trial(wanted)
    except WhatleaksError as refused:  # a defense that leaves the adversary nothing to hold
        return f"nothing to hold: {refused}"
    told = done.outcome.measurements.get(attack)
    if isinstance(told, float):
        return f"z to {told:.0e}"
    if not bar or not any(s.name == attack for s in done.records.scored):
        return next((n for n in done.outcome.notes if n.startswith(attack)), "nothing")
    return f"{follows(done, attack)} ({follows(done, bar)})"


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
    adam()
    for defense in DEFENSES:
        for threat, attack, bar in CASES:
            print(
                f"{defense or 'none'} | {attack} | {tried(defense, threat, attack, bar)}",
                flush=True,
            )
