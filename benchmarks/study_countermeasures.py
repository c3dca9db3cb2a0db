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
from whatleaks.models.adam import FIRST, SECOND, SMALLEST
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.scorers.values import Scored
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import Trial, run_trial

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


def adam(records: int = 10, columns: int = 20, steps: int = 24) -> None:
    """Say what is left of own gradients if an arbiter returns Adam's directions, in doubles.

    Not in the protocol. The first direction is g / (|g| + 1e-8): in doubles its distance from 1
    still tells |g|. Every later one has two gradients that fit each number.
    """
    x, y = load_breast_cancer(return_X_y=True)
    x = ((x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0)))[:, :columns]
    rng = np.random.default_rng(10)
    rows = rng.permutation(len(x))[: records * steps]
    weights = rng.normal(0.0, 0.1, columns)
    mean, square = np.zeros(columns), np.zeros(columns)
    both = []
    for step in range(steps):
        batch = x[rows[step * records : (step + 1) * records]]
        d = 0.25 * batch @ weights + 0.5 - y[rows[step * records : (step + 1) * records]]
        g = batch.T @ d
        before = FIRST * mean, SECOND * square
        mean, square = before[0] + (1 - FIRST) * g, before[1] + (1 - SECOND) * g**2
        c1, c2 = 1 - FIRST ** (step + 1), 1 - SECOND ** (step + 1)
        told = mean / c1 / (np.sqrt(square / c2) + SMALLEST)
        weights = weights - 0.002 * told
        if not step:
            undone = SMALLEST * told / (1.0 - np.abs(told))
            solved = np.linalg.lstsq(batch.T, undone, rcond=None)[0]
            off = np.abs(solved - d).max() / np.abs(d).max()
            print(f"adam | first of {steps} steps | residuals of {records} records to {off:.0e}")
            continue
        # Who knows all before it solves (a + b g)^2 = k^2 (s + (1 - SECOND) g^2) / c2 for g.
        k, b = told * c1, 1 - FIRST
        a = before[0] - k * SMALLEST
        roots = np.stack(
            [
                np.roots([b**2 - q**2 * (1 - SECOND) / c2, 2 * b * p, p**2 - q**2 * s / c2])
                for p, q, s in zip(a, k, before[1], strict=True)
            ],
            axis=1,
        )
        fits = (np.abs(roots.imag) < 1e-9) & (np.sign(a + b * roots.real) == np.sign(k))
        both.append((fits.sum(axis=0) > 1).mean())
    print(f"adam | later steps | two gradients fit {np.mean(both):.2f} of the numbers of a step")


if __name__ == "__main__":
    adam()
    for defense in DEFENSES:
        for threat, attack, bar in CASES:
            print(
                f"{defense or 'none'} | {attack} | {tried(defense, threat, attack, bar)}",
                flush=True,
            )
