"""A progress bar on standard error for anything that takes a while; plain lines without a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIET_SECONDS = 2.0


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Yield ``tell(what, done, of)``."""
    if not sys.stderr.isatty():
        last = time.monotonic()

        def tell_line(what: str, done: int, of: int) -> None:
            nonlocal last
            if time.monotonic() - last > QUIET_SECONDS:
                print(f"[{done}/{of}] {what}", file=sys.stderr, flush=True)
                last = time.monotonic()

        yield tell_line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("preparing", total=None)

        def tell(what: str, done: int, of: int) -> None:
            bar.update(task, description=what, completed=done, total=of)

        yield tell
