"""What an audit of a hijacked training plans, and what it says of detectors and defenses."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from whatleaks.api import audit
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import adopted, cards
from whatleaks.cli import app
from whatleaks.codec import travels
from whatleaks.report.stored import worst_by_column
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.split import SplitView


@travels
@dataclass(frozen=True)
class OnlyReads:
    """Stands for any attack that only reads embeddings."""

    name: str = "only-reads"

    def infer(self, view: SplitView, rng: np.random.Generator) -> ValueGuess:
        return ValueGuess(view.auxiliary.passive[:1].repeat(len(view.own), axis=0))


def planned(**more: object) -> list[tuple[tuple[str, ...], str, str]]:
    spec = AuditSpec("y", ("a",), threats=("split-hijack",), seeds=1, **more)  # type: ignore[arg-type]
    return [(s.attacks, s.detector, s.defense) for s in scenarios(spec, "table", "0" * 64)]


def test_every_hijack_meets_every_detector_and_defenses_are_paid_for_honestly() -> None:
    found = planned()
    assert len(found) == len(set(found))
    detectors = [entry.name for entry in cards("detector")]
    assert found[0] == ((), "", "")
    for entry in cards("hijack"):
        assert ((entry.name,), "", "") in found
        for detector in detectors:
            assert (((entry.name,), detector, "") in found) is not entry.obeys
    for detector in detectors:
        assert ((), detector, "") in found  # its false alarms
    for defense in ("nopeek-0.9", "embedding-noise-0.5", "gradient-noise-0.5"):
        assert (("urvfl",), "", defense) in found
        assert ((), "", defense) in found  # what it costs
    assert not any(defense.startswith("rounding") for _, _, defense in found)
    assert all(not detector and not defense for _, detector, defense in planned(defenses=False))


def test_attacks_that_only_read_are_let_loose_on_honest_training() -> None:
    with adopted([OnlyReads()]):
        assert (("only-reads",), "", "") in planned()


def small_table() -> pd.DataFrame:
    columns = np.random.default_rng(0).normal(size=(160, 4))
    frame = pd.DataFrame(columns, columns=list("abcd"))
    frame["y"] = np.where(columns[:, 0] + columns[:, 2] > 0, "yes", "no")
    return frame


def test_an_audit_isolates_a_hijack_for_its_whole_training(monkeypatch: pytest.MonkeyPatch) -> None:
    only = [card for card in cards("hijack") if card.name == "fsha"]
    kept = {"hijack": tuple(only)}
    monkeypatch.setattr("whatleaks.auditor.plan.cards", lambda kind: kept.get(kind, ()))
    monkeypatch.setattr("whatleaks.auditor.plan.QUICK_TRAINING", {"steps": 5})
    monkeypatch.setattr("whatleaks.auditor.plan.HIJACK", ())  # every reference is a process more
    report = audit(
        small_table(),
        "y",
        ["c", "d"],
        threats="split-hijack",
        quick=True,
        defenses=False,
        targets=20,
        isolated=True,
    )
    (found,) = report.result.threats[0].findings
    assert found.name == "fsha"
    assert found.isolated in ("process", "sandbox")


def _only(threat: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {**threat, "findings": [g for g in threat["findings"] if g["name"] in names]}


def test_an_audit_of_hijacks_names_who_was_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr("whatleaks.auditor.plan.QUICK_TRAINING", {"steps": 30})
    monkeypatch.setattr("whatleaks.auditor.plan.QUICK_HIJACK", {"pretraining": 10, "decoding": 10})
    frame = small_table()
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["audit", str(tmp_path / "t.csv"), "--label", "y", "--passive", "c,d", "--quick"]
    words += ["--threat", "split-hijack", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    result = json.loads((tmp_path / "out" / "audit.json").read_text())
    found = {d["name"]: d for d in result["defenses"]}
    assert {"splitguard", "gradient-scrutinizer", "norm-comparison", "nopeek-0.9"} <= set(found)
    remark = found["splitguard"]["remark"]
    for name in ("fsha", "urvfl"):  # a quick look watches those that are tried again
        assert f"{name} in " in remark
        told = remark.partition(f"{name} in ")[2].partition(";")[0]
        assert re.search(
            r"error by then 0\.\d+ \(0\.\d+ to 0\.\d+\), without any message 0\.\d+", told
        )
    assert "pcat in" not in remark  # it answers honestly
    assert "honest training by mistake in 0 of 1 (0 % to 79 %)" in remark
    # All are held against the strongest hijack of all; who only watches goes on under a detector.
    strongest = {name: adds["value"] for name, adds in worst_by_column(result).items()}
    for defense in result["defenses"]:
        before = {pair["column"]: pair["before"]["value"] for pair in defense["columns"]}
        assert before == pytest.approx(strongest)
    watching = {**result, "threats": [_only(result["threats"][0], ("pcat", "sdar"))]}
    still = {name: adds["value"] for name, adds in worst_by_column(watching).items()}
    for pair in found["splitguard"]["columns"]:
        assert pair["after"]["value"] >= still[pair["column"]]
    assert "It cannot see who only watches (pcat, sdar): what that reads stays." in remark
    # Several hijacks share one honest training: its records count once.
    assert found["splitguard"]["accuracy"]["n"] == found["nopeek-0.9"]["accuracy"]["n"] == 64
