"""Tables of which everybody knows what must come out: the number a privacy officer signs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auditing import audited
from whatleaks.auditor.advice import ENOUGH, effective, headline
from whatleaks.auditor.levels import UNSETTLED, share
from whatleaks.auditor.result import AuditResult, DefenseFinding
from whatleaks.auditor.spec import AuditSpec

ROWS = 400


def spec(passive: list[str], **options: object) -> AuditSpec:
    chosen = {"quick": True, "threats": ("white-box",), "inversion_steps": 5, **options}
    return AuditSpec("y", tuple(passive), **chosen)  # type: ignore[arg-type]


def labelled(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Add a label that every column has a part in."""
    numbers = frame.select_dtypes("number").to_numpy(dtype=float)
    spread = numbers.std(axis=0)
    drive = (numbers / np.where(spread > 0, spread, 1)) @ rng.normal(size=numbers.shape[1])
    return frame.assign(y=(drive + rng.normal(size=len(frame)) > np.median(drive)).astype(int))


@functools.cache
def yes_no() -> AuditResult:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (ROWS, 8)), columns=[f"b{i}" for i in range(8)])
    own = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "c", "d"])
    return audited(labelled(frame.join(own), rng), spec(list(frame.columns)))


def test_eight_yes_no_columns_are_completely_read() -> None:
    result = yes_no()
    assert result.headline.level == "complete"
    assert result.headline.sentence == "Joining lets your partner read all of your columns exactly."
    assert result.headline.attack == "lattice-decoding"
    assert result.digits is not None
    assert len(result.digits.columns) == 8
    assert result.digits.hidden == 8.0
    assert result.digits.exact[-1].value == 1.0
    assert result.digits.exact[0].value < 0.5
    assert 3 <= result.digits.enough <= 8
    assert any("these 8 columns exactly from one score" in line for line in result.advice)


def test_the_limit_is_never_below_an_attack_and_says_which_it_is() -> None:
    for threat in yes_no().threats:
        (limit,) = threat.of("limit")
        for guess in threat.of("attack"):
            for found, best in zip(guess.columns, limit.columns, strict=True):
                assert found.leakage.value <= best.leakage.value
        assert {c.by for c in limit.columns} == {"lattice-decoding"}


def test_three_digits_do_not_stop_whoever_knows_that_they_are_cut() -> None:
    cut = next(d for d in yes_no().defenses if d.name == "rounding-3")
    assert cut.attack == "lattice-decoding"
    assert cut.column is not None
    assert cut.column.after.value > 0.5


def test_a_copy_of_an_own_column_adds_nothing() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=["a", "b", "c", "d"])
    frame["copy"] = 3.0 * frame["a"] + 7.0
    result = audited(labelled(frame, rng), spec(["copy"], defenses=False))
    assert result.headline.already == ("copy",)
    assert result.headline.level == "low"
    assert result.headline.adds.value < 0.01
    (column,) = result.threats[0].of("attack")[0].columns
    assert column.leakage.value > 0.99  # it is read off the score, but that tells nothing new
    assert column.alone > 0.99
    assert any("already has this column: “copy”" in line for line in result.advice)


def test_one_salary_among_twenty_columns_has_its_own_before_and_after() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 20)), columns=[f"c{i}" for i in range(20)])
    frame["salary"] = 1000.0 * np.exp(rng.normal(size=ROWS))
    drive = 40 * frame["salary"] / frame["salary"].std() + 0.2 * frame["c0"] + frame["c19"]
    frame["y"] = (drive > drive.median()).astype(int)
    passive = [f"c{i}" for i in range(10, 20)] + ["salary"]
    result = audited(frame, spec(passive))
    head = result.headline
    assert head.column == "salary"
    assert head.level in ("high", "complete")
    for defense in result.defenses:
        if defense.column is not None and defense.acts_on == "release":
            assert defense.column.column == "salary"
            assert defense.column.before.value == pytest.approx(head.adds.value, abs=1e-12)
    assert not any("cannot show what they do" in line for line in result.advice)
    found = max(
        (c for g in result.threats[0].of("attack") for c in g.columns if c.column == "salary"),
        key=lambda c: c.adds.value,
    )
    assert found.people is not None
    assert found.people.tolerance in {s * 10**k for s in (1, 2, 5) for k in range(6)}


def test_a_diagnosis_of_five_values_is_named() -> None:
    rng = np.random.default_rng(3)
    words = np.array(["flu", "gout", "asthma", "cold", "none"])
    kind = rng.integers(0, 5, ROWS)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
    frame["diagnosis"] = words[kind]
    drive = frame["a"] + np.array([-2.0, -1.0, 0.1, 1.0, 2.2])[kind] + rng.normal(size=ROWS)
    frame["y"] = (drive > 0).astype(int)
    result = audited(frame, spec(["diagnosis"], categories="one-hot"))
    assert result.headline.level == "complete"
    (threat,) = result.threats
    decoded = next(g for g in threat.of("attack") if g.name == "lattice-decoding")
    for column in decoded.columns:
        assert column.column.startswith("diagnosis (category")
        assert column.people is not None
        assert column.people.named.value == 1.0
    assert result.digits is not None
    assert result.digits.hidden == pytest.approx(np.log2(5))


