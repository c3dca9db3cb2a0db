"""The checks of Jiang et al.: rows aligned both ways, and texts that come from the runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.record import Record
from whatleaks.runs.work import work_from_dict, work_to_dict
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import from_dict
from whatleaks.trial.trial import run_trial
from whatleaks_lab.papers.check import checks
from whatleaks_lab.papers.claim import Verdict
from whatleaks_lab.papers.jiang_alignment import (
    AlignedRows,
    _by_intersection,
    _holdings,
    _in_the_clear,
    _wrong,
)
from whatleaks_lab.papers.jiang_black_box import OWN
from whatleaks_lab.papers.jiang_setup import ESA, GIA, REGRESSION, SETS, SHADOW, base, steps_of
from whatleaks_lab.papers.ledger import STORED, read
from whatleaks_lab.report.paper_document import figure_of, own_entries, results_part, rewritten
from whatleaks_lab.report.trade_figure import jiang_figures


def _record(work: object, numbers: dict[str, float]) -> Record:
    return Record("0" * 64, work, "", "ok", Outcome(numbers), "", {}, 0.0, 1, "")  # type: ignore[arg-type]


def test_both_alignments_join_the_same_rows_and_only_one_tells_the_other_ids() -> None:
    pytest.importorskip("cryptography")
    ids, first, second = _holdings(60, np.random.default_rng(0))
    assert len(set(ids)) == 60
    mine, theirs = [ids[i] for i in first], [ids[i] for i in second]
    both = set(first.tolist()) & set(second.tolist())
    clear, private = _in_the_clear(mine, theirs), _by_intersection(mine, theirs)
    assert len(both) == len(clear.first) == 48
    assert clear.told == len(first) - len(both) == 6
    assert private.told == 0
    for rows in (clear, private):
        assert set(first[rows.first].tolist()) == both
        assert first[rows.first].tolist() == second[rows.second].tolist()
        assert _wrong(first, second, rows) == 0
    assert private.first.tolist() == clear.first.tolist()


def test_a_wrong_join_is_counted() -> None:
    ids, first, second = _holdings(60, np.random.default_rng(0))
    rows = _in_the_clear([ids[i] for i in first], [ids[i] for i in second])
    lost = replace(rows, first=rows.first[:-1], second=rows.second[:-1])
    assert _wrong(first, second, lost) == 1
    turned = replace(rows, second=np.roll(rows.second, 1))  # as many rows, every one another's
    assert _wrong(first, second, turned) == 2 * 48
    alone = next(row for row, i in enumerate(first) if i not in set(second.tolist()))
    strange = replace(rows, first=np.append(rows.first[:-1], alone))
    assert _wrong(first, second, strange) == 2  # one is missing, one is nobody's


def _aligned(error: float, accuracy: float, wrong: int) -> list[Record]:
    numbers: dict[str, float] = {"ids of others told clear": 6, "ids of others told psi": 0}
    for way, e, a, n in (("clear", 0.1, 0.9, 0), ("psi", error, accuracy, wrong)):
        numbers[f"joined {way}"], numbers[f"wrong {way}"] = 48, n
        for name in (ESA, GIA):
            numbers[f"{name} {way}"], numbers[f"{name} accuracy {way}"] = e, a
    return [_record(AlignedRows(name, 600, 50, 300, 200, 20), numbers) for name in SETS]


@pytest.mark.parametrize(
    ("error", "accuracy", "wrong", "expected"),
    [
        (0.1, 0.9, 0, Verdict.HOLDS),
        (0.1, 0.9, 1, Verdict.PARTLY),  # a record was lost
        (0.2, 0.9, 0, Verdict.FAILS),  # the attack is worse off
        (0.1, 0.5, 0, Verdict.FAILS),
    ],
)
def test_j16_follows_its_numbers(
    error: float, accuracy: float, wrong: int, expected: Verdict
) -> None:
    judged = checks()["J16"].judge(_aligned(error, accuracy, wrong))
    assert judged.verdict == expected
    assert judged.value is None  # an identity has no interval
    assert "by construction" in judged.note


def _with(record: Record, **numbers: float) -> Record:
    assert record.outcome is not None
    held = {"own": OWN, "scores": REGRESSION, "shadow": SHADOW}
    new = {held[key]: number for key, number in numbers.items()}
    there = record.outcome
    return replace(
        record,
        outcome=replace(
            there,
            measurements={k: new.get(k, v) for k, v in there.measurements.items()},
            baselines={k: new.get(k, v) for k, v in there.baselines.items()},
        ),
    )


def test_j13_compares_the_shadow_with_the_best_bar_and_not_with_an_absurd_one() -> None:
    check = checks()["J13"]
    results = STORED
    records = read(results / "standard" / "J13.json", check).records

    def note(**numbers: float) -> str:
        return check.judge([_with(record, **numbers) for record in records]).note

    # Regressions that miss by far are no bar: the people's mean and one half still are.
    assert note(own=50.0, scores=50.0).startswith("In 0 of 8 cases")
    assert note(shadow=0.0).startswith("In 8 of 8 cases")
    assert note(shadow=0.015, own=50.0, scores=50.0).startswith("In 8 of 8 cases")


def test_an_aligned_run_is_read_back_and_names_the_attacks_behind_it() -> None:
    one = AlignedRows("bank-marketing", 600, 50, 300, 200, 20)
    assert work_from_dict(work_to_dict(one)) == one
    assert any("gradient_inversion" in name for name in one.modules())


@pytest.mark.parametrize("profile", ["fast", "standard"])
def test_steps_in_a_text_are_those_of_the_runs(profile: str) -> None:
    scenario = from_dict({**base(profile, [GIA]), "dataset": "wine", "share": 0.5})
    told = steps_of([_record(scenario, {})])
    assert told == {"fast": "300", "standard": "1,500"}[profile] + " steps of inversion"


def test_the_document_and_its_figures_say_what_the_committed_results_say() -> None:
    root = Path(__file__).resolve().parents[2]
    path = root / "docs" / "papers" / "jiang.md"
    entries = own_entries("J", STORED)
    text = path.read_text("utf-8")
    assert rewritten(text, results_part(entries, "jiang")) == text
    drawn = {entry.claim.id: figure_of(entry) for entry in entries}
    drawn |= {f"defenses-{name}": figure for name, figure in jiang_figures(STORED).items()}
    for name, figure in drawn.items():
        if figure:
            assert (path.parent / "jiang" / f"{name}.svg").read_text("utf-8") == figure


def test_joining_is_measured_beside_what_the_active_party_has_alone() -> None:
    asked = {"dataset": "wine", "share": 0.5, "references": ["joining"], "attacks": []}
    trial = run_trial(from_dict({**asked, "model_options": {"steps": 5}}))
    alone = trial.outcome.measurements["accuracy alone"]
    assert isinstance(alone, Measurement)
    assert alone.n == len(trial.records.alone) > 0
    assert alone.value == pytest.approx(trial.records.alone.mean(), abs=1e-12)
    bare = run_trial(from_dict({**asked, "references": [], "model_options": {"steps": 5}}))
    assert "accuracy alone" not in bare.outcome.measurements
