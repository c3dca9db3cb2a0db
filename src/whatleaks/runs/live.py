"""One display for sweeps, claims and audits: done, failed, left, rate, expected end.

On a terminal one line is drawn over and over; in a notebook one output is written anew;
elsewhere (a log, a pipe) plain lines come at most every few seconds. ``verbose`` adds one
line per finished run on all of them.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TextIO

from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.record import Record
from whatleaks.runs.runner import Display, Silent, Summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

__all__ = [
    "Display",
    "NotebookDisplay",
    "PlainDisplay",
    "Silent",
    "Tally",
    "TerminalDisplay",
    "describe",
    "display_for",
    "farewell",
]
_EVERY = 5.0  # seconds between two plain lines
_REDRAWN = 0.2  # seconds between two writings of a notebook's output


@dataclass
class Tally:
    """Counts, and what they say about the rest."""

    total: int = 0
    reused: int = 0
    ok: int = 0
    failed: int = 0

    @property
    def left(self) -> int:
        """Runs that are not over yet."""
        return self.total - self.reused - self.ok - self.failed

    def count(self, record: Record) -> None:
        """Count one more run that is over."""
        if record.ok:
            self.ok += 1
        else:
            self.failed += 1

    def rate(self, seconds: float) -> float:
        """Runs per second, of those that were really run."""
        return (self.ok + self.failed) / seconds if seconds > 0 else 0.0

    def line(self, seconds: float, now: datetime) -> str:
        """Say all of it on one line."""
        told = f"{self.reused + self.ok} done, {self.failed} failed, {self.left} left"
        rate = self.rate(seconds)
        if rate == 0.0 or self.left == 0:
            return told
        end = now + timedelta(seconds=self.left / rate)
        clock = f"{end:%H:%M:%S}" if end.date() == now.date() else f"{end:%Y-%m-%d %H:%M}"
        return f"{told}, {_rate(rate)}, expected end {clock}"


class _Telling:
    """What all displays do alike: count, and tell failures, warnings and the end."""

    def __init__(self, verbose: bool, clock: Callable[[], float]) -> None:
        self.tally = Tally()
        self._verbose = verbose
        self._clock = clock
        self._start = self._last = clock()
        self._errors: Counter[str] = Counter()

    def started(self, total: int, reused: int) -> None:
        """Begin to count."""
        self.tally = Tally(total, reused)
        self._start = self._last = self._clock()

    def finished(self, record: Record) -> None:
        """Count one run; tell it on request or if it failed, the same failure once."""
        self.tally.count(record)
        again = False
        if not record.ok:
            self._errors[record.error] += 1
            again = self._errors[record.error] > 1
        if self._verbose or not (record.ok or again):
            self._say(describe(record))

    def warned(self, text: str) -> None:
        """Pass a warning on."""
        self._say(f"warning: {text}")

    def ended(self, summary: Summary) -> None:
        """Say what it came to, and how to go on."""
        for error, count in self._errors.items():
            if count > 1 and not self._verbose:
                more = "1 more run" if count == 2 else f"{count - 1} more runs"
                self._say(f"{more} failed with: {error}")
        for line in farewell(summary):
            self._say(line)

    def closed(self) -> None:
        """Nothing is left to stop."""

    def _due(self, every: float) -> bool:
        """Say whether it is time for the next line."""
        now = self._clock()
        if now - self._last < every:
            return False
        self._last = now
        return True

    def _line(self, now: float) -> str:
        return self.tally.line(now - self._start, datetime.now())

    def _say(self, text: str) -> None:
        raise NotImplementedError


class PlainDisplay(_Telling):
    """Lines for a log: at the start, now and then, at every failure, at the end."""

    def __init__(
        self,
        verbose: bool = False,
        out: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Write to ``out`` (standard error if None)."""
        super().__init__(verbose, clock)
        self._out = out if out is not None else sys.stderr

    def started(self, total: int, reused: int) -> None:
        """Say how many runs there are and how many are stored."""
        super().started(total, reused)
        self._say(f"{total} runs: {reused} stored already, {total - reused} to do")

    def finished(self, record: Record) -> None:
        """Tell the state now and then."""
        super().finished(record)
        if self._due(_EVERY):
            self._say(self._line(self._last))

    def _say(self, text: str) -> None:
        print(text, file=self._out, flush=True)