def random_table(seed: int) -> tuple[pd.DataFrame, list[str]]:
    """Return a table of numbers, whole numbers and yes/no columns, correlated at random."""
    rng = np.random.default_rng(seed)
    own, theirs = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    mix = rng.normal(size=(own + theirs, own + theirs)) * rng.uniform(0, 1.5)
    values = rng.normal(size=(120, own + theirs)) @ (np.eye(own + theirs) + mix)
    frame = pd.DataFrame(values, columns=[f"c{i}" for i in range(own + theirs)])
    shapes: list[Callable[[pd.Series], pd.Series]] = [
        lambda c: c,
        lambda c: (c > c.median()).astype(int),
        lambda c: (3 * c / c.std()).round().astype(int),
        lambda c: np.exp(c / c.std()),
    ]
    for name in frame:
        frame[name] = shapes[int(rng.integers(len(shapes)))](frame[name])
    return labelled(frame, rng), [f"c{i}" for i in range(own, own + theirs)]


@functools.cache
def random_audit(seed: int) -> AuditResult:
    frame, passive = random_table(seed)
    return audited(frame, spec(passive, targets=30, threats=("white-box", "agnostic")))


def after(defenses: tuple[DefenseFinding, ...], name: str) -> dict[str, float]:
    found = next(d for d in defenses if d.name == name)
    return {pair.column: pair.after.value for pair in found.columns}


@pytest.mark.parametrize("seed", range(6))
def test_a_finer_release_and_a_stronger_threat_are_never_rated_safer(seed: int) -> None:
    result = random_audit(seed)
    without = {p.column: p.before.value for d in result.defenses for p in d.columns}
    coarse = [after(result.defenses, name) for name in ("rounding-3", "rounding-1", "label-only")]
    noisy = after(result.defenses, "noise-0.1")
    for column in coarse[0]:
        chain = [without[column], *(one[column] for one in coarse)]
        assert chain == sorted(chain, reverse=True)
        assert noisy[column] <= without[column]
    white, blind = result.threats
    for column in range(len(white.findings[0].columns)):
        best = [
            max((g.columns[column].adds.value for g in t.of("attack")), default=-1.0)
            for t in (white, blind)
        ]
        assert best[0] >= best[1]
    check_advice(result)  # never contradicts the table beneath it


def check_advice(result: AuditResult) -> None:
    head, told = result.headline, " ".join(result.advice)
    tried = [d for d in result.defenses if head.threat in d.against]
    good = [d for d in tried if effective(d)]
    recommended = [d for d in tried if f"“{d.title}” brings" in told]
    if head.level in ("low", UNSETTLED, "unknown"):
        assert not recommended
        return
    if good:
        (chosen,) = recommended
        assert chosen in good
        assert chosen.column is not None
        assert f"{share(chosen.column.before)} down to" in told
        assert f"leaves {share(chosen.worst.after)} in the worst" in told
    else:
        assert not recommended
    if "None of the defenses tried" in told:
        assert all(d.worst.after.value >= ENOUGH or d.column is None for d in tried) or not good
    for defense in tried:
        assert defense.worst.after.value == max(p.after.value for p in defense.columns)


def test_no_attack_gives_no_headline() -> None:
    frame, passive = random_table(1)
    result = audited(frame, spec(passive, threats=("black-box",), targets=30))
    assert result.headline.attack.startswith("score-re")
    (threat,) = result.threats
    bare = tuple(guess for guess in threat.findings if guess.role != "attack")
    head = headline([replace(threat, findings=bare)])
    assert head.level == "unknown"
    assert head.attack == ""
    assert "says nothing about safety" in head.sentence
    assert [c.level for c in head.conditions] == ["", "", ""]


def test_no_headline_names_a_divergence() -> None:
    result = random_audit(0)
    told = [result.headline.sentence, *(c.sentence for c in result.headline.conditions)]
    assert not any("Kullback" in sentence for sentence in told)
    assert [c.name for c in result.headline.conditions] == ["model", "kept", "records"]
    assert result.headline.conditions[2].sentence.endswith("not tried.")


def test_people_are_counted_by_groups_of_a_column() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
    frame["town"] = np.array(["north", "south"])[rng.integers(0, 2, ROWS)]
    frame.loc[:2, "town"] = "hill"
    result = audited(labelled(frame, rng), spec(["c"], defenses=False, by="town"))
    names = [group.name for group in result.groups]
    assert names == [
        "the tenth furthest from the average",
        "all others",
        "town: north",
        "town: south",
    ]
    assert sum(group.within.n for group in result.groups[:2]) == result.target_rows
    assert sum(group.within.n for group in result.groups[2:]) >= result.target_rows - 3
    assert (
        "by town: 1 of 3 groups not shown, as fewer than 5 of their people were attacked. Attack more "
        "(targets, seeds)." in result.notes
    )
