"""The checks of Jiang et al.: rows aligned both ways, and texts that come from the runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from whatleaks.papers.check import checks
from whatleaks.papers.claim import Verdict
from whatleaks.papers.jiang_alignment import (
    AlignedRows,
    _by_intersection,
    _holdings,
    _in_the_clear,
)
from whatleaks.papers.jiang_setup import ESA, GIA, SETS, base, steps_of
from whatleaks.report.paper_document import figure_of, own_entries, results_part, rewritten
from whatleaks.report.trade_figure import jiang_figures
from whatleaks.runs.record import Record
from whatleaks.runs.work import work_from_dict, work_to_dict
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import from_dict


def _record(work: object, numbers: dict[str, float]) -> Record:
    return Record("0" * 64, work, "", "ok", Outcome(numbers), "", {}, 0.0, 1, "")  # type: ignore[arg-type]


def test_both_alignments_find_the_same_rows_and_only_one_tells_the_other_ids() -> None:
    pytest.importorskip("private_set_intersection.python", reason="needs openmined-psi")
    ids, first, second = _holdings(60, np.random.default_rng(0))
    assert len(set(ids)) == 60
    both = set(first.tolist()) & set(second.tolist())
    clear, told = _in_the_clear(ids, first, second)
    assert set(clear.tolist()) == both
    assert len(both) == 48
    assert told == len(first) - len(both) == 6
    private, told = _by_intersection(ids, first, second)
    assert private.tolist() == clear.tolist()
    assert told == 0


def _aligned(error: float, accuracy: float, common: int) -> list[Record]:
    numbers: dict[str, float] = {"ids of others told clear": 6, "ids of others told psi": 0}
    for way, e, a, n in (("clear", 0.1, 0.9, 48), ("psi", error, accuracy, common)):
        numbers[f"common {way}"] = n
        for name in (ESA, GIA):
            numbers[f"{name} {way}"], numbers[f"{name} accuracy {way}"] = e, a
    return [_record(AlignedRows(name, 600, 50, 300, 200, 20), numbers) for name in SETS]


@pytest.mark.parametrize(
    ("error", "accuracy", "common", "expected"),
    [
        (0.1, 0.9, 48, Verdict.HOLDS),
        (0.1, 0.9, 47, Verdict.PARTLY),  # a record was lost
        (0.2, 0.9, 48, Verdict.FAILS),  # the attack is worse off
        (0.1, 0.5, 48, Verdict.FAILS),
    ],
)
def test_j16_follows_its_numbers(
    error: float, accuracy: float, common: int, expected: Verdict
) -> None:
    assert checks()["J16"].judge(_aligned(error, accuracy, common)).verdict == expected


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
    entries = own_entries("J", root / "results")
    text = path.read_text("utf-8")
    assert rewritten(text, results_part(entries, "jiang")) == text
    drawn = {entry.claim.id: figure_of(entry) for entry in entries}
    drawn |= {
        f"defenses-{name}": figure for name, figure in jiang_figures(root / "results").items()
    }
    for name, figure in drawn.items():
        if figure:
            assert (path.parent / "jiang" / f"{name}.svg").read_text("utf-8") == figure
