"""Committed verdicts follow from their committed numbers, by rules that still stand."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from whatleaks.experiments.tasks import prepare
from whatleaks.papers.check import PROFILES, checks
from whatleaks.papers.claim import Verdict, claims
from whatleaks.papers.ledger import judge, read, stale, write

RESULTS = Path(__file__).resolve().parents[2] / "results"
COMMITTED = sorted(RESULTS.glob("standard/*.json"))


@pytest.mark.parametrize("path", COMMITTED, ids=lambda p: p.stem)
def test_a_committed_verdict_follows_from_its_numbers(path: Path) -> None:
    check = checks()[path.stem]
    entry = read(path, check)
    assert stale(entry, check) == ""
    assert entry.judgement.verdict != Verdict.NOT_RUN
    assert path.stat().st_size < 1_000_000


def test_the_required_claims_have_committed_verdicts() -> None:
    wired = {"U01", "U02", "U04", "J02", "J05", "L01", "L08", "A02", "A03", "Y06"}
    assert wired <= {path.stem for path in COMMITTED}


@pytest.mark.parametrize("name", checks(), ids=str)
@pytest.mark.parametrize("profile", PROFILES)
def test_every_check_declares_runs_that_can_be_prepared(name: str, profile: str) -> None:
    runs = checks()[name].runs(profile)
    hashes = [prepare(spec).hash for spec in runs]
    assert hashes
    assert len(set(hashes)) == len(hashes)
    assert name in claims()


@pytest.mark.skipif(not COMMITTED, reason="no committed results")
def test_a_forged_verdict_a_changed_rule_and_changed_runs_are_noticed(tmp_path: Path) -> None:
    path = RESULTS / "standard" / "U02.json"
    check = checks()["U02"]
    tree = json.loads(path.read_text())
    forged = tmp_path / "U02.json"
    forged.write_text(json.dumps({**tree, "verdict": "fails"}))
    assert "give holds, not fails" in stale(read(forged, check), check)
    forged.write_text(json.dumps({**tree, "rule": "whatever fits"}))
    assert "another rule" in stale(read(forged, check), check)
    tree["runs"][0]["hash"] = "0" * 64
    forged.write_text(json.dumps(tree))
    assert "no longer those" in stale(read(forged, check), check)


def test_a_missing_run_gives_no_verdict() -> None:
    check = checks()["U01"]
    entry = judge(check, "fast", (), 4)
    assert entry.judgement.verdict == Verdict.NOT_RUN
    assert "4 of 4" in entry.judgement.note


def test_judges_can_say_no(tmp_path: Path) -> None:
    """Every judge is fed numbers against its claim and must not answer that it holds."""
    path = RESULTS / "standard" / "U02.json"
    if not path.exists():
        pytest.skip("no committed results")
    check = checks()["U02"]
    entry = read(path, check)
    wrong = dataclasses.replace(
        entry.records[0].outcome, measurements={**entry.records[0].measurements, "deposit": 9000.0}
    )
    record = dataclasses.replace(entry.records[0], outcome=wrong)
    assert check.judge([record]).verdict == Verdict.FAILS
    assert write(tmp_path, entry).exists()
