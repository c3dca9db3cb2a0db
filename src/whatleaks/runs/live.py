"""One display for sweeps, claims and audits: done, failed, left, rate, expected end.

On a terminal rich draws a bar; in a notebook one output is written anew; elsewhere (a log, a
pipe) plain lines come at most every few seconds. ``verbose`` adds one line per finished run on
all of them.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.record import Record
from whatleaks.runs.runner import Display, Summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


@dataclass
class Tally:
    """Counts, and what they say about the rest."""

    total: int = 0
    reused: int = 0
    ok: int = 0
    failed: int = 0

    def line(self, seconds: float, now: datetime) -> str:
        """Say on one line what is over after so many seconds, and when the rest will be."""
        ran = self.ok + self.failed
        left = self.total - self.reused - ran
        told = f"{self.reused + self.ok} done, {self.failed} failed, {left} left"
        if not (ran and left and seconds > 0):
            return told
        rate = ran / seconds
        end = now + timedelta(seconds=left / rate)
        clock = f"{end:%H:%M:%S}" if end.date() == now.date() else f"{end:%Y-%m-%d %H:%M}"
        pace = f"{rate:.1f} runs/s" if rate >= 1.0 else f"{60 * rate:.1f} runs/min"
        return f"{told}, {pace}, expected end {clock}"


class PlainDisplay(Display):
    """Lines for a log: at the start, now and then, at every failure, at the end."""

    every: ClassVar[float] = 5.0  # seconds between two states

    def __init__(
        self,
        verbose: bool = False,
        out: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Write to ``out`` (standard error if None)."""
        self.tally = Tally()
        self._verbose = verbose
        self._out = out if out is not None else sys.stderr
        self._clock = clock
        self._start = self._drawn = clock()
        self._errors: Counter[str] = Counter()

    def started(self, total: int, reused: int) -> None:
        """Say how many runs there are and how many are stored."""
        self.tally = Tally(total, reused)
        self._start = self._drawn = self._clock()
        self._draw(f"{total} runs: {reused} stored already, {total - reused} to do")

    def finished(self, record: Record) -> None:
        """Count one run; tell it on request or if it failed, the same failure once."""
        if record.ok:
            self.tally.ok += 1
        else:
            self.tally.failed += 1
            self._errors[record.error] += 1
        if self._verbose or self._errors[record.error] == 1:
            self._say(describe(record))
        now = self._clock()
        if now - self._drawn >= self.every:
            self._drawn = now
            self._draw(self.tally.line(now - self._start, datetime.now()))

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

    def _draw(self, state: str) -> None:
        self._say(state)

    def _say(self, text: str) -> None:
        print(text, file=self._out, flush=True)


class TerminalDisplay(PlainDisplay):
    """A bar with the state beside it, gone when the runs are over."""

    every: ClassVar[float] = 0.0  # rich draws a few times a second

    def __init__(self, verbose: bool = False, console: Console | None = None) -> None:
        """Draw on ``console`` (standard error if None)."""
        from rich.console import Console as RichConsole

        super().__init__(verbose)
        self._console = console if console is not None else RichConsole(stderr=True)
        self._bar: Progress | None = None

    def closed(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _draw(self, state: str) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        told = self.tally
        over = told.reused + told.ok + told.failed
        if self._bar is None:
            columns = BarColumn(30), TextColumn("{task.description}", markup=False)
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task(state, total=max(1, told.total))
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=over, description=state)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class NotebookDisplay(PlainDisplay):
    """One output below the cell, written anew as runs finish; no widgets are needed."""

    every: ClassVar[float] = 0.2

    def __init__(
        self,
        verbose: bool = False,
        show: Callable[..., Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Write through ``show`` (``IPython.display.display`` if None)."""
        super().__init__(verbose, clock=clock)
        if show is None:
            from importlib import import_module

            show = import_module("IPython.display").display
        self._show: Callable[..., Any] = show
        self._output: Any = None
        self._told: list[str] = []
        self._state = ""

    def ended(self, summary: Summary) -> None:
        """Let what it came to stand in place of the state."""
        self._state = ""
        super().ended(summary)

    def _draw(self, state: str) -> None:
        self._state = state
        self._write()

    def _say(self, text: str) -> None:
        self._told.append(text)
        self._write()

    def _write(self) -> None:
        text = {"text/plain": "\n".join([*self._told, *([self._state] if self._state else [])])}
        if self._output is None:
            self._output = self._show(text, raw=True, display_id=True)
        else:
            self._output.update(text, raw=True)


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
