"""What an executor is: something that performs jobs and hands back replies as they come."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from whatleaks.runs.record import Record
from whatleaks.runs.work import Work
from whatleaks.trial.outcome import Outcome


@dataclass(frozen=True)
class Job:
    """Works for one worker, one after another, with the names of their results.

    All jobs of one call to ``perform`` hold the same table. ``outsiders`` are modules that do
    not belong to whatleaks (a plugin: its file): a worker imports them first.
    """

    works: tuple[Work, ...]
    hashes: tuple[str, ...]
    table: bytes | None = None
    outsiders: tuple[str, ...] = ()

    def after(self, done: int) -> Job:
        """Return the job without its first works."""
        return replace(self, works=self.works[done:], hashes=self.hashes[done:])


@dataclass(frozen=True)
class Reply:
    """What a worker sends back for one work. It is the same whoever runs the worker."""

    outcome: Outcome | None
    private: bytes
    traceback: str
    environment: dict[str, Any]
    seconds: float
    attempts: int = 1

    def on_attempt(self, attempts: int) -> Reply:
        """Return the reply with the number of times that the work was started."""
        return replace(self, attempts=attempts)

    def record(self, name: str, work: Work, sources: str) -> Record:
        """Make the record that is stored."""
        return Record(
            hash=name,
            work=work,
            sources=sources,
            status="failed" if self.outcome is None else "ok",
            outcome=self.outcome,
            traceback=self.traceback,
            environment=self.environment,
            seconds=self.seconds,
            attempts=self.attempts,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )


def failed(traceback: str, attempts: int = 1) -> Reply:
    """Reply in the name of a worker that could not."""
    return Reply(None, b"", traceback, {}, 0.0, attempts)


def died(attempts: int, how: str) -> Reply:
    """Reply in the name of a worker that is gone."""
    return failed(
        f"the worker died {attempts} times while it ran this job ({how}): "
        "too little memory, or a crash in native code",
        attempts,
    )


class Executor(Protocol):
    """Performs jobs. Replies come in the order in which the works finish."""

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        ...

    @property
    def width(self) -> int:
        """How many jobs it performs at the same time."""
        ...

    def perform(self, jobs: Sequence[Job]) -> Generator[tuple[str, Reply], None, None]:
        """Perform every job and name the work of each reply; closing it stops the workers."""
        ...

    def lasting(self) -> AbstractContextManager[Executor]:
        """Yield an executor for several rounds of jobs on one table; its workers stay in between."""
        ...
