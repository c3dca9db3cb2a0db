"""The judges of Varasteh's claims: numbers for and against, at the borders of their rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from whatleaks.runs.record import Record
from whatleaks.runs.work import work_from_dict, work_to_dict
from whatleaks.trial.outcome import Outcome
from whatleaks_lab.papers.check import checks
from whatleaks_lab.papers.ledger import STORED
from whatleaks_lab.papers.varasteh_setup import COLUMNS, SEEDS
from whatleaks_lab.papers.varasteh_study import VarastehStudy
from whatleaks_lab.report.paper_document import figure_of, own_entries, results_part, rewritten

THREE = ("bank-marketing", "adult", "statlog-satellite")
FOUR = (*THREE, "pendigits")


def run(dataset: str, size: int = 4, seed: int = 10, **numbers: Any) -> Record:
    named = {name.replace("_", "-"): number for name, number in numbers.items()}
    return Record(
        hash="0" * 64,
        work=VarastehStudy(dataset, "attacks", size, 1, 100, seed),
        sources="",
        status="ok",
        outcome=Outcome(named, {}),
        traceback="",
        environment={},
        seconds=1.0,
        attempts=1,
        created="",
    )


def verdict(claim: str, records: list[Record]) -> str:
    return checks()[claim].judge(records).verdict.value


def test_a02() -> None:
    sets = [run("adult", half=0.1, half_star=e) for e in (0.05, 0.1)]
    assert verdict("A02", sets) == "holds"
    assert verdict("A02", [*sets, run("adult", half=0.1, half_star=0.11)]) == "fails"


@pytest.mark.parametrize(
    ("errors", "expected"),
    [((0.02, 0.03, 0.05), "holds"), ((0.02, 0.03, 0.09), "partly"), ((0.09, 0.3, 0.08), "fails")],
)
def test_a03(errors: tuple[float, ...], expected: str) -> None:
    # half 0.1, half* 0: close means an agnostic error of at most 0.05.
    runs = [
        run(name, half=0.1, half_star=0.0, agnostic=error, weighted=0.05, amplified=0.2)
        for name, error in zip(THREE, errors, strict=True)
    ]
    assert verdict("A03", runs) == expected
    note = checks()["A03"].judge(runs).note
    assert ("Worse than one half: adult at 4 columns" in note) == (0.3 in errors)


def test_a04_and_a06() -> None:
    def runs(few: float, many: float) -> list[Record]:
        return [
            run(name, size, agnostic=1.0, refined_100=error, labels_100=error)
            for name in FOUR
            for size, error in ((2, few), (8, many))
        ]

    assert verdict("A04", runs(0.5, 0.9)) == "holds"
    assert verdict("A04", runs(0.9, 0.5)) == "partly"
    assert verdict("A04", runs(1.5, 1.4)) == "fails"
    assert verdict("A06", runs(0.98, 0.99)) == "holds"
    assert verdict("A06", runs(0.5, 0.6)) == "fails"


def test_a05_a07_and_a08() -> None:
    def one(a: float, b: float, c: float) -> list[Record]:
        return [run("pendigits", half=1.0, half_star=0.5, agnostic=a, refined_50=b, refined_100=c)]

    assert verdict("A05", one(0.3, 0.2, 0.1)) == "holds"
    assert verdict("A05", one(0.3, 0.1, 0.2)) == "partly"
    assert verdict("A05", one(0.1, 0.2, 0.3)) == "fails"
    assert verdict("A07", one(0.95, 0.5, 0.5)) == "holds"
    assert verdict("A07", one(0.95, 0.5, 1.5)) == "partly"
    assert verdict("A07", one(0.5, 0.5, 1.5)) == "fails"
    assert verdict("A08", one(0.91, 0.5, 0.5)) == "holds"
    assert verdict("A08", one(0.89, 0.5, 0.5)) == "fails"


def test_a09() -> None:
    def runs(sign: float, slope: float) -> list[Record]:
        made = []
        for i, name in enumerate(COLUMNS):
            for size in (2, 8):
                numbers = {
                    "accuracy": 0.9, "accuracy alone": 0.8 - 0.05 * i + slope * size,
                    "agnostic": 0.5 - sign * 0.05 * i, "half": 1.0,
                }  # fmt: skip
                made.append(run(name, size, **numbers))
        return made

    assert verdict("A09", runs(-1.0, -0.01)) == "holds"
    assert verdict("A09", runs(1.0, -0.01)) == "partly"
    assert verdict("A09", runs(1.0, 0.01)) == "fails"


def curve(dataset: str, size: int, *errors: float, **more: float) -> Record:
    named = {f"error at {p}": e for p, e in zip((1, 5, 20), errors, strict=True)}
    return run(
        dataset, size, **{**named, "clamped at 1": 0.1, "half": 0.1, "half-star": 0.1, **more}
    )


def test_a15_a16_and_a17() -> None:
    def two(gap_few: float, gap_many: float, last: float = 0.4) -> list[Record]:
        made = []
        for name in ("bank-marketing", "adult"):
            for size, gap in ((1, 0.0), (2, gap_few), (9, gap_many)):
                turned = {
                    f"rotated at {p}": e * (1 - gap) for p, e in ((1, 0.2), (5, 0.3), (20, last))
                }
                made.append(curve(name, size, 0.2, 0.3, last, **turned))
        return made

    assert verdict("A15", two(0.5, 0.1)) == "holds"
    assert verdict("A15", two(0.1, 0.5)) == "partly"
    assert verdict("A15", two(-0.5, -0.1, last=0.25)) == "fails"
    assert verdict("A16", two(0.5, 0.1)) == "holds"
    assert verdict("A16", two(0.5, 0.1, last=0.2)) == "fails"
    slow = [curve("pendigits", 2, 0.101, 0.2, 0.3), curve("pendigits", 9, 0.4, 0.5, 0.6)]
    quick = [curve("pendigits", 2, 0.35, 0.4, 0.5), curve("pendigits", 9, 0.4, 0.5, 0.6)]
    assert verdict("A17", slow) == "holds"
    assert verdict("A17", quick) == "partly"
    assert verdict("A17", [curve("pendigits", 2, 0.05, 0.2, 0.3)]) == "fails"


def test_a_study_reads_back_and_judged_seeds_are_fresh() -> None:
    one = VarastehStudy("adult", "schemes", 3, 2, 100, 11)
    assert work_from_dict(work_to_dict(one)) == one
    assert min(SEEDS["standard"]) >= 10


def test_the_document_says_what_the_committed_results_say() -> None:
    root = Path(__file__).resolve().parents[2]
    path = root / "docs" / "papers" / "varasteh.md"
    entries = own_entries("A", STORED)
    text = path.read_text("utf-8")
    assert rewritten(text, results_part(entries, "varasteh")) == text
    for entry in entries:
        if figure_of(entry):
            figure = path.parent / "varasteh" / f"{entry.claim.id}.svg"
            assert figure.read_text("utf-8") == figure_of(entry)
            assert figure.stat().st_size < 100_000
