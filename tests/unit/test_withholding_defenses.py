"""Defenses that keep something back, in the audit: the release gate and the correlation filter."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.auditor.combine_defenses import combine_defenses
from whatleaks.auditor.evaluator import Scored
from whatleaks.auditor.filtered import without_close_columns
from whatleaks.auditor.result import AuditResult
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.table_audit import run_audit
from whatleaks.auditor.units import DefenseScores, ThreatScores, UnitResult
from whatleaks.data.preparation import Prepared, prepare
from whatleaks.defenses.collaboration_check import CorrelationFilter
from whatleaks.seeds import Streams

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
    return run_audit(
        frame,
        AuditSpec(
            "y",
            passive,
            seeds=seeds,
            threats=("white-box",),
            targets=RECORDS,
            **{"inversion_steps": 20, **options},
        ),
    )


@functools.cache
def audited(*passive: str) -> AuditResult:
    """Audit the table above with two seeds, once for all tests."""
    return audit(table(), *passive, seeds=2)


def found(result: AuditResult, name: str) -> object:
    return next((d for d in result.defenses if d.name == name), None)


def test_the_filter_leaves_the_close_column_out_and_is_compared_on_the_others() -> None:
    result = audited("twin", "free", "loose")
    rule = next(d for d in result.defenses if d.name == "correlation-max-0.5")
    assert rule.acts_on == "data"
    assert rule.remark.startswith("It leaves out twin. The leakage, before and after, is that of")
    (threat,) = result.threats
    before = max(
        np.mean([c.leakage.value for c in g.columns if c.column != "twin"])
        for g in threat.of("attack")
    )
    assert rule.leakage_before.value == pytest.approx(before, abs=1e-12)
    # Two unknown columns and three classes: the filter has opened the door to equality solving.
    assert rule.leakage.value > 0.999
    assert rule.leakage_before.value < 0.99


def test_the_filter_works_on_forests_too() -> None:
    result = run_audit(
        table(),
        AuditSpec(
            "y",
            ("twin", "free", "loose"),
            model="forest",
            seeds=1,
            threats=("white-box-forest",),
            targets=40,
        ),
    )
    rule = next(d for d in result.defenses if d.name == "correlation-max-0.5")
    assert rule.remark.startswith("It leaves out twin.")
    assert rule.leakage.n == rule.leakage_before.n == 40


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
    assert any("gate-0.01: it withheld the scores of all but 0 of" in n for n in result.notes)


def test_the_gate_releases_the_rest_and_a_withheld_score_classes_nobody() -> None:
    result = audited("twin", "free", "loose")
    gate = next(d for d in result.defenses if d.name == "gate-0.01")
    assert "% of the records, which count as not classed" in gate.remark
    share = float(gate.remark.split("scores of ")[1].split("%")[0]) / 100
    assert 0.05 < share < 0.95
    assert gate.accuracy.value <= 1.0 - share + 0.005 + 1e-9
    assert gate.accuracy.value < gate.accuracy_before.value


def test_all_seeds_count_whatever_the_gate_left_of_them() -> None:
    result = audited("twin", "free", "loose")
    gate = next(d for d in result.defenses if d.name == "gate-0.01")
    rounding = next(d for d in result.defenses if d.name == "rounding-3")
    assert gate.accuracy.n == gate.accuracy_before.n == rounding.accuracy.n
    assert gate.leakage_before.value == pytest.approx(rounding.leakage_before.value, abs=1e-12)
    assert gate.leakage.n < gate.leakage_before.n == rounding.leakage_before.n


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
    left = without_close_columns(prepared, CorrelationFilter())
    assert isinstance(left, Prepared)
    assert left.passive_columns == ("free",)
    assert left.passive.shape[1] == 1


def scored(name: str, role: str, records: int, columns: int, seed: int) -> Scored:
    rng = np.random.default_rng(seed)
    parts = [sealed(size * rng.random((records, columns))) for size in (1.0, 0.05, 1.0)]
    return Scored(name, role, *parts, 0, 0.0, 0.0, False, {})


def unit(seed: int, kept: tuple[str, ...]) -> UnitResult:
    """One seed of 30 records and columns p, q, r, of which a filter keeps some."""
    names = ("p", "q", "r")
    spread = sealed(np.full((30, 3), 0.1))
    guesses = (scored("half-star", "attack", 30, 3, seed), scored("limit", "limit", 30, 3, 9))
    left = tuple(scored(s.name, s.role, 30, len(kept), seed + 50) for s in guesses)
    # Stronger than any, and not tried again with the defense in place: it must not count.
    perfect = replace(guesses[0], name="perfect", together=sealed(spread), moved=sealed(spread))
    ones = sealed_ints(np.ones(30))
    return UnitResult(
        "additive",
        seed,
        names,
        (ThreatScores("white-box", spread, (perfect, *guesses)),),
        (
            DefenseScores(
                "correlation-max-0.5", "white-box", left, ones, spread[:, : len(kept)], kept
            ),
        ),
        ones,
        ones,
        100,
    )


def test_seeds_in_which_the_filter_keeps_other_columns_are_not_mixed() -> None:
    units = [unit(0, ("p", "q")), unit(1, ("p",)), unit(2, ("p", "q"))]
    ((rule,), notes) = combine_defenses(units, Streams(0))
    assert notes == ()
    assert rule.remark == (
        "It leaves out r. The leakage, before and after, is that of the columns that stay. "
        "So in 2 of 3 seeds; in the others it leaves out other columns, or none."
    )
    assert rule.leakage.n == rule.leakage_before.n == rule.accuracy.n == 60
    assert rule.leakage_before.value < 0.95  # the perfect attack's is 1
    (alone,), _ = combine_defenses(units[1:2], Streams(0))
    assert alone.remark.startswith("It leaves out q, r.")


def test_before_and_after_are_of_the_same_attacks() -> None:
    result = audit(table(), "twin", "free", "loose", model="network")
    (threat,) = result.threats
    inversion = next(g for g in threat.of("attack") if g.name == "gradient-inversion-kl")
    rounding = next(d for d in result.defenses if d.name == "rounding-3")
    assert rounding.attack == "gradient-inversion-kl"
    assert rounding.leakage_before.value == pytest.approx(inversion.leakage.value, abs=1e-12)


def test_a_gate_that_withholds_nothing_says_so() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.random((RECORDS, 12)), columns=[f"c{i}" for i in range(12)])
    frame["y"] = (frame["c0"] + frame["c5"] > 1).astype(int)
    result = audit(frame, *[f"c{i}" for i in range(2, 12)])
    gate = next(d for d in result.defenses if d.name == "gate-0.01")
    assert gate.remark.startswith("It withheld no score")
    assert gate.accuracy.value == gate.accuracy_before.value