class TerminalDisplay(_Telling):
    """One line that is drawn over and over, with a bar."""

    def __init__(self, verbose: bool = False, console: Console | None = None) -> None:
        """Draw on ``console`` (standard error if None)."""
        from rich.console import Console as RichConsole

        super().__init__(verbose, time.monotonic)
        self._console = console if console is not None else RichConsole(stderr=True)
        self._live: Live | None = None

    def __rich__(self) -> object:
        """Draw the bar and the line; called by rich a few times a second."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        over = self.tally.total - self.tally.left
        row = Table.grid(padding=(0, 1))
        row.add_row(
            ProgressBar(total=max(1, self.tally.total), completed=over, width=30),
            Text(self._line(self._clock())),
        )
        return row

    def started(self, total: int, reused: int) -> None:
        """Begin to draw."""
        from rich.live import Live as RichLive

        super().started(total, reused)
        self._live = RichLive(self, console=self._console, transient=True)  # type: ignore[arg-type]
        self._live.start()

    def closed(self) -> None:
        """Stop drawing."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class NotebookDisplay(_Telling):
    """One output below the cell, written anew as runs finish; no widgets are needed."""

    def __init__(
        self,
        verbose: bool = False,
        show: Callable[..., Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Write through ``show`` (``IPython.display.display`` if None)."""
        super().__init__(verbose, clock)
        if show is None:
            from importlib import import_module

            show = import_module("IPython.display").display
        self._show: Callable[..., Any] = show
        self._output: Any = None
        self._told: list[str] = []
        self._state = ""

    def started(self, total: int, reused: int) -> None:
        """Open the output."""
        super().started(total, reused)
        self._told = []
        self._state = f"{total} runs: {reused} stored already, {total - reused} to do"
        self._output = self._show(self._text(), raw=True, display_id=True)

    def finished(self, record: Record) -> None:
        """Write the output anew, a few times a second at most."""
        super().finished(record)
        self._state = self._line(self._clock())
        if self._due(_REDRAWN):
            self._write()

    def ended(self, summary: Summary) -> None:
        """Let what it came to stand in place of the state."""
        self._state = ""
        super().ended(summary)

    def _say(self, text: str) -> None:
        self._told.append(text)
        self._write()

    def _write(self) -> None:
        if self._output is not None:
            self._output.update(self._text(), raw=True)

    def _text(self) -> dict[str, str]:
        return {"text/plain": "\n".join([*self._told, *([self._state] if self._state else [])])}


def display_for(verbose: bool = False) -> Display:
    """Return the display that fits where we are: a notebook, a terminal or a log."""
    if in_notebook():
        return NotebookDisplay(verbose)
    return TerminalDisplay(verbose) if sys.stderr.isatty() else PlainDisplay(verbose)


def in_notebook() -> bool:
    """Say whether this is a Jupyter kernel: only that shell has a kernel behind it."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return getattr(running, "kernel", None) is not None


def describe(record: Record) -> str:
    """Say on one line how one run ended."""
    head = f"{record.hash[:12]} {record.work.title()}"
    if not record.ok:
        return f"failed {head}: {record.error}"
    numbers = [
        f"{name} {value}"
        for name, value in record.measurements.items()
        if isinstance(value, Measurement | float | int | str)
    ]
    return f"ok {head}: {'; '.join(numbers)} ({record.seconds:.2f} s)"


def farewell(summary: Summary) -> tuple[str, ...]:
    """Say what the runs came to and, if they stopped early or failed, how to go on."""
    ran = summary.ok + summary.failed - summary.reused
    first = (
        f"{summary.ok} ok ({summary.reused} of them stored before), {summary.failed} failed, "
        f"{summary.left} left; {ran} run in {summary.seconds:.1f} s"
    )
    if summary.interrupted:
        return first, "interrupted: finished runs are stored. Give the same command to go on"
    if summary.failed:
        return first, "failed runs are never reused: give the same command to try them again"
    return (first,)


def _rate(rate: float) -> str:
    return f"{rate:.1f} runs/s" if rate >= 1.0 else f"{60 * rate:.1f} runs/min"
