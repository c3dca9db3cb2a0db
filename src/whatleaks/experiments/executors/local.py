"""Local processes: one job at a time each, so that a dead worker is charged to its own job.

A pool of the standard library breaks as a whole when one process dies and cannot say which
job killed it. Here every worker has a pipe of its own; a pipe that closes names the job.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from whatleaks.errors import UsageError
from whatleaks.experiments.executors.protocol import Reply, died
from whatleaks.experiments.executors.worker import ONE_THREAD, perform
from whatleaks.experiments.tasks import Job


@dataclass(frozen=True)
class _Turn:
    """A job and how often it has been started."""

    job: Job
    attempt: int = 1


@dataclass
class _Worker:
    """A process, our end of its pipe, and what it is doing."""

    process: BaseProcess
    pipe: Connection
    turn: _Turn | None = None


@dataclass(frozen=True)
class LocalExecutor:
    """``workers`` processes on this machine; a job whose worker dies is started again."""

    workers: int = 0  # 0: one per core
    attempts: int = 3

    def __post_init__(self) -> None:
        """Refuse a negative number of workers."""
        if self.workers < 0:
            raise UsageError(f"--workers must be at least 1, got {self.workers}")

    @property
    def name(self) -> str:
        """Local processes."""
        return "local"

    def perform(self, jobs: Sequence[Job]) -> Generator[tuple[Job, Reply], None, None]:
        """Perform every job; closing the iterator stops the workers."""
        waiting = deque(_Turn(job) for job in jobs)
        pool: list[_Worker] = []
        try:
            for _ in range(min(self.workers or os.cpu_count() or 1, len(jobs))):
                pool.append(_start())
            for worker in pool:
                _give(worker, waiting)
            while any(worker.turn for worker in pool):
                busy = {worker.pipe: worker for worker in pool if worker.turn}
                for pipe in wait(list(busy)):
                    worker = busy[pipe]  # type: ignore[index]  # wait returns what it was given
                    turn, reply = worker.turn, _receive(worker)
                    assert turn is not None
                    worker.turn = None
                    if reply is None:
                        how = _cause_of_death(worker)
                        pool[pool.index(worker)] = worker = _start()
                        if turn.attempt < self.attempts:
                            waiting.append(_Turn(turn.job, turn.attempt + 1))
                        else:
                            reply = died(turn.attempt, how)
                    _give(worker, waiting)  # the next job first: storing happens meanwhile
                    if reply is not None:
                        yield turn.job, reply.on_attempt(turn.attempt)
        finally:
            for worker in pool:
                worker.pipe.close()
                worker.process.terminate()
            for worker in pool:
                worker.process.join()


def _start() -> _Worker:
    # A fresh interpreter: nothing of ours (threads, random state, open store) is inherited.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with _one_thread():
        process.start()
    theirs.close()
    return _Worker(process, ours)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Set the thread variables for a child that is being started, then put ours back."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _give(worker: _Worker, waiting: deque[_Turn]) -> None:
    if not waiting:
        return
    worker.turn = waiting.popleft()
    with suppress(BrokenPipeError):  # it died between two jobs: `wait` sees the closed pipe
        worker.pipe.send(worker.turn.job)


def _receive(worker: _Worker) -> Reply | None:
    try:
        reply: Reply = worker.pipe.recv()
    except (EOFError, ConnectionResetError):
        return None
    return reply


def _cause_of_death(worker: _Worker) -> str:
    worker.pipe.close()
    worker.process.join(5.0)
    code = worker.process.exitcode
    if code is not None and code < 0:
        return f"killed by signal {-code}, {signal.Signals(-code).name}"
    return f"it left with code {code}"


def _serve(pipe: Connection) -> None:
    """Answer jobs until the pipe closes. Ctrl-C is for the parent, which stops us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    while True:
        try:
            job: Job = pipe.recv()
        except EOFError:
            return
        pipe.send(perform(job))


def _leave_with_parent() -> None:
    """End at once when the parent is gone (kill -9): nobody would store the reply."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
