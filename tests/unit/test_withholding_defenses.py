"""Defenses that keep something back, in the audit: the release gate and the correlation filter."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditing import audited as run
from whatleaks.arrays import sealed, sealed_bools, sealed_ints
from whatleaks.auditor.advice import headline
from whatleaks.auditor.combine import Entry, combine_threats
from whatleaks.auditor.combine_defenses import combine_defenses
from whatleaks.auditor.result import AuditResult, DefenseFinding
from whatleaks.auditor.spec import AuditSpec
from whatleaks.data.preparation import prepare
from whatleaks.defenses.collaboration_check import CorrelationFilter
from whatleaks.seeds import Streams
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.preparing import filtered
from whatleaks.trial.ready import Ready, of_prepared
from whatleaks.trial.records import PerRecord
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.scorers.values import Scored

RECORDS = 240


def table(seed: int = 0) -> pd.DataFrame:
    """Three classes; ``twin`` follows the partner's ``a`` closely, ``free`` and ``loose`` do not."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.random(RECORDS) for name in ("a", "b", "free", "loose")}
    columns["twin"] = columns["a"] + 0.1 * rng.random(RECORDS)
    drive = columns["a"] + columns["free"] + 0.5 * columns["loose"]
    label = np.searchsorted(np.quantile(drive, [1 / 3, 2 / 3]), drive)
    return pd.DataFrame({**columns, "y": label})


def audit(frame: pd.DataFrame, *passive: str, seeds: int = 1, **options: Any) -> AuditResult:
    spec = AuditSpec(
        "y", passive, threats=("white-box",), quick=True, inversion_steps=20, **options
    )
    # As quick as a first look, but on all records and with several seeds.
    object.__setattr__(spec, "seeds", seeds)
    object.__setattr__(spec, "targets", RECORDS)
    return run(frame, spec)


@functools.cache
def audited(*passive: str, seeds: int = 1) -> AuditResult:
    """Audit the table above, once for all tests."""
    return audit(table(), *passive, seeds=seeds)


def found(result: AuditResult, name: str) -> object:
    return next((d for d in result.defenses if d.name == name), None)


def test_the_filter_leaves_the_close_column_out_and_is_compared_on_the_others() -> None:
    result = audited("twin", "free", "loose", seeds=2)
    rule = next(d for d in result.defenses if d.name == "correlation-max-0.5")
    assert rule.acts_on == "data"
    assert rule.remark.startswith("It leaves out twin. The leakage, before and after, is that of")
    (threat,) = result.threats
    for pair in rule.columns:
        best = max(
            c.adds.value for g in threat.of("attack") for c in g.columns if c.column == pair.column
        )
        assert pair.before.value == pytest.approx(best, abs=1e-12)
    assert [pair.column for pair in rule.columns] == ["free", "loose"]
    # Two unknown columns and three classes: the filter has opened the door to equality solving.
    assert rule.adds.value > 0.9
    assert rule.adds_before.value < rule.adds.value


def test_the_filter_works_on_forests_too() -> None:
    result = run(
        table(),
        AuditSpec(
            "y",
            ("twin", "free", "loose"),
            model="forest",
            quick=True,
            threats=("white-box-forest",),
            targets=40,
        ),
    )
    rule = next(d for d in result.defenses if d.name == "correlation-max-0.5")
    assert rule.remark.startswith("It leaves out twin.")
    assert rule.adds.n == rule.adds_before.n == 40


def test_a_filter_that_has_nothing_or_everything_to_leave_out_is_a_note() -> None:
    result = audited("free", "loose")
    assert found(result, "correlation-max-0.5") is None
    assert any("none of your columns goes that closely" in n for n in result.threats[0].notes)
    result = audited("twin")
    assert found(result, "correlation-max-0.5") is None
    assert any("leave out every column of yours" in n for n in result.threats[0].notes)


def test_the_gate_withholds_what_the_attack_reads_off() -> None:
    # Two unknown columns, three classes: equality solving is exact, so nothing may be released.
    result = audited("free", "loose")
    assert found(result, "gate-0.01") is None
    assert any("gate-0.01: it withheld the scores of all" in n for n in result.notes)


def test_the_gate_releases_the_rest_and_a_withheld_score_classes_nobody() -> None:
    result = audited("twin", "free", "loose", seeds=2)
    gate = next(d for d in result.defenses if d.name == "gate-0.01")
    assert "% of the records, which count as not classed" in gate.remark
    share = float(gate.remark.split("scores of ")[1].split("%")[0]) / 100
    assert 0.05 < share < 0.95
    assert gate.accuracy.value <= 1.0 - share + 0.005 + 1e-9
    assert gate.accuracy.value < gate.accuracy_before.value


