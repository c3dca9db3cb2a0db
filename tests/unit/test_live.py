"""The display: a bar on a terminal, lines in a log, one output in a notebook."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from run_doubles import Double
from whatleaks.runs.executors.inline import InlineExecutor
from whatleaks.runs.executors.local import LocalExecutor
from whatleaks.runs.live import (
    NotebookDisplay,
    PlainDisplay,
    Tally,
    TerminalDisplay,
    display_for,
)
from whatleaks.runs.runner import run
from whatleaks.runs.store import Store

TWO = LocalExecutor(workers=2)
INLINE = InlineExecutor()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "r.db") as opened:
        yield opened


def doubles(count: int) -> list[Double]:
    return [Double(seed=seed) for seed in range(count)]


def test_the_tally_tells_rate_and_expected_end() -> None:
    tally = Tally(total=100, reused=20, ok=18, failed=2)
    noon = datetime(2024, 5, 1, 12, 0, 0)
    assert tally.line(10.0, noon) == (
        "38 done, 2 failed, 60 left, 2.0 runs/s, expected end 12:00:30"
    )
    assert tally.line(1000.0, noon).endswith("1.2 runs/min, expected end 12:50:00")
    assert tally.line(40000.0, noon).endswith("expected end 2024-05-02 21:20")
    assert Tally(5, 5).line(1.0, noon) == "5 done, 0 failed, 0 left"


def test_plain_lines_where_there_is_no_terminal(store: Store) -> None:
    out = io.StringIO()
    run([Double("raises", seed=s) for s in (0, 1)], store, INLINE, PlainDisplay(True, out))
    lines = out.getvalue().splitlines()
    assert lines[0] == "2 runs: 0 stored already, 2 to do"
    assert any(line.startswith("ok ") and "seed 0" in line for line in lines)
    assert any(line.endswith("ZeroDivisionError: seed 1 is odd") for line in lines)
    assert lines[-2].startswith("1 ok (0 of them stored before), 1 failed, 0 left; 2 run in")
    assert "never reused" in lines[-1]
    assert "\x1b" not in out.getvalue()


def test_plain_lines_come_now_and_then(store: Store) -> None:
    out = io.StringIO()
    ticks = iter(range(0, 1000, 3))
    display = PlainDisplay(out=out, clock=lambda: float(next(ticks)))
    run(doubles(4), store, INLINE, display)
    progress = [line for line in out.getvalue().splitlines() if "expected end" in line]
    assert len(progress) == 1  # at 6 s with 2 done; at 12 s nothing is left to expect
    assert progress[0].startswith("2 done, 0 failed, 2 left, 20.0 runs/min")


def test_the_terminal_display_draws_and_cleans_up(store: Store) -> None:
    from rich.console import Console

    out = io.StringIO()
    display = TerminalDisplay(True, Console(file=out, force_terminal=True, width=120))
    run(doubles(3), store, INLINE, display)
    assert "3 done, 0 failed, 0 left" in out.getvalue()
    assert out.getvalue().count("ok ") >= 3
    assert "3 ok (0 of them stored before)" in out.getvalue().splitlines()[-1]
    assert "\x1b[?25h" in out.getvalue()  # the cursor is shown again


class Output:
    """What a notebook's front end would show, and how it came there."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def show(self, data: dict[str, str], *, raw: bool, display_id: bool) -> Output:
        assert raw
        assert display_id
        assert not self.texts, "a second output was opened"
        self.texts.append(data["text/plain"])
        return self

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.texts.append(data["text/plain"])


def test_a_notebook_has_one_output_that_is_written_anew(store: Store) -> None:
    output = Output()
    ticks = iter(range(1000))
    display = NotebookDisplay(show=output.show, clock=lambda: float(next(ticks)))
    run([Double("raises", seed=s) for s in range(3)], store, INLINE, display)
    assert output.texts[0] == "3 runs: 0 stored already, 3 to do"
    assert any("1 done, 0 failed, 2 left" in text for text in output.texts)
    assert all("seed 1 is odd" in text for text in output.texts[-3:])  # a failure stays
    last = output.texts[-1].splitlines()
    assert last[-2].startswith("2 ok (0 of them stored before), 1 failed, 0 left; 3 run in")
    assert "3 to do" not in output.texts[-1]


def test_the_display_fits_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def shell(running: Any) -> None:
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: running))

    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=print))
    shell(SimpleNamespace(kernel=object()))
    assert isinstance(display_for(), NotebookDisplay)
    shell(SimpleNamespace())  # IPython in a terminal has no kernel
    assert not isinstance(display_for(), NotebookDisplay)
    shell(None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(display_for(), TerminalDisplay)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert isinstance(display_for(), PlainDisplay)
