"""A model that was trained elsewhere is audited as it was trained, through the one trial."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import whatleaks
from given_tables import NUMBERS, columns, mixed, prepared
from whatleaks.api import MARK
from whatleaks.arrays import sealed
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import cards
from whatleaks.codec import encode
from whatleaks.data.table import beside_table, pack_table, unpack_table
from whatleaks.defenses.protocol import OPEN
from whatleaks.errors import SpecError, UsageError, WhatleaksError
from whatleaks.federation.given.run import GivenTrained
from whatleaks.models.adapters.reading import read_model
from whatleaks.runs.work import name_of
from whatleaks.threat.grants import ForestModel, ModelGrant, TreeModel
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import perform, run_trial
from whatleaks.wire.channel import Channel

CLASSIFIERS: dict[str, Any] = {
    "given-linear": LogisticRegression(max_iter=300),
    "given-network": MLPClassifier((6, 5), max_iter=800, random_state=0),
    "given-tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "given-forest": RandomForestClassifier(5, max_depth=3, random_state=0),
}
GENERATIVE = ("generative-regression", "forest-generative-regression")
EXPECTED = {  # an attack that is made for the form
    "given-linear": "equality-solving",
    "given-network": "generative-regression",
    "given-tree": "path-restriction-values",
    "given-forest": "forest-generative-regression",
}
pytestmark = pytest.mark.filterwarnings("ignore:.*onverge")


def wine() -> pd.DataFrame:
    held = load_wine(as_frame=True)
    return held.frame.rename(columns={"target": "y"})


def fitted(model: Any, frame: pd.DataFrame) -> Any:
    pipeline = make_pipeline(StandardScaler(), model)
    return pipeline.fit(frame[columns(frame)], frame.y)


def guess(report: whatleaks.AuditReport, threat: str, attack: str) -> Any:
    found = next(t for t in report.result.threats if t.name == threat)
    return next(g for g in found.findings if g.name == attack)


def test_a_fitted_regression_gives_fewer_columns_than_classes_away_exactly() -> None:
    frame = wine()  # 3 classes in units from 0.1 to 1,700
    model = fitted(LogisticRegression(), frame)
    report = whatleaks.audit(
        frame,
        "y",
        ["alcohol", "proline"],
        model=model,
        threats="white-box",
        defenses=False,
        seeds=2,
        inversion_steps=2,
    )
    assert guess(report, "white-box", "equality-solving").error.value < 1e-20
    assert report.result.headline.level == "complete"
    told = " ".join(report.result.notes)
    assert "sklearn StandardScaler > LogisticRegression" in told
    assert "Which rows the model was trained on is not known" in told
    assert report.result.spec["given"] == read_model(model, columns(frame)).digest()


@pytest.mark.parametrize("form", sorted(CLASSIFIERS))
@pytest.mark.parametrize("coalition", [("active",), ("active", "passive-2")])
def test_what_is_offered_scores_as_what_is_released(form: str, coalition: tuple[str, ...]) -> None:
    frame = mixed(1)[[*NUMBERS, "branch", "member", "y"]]
    model = fitted(CLASSIFIERS[form], frame)
    given = read_model(model, columns(frame))
    assert given.core.form == form
    scenario = Scenario(
        "table",
        table="x",
        data=Settings({"label": "y", "categories": "one-hot"}),
        passive=(("income",), ("member", "age"), ("balance",)),
        model=form,
        given=given.digest(),
    )
    from whatleaks.seeds import Streams
    from whatleaks.trial.preparing import ready

    made = ready(scenario, frame, Streams(0), given)
    assert made.given is not None
    kind = "votes" if form in ("given-tree", "given-forest") else "scores"
    trained = GivenTrained(made.holdings, made.given, kind)
    rows = made.pool
    channel = Channel()
    released = trained.release(rows, channel, OPEN)
    told = model.predict_proba(frame[columns(frame)])[rows]
    order = [list(model.classes_).index(name) for name in made.classes]
    assert np.abs(released - told[:, order]).max() < 1e-12
    assert [m.kind for m in channel.transcript.received_by("active")] == [kind]
    grant = next(g for g in trained.offer(coalition) if not hasattr(g, "low"))
    own = made.holdings.joined(coalition, rows)
    other = made.holdings.joined(made.holdings.victims(coalition), rows)
    both = sealed(np.concatenate([own, other], axis=1))
    if isinstance(grant, ModelGrant):
        again = grant.model.scores(own, other)
    elif isinstance(grant, ForestModel):
        again = grant.model.fractions(both)
        assert grant.model.active_columns == own.shape[1]
    else:
        assert isinstance(grant, TreeModel)
        again = grant.model.shares(both)
    assert np.abs(again - released).max() < 1e-12


@pytest.mark.parametrize("form", sorted(CLASSIFIERS))
def test_every_form_goes_through_the_audit_with_its_defenses(form: str) -> None:
    frame = mixed(2, rows=150)[[*NUMBERS, "member", "y"]]
    given = read_model(fitted(CLASSIFIERS[form], frame), columns(frame))
    spec = AuditSpec("y", ("income",), form, quick=True, given=given.digest(), inversion_steps=5)
    planned = scenarios(spec, "table", "x")
    retrain = {c.name for c in cards("defense") if c.part.socket in ("data", "training")}
    assert not retrain & {s.defense for s in planned}
    assert any(s.defense for s in planned)
    tried = set()
    for scenario in planned:
        brief = {"steps": 5} if "steps" in scenario.attack_options else {}
        if any(name in GENERATIVE for name in scenario.attacks):
            brief |= {"least_steps": 3}
        if "forest-generative-regression" in scenario.attacks:
            brief |= {"made_up": 50, "surrogate_epochs": 1}
        quick = replace(scenario, references=("baselines",), attack_options=Settings(brief))
        trial = run_trial(quick, frame, given)
        assert "accuracy" in trial.outcome.measurements
        tried |= {s.name for s in trial.records.scored if s.role == "attack"}
    assert EXPECTED[form] in tried


def test_the_name_of_a_result_holds_the_model() -> None:
    frame = mixed(3)[[*NUMBERS, "y"]]
    names = []
    for strength in (1.0, 2.0):
        given = read_model(fitted(LogisticRegression(C=strength), frame), NUMBERS)
        spec = AuditSpec("y", ("income",), "given-linear", quick=True, given=given.digest())
        names.append([name_of(scenario) for scenario in scenarios(spec, "table", "x")])
    assert not set(names[0]) & set(names[1])


def test_a_worker_gets_the_model_beside_the_table_and_checks_it() -> None:
    frame = mixed(4)[[*NUMBERS, "y"]]
    given = read_model(fitted(LogisticRegression(), frame), NUMBERS)
    other = read_model(fitted(LogisticRegression(C=9.0), frame), NUMBERS)
    packed = pack_table(frame, encode(given))
    pd.testing.assert_frame_equal(unpack_table(packed), frame)
    assert beside_table(pack_table(frame)) == b""
    scenario = Scenario(
        "table",
        table="x",
        data=Settings({"label": "y", "categories": "one-hot"}),
        passive=(("income",),),
        model="given-linear",
        given=given.digest(),
        attacks=("half-star",),
    )
    ((outcome, _),) = list(perform([scenario], packed))
    assert outcome == run_trial(scenario, frame, given).outcome
    with pytest.raises(SpecError, match="is not the one that the scenario names"):
        list(perform([scenario], pack_table(frame, encode(other))))
    with pytest.raises(SpecError, match="give it along"):
        run_trial(scenario, frame)
    with pytest.raises(SpecError, match="one that must be given"):
        plan(replace(scenario, given=""))
    with pytest.raises(SpecError, match="trained here, so none can be given"):
        plan(replace(scenario, model="lr"))


def test_workers_and_this_process_find_the_same(tmp_path: Path) -> None:
    frame = mixed(5)[[*NUMBERS, "y"]]
    model = fitted(DecisionTreeClassifier(max_depth=4, random_state=0), frame)
    reports = [
        whatleaks.audit(frame, "y", ["income"], model=model, quick=True, defenses=False, workers=w)
        for w in (1, 2)
    ]
    first, second = ([t.findings for t in r.result.threats] for r in reports)
    for one, two in zip(first[0], second[0], strict=True):
        assert (one.name, one.error, one.leakage) == (two.name, two.error, two.leakage)


def test_rows_that_trained_are_not_attacked() -> None:
    frame = mixed(6, rows=160)[[*NUMBERS, "y"]]
    trained = np.arange(160) % 3 == 0
    model = fitted(LogisticRegression(), frame[trained])
    given = read_model(model, NUMBERS)
    marked = frame.assign(**{MARK: trained})
    made = prepared(given, marked, trained_on=MARK)
    assert np.array_equal(made.training, np.flatnonzero(trained))
    assert np.array_equal(made.pool, np.flatnonzero(~trained))
    choices: dict[str, Any] = {
        "model": model,
        "threats": "white-box",
        "defenses": False,
        "quick": True,
        "inversion_steps": 2,
    }
    by_mask = whatleaks.audit(frame, "y", ["income"], trained_on=trained, **choices)
    named = frame.assign(was=np.where(trained, "yes", "no"))
    by_name = whatleaks.audit(named, "y", ["income"], trained_on="was", **choices)
    assert by_mask.result.training_rows == int(trained.sum())
    assert by_mask.result.worth == by_name.result.worth
    assert by_mask.result.headline.leakage == by_name.result.headline.leakage
    assert not any("not known" in note for note in by_mask.result.notes)
    for wrong, words in (
        (trained[:-1], "trained_on has 159 values"),
        (np.zeros(160, bool), "marks 0 of 160 rows"),
        ("age", "takes column 'age'"),
        ("wsa", "no column of the table"),
    ):
        with pytest.raises(WhatleaksError, match=words):
            whatleaks.audit(named.drop(columns="was"), "y", ["income"], trained_on=wrong, **choices)
    with pytest.raises(UsageError, match="belongs to a model that is given"):
        whatleaks.audit(frame, "y", ["income"], trained_on=trained)


def test_boosted_trees_have_a_black_box_only() -> None:
    xgboost = pytest.importorskip("xgboost")
    frame = mixed(7)[[*NUMBERS, "y"]]
    codes = frame.y.map({name: i for i, name in enumerate(sorted(frame.y.unique()))})
    model = xgboost.XGBClassifier(n_estimators=5).fit(frame[NUMBERS], codes)
    report = whatleaks.audit(frame, "y", ["income"], model=model, quick=True)
    assert [t.name for t in report.result.threats] == ["black-box", "black-box-known"]
    assert [g.name for g in report.result.threats[0].of("attack")] == [
        "score-residual",
        "score-residual-falling",
        "score-rest",
        "score-rest-falling",
    ]
    assert report.result.threats[0].of("limit")
    assert report.result.worth.accuracy.value > 0.8
    assert any("No attack looks inside this model yet: xgboost" in n for n in report.result.notes)
    with pytest.raises(UsageError, match="white-box does not look at the model that is given"):
        whatleaks.audit(frame, "y", ["income"], model=model, threats="white-box")
