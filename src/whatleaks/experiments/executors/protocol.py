"""What an executor is: something that performs jobs and hands back replies as they come."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from whatleaks.experiments.outcome import Outcome
from whatleaks.experiments.record import Record
from whatleaks.experiments.tasks import Job


@dataclass(frozen=True)
class Reply:
    """What a worker sends back for one job. It is the same whoever runs the worker."""

    outcome: Outcome | None
    traceback: str
    environment: dict[str, str]
    seconds: float
    attempts: int = 1

    def on_attempt(self, attempts: int) -> Reply:
        """Return the reply with the number of times that the job was started."""
        return replace(self, attempts=attempts)

    def record(self, job: Job) -> Record:
        """Make the record that is stored."""
        return Record(
            hash=job.hash,
            spec=job.spec,
            versions=job.versions,
            status="failed" if self.outcome is None else "ok",
            outcome=self.outcome,
            traceback=self.traceback,
            environment=self.environment,
            seconds=self.seconds,
            attempts=self.attempts,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )


def died(attempts: int, how: str) -> Reply:
    """Reply in the name of a worker that is gone."""
    return Reply(
        outcome=None,
        traceback=f"the worker died {attempts} times while it ran this job ({how}): "
        "too little memory, or a crash in native code",
        environment={},
        seconds=0.0,
        attempts=attempts,
    )


class Executor(Protocol):
    """Performs jobs. Replies come in the order in which the jobs finish."""

    @property
    def name(self) -> str:
        """The name that ``--on`` takes."""
        ...

    def perform(self, jobs: Sequence[Job]) -> Generator[tuple[Job, Reply], None, None]:
        """Perform every job; closing the iterator stops the workers."""
        ...
