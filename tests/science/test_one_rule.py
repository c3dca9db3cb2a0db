"""The one rule: an attack sees what its threat model grants, and nothing else."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from staging import linear_stage
from whatleaks.arrays import sealed
from whatleaks.attacks.agnostic import AgnosticInference
from whatleaks.attacks.baselines import Half, ShapeView
from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.attacks.gradient_inversion import GradientInversion
from whatleaks.attacks.half_star import HalfStar
from whatleaks.codec import decode, encode
from whatleaks.errors import GrantError
from whatleaks.federation.additive.run import AdditiveFederation
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.models.additive import adjacent_differences
from whatleaks.threat.grants import LinearModel, ModelGrant, hand_out
from whatleaks.threat.prediction import AGNOSTIC, BLACK_BOX, WHITE_BOX
from whatleaks.threat.views.prediction import PredictionView, WhiteBoxLinearView
from whatleaks.trial.evaluator import Evaluator
from whatleaks.trial.isolation import commit
from whatleaks.trial.stage import Stage
from whatleaks.trial.truth import Truth

SCORE_ATTACKS = [
    EqualitySolving(),
    EqualitySolving(clip=True),
    HalfStar(),
    GradientInversion(steps=200),
]


@pytest.fixture(scope="module")
def wine() -> Stage:
    """A trained federation on wine (178 x 13, 3 classes): 6 passive columns, 60 targets."""
    return linear_stage(load_wine, 6, 118, 600, WHITE_BOX)


def seen(stage: Stage, threat: Any = WHITE_BOX) -> Any:
    federation = AdditiveFederation()
    view = threat.view_for(federation.shows, federation.offers(AdditiveSettings()))
    return dataclasses.replace(stage, threat=threat, view_type=view).view(stage.rows.targets)


@pytest.mark.parametrize("attack", SCORE_ATTACKS, ids=lambda a: a.name)
def test_secrets_with_equal_views_get_equal_guesses(wine, attack) -> None:
    view, truth = seen(wine), wine.truth
    model = view.model
    matrix = adjacent_differences(model.passive.weights).T
    null = np.linalg.svd(matrix)[2][matrix.shape[0] :]  # directions that no score shows
    other = truth + 0.3 * np.random.default_rng(1).normal(size=(len(truth), len(null))) @ null
    assert np.abs(other - truth).max() > 0.1
    views = [
        WhiteBoxLinearView(view.own, sealed(np.round(model.scores(view.own, t), 9)), 6, model)
        for t in (truth, other)
    ]
    assert encode(views[0]) == encode(views[1])
    guesses = [commit(attack, view, np.random.default_rng(2)).guess.values for view in views]
    assert np.array_equal(*guesses)


@pytest.mark.parametrize("attack", [EqualitySolving(clip=True), HalfStar()], ids=lambda a: a.name)
def test_scores_of_other_people_give_no_advantage(wine, attack) -> None:
    # n = 60 records x 6 columns, scores handed to the next person: compare with half, paired by
    # record; the mean difference must not be below zero by more than its 99 % interval.
    view, truth = seen(wine), wine.truth
    stranger = dataclasses.replace(view, scores=sealed(np.roll(view.scores, 7, axis=0)))
    evaluator = Evaluator(Truth(truth))
    rng = np.random.default_rng(3)
    half = evaluator.score(commit(Half(), ShapeView(60, 6), rng), "baseline").squared.mean(axis=1)
    mixed = evaluator.score(commit(attack, stranger, rng), "attack").squared.mean(axis=1)
    difference = half - mixed
    assert difference.mean() < 2.58 * difference.std(ddof=1) / np.sqrt(60)
    own_scores = ((attack.infer(view, rng).values - truth) ** 2).mean()
    assert own_scores < mixed.mean()  # with the right scores it does gain


def test_nothing_reaches_an_attack_but_bytes(wine) -> None:
    view = seen(wine)
    caught = []

    class Spy:
        name = "spy"

        def infer(self, view, rng):
            caught.append((view, rng))
            return HalfStar().infer(view, rng)

    commit(Spy(), view, np.random.default_rng(0))
    got = caught[0][0]
    assert got is not view
    for field in ("own", "scores"):
        array = getattr(got, field)
        assert array.base is None
        assert not np.shares_memory(array, getattr(view, field))
    (granted, *_) = wine.trained.offer(("active",))
    assert isinstance(granted, LinearModel)
    assert not np.shares_memory(got.model.passive.weights, granted.model.passive.weights)


def test_a_view_has_exactly_its_grants(wine) -> None:
    black = seen(wine, BLACK_BOX)
    assert {f.name for f in dataclasses.fields(black)} == {
        "own",
        "scores",
        "unknown",
        "ranges",
        "schema",
        "own_part",
    }
    assert encode(black.own_part) == encode(wine.trained.memory("active")[0].part)  # no more
    with pytest.raises(AttributeError):
        HalfStar().infer(black, np.random.default_rng(0))
    agnostic = seen(wine, AGNOSTIC)
    assert "scores" not in {f.name for f in dataclasses.fields(agnostic)}
    with pytest.raises(dataclasses.FrozenInstanceError):
        agnostic.own = wine.own
    assert AgnosticInference().infer(agnostic, np.random.default_rng(0)).values.shape == (60, 6)


def test_what_is_not_granted_cannot_be_had(wine) -> None:
    offer = wine.trained.offer(("active",))
    granted = hand_out(BLACK_BOX.grants, offer)
    with pytest.raises(GrantError, match="does not grant the whole trained model"):
        _ = granted[ModelGrant]
    assert not any(isinstance(one, ModelGrant) for one in granted.given)  # not hidden: absent
    with pytest.raises(GrantError, match="nothing to grant"):
        _ = hand_out(AGNOSTIC.grants, ())[ModelGrant]


def test_every_view_survives_the_wire(wine) -> None:
    for threat in (WHITE_BOX, BLACK_BOX, AGNOSTIC):
        view = seen(wine, threat)
        assert encode(decode(encode(view))) == encode(view)
        assert view.evidence().shape[0] == 60
        assert "active party" in repr(threat)


def test_an_attack_that_reads_beyond_its_view_does_not_type_check(tmp_path: Path) -> None:
    probe = tmp_path / "probe.py"
    probe.write_text(
        "from whatleaks.threat.views.prediction import PredictionView\n"
        "def peek(view: PredictionView) -> object:\n"
        "    return view.model\n"
        "def look(view: PredictionView) -> object:\n"
        "    return view.scores\n"
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
    assert 'probe.py:3: error: "PredictionView" has no attribute "model"' in done.stdout
    assert done.stdout.count("error:") == 1, done.stdout  # what is in the view may be read


def test_nor_does_it_run() -> None:
    view = PredictionView(sealed([[0.5]]), sealed([[0.5, 0.5]]), 1)
    with pytest.raises(AttributeError, match="no attribute 'model'"):
        _ = view.model  # type: ignore[attr-defined]
    assert [f.name for f in dataclasses.fields(view)] == [
        "own",
        "scores",
        "unknown",
        "ranges",
        "schema",
        "own_part",
    ]