def test_all_seeds_count_whatever_the_gate_left_of_them() -> None:
    result = audited("twin", "free", "loose", seeds=2)
    gate = next(d for d in result.defenses if d.name == "gate-0.01")
    rounding = next(d for d in result.defenses if d.name == "rounding-3")
    assert gate.accuracy.n == gate.accuracy_before.n == rounding.accuracy.n
    assert gate.adds_before.value == pytest.approx(rounding.adds_before.value, abs=1e-12)
    assert gate.adds.n < gate.adds_before.n == rounding.adds_before.n


def test_a_column_of_the_table_is_left_out_as_a_whole() -> None:
    frame = table()
    others = np.array(["p", "q", "r", "s"])[np.random.default_rng(5).integers(0, 4, RECORDS)]
    frame["band"] = np.where(frame["a"] > 0.5, "high", others)
    rng = np.random.default_rng(0)
    prepared = prepare(frame, "y", ["band", "free"], rng=rng, categories="one-hot")
    own = [n for n in prepared.passive_columns if prepared.sources[n] == "band"]
    within = CorrelationFilter().keep(prepared.active, prepared.passive)
    parts = [bool(k) for n, k in zip(prepared.passive_columns, within, strict=True) if n in own]
    assert set(parts) == {True, False}  # one part is close, another is not
    left = filtered(of_prepared(prepared, [["band", "free"]]), CorrelationFilter())
    assert isinstance(left, Ready)
    assert left.holdings.names["passive"] == ("free",)
    assert left.holdings.columns["passive"].shape[1] == 1


def scored(name: str, role: str, records: int, columns: int, seed: int) -> Scored:
    off = sealed(np.random.default_rng(seed).normal(size=(records, columns)))
    return Scored(name, role, off, 0, 0.0, 0.0, "", {}, sealed_bools(np.zeros((records, columns))))


def trials(seed: int, kept: tuple[str, ...]) -> list[Entry]:
    """One seed of 30 records and columns p, q, r: without a filter, and with one that keeps some."""
    names = ("p", "q", "r")
    apart = sealed(np.where(np.arange(30)[:, None] % 2, 0.3, -0.3) * np.ones(3))
    guesses = (scored("half-star", "attack", 30, 3, seed), scored("limit", "limit", 30, 3, 9))
    left = tuple(scored(s.name, s.role, 30, len(kept), seed + 50) for s in guesses)
    # Stronger than any, and not tried again with the defense in place: a remark says so.
    perfect = replace(guesses[0], name="perfect", off=sealed(np.zeros((30, 3))))
    ones = sealed_ints(np.ones(30))
    plain = Scenario("mine", share=0.5, seed=seed)
    rule = replace(plain, defense="correlation-max-0.5")
    before = PerRecord(names, apart, (perfect, *guesses), (), ones, ones, 30, 100)
    after = PerRecord(kept, sealed(apart[:, : len(kept)]), left, (), ones, ones, 30, 100)
    return [Entry(plain, Outcome({}), before), Entry(rule, Outcome({}), after)]


def combined(units: list[Entry]) -> tuple[tuple[DefenseFinding, ...], tuple[str, ...]]:
    threats = combine_threats(units, "lr", Streams(0))
    return combine_defenses(units, headline(threats), threats)


def test_seeds_in_which_the_filter_keeps_other_columns_are_not_mixed() -> None:
    units = [*trials(0, ("p", "q")), *trials(1, ("p",)), *trials(2, ("p", "q"))]
    ((rule,), notes) = combined(units)
    assert notes == ()
    assert rule.remark == (
        "It leaves out r. The leakage, before and after, is that of the columns that stay. "
        "So in 2 of 3 seeds; in the others it leaves out other columns, or none. "
        "Not tried again with it, as too slow: perfect."
    )
    assert rule.adds.n == rule.adds_before.n == rule.accuracy.n == 60
    (alone,), _ = combined(units[2:4])
    assert alone.remark.startswith("It leaves out q, r.")


def test_the_headlines_attack_is_tried_again_even_if_it_is_slow() -> None:
    result = audit(table(), "twin", "free", "loose", model="network")
    rounding = next(d for d in result.defenses if d.name == "rounding-3")
    assert result.headline.attack not in rounding.remark
    assert rounding.column is not None
    assert rounding.column.before.value == pytest.approx(result.headline.adds.value, abs=1e-12)


def test_a_gate_that_withholds_nothing_says_so() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.random((RECORDS, 12)), columns=[f"c{i}" for i in range(12)])
    frame["y"] = (frame["c0"] + frame["c5"] > 1).astype(int)
    result = audit(frame, *[f"c{i}" for i in range(2, 12)])
    gate = next(d for d in result.defenses if d.name == "gate-0.01")
    assert gate.remark.startswith("It withheld no score")
    assert gate.accuracy.value == gate.accuracy_before.value
