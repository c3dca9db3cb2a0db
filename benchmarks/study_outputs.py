"""What lattice decoding reads of whole-number columns from an encrypted regression's outputs.

WHATLEAKS_DATA=... python benchmarks/study_outputs.py

Statlog vehicle (18 columns of whole numbers), 150 records, batches in turn. ``digits``: how many
decimal digits of z, of the final weights, come out right from own gradients alone.
"""

from __future__ import annotations

import time

import numpy as np

from whatleaks.attacks.gram_inversion import GramInversion
from whatleaks.errors import AttackError
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial, stage_of, train

ATTACKS = ("output-decoding", "training-output-decoding")
KEYS = {"key_bits": 512, "insecure_test_key": True}  # no number depends on the key


def scenario(unknown: int, epochs: int) -> Scenario:
    """Declare one training: some columns with the partner, all records in batches that take turns."""
    return Scenario(
        "statlog-vehicle",
        unknown=unknown,
        model="encrypted",
        threat="encrypted-outputs",
        attacks=ATTACKS,
        data=Settings({"rows": 150}),
        model_options=Settings({**KEYS, "whole": True, "epochs": epochs}),
        references=("control",),
        seed=10,
    )


def digits(wanted: Scenario) -> str:
    """Say how many digits of the final outputs the own gradients give."""
    parts = plan(wanted)
    training = train(wanted, parts, None)
    assert not isinstance(training, str)
    stage = stage_of(wanted, parts, training)
    view = stage.view(stage.rows.targets)
    try:
        _, z = GramInversion().factor_and_output(view)
    except AttackError:
        return "not determined"
    off = np.abs(z - view.predicted).max() / np.abs(view.predicted).max()
    return f"{-np.log10(off):.1f}"


if __name__ == "__main__":
    for unknown in (1, 2, 3, 4, 6, 8):
        for epochs in (12, 60):
            start = time.perf_counter()
            wanted = scenario(unknown, epochs)
            done = run_trial(wanted)
            named = {s.name: float(s.named.all(axis=1).mean()) for s in done.records.scored}
            told = ", ".join(f"{name} {share:.3f}" for name, share in named.items())
            print(
                f"{unknown} columns, {epochs} epochs: {told}; digits {digits(wanted)} "
                f"({time.perf_counter() - start:.0f} s)",
                flush=True,
            )
