"""A seed more without defenses: narrower intervals for what is signed, at little cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import whatleaks
from auditing import audited
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.spec import MORE_SEEDS, SEEDS, AuditSpec
from whatleaks.catalog import card

SMALL = {
    "label": "y",
    "passive": ["a"],
    "model": "tree",
    "threats": ["white-box-tree"],
    "targets": 12,
}


def table(rows: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["a", "b", "c"])
    return frame.assign(y=(frame.sum(axis=1) > 0).astype(int))


def telling(rows: int = 150) -> pd.DataFrame:
    """Return a table whose scores tell "a", which goes with an own column."""
    rng = np.random.default_rng(0)
    own = rng.normal(size=(rows, 2))
    a = rng.normal(size=rows) + 0.8 * own[:, 0]
    b = rng.integers(0, 3, rows)
    frame = pd.DataFrame({"o1": own[:, 0], "o2": own[:, 1], "a": a.round(2), "b": b})
    score = own[:, 1] + 1.5 * a + 0.5 * b + 0.3 * rng.normal(size=rows)
    return frame.assign(y=(score > 0.5).astype(int))


def test_seeds_that_follow_have_the_same_trials_but_the_defended_ones() -> None:
    few = scenarios(AuditSpec("y", ("a",)), "t", "0" * 64)
    more = scenarios(AuditSpec("y", ("a",), more_seeds=MORE_SEEDS), "t", "0" * 64)
    assert more[: len(few)] == few
    plain = sorted(s.threat for s in few if s.seed == 0 and not s.defense)
    for seed in range(SEEDS, SEEDS + MORE_SEEDS):
        assert sorted(s.threat for s in more if s.seed == seed) == plain
    assert not any(s.defense for s in more[len(few) :])


def test_nothing_is_hijacked_in_them() -> None:
    spec = AuditSpec("y", ("a",), "split", threats=("split-hijack",), more_seeds=MORE_SEEDS)
    assert {s.seed for s in scenarios(spec, "t", "0" * 64)} == set(range(SEEDS))


def test_an_audit_has_them_unless_somebody_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "whatleaks.auditor.plan._defenses", lambda spec: [card("defense", "label-only")]
    )
    report = whatleaks.audit(table(), **SMALL).result
    assert report.seeds == (0, 1, 2, 3)
    assert any("first 3 of 4 seeds" in note for note in report.notes)
    attack = report.threats[0].of("attack")[0]
    assert attack.error.n == 4 * 12
    (defense,) = report.defenses
    assert defense.column is not None
    assert (defense.column.before.n, defense.column.after.n) == (3 * 12, 3 * 12)
    asked = whatleaks.audit(table(), **SMALL, seeds=2).result
    assert asked.seeds == (0, 1)
    assert not any("seeds, and are compared" in note for note in asked.notes)
    quick = whatleaks.audit(table(), **SMALL, quick=True, defenses=False).result
    assert quick.seeds == (0,)


def test_wide_tables_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whatleaks.auditor.audit.WIDE", 0)
    assert whatleaks.audit(table(), **SMALL, defenses=False).result.seeds == (0, 1, 2)


def test_what_is_read_without_a_defense_does_not_depend_on_the_seeds_that_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before, weaker threats and coarser releases did not count there: 34 % beside 52 %."""
    monkeypatch.setattr(
        "whatleaks.auditor.plan._defenses", lambda spec: [card("defense", "label-only")]
    )
    threats = ("white-box-tree", "white-box-tree-known")
    few, more = (
        audited(
            telling(),
            AuditSpec("y", ("a", "b"), "tree", threats, 1, extra, seed=1, targets=20, known=5),
        )
        for extra in (0, 1)
    )
    (one,), (other,) = few.defenses, more.defenses
    for pair, again in zip(one.columns, other.columns, strict=True):
        assert (again.before.value, again.after.value) == pytest.approx(
            (pair.before.value, pair.after.value), abs=1e-12
        )
    # A tree's scores are its classes: no attack on these is told apart, least of all on fewer seeds.
    assert not any(" after " in g.name for t in more.threats for g in t.of("attack"))
    assert more.headline.adds.n == 2 * few.headline.adds.n


@pytest.mark.parametrize(("model", "threat"), [("lr", "black-box"), ("tree", "black-box-votes")])
def test_defenses_are_tried_for_whoever_keeps_the_model_too(model: str, threat: str) -> None:
    """Before, nothing was tried there, as all of its attacks have siblings that do better elsewhere."""
    planned = scenarios(AuditSpec("y", ("a",), model, threats=(threat,)), "t", "0" * 64)
    tried = {s.defense: s.attacks for s in planned if s.defense}
    plain = next(s.attacks for s in planned if not s.defense)
    assert {"label-only", "rounding-1", "noise-0.1"} <= tried.keys()
    assert set(tried["label-only"]) == set(plain)


def test_no_note_speaks_of_defenses_where_none_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whatleaks.auditor.plan._defenses", lambda spec: [])
    report = whatleaks.audit(table(), **SMALL).result
    assert (report.seeds, report.defended_seeds) == ((0, 1, 2, 3), ())
    assert not any("Defenses were tried" in note for note in report.notes)
