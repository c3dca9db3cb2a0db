"""The runner: check all runs, answer from the store what is there, perform the rest.

Resuming is not a mode: a run that is stored as ok is not run again. A failed run is.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from whatleaks.errors import WhatleaksError
from whatleaks.experiments.executors.protocol import Executor
from whatleaks.experiments.record import Record
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.store import Store
from whatleaks.experiments.tasks import Job, prepare


class View(Protocol):
    """Who watches a sweep (see ``live``); ``Silent`` watches nothing."""

    def started(self, total: int, reused: int) -> None:
        """All runs are checked; ``reused`` of ``total`` are stored already."""
        ...

    def finished(self, record: Record) -> None:
        """One run is over and stored."""
        ...

    def warned(self, text: str) -> None:
        """Something was put right that the user should know."""
        ...

    def ended(self, summary: Summary) -> None:
        """The sweep is over, or was interrupted."""
        ...

    def closed(self) -> None:
        """The sweep is left, however it ended: stop drawing."""
        ...


@dataclass(frozen=True)
class Summary:
    """What a sweep came to. ``records`` follows the specs; None where a run was not reached."""

    records: tuple[Record | None, ...]
    reused: int
    ok: int
    failed: int
    left: int
    interrupted: bool
    seconds: float


class Silent:
    """A view that shows nothing."""

    def started(self, total: int, reused: int) -> None:
        """Show nothing."""

    def finished(self, record: Record) -> None:
        """Show nothing."""

    def warned(self, text: str) -> None:
        """Show nothing."""

    def ended(self, summary: Summary) -> None:
        """Show nothing."""

    def closed(self) -> None:
        """Stop nothing."""


def plan(specs: Iterable[Spec]) -> tuple[Job, ...]:
    """Check every spec against its task before anything runs; the error names the run."""
    jobs = []
    for number, spec in enumerate(specs, start=1):
        try:
            jobs.append(prepare(spec))
        except WhatleaksError as error:
            raise type(error)(f"run {number} ({spec.title()}): {error}") from None
    return tuple(jobs)


def run(
    specs: Sequence[Spec], store: Store, executor: Executor, view: View | None = None
) -> Summary:
    """Run what is not stored yet and return a record for every spec.

    Ctrl-C is no error: what has finished is stored, and the summary says ``interrupted``.
    """
    start = time.perf_counter()
    view = view if view is not None else Silent()
    jobs = plan(specs)
    names = dict.fromkeys(job.hash for job in jobs)
    stored, set_aside = store.get(names)
    done = {name: record for name, record in stored.items() if record.ok}
    reused = len(done)
    missing = {job.hash: job for job in jobs if job.hash not in done}
    view.started(len(names), reused)
    for bad in set_aside:
        view.warned(str(bad))
    interrupted = False
    try:
        if missing:
            with closing(executor.perform(list(missing.values()))) as replies:
                for job, reply in replies:
                    record = reply.record(job)
                    store.put(record)
                    done[job.hash] = record
                    view.finished(record)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        view.closed()
    failed = sum(not record.ok for record in done.values())
    summary = Summary(
        records=tuple(done.get(job.hash) for job in jobs),
        reused=reused,
        ok=len(done) - failed,
        failed=failed,
        left=len(names) - len(done),
        interrupted=interrupted,
        seconds=time.perf_counter() - start,
    )
    view.ended(summary)
    return summary
