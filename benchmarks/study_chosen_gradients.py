"""How much chosen gradients read from one SecureBoost tree, and how often a spot check notices.

python benchmarks/study_chosen_gradients.py [--audit]

``--audit``: only what the attack of audits makes of it, seeds 10 to 12.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from study_countermeasures import told

from whatleaks.crypto.keys import generate_keys
from whatleaks.federation.boost.chosen import Alphabet, ChosenGradients
from whatleaks.federation.boost.passive import PassiveParty
from whatleaks.federation.boost.run import run
from whatleaks.federation.boost.settings import PairFormat, SecureBoostSettings
from whatleaks.federation.boost.spot_check import draws, modulus_bits
from whatleaks.metrics.intervals import wilson
from whatleaks.models.boosted_trees import BoostSettings, derivatives
from whatleaks.seeds import Streams
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.parties import ACTIVE, PASSIVE
from whatleaks.wire.transcript import Transcript

DRAWS = 2000
SETS = {"breast cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}


def read_one_tree(unnoticed: bool) -> None:
    """Read the bins of 200 records and 20 columns from one tree of depth 3."""
    x, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(x))[:200]
    keys = generate_keys("heu-paillier", 2048)
    settings = SecureBoostSettings(BoostSettings(rounds=1), spot_checks=5 if unnoticed else 0)
    exchange = Exchange(Channel(Transcript([])), 2**28)
    cheat = ChosenGradients(x[rows, 20:], y[rows], settings, Streams(1), keys, exchange, (PASSIVE,))
    passive = PassiveParty(
        PASSIVE, x[rows, :20], settings, np.random.default_rng(0), keys[0], exchange
    )
    programmes: dict[str, Any] = {ACTIVE: cheat.spell(unnoticed), PASSIVE: passive.train(1)}
    start = time.perf_counter()
    found = exchange.drive(programmes)[ACTIVE]
    seconds = time.perf_counter() - start
    given = passive.columns.given
    column, cut = np.divmod(given.cell, given.buckets)
    right = total = 0
    for node in found:
        truth = cut[:, None] >= passive.columns.seen[node.records][:, column].T
        counted = sorted(map(tuple, truth.tolist()))
        right += sum(
            a == b for a, b in zip(sorted(map(tuple, node.left.tolist())), counted, strict=True)
        )
        total += len(counted)
    told = sum(len(node.records) for node in found)
    print(
        f"{'past 5 spot checks' if unnoticed else 'no check'}: {told} of 200 records, "
        f"{right} of {total} candidate splits exact, {seconds:.1f} s with training"
    )


def false_alarms() -> None:
    """Check honest derivatives of the first round in integers, and on ciphertexts."""
    wrong = count = 0
    for load in SETS.values():
        _, y = load(return_X_y=True)
        classes = int(y.max()) + 1
        g, h = derivatives(np.zeros((len(y), 1 if classes == 2 else classes)), y)
        form = PairFormat.of(len(y), 3)
        marks = 1 - draws(len(y), DRAWS).astype(object)
        for output in range(g.shape[1]):
            pairs = g[:, output].astype(object) * (1 << form.shift) + h[:, output].astype(object)
            left = (marks.T @ pairs) % (1 << modulus_bits(form.shift))
            wrong, count = wrong + int((left != 0).sum()), count + DRAWS
    print(f"false alarms in integers: {wrong} of {count}: {wilson(wrong, count, 'share')}")
    keys = generate_keys("heu-paillier", 1024, insecure_test_key=True)
    trainings = 0
    for load in SETS.values():
        x, y = load(return_X_y=True)
        rows = np.random.default_rng(1).permutation(len(x))[:100]
        half = x.shape[1] // 2
        settings = SecureBoostSettings(
            BoostSettings(rounds=1, max_depth=1), key_bits=1024, insecure_test_key=True,
            spot_checks=100,
        )  # fmt: skip
        run(
            x[rows][:, :half], [x[rows][:, half:]], y[rows], settings, Streams(1),
            Channel(Transcript([])), keys,
        )  # fmt: skip
        trainings += 1
    print(f"on ciphertexts: {trainings} honest trainings with 100 checks a tree, none stopped")


def noticed() -> None:
    """Count how often one check notices k chosen records whose holder answers as best it can."""
    form = PairFormat.of(200, 3)
    modulus = 1 << modulus_bits(form.shift)
    letters = Alphabet.of(form, 200, unnoticed=False)
    print(
        f"a sum has {letters.letters} bits; past the check {Alphabet.of(form, 200, True).letters}"
    )
    marks = 1 - draws(200, DRAWS).astype(object)
    for k in (1, 2, 5, 10, 40):
        # The best answer is that of the likeliest draw: none of the chosen records.
        chosen = np.array([1 << i if i < k else 0 for i in range(200)], dtype=object)
        seen = int((((marks.T @ chosen) % modulus) != 0).sum())
        share = wilson(seen, DRAWS, "share")
        print(
            f"{k} chosen records: noticed by one check {share}; by five {1 - (1 - share.value) ** 5:.4f}"
        )


def in_an_audit() -> None:
    """Let the attack of audits loose, unchecked, checked, and checked where there is one round."""
    keys = {"key_bits": 512, "insecure_test_key": True}
    for defense, rounds in (("", 3), ("spot-checks", 3), ("spot-checks", 1)):
        for known in (10, 25, 50):
            asked = Scenario(
                "breast-cancer", unknown=20, data=Settings({"rows": 400, "training_fraction": 0.6}),
                model="boost-chosen", model_options=Settings({**keys, "rounds": rounds}),
                threat="boost-chosen", attacks=("reverse-sum",), defense=defense, known=known,
                references=("baselines", "control"),
            )  # fmt: skip
            done = [run_trial(replace(asked, seed=seed)) for seed in range(10, 13)]
            seen = [trial.outcome.measurements.get("greedy noticed") for trial in done]
            read = [trial.outcome.measurements["records spelled"] for trial in done]
            print(
                f"{defense or 'no check'}, {rounds} rounds, {known} known | spelled {read}, greedy "
                f"noticed {seen} | {told(done, 'reverse-sum')} | control "
                f"{told(done, 'reverse-sum control')} | bar {told(done, 'auxiliary-regression')}",
                flush=True,
            )


if __name__ == "__main__":
    if "--audit" in sys.argv:
        in_an_audit()
        sys.exit()
    noticed()
    false_alarms()
    read_one_tree(unnoticed=False)
    read_one_tree(unnoticed=True)
