"""The terminal summary and the tables of listing commands."""

import io
import subprocess
import sys
from dataclasses import replace

import pytest
from sample_audit import CASES, complete_case, high_case, sample_case, wide_case

from whatleaks.auditor.result import GroupFinding
from whatleaks.metrics.measurement import Measurement
from whatleaks.report.page import lay_out
from whatleaks.report.terminal import print_tables, summary, table


@pytest.mark.parametrize("case", CASES)
def test_summary_fits_a_screen_and_holds_no_control_character(case: str) -> None:
    text = summary(CASES[case]())
    assert text == summary(CASES[case]())
    assert all(c == "\n" or c.isprintable() for c in text)
    for written in (
        "Quadratmetern",
        "nan<i>",
    ):  # a column's name, and a note that tries to be markup
        text = text.replace(written, "")
    assert "nan" not in text
    assert text.endswith("\n")


def test_summary_says_level_columns_threats_accuracy_defenses_advice() -> None:
    text = summary(high_case())
    order = [
        "HIGH: joining adds 65 % (95 % interval 62 % to 68 %)",
        "If you hand over",
        "radius  ",
        "fractal dimension",
        "white-box  ",
        "black-box  ",
        "91.2 % -> 96.5 %   +5.3 points",
        "Round scores to one decimal",
        "1. Do not hand the whole model",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert max(len(line) for line in text.splitlines()) <= 80


def gained(value: float, low: float, high: float) -> Measurement:
    return Measurement(value, low, high, 900, "gain", "records")


@pytest.mark.parametrize(
    ("accuracy", "auc", "loss", "said"),
    [
        ((0.05, 0.02, 0.08), (0.1, 0.05, 0.15), (0.1, 0.05, 0.15), "better in accuracy (+2.0 to +8.0 points), in AUC (+0.05 to +0.15), in log loss"),
        ((0.0, 0.0, 0.0), (0.07, 0.03, 0.11), (0.0, -0.01, 0.01), "better in AUC (+0.03 to +0.11); no difference is shown in accuracy (0.0 to 0.0 points), in log loss"),
        ((0.05, 0.02, 0.08), (0.0, -0.1, 0.1), (-0.2, -0.3, -0.1), "better in accuracy (+2.0 to +8.0 points); worse in log loss (\N{MINUS SIGN}0.3 to \N{MINUS SIGN}0.1)"),
        ((0.0, -0.01, 0.01), (-0.1, -0.2, -0.05), (0.0, -0.1, 0.1), "worse in AUC (\N{MINUS SIGN}0.2 to \N{MINUS SIGN}0.05); no difference"),
        ((0.0, -0.01, 0.01), (0.0, -0.1, 0.1), (0.0, -0.1, 0.1), "no proof of a gain, in accuracy (\N{MINUS SIGN}1.0 to +1.0 points), in AUC"),
    ],
)  # fmt: skip
def test_what_joining_is_worth_goes_by_every_measure(
    accuracy: tuple[float, float, float],
    auc: tuple[float, float, float],
    loss: tuple[float, float, float],
    said: str,
) -> None:
    case = high_case()
    worth = replace(
        case.worth,
        accuracy_gain=gained(*accuracy),
        auc_alone=gained(0.7, 0.6, 0.8),
        auc=gained(0.8, 0.7, 0.9),
        auc_gain=gained(*auc),
        log_loss_alone=gained(0.5, 0.4, 0.6),
        log_loss=gained(0.5, 0.4, 0.6),
        log_loss_gain=gained(*loss),
    )
    page = lay_out(replace(case, worth=worth))
    assert said in page.gain_sure
    assert "no difference to" not in page.gain_sure
    assert "900 records" in page.gain_sure


def test_summary_of_many_columns_stays_short() -> None:
    text = summary(wide_case())
    assert "and 50 more, in the report" in text
    assert len(text.splitlines()) < 80


def test_summary_never_shows_values() -> None:
    assert summary(sample_case()) == summary(high_case())


def test_bars_fill_with_the_leak() -> None:
    assert "#" * 19 in summary(complete_case())


def test_tables_show_cells_as_they_are() -> None:
    out = io.StringIO()
    rows = [["[red]bank[/red]", 30488], ["\x1b[31mcredit", 30000]]
    print_tables(table("Data [sets]", ["name", "rows"], rows), file=out, width=80)
    text = out.getvalue()
    for words in ("Data [sets]", "name", "[red]bank[/red]", "30488", "credit"):
        assert words in text
    assert "\x1b" not in text


def test_importing_the_room_loads_no_heavy_library() -> None:
    code = (
        "import sys, whatleaks.report.html, whatleaks.report.terminal, whatleaks.report.figures;"
        "print([m for m in ('matplotlib', 'torch', 'pandas', 'sklearn', 'jinja2', 'rich')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p)},
    )
    assert done.stdout.strip() == "[]"


def test_people_stand_beside_their_own_column() -> None:
    """Before, where the first column has no count, it was given the next one's."""
    made = high_case()
    rows = lay_out(made).rows
    first, second = rows[0].column, rows[1].column
    threats = tuple(
        replace(
            threat,
            findings=tuple(
                replace(
                    guess,
                    columns=tuple(
                        replace(c, people=None)
                        if c.column == first
                        else replace(c, people=c.people and replace(c.people, tolerance=0.0))
                        for c in guess.columns
                    ),
                )
                for guess in threat.findings
            ),
        )
        for threat in made.threats
    )
    told = summary(replace(made, threats=threats))
    assert f"  {first}: named exactly" not in told
    assert f"  {second}: named exactly" in told


def test_notes_stand_in_the_summary_and_those_of_a_threat_without_an_attack() -> None:
    case = high_case()
    silent = replace(
        case.threats[0],
        name="encrypted",
        findings=tuple(f for f in case.threats[0].findings if f.role != "attack"),
        notes=("Seed 0: 330 of 569 records trained.", "Seed 1: 331 of 569 records trained."),
    )
    seen = replace(silent, name="seen", findings=case.threats[0].findings)
    notes = ("Column 'a' was read as codes.",)
    told = summary(replace(case, threats=(silent, seen), notes=notes, seeds=(0, 1)))
    assert "Worth knowing\n  - Column 'a' was read as codes.\n" in told
    assert "  - encrypted: 330 of 569 records trained.\n" in told
    assert "331" not in told  # once, not for every seed
    assert "seen: 330" not in told  # its attacks have numbers
    many = summary(replace(case, notes=tuple(f"note {k}" for k in range(20))))
    assert "note 7" in many
    assert "note 8" not in many
    assert "and 12 more, in the report" in many


def test_without_notes_there_is_no_heading_for_them() -> None:
    assert "Worth knowing" not in summary(replace(high_case(), notes=()))


def test_a_group_is_drawn_as_it_is_told() -> None:
    """Before, "115 of 115 people, joined or not" stood beside a bar of 9 %, all of it as what joining adds."""

    def of(hits: int) -> Measurement:
        return Measurement(hits / 100, 0.0, 1.0, 100, "share of people", "records")

    groups = (
        GroupFinding("all others", of(9), of(9), of(100), of(100)),
        GroupFinding("vip", of(80), of(20), of(30), of(0)),
    )
    others, vip = lay_out(replace(high_case(), groups=groups)).groups
    assert (others.text, others.value, others.known) == ("100 %", 1.0, 1.0)
    assert others.detail.startswith("100 of 100 people, joined or not")
    assert (vip.text, vip.value, vip.known) == ("80 %", 0.8, 0.3)


def test_bars_of_digits_say_whose_columns_they_are() -> None:
    """Before, "Whole records named exactly" stood over them where an ordinary number is read of nobody."""
    text = " ".join(summary(complete_case()).split())
    assert "columns of set values: all named by one score's digits" in text
    assert "Whole records" not in text
