"""Trees and forests in the audit of a table."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine

from auditing import audited
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import guesser
from whatleaks.errors import UsageError
from whatleaks.threat.views.tree import WhiteBoxTreeView


@pytest.fixture(scope="module")
def wine():
    frame = load_wine(as_frame=True).frame
    return frame, tuple(str(c) for c in frame.columns[6:13])


def test_a_tree_is_audited_with_paths_values_baselines_and_limit(wine) -> None:
    frame, passive = wine
    result = audited(frame, AuditSpec("target", passive, model="tree", seeds=1, targets=30))
    threat = result.threats[0]
    assert threat.name == "white-box-tree"
    assert {g.name.split(" after ")[0] for g in threat.of("attack")} == {
        "candidate-search-tree",
        "path-restriction-values",
        "votes-residual",
        "votes-residual-falling",
    }
    assert {g.name for g in threat.of("baseline")} == {"uniform", "gaussian", "half"}
    assert {"limit", "alone"} <= {g.name for g in threat.findings}
    assert len(result.defenses) == 7
    # A class is a class however its score is rounded. Before, noise of one's own is tried as well.
    coarse = [d for d in result.defenses if d.name in ("label-only", "rounding-1", "rounding-3")]
    assert len(coarse) == 3
    for defense in coarse:
        assert defense.adds.value == pytest.approx(coarse[0].adds.value, abs=1e-12)
        assert 0.0 < defense.adds.value <= defense.adds_before.value
    (paths,) = [n for n in threat.notes if n.startswith("Seed 0: tests on your columns answered")]
    assert "A path drawn at random" in paths
    assert paths.count("95 % interval") == 5  # three rates, two differences
    assert not any("” brings what joining adds" in line for line in result.advice)
    (values,) = [g for g in threat.of("attack") if g.name == "path-restriction-values"]
    untested = [c for c in values.columns if not _tested(threat.notes, c.column)]
    assert untested
    assert all(c.leakage.value == 0 for c in untested)  # no test, no difference between guesses


def _tested(notes, column: str) -> bool:
    return any(column in n.split("columns", 1)[1] for n in notes if " tests " in n and "joint" in n)


def test_a_forest_is_audited_up_to_its_limit(wine) -> None:
    frame, passive = wine
    spec = AuditSpec(
        "target", passive, model="forest", quick=True, targets=30, defenses=False
    )  # with defenses: test_withholding_defenses
    result = audited(frame, spec)
    threat = result.threats[0]
    assert threat.name == "white-box-forest"
    assert {"limit", "alone", "half"} <= {g.name for g in threat.findings}
    assert result.worth.accuracy.value > 0.8
    assert np.isfinite(result.headline.leakage.value)


def test_a_tree_that_tests_no_passive_column_is_a_finding_not_a_crash(wine) -> None:
    frame, _ = wine
    rng = np.random.default_rng(0)
    plain = frame[["target"]].assign(a=frame["target"] + 0.1 * rng.random(len(frame)))
    plain["b"] = rng.random(len(frame))
    result = audited(plain, AuditSpec("target", ("b",), model="tree", seeds=1, targets=30))
    notes = result.threats[0].notes
    assert any("tests 0 of your 1 columns" in n for n in notes)
    assert any("no branching rate to speak of" in n for n in notes)
    assert result.threats[0].of("attack")[0].leakage.value == 0.0


def test_an_isolated_audit_gives_the_same_numbers(wine) -> None:
    frame, passive = wine
    spec = {
        "model": "tree",
        "seeds": 1,
        "targets": 20,
        "defenses": False,
        "threats": ("white-box-tree",) * 2,
    }
    here = audited(frame, AuditSpec("target", passive, **spec))
    there = audited(frame, AuditSpec("target", passive, isolated=True, **spec))
    assert here.threats[0].notes == there.threats[0].notes
    assert here.headline.leakage == there.headline.leakage


@pytest.mark.parametrize(
    ("model", "threat", "why"),
    [
        ("tree", "white-box", "with model tree use threats white-box-tree"),
        ("forest", "black-box", "with model forest use threats white-box-forest"),
        ("tree", "white-box-forest", "looks at model forest"),
        ("lr", "white-box-tree", "looks at model tree"),
    ],
)
def test_threats_that_do_not_fit_the_model_are_refused(model, threat, why) -> None:
    with pytest.raises(UsageError, match=why):
        AuditSpec("y", ("a",), model=model, threats=(threat,))


def test_the_view_names_the_threat() -> None:
    for name in ("path-restriction", "path-restriction-values"):
        assert guesser(name).view is WhiteBoxTreeView
