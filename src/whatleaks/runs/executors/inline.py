"""Inline: the jobs in this process, one after another, without a worker's start-up.

The numbers are those of a worker, because the threads are those of a worker: while jobs run,
torch and BLAS are held to one thread; afterwards they have again what they had.

Ctrl-C is remembered as well as raised: native code may swallow it or turn it into an error of its
own (numpy does while it compares structured arrays, as in a tree), and that is no failure of the run.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import FrameType

from whatleaks.runs.executors.protocol import Executor, Job, Reply
from whatleaks.runs.executors.worker import one_thread_variables, perform


@dataclass(frozen=True)
class InlineExecutor:
    """This process. A crash in native code takes it down; what is stored stays."""

    @property
    def name(self) -> str:
        """This process."""
        return "inline"

    @property
    def width(self) -> int:
        """One job at a time."""
        return 1

    def perform(self, jobs: Sequence[Job]) -> Generator[tuple[str, Reply], None, None]:
        """Perform every job; closing the iterator gives the threads back."""
        with one_thread(), _remembered_ctrl_c() as asked:
            for job in jobs:
                for name, reply in zip(job.hashes, perform(job), strict=True):
                    if not (asked and reply.outcome is None):
                        yield name, reply
                    if asked:
                        raise KeyboardInterrupt

    def lasting(self) -> AbstractContextManager[Executor]:
        """Yield itself: there is no worker to keep."""
        return nullcontext(self)


@contextmanager
def _remembered_ctrl_c() -> Iterator[list[int]]:
    """Yield a list that is no longer empty once Ctrl-C was pressed, whoever catches what it raises."""
    asked: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield asked  # signals reach the main thread alone, and who ignores them is not asked
        return

    def remember(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, remember)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold torch and BLAS to one thread, those that load meanwhile too."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch is not None else _default()
    with one_thread_variables(), threadpool_limits(1):
        if torch is not None:
            torch.set_num_threads(1)
        try:
            yield
        finally:
            torch = sys.modules.get("torch")
            if torch is not None:
                torch.set_num_threads(threads)


def _default() -> int:
    """How many threads torch would take by itself."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    return int(told) if told.isdecimal() and int(told) else os.cpu_count() or 1
