"""Defenses that keep something back, in the audit: the release gate and the correlation filter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from whatleaks.auditor.result import AuditResult
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.table_audit import run_audit

RECORDS = 240


def table(seed: int = 0) -> pd.DataFrame:
    """Three classes; ``twin`` follows the partner's ``a`` closely, ``free`` and ``loose`` do not."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.random(RECORDS) for name in ("a", "b", "free", "loose")}
    columns["twin"] = columns["a"] + 0.1 * rng.random(RECORDS)
    drive = columns["a"] + columns["free"] + 0.5 * columns["loose"]
    label = np.searchsorted(np.quantile(drive, [1 / 3, 2 / 3]), drive)
    return pd.DataFrame({**columns, "y": label})


def audit(frame: pd.DataFrame, *passive: str) -> AuditResult:
    return run_audit(
        frame, AuditSpec("y", passive, seeds=1, threats=("white-box",), targets=RECORDS)
    )


def found(result: AuditResult, name: str) -> object:
    return next((d for d in result.defenses if d.name == name), None)


def test_the_filter_leaves_the_close_column_out_and_is_compared_on_the_others() -> None:
    result = audit(table(), "twin", "free", "loose")
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


def test_a_filter_that_has_nothing_or_everything_to_leave_out_is_a_note() -> None:
    result = audit(table(), "free", "loose")
    assert found(result, "correlation-max-0.5") is None
    assert any("none of your columns goes that closely" in n for n in result.threats[0].notes)
    result = audit(table(), "twin")
    assert found(result, "correlation-max-0.5") is None
    assert any("leave out every column of yours" in n for n in result.threats[0].notes)


def test_the_gate_withholds_what_the_attack_reads_off() -> None:
    # Two unknown columns, three classes: equality solving is exact, so nothing may be released.
    result = audit(table(), "free", "loose")
    assert found(result, "gate-0.01") is None
    assert any("withheld the scores of all but 0 of" in n for n in result.threats[0].notes)


def test_the_gate_releases_the_rest_and_a_withheld_score_classes_nobody() -> None:
    result = audit(table(), "twin", "free", "loose")
    gate = next(d for d in result.defenses if d.name == "gate-0.01")
    assert "% of the records, which count as not classed" in gate.remark
    share = float(gate.remark.split("scores of ")[1].split("%")[0]) / 100
    assert 0.05 < share < 0.95
    assert gate.accuracy.value <= 1.0 - share + 0.005 + 1e-9
    assert gate.accuracy.value < gate.accuracy_before.value


def test_a_gate_that_withholds_nothing_says_so() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.random((RECORDS, 12)), columns=[f"c{i}" for i in range(12)])
    frame["y"] = (frame["c0"] + frame["c5"] > 1).astype(int)
    result = audit(frame, *[f"c{i}" for i in range(2, 12)])
    gate = next(d for d in result.defenses if d.name == "gate-0.01")
    assert gate.remark.startswith("It withheld no score")
    assert gate.accuracy.value == gate.accuracy_before.value
