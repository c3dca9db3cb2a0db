"""The live view of a sweep: done, failed, left, rate, expected end.

On a terminal one line is drawn over and over; elsewhere (a log, a pipe) plain lines come
at most every few seconds. ``verbose`` adds one line per finished run on both.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TextIO

from whatleaks.experiments.record import Record
from whatleaks.experiments.runner import Summary, View
from whatleaks.metrics.measurement import Measurement

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

_EVERY = 5.0  # seconds between two plain lines


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


class PlainView:
    """Lines for a log: at the start, now and then, at every failure, at the end."""

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
        self._start = self._last = clock()

    def started(self, total: int, reused: int) -> None:
        """Say how many runs there are and how many are stored."""
        self.tally = Tally(total, reused)
        self._start = self._last = self._clock()
        self._say(f"{total} runs: {reused} stored already, {total - reused} to do")

    def finished(self, record: Record) -> None:
        """Count one run; tell it on request or if it failed."""
        _count(self.tally, record)
        if self._verbose or not record.ok:
            self._say(describe(record))
        now = self._clock()
        if now - self._last >= _EVERY:
            self._last = now
            self._say(self.tally.line(now - self._start, datetime.now()))

    def warned(self, text: str) -> None:
        """Pass a warning on."""
        self._say(f"warning: {text}")

    def ended(self, summary: Summary) -> None:
        """Say what it came to, and how to go on."""
        for line in farewell(summary):
            self._say(line)

    def closed(self) -> None:
        """Lines need no end."""

    def _say(self, text: str) -> None:
        print(text, file=self._out, flush=True)


class TerminalView:
    """One line that is drawn over and over, with a bar."""

    def __init__(self, verbose: bool = False, console: Console | None = None) -> None:
        """Draw on ``console`` (standard error if None)."""
        from rich.console import Console as RichConsole

        self.tally = Tally()
        self._verbose = verbose
        self._console = console if console is not None else RichConsole(stderr=True)
        self._start = time.monotonic()
        self._live: Live | None = None

    def __rich__(self) -> object:
        """Draw the bar and the line; called by rich a few times a second."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        over = self.tally.total - self.tally.left
        row = Table.grid(padding=(0, 1))
        seconds = time.monotonic() - self._start
        row.add_row(
            ProgressBar(total=max(1, self.tally.total), completed=over, width=30),
            Text(self.tally.line(seconds, datetime.now())),
        )
        return row

    def started(self, total: int, reused: int) -> None:
        """Begin to draw."""
        from rich.live import Live as RichLive

        self.tally = Tally(total, reused)
        self._start = time.monotonic()
        self._live = RichLive(self, console=self._console, transient=True)  # type: ignore[arg-type]
        self._live.start()

    def finished(self, record: Record) -> None:
        """Count one run; tell it on request or if it failed."""
        _count(self.tally, record)
        if self._verbose or not record.ok:
            self._say(describe(record))

    def warned(self, text: str) -> None:
        """Pass a warning on."""
        self._say(f"warning: {text}")

    def ended(self, summary: Summary) -> None:
        """Say what it came to, and how to go on."""
        for line in farewell(summary):
            self._say(line)

    def closed(self) -> None:
        """Stop drawing."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def view_for(verbose: bool = False) -> View:
    """Return the view that fits where standard error goes."""
    return TerminalView(verbose) if sys.stderr.isatty() else PlainView(verbose)


def describe(record: Record) -> str:
    """Say on one line how one run ended."""
    head = f"{record.hash[:12]} {record.spec.title()}"
    if not record.ok:
        return f"failed {head}: {record.error}"
    numbers = [
        f"{name} {value}"
        for name, value in record.measurements.items()
        if isinstance(value, Measurement | float | int | str)
    ]
    return f"ok {head}: {'; '.join(numbers)} ({record.seconds:.2f} s)"


def farewell(summary: Summary) -> tuple[str, ...]:
    """Say what a sweep came to and, if it stopped early or runs failed, how to go on."""
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


def _count(tally: Tally, record: Record) -> None:
    if record.ok:
        tally.ok += 1
    else:
        tally.failed += 1


def _rate(rate: float) -> str:
    return f"{rate:.1f} runs/s" if rate >= 1.0 else f"{60 * rate:.1f} runs/min"
