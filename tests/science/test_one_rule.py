"""The one rule: an attack sees what its threat model grants, and nothing else."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.agnostic import AgnosticInference
from whatleaks.attacks.baselines import Half, Nothing
from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.attacks.gradient_inversion import GradientInversion
from whatleaks.attacks.half_star import HalfStar
from whatleaks.auditor.evaluator import Evaluator
from whatleaks.auditor.isolation import commit
from whatleaks.codec import decode, encode
from whatleaks.errors import GrantError
from whatleaks.federation.additive import ACTIVE, AdditiveFederation, AdditiveSettings
from whatleaks.models.additive import adjacent_differences
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Offer, hand_out
from whatleaks.threat.model import Own
from whatleaks.threat.prediction import AGNOSTIC, BLACK_BOX, WHITE_BOX
from whatleaks.threat.views.prediction import PredictionView, WhiteBoxPredictionView
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

SCORE_ATTACKS = [
    EqualitySolving(),
    EqualitySolving(clip=True),
    HalfStar(),
    GradientInversion(steps=200),
]


@pytest.fixture(scope="module")
def wine():
    """A trained federation on wine (178 x 13, 3 classes): 6 passive columns, 60 targets."""
    x, y = load_wine(return_X_y=True)
    x = (x - x.min(0)) / (x.max(0) - x.min(0))
    x, y = (a[np.random.default_rng(0).permutation(len(y))] for a in (x, y))
    active, passive = sealed(x[:, :7]), sealed(x[:, 7:])
    federation = AdditiveFederation(
        active,
        passive,
        sealed_ints(y),
        3,
        AdditiveSettings(steps=600),
        Streams(0),
        Channel(Transcript([ACTIVE])),
    )
    federation.train(np.arange(118))
    channel = Channel()
    federation.predict(np.arange(118, 178), channel)
    own = Own(sealed(active[118:]), sealed(active[:118]), sealed_ints(y[:118]), 6)
    offer = Offer(model=federation.model(), ranges=(sealed(np.zeros(6)), sealed(np.ones(6))))
    return channel.transcript.received_by(ACTIVE), own, offer, sealed(passive[118:])


@pytest.mark.parametrize("attack", SCORE_ATTACKS, ids=lambda a: a.name)
def test_secrets_with_equal_views_get_equal_guesses(wine, attack) -> None:
    _received, own, offer, truth = wine
    model = offer.model
    matrix = adjacent_differences(model.passive.weights).T
    null = np.linalg.svd(matrix)[2][matrix.shape[0] :]  # directions that no score shows
    other = truth + 0.3 * np.random.default_rng(1).normal(size=(len(truth), len(null))) @ null
    assert np.abs(other - truth).max() > 0.1
    views = [
        WhiteBoxPredictionView(
            own.target, sealed(np.round(model.scores(own.target, t), 9)), 6, model
        )
        for t in (truth, other)
    ]
    assert encode(views[0]) == encode(views[1])
    guesses = [commit(attack, view, np.random.default_rng(2)).guess.values for view in views]
    assert np.array_equal(*guesses)


@pytest.mark.parametrize("attack", [EqualitySolving(clip=True), HalfStar()], ids=lambda a: a.name)
def test_scores_of_other_people_give_no_advantage(wine, attack) -> None:
    # n = 60 records x 6 columns, scores handed to the next person: compare with half, paired by
    # record; the mean difference must not be below zero by more than its 99 % interval.
    received, own, offer, truth = wine
    view = WHITE_BOX.project(received, own, hand_out(WHITE_BOX.grants, offer))
    stranger = dataclasses.replace(view, scores=sealed(np.roll(view.scores, 7, axis=0)))
    evaluator = Evaluator(truth, truth[:0])
    rng = np.random.default_rng(3)
    half = evaluator.score(commit(Half(), Nothing(60, 6), rng), "baseline").squared.mean(axis=1)
    mixed = evaluator.score(commit(attack, stranger, rng), "attack").squared.mean(axis=1)
    difference = half - mixed
    assert difference.mean() < 2.58 * difference.std(ddof=1) / np.sqrt(60)
    own_scores = ((attack.infer(view, rng).values - truth) ** 2).mean()
    assert own_scores < mixed.mean()  # with the right scores it does gain


def test_nothing_reaches_an_attack_but_bytes(wine) -> None:
    received, own, offer, _ = wine
    view = WHITE_BOX.project(received, own, hand_out(WHITE_BOX.grants, offer))
    seen = []

    class Spy:
        name = "spy"

        def infer(self, view, rng):
            seen.append((view, rng))
            return HalfStar().infer(view, rng)

    commit(Spy(), view, np.random.default_rng(0))
    got = seen[0][0]
    assert got is not view
    for field in ("own", "scores"):
        array = getattr(got, field)
        assert array.base is None
        assert not np.shares_memory(array, getattr(view, field))
    assert not np.shares_memory(got.model.passive.weights, offer.model.passive.weights)


def test_a_view_has_exactly_its_grants(wine) -> None:
    received, own, offer, _ = wine
    black = BLACK_BOX.project(received, own, hand_out(BLACK_BOX.grants, offer))
    assert {f.name for f in dataclasses.fields(black)} == {"own", "scores", "unknown"}
    with pytest.raises(AttributeError):
        HalfStar().infer(black, np.random.default_rng(0))
    agnostic = AGNOSTIC.project(received, own, hand_out(AGNOSTIC.grants, offer))
    assert "scores" not in {f.name for f in dataclasses.fields(agnostic)}
    with pytest.raises(dataclasses.FrozenInstanceError):
        agnostic.own = own.target
    assert AgnosticInference().infer(agnostic, np.random.default_rng(0)).values.shape == (60, 6)


def test_what_is_not_granted_cannot_be_had(wine) -> None:
    offer = wine[2]
    granted = hand_out(BLACK_BOX.grants, offer)
    with pytest.raises(GrantError, match="does not grant the whole trained model"):
        _ = granted.model
    assert granted.offer.model is None  # not hidden: absent
    with pytest.raises(GrantError, match="nothing to grant"):
        _ = hand_out(AGNOSTIC.grants, Offer()).model


def test_every_view_survives_the_wire(wine) -> None:
    received, own, offer, _ = wine
    for threat in (WHITE_BOX, BLACK_BOX, AGNOSTIC):
        view = threat.project(received, own, hand_out(threat.grants, offer))
        assert encode(decode(encode(view))) == encode(view)
        assert view.evidence().shape[0] == 60
        assert "active party" in repr(threat)


def test_an_attack_that_reads_beyond_its_view_does_not_type_check(tmp_path: Path) -> None:
    probe = tmp_path / "probe.py"
    probe.write_text(
        "from whatleaks.threat.views.prediction import PredictionView\n"
        "def peek(view: PredictionView) -> object:\n"
        "    return view.model\n"
    )
    source = Path(__file__).resolve().parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", str(probe)],
        capture_output=True,
        text=True,
        env={"MYPYPATH": str(source), "PATH": "", "MYPY_CACHE_DIR": str(tmp_path / "cache")},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert '"PredictionView" has no attribute "model"' in done.stdout
    assert isinstance(PredictionView.__dataclass_fields__, dict)
