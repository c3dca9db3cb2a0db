"""The terminal summary and the tables of listing commands."""

import io
import subprocess
import sys

import pytest
from sample_audit import CASES, complete_case, high_case, sample_case, wide_case

from whatleaks.report.terminal import print_tables, summary, table


@pytest.mark.parametrize("case", CASES)
def test_summary_fits_a_screen_and_holds_no_control_character(case: str) -> None:
    text = summary(CASES[case]())
    assert text == summary(CASES[case]())
    assert all(c == "\n" or c.isprintable() for c in text)
    assert "nan" not in text.replace("Quadratmetern", "")
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
