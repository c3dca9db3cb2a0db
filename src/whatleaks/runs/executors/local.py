"""Local processes: one job at a time each, so that a dead worker is charged to its own work.

A pool of the standard library breaks as a whole when one process dies and cannot say which
job killed it. Here every worker has a pipe of its own; a pipe that closes names the work.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from whatleaks.errors import UsageError
from whatleaks.runs.executors.protocol import Job, Reply, died
from whatleaks.runs.executors.worker import one_thread_variables, perform


@dataclass
class _Turn:
    """A job, how many of its works are over, and how often the next one has been started."""

    job: Job
    attempt: int = 1
    done: int = 0


@dataclass
class _Worker:
    """A process, our end of its pipe, the table it holds, whether it has come up, what it is doing."""

    process: BaseProcess
    pipe: Connection
    table: bytes | None
    up: bool = False
    turn: _Turn | None = None

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.pipe.close()
        self.process.terminate()


@dataclass(frozen=True)
class LocalExecutor:
    """``workers`` processes on this machine; a work whose worker dies is started again."""

    workers: int = 0  # 0: one per core
    attempts: int = 3
    # Workers between two rounds; None: there is one round only.
    resting: list[_Worker] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a negative number of workers."""
        if self.workers < 0:
            raise UsageError(f"workers must be at least 1, got {self.workers}")

    @property
    def name(self) -> str:
        """Local processes."""
        return "local"

    @property
    def width(self) -> int:
        """The number of workers."""
        return self.workers or os.cpu_count() or 1

    def perform(self, jobs: Sequence[Job]) -> Generator[tuple[str, Reply], None, None]:
        """Perform every job; closing the iterator stops the workers."""
        waiting = deque(_Turn(job) for job in jobs)
        table = jobs[0].table if jobs else None
        pool: list[_Worker] = []
        try:
            for _ in range(min(self.width, len(jobs))):
                pool.append(self._rested(table) or _start(table))
            for worker in pool:
                _give(worker, waiting)
            while any(worker.turn for worker in pool):
                busy = {worker.pipe: worker for worker in pool if worker.turn}
                for pipe in wait(list(busy)):
                    worker = busy[pipe]  # type: ignore[index]  # wait returns what it was given
                    if not worker.up:
                        _come_up(worker)
                        continue
                    turn, reply = worker.turn, _receive(worker)
                    assert turn is not None
                    name, attempt = turn.job.hashes[turn.done], turn.attempt
                    if reply is None:
                        how = _cause_of_death(worker)
                        pool[pool.index(worker)] = worker = _start(table)
                        reply = self._again(turn, how, waiting)
                    else:
                        turn.done, turn.attempt = turn.done + 1, 1
                        if turn.done == len(turn.job.works):
                            worker.turn = None
                    if worker.turn is None:
                        _give(worker, waiting)  # the next job first: storing happens meanwhile
                    if reply is not None:
                        yield name, reply.on_attempt(attempt)
        finally:
            _stop([worker for worker in pool if worker.turn or self.resting is None])
            if self.resting is not None:
                self.resting.extend(worker for worker in pool if not worker.turn)

    @contextmanager
    def lasting(self) -> Iterator[LocalExecutor]:
        """Yield an executor whose workers rest between its rounds, with all that they hold."""
        resting: list[_Worker] = []
        try:
            yield replace(self, resting=resting)
        finally:
            _stop(resting)

    def _rested(self, table: bytes | None) -> _Worker | None:
        """Return a worker of the round before that holds this very table, if one is left."""
        while self.resting:
            worker = self.resting.pop()
            if worker.table is table and worker.process.is_alive():
                return worker
            _stop([worker])
        return None

    def _again(self, turn: _Turn, how: str, waiting: deque[_Turn]) -> Reply | None:
        """Queue what a dead worker has left of its job, without a work that always kills."""
        rest = turn.job.after(turn.done)
        if turn.attempt < self.attempts:
            waiting.append(_Turn(rest, turn.attempt + 1))
            return None
        if len(rest.works) > 1:
            waiting.append(_Turn(rest.after(1)))
        return died(turn.attempt, how)


def _start(table: bytes | None) -> _Worker:
    # A fresh interpreter: nothing of ours (threads, random state, open store) is inherited.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    with one_thread_variables(), _ctrl_c_later():
        process.start()
    theirs.close()
    # Not as an argument: who starts a process waits for it to read these, even if it is dead.
    with suppress(BrokenPipeError):
        ours.send(table)
    return _Worker(process, ours, table)


def _come_up(worker: _Worker) -> None:
    """Hear that a worker serves; one that never did is no fault of its work."""
    if _receive(worker) is None:
        raise UsageError(
            f"a worker process could not start ({_cause_of_death(worker)}): in a script of your own, "
            'put the call below `if __name__ == "__main__":`, as a worker reads the script too, or '
            "ask for one worker"
        )
    worker.up = True


def _stop(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.process.join()


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Hold Ctrl-C back while a process is started: it inherits that, and has no say before it serves."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its own start would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _give(worker: _Worker, waiting: deque[_Turn]) -> None:
    if not waiting:
        return
    worker.turn = waiting.popleft()
    with suppress(BrokenPipeError):  # it died between two jobs: `wait` sees the closed pipe
        worker.pipe.send(replace(worker.turn.job, table=None))  # every worker has it


def _receive(worker: _Worker) -> Reply | None:
    """Return what a worker says; None: it is dead. That it serves it says by an empty reply."""
    try:
        reply: Reply = worker.pipe.recv()
    except (EOFError, OSError):
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
    """Answer jobs on the table sent first until the pipe closes. Ctrl-C is for the parent, which stops us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    table: bytes | None = pipe.recv()
    pipe.send(Reply(None, b"", "", {}, 0.0))
    while True:
        try:
            job: Job = pipe.recv()
        except EOFError:
            return
        for reply in perform(replace(job, table=table)):
            pipe.send(reply)


def _leave_with_parent() -> None:
    """End at once when the parent is gone (kill -9): nobody would store the reply."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
