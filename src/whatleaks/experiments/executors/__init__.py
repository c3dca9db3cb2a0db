"""Executors: local processes by default, Ray for many machines; the same interface."""

from __future__ import annotations

from whatleaks.errors import UsageError, nearest
from whatleaks.experiments.executors.local import LocalExecutor
from whatleaks.experiments.executors.protocol import Executor
from whatleaks.experiments.executors.ray import RayExecutor

NAMES = ("local", "ray")
__all__ = ["NAMES", "Executor", "LocalExecutor", "RayExecutor", "choose"]


def choose(on: str = "local", workers: int = 0, address: str = "") -> Executor:
    """Return the executor for ``--on``, ``--workers`` and ``--address``."""
    if on not in NAMES:
        raise UsageError(f"--on {on!r} is unknown.{nearest(on, NAMES)} Use local or ray.")
    if workers < 0:
        raise UsageError(f"--workers must be at least 1, got {workers}")
    if on == "ray":
        return RayExecutor(address, workers)
    if address:
        raise UsageError("--address is for --on ray: add --on ray or leave --address out")
    return LocalExecutor(workers)
