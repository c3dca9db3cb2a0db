"""Executors: this process, local processes or Ray for many machines; the same interface."""

from __future__ import annotations

from whatleaks.errors import UsageError, argument, choice, nearest, whole
from whatleaks.runs.executors.inline import InlineExecutor
from whatleaks.runs.executors.local import LocalExecutor
from whatleaks.runs.executors.protocol import Executor, Job, Reply
from whatleaks.runs.executors.ray import RayExecutor

NAMES = ("local", "ray")
__all__ = [
    "NAMES",
    "Executor",
    "InlineExecutor",
    "Job",
    "LocalExecutor",
    "RayExecutor",
    "Reply",
    "choose",
]


def choose(
    on: str = "local", workers: int = 0, address: str = "", inline: bool = False
) -> Executor:
    """Return the executor for these arguments; 0 workers mean one per core.

    ``inline``: a single local worker is this process itself, which saves its start-up.
    """
    if on not in NAMES:
        raise UsageError(
            f"{argument('on')} {on!r} is unknown: use {' or '.join(NAMES)}.{nearest(on, NAMES)}"
        )
    workers = whole("workers", workers, 0)
    if on == "ray":
        return RayExecutor(address, workers)
    if address:
        raise UsageError(
            f"{argument('address')} is for {choice('on', 'ray')}: choose that or leave it out"
        )
    local = LocalExecutor(workers)
    return InlineExecutor() if inline and local.width == 1 else local
