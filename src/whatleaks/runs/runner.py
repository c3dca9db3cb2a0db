"""The runner: check all runs, answer from the store what is there, perform the rest.

Resuming is not a mode: a run that is stored as ok, and was made by the sources that stand
there now, is not run again. A failed run is, and one made by other sources, with a word about it.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from whatleaks.catalog import FROM_FILE
from whatleaks.errors import WhatleaksError
from whatleaks.runs.executors.protocol import Executor, Job
from whatleaks.runs.provenance import HOME, packages_of, sources_of
from whatleaks.runs.record import Record
from whatleaks.runs.store import Store
from whatleaks.runs.work import Checked, Work, name_of

UNEVEN = 1.05  # how much more than its share a worker may have to do


class Display:
    """Who watches the runs; this one shows nothing, those in ``live`` do."""

    def started(self, total: int, reused: int) -> None:
        """All runs are checked; ``reused`` of ``total`` are stored already."""

    def finished(self, record: Record) -> None:
        """One run is over and stored."""

    def warned(self, text: str) -> None:
        """Something was put right that the user should know."""

    def ended(self, summary: Summary) -> None:
        """The runs are over, or were interrupted."""

    def closed(self) -> None:
        """The runs are left, however they ended: stop drawing."""


@dataclass(frozen=True)
class Summary:
    """What the runs came to. ``records`` follows the works; None where a run was not reached.

    ``privates`` follows them too: what is private to each ok run, or None if the store is one
    that does not keep it, or if it was left there.
    """

    records: tuple[Record | None, ...]
    privates: tuple[bytes | None, ...]
    reused: int
    ok: int
    failed: int
    left: int
    interrupted: bool
    seconds: float


def plan(works: Iterable[Work]) -> tuple[str, ...]:
    """Let every work check itself before anything runs and name its result.

    The error names the run.
    """
    names = []
    for number, work in enumerate(works, start=1):
        try:
            if isinstance(work, Checked):
                work.check()
            names.append(name_of(work))
        except WhatleaksError as error:
            raise type(error)(f"run {number} ({work.title()}): {error}") from None
    return tuple(names)


def run(
    works: Sequence[Work],
    store: Store | None,
    executor: Executor,
    view: Display | None = None,
    table: bytes | None = None,
    leave_private: bool = False,
) -> Summary:
    """Run what is not stored yet and return a record for every work.

    ``table`` is handed to every work as it is. Without a store nothing is reused or kept.
    ``leave_private``: what is private stays in its store, to be read one by one.
    Ctrl-C is no error: what has finished is stored, and the summary says ``interrupted``.
    """
    start = time.perf_counter()
    view = view if view is not None else Display()
    names = plan(works)
    wanted = dict(zip(reversed(names), reversed(works), strict=True))  # the first of equal ones
    wanted = {name: wanted[name] for name in names}
    modules = {name: work.modules() for name, work in wanted.items()}
    packages = {name: packages_of(key) for name, key in modules.items()}
    behind = {key: sources_of(key, executor.name == "inline") for key in set(packages.values())}
    sources = {name: behind[key] for name, key in packages.items()}
    done, privates, warnings = _stored(sources, store, leave_private)
    reused = len(done)
    view.started(len(wanted), reused)
    for warning in warnings:
        view.warned(warning)
    missing = {name: work for name, work in wanted.items() if name not in done}
    interrupted = False
    try:
        if missing:
            jobs = make_jobs(missing, modules, executor.width, table)
            with closing(executor.perform(jobs)) as replies:
                for name, reply in replies:
                    record = reply.record(name, wanted[name], sources[name])
                    if store is not None:
                        store.put(record, reply.private)
                    done[name] = record
                    held = store is None or (store.keeps_private and not leave_private)
                    if record.ok and held:
                        privates[name] = reply.private
                    view.finished(record)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        view.closed()
    failed = sum(not record.ok for record in done.values())
    summary = Summary(
        records=tuple(done.get(name) for name in names),
        privates=tuple(privates.get(name) for name in names),
        reused=reused,
        ok=len(done) - failed,
        failed=failed,
        left=len(wanted) - len(done),
        interrupted=interrupted,
        seconds=time.perf_counter() - start,
    )
    view.ended(summary)
    return summary


def make_jobs(
    works: Mapping[str, Work],
    modules: Mapping[str, tuple[str, ...]],
    width: int,
    table: bytes | None,
) -> list[Job]:
    """Put works that share a training into one job; for several workers the largest come first.

    If there are fewer than two jobs for each of several workers, or one of them would have more to
    do than its share, the largest are halved: a training is repeated only where a worker would
    stand idle.
    """
    groups: dict[tuple[type[Work], str], list[str]] = {}
    for name, work in works.items():
        groups.setdefault((type(work), work.training_key()), []).append(name)
    parts = list(groups.values())
    while width > 1 and (len(parts) < 2 * width or _uneven(parts, width)):
        largest = max(range(len(parts)), key=lambda i: len(parts[i]))
        part = parts[largest]
        if len(part) < 2:
            break
        half = (len(part) + 1) // 2
        parts[largest : largest + 1] = [part[:half], part[half:]]
    if width > 1:  # alone, those of one seed stay beside each other: they share a prepared table
        parts.sort(key=len, reverse=True)
    return [
        Job(
            tuple(works[name] for name in part),
            tuple(part),
            table,
            _outsiders({module for name in part for module in modules[name]}),
        )
        for part in parts
    ]


def _uneven(parts: Sequence[Sequence[str]], width: int) -> bool:
    """Say whether a worker ends later than its share, if each takes the largest job that is left."""
    loads = [0] * width
    for part in sorted(map(len, parts), reverse=True):
        loads[loads.index(min(loads))] += part
    share = sum(loads) / width
    return max(loads) > max(math.ceil(share), UNEVEN * share)


def _outsiders(modules: Iterable[str]) -> tuple[str, ...]:
    """Name what a worker could not find by itself: others' modules, and plugins by their file."""
    found = []
    for name in sorted(modules):
        if name.partition(".")[0] in (HOME, "__main__"):
            continue
        plugin = name.startswith(FROM_FILE)
        found.append(str(sys.modules[name].__file__) if plugin else name)
    return tuple(found)


def _stored(
    sources: Mapping[str, str], store: Store | None, leave_private: bool
) -> tuple[dict[str, Record], dict[str, bytes], list[str]]:
    """Return the records that can be reused, what is private to them, and what to say."""
    if store is None:
        return {}, {}, []
    stored, set_aside = store.get(sources)
    warnings = [str(bad) for bad in set_aside]
    ok = {name: record for name, record in stored.items() if record.ok}
    done = {name: r for name, r in ok.items() if r.sources == sources[name]}
    privates: dict[str, bytes] = {}
    if store.keeps_private:
        for name in list(done):
            data = store.private(name)
            if data is None:
                del done[name]
            elif not leave_private:
                privates[name] = data
    others = sum(record.sources != sources[name] for name, record in ok.items())
    if others:
        runs = "1 stored run was" if others == 1 else f"{others} stored runs were"
        again = "it is" if others == 1 else "they are"
        warnings.append(f"{runs} made by other sources: {again} run again")
    return done, privates, warnings
