"""Ray: the same jobs on a cluster, or on a cluster of this machine's cores.

Ray is an extra (``pip install "whatleaks[ray]"``) and loads when it is used. The cluster's
machines need whatleaks installed. Only this process writes to the store.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from whatleaks.errors import UsageError, choice
from whatleaks.extras import lacking
from whatleaks.runs.executors.protocol import Executor, Job, Reply, died, failed
from whatleaks.runs.executors.worker import ONE_THREAD, perform

_AHEAD = 2  # jobs in flight per core: one runs, one is already there


@dataclass(frozen=True)
class RayExecutor:
    """``address`` of a running cluster, or empty for one on this machine."""

    address: str = ""
    workers: int = 0  # 0: all cores of the cluster
    attempts: int = 3
    patience: float = 15.0  # seconds for a cluster to answer

    @property
    def name(self) -> str:
        """Ray."""
        return "ray"

    @property
    def width(self) -> int:
        """The number of workers. A cluster of unknown size counts as this machine."""
        return self.workers or os.cpu_count() or 1

    def perform(self, jobs: Sequence[Job]) -> Generator[tuple[str, Reply], None, None]:
        """Perform every job; closing the iterator lets go of the cluster."""
        ray = _connect(self.address, self.workers, self.patience)
        try:
            yield from self._drive(ray, jobs)
        finally:
            ray.shutdown()

    def lasting(self) -> AbstractContextManager[Executor]:
        """Yield itself: a cluster keeps its own workers."""
        return nullcontext(self)

    def _drive(self, ray: Any, jobs: Sequence[Job]) -> Iterator[tuple[str, Reply]]:
        # Retries are counted here, as for local workers, and not a second time by Ray.
        remote = ray.remote(num_cpus=1, max_retries=0)(_replies)
        cores = int(ray.cluster_resources().get("CPU", 1))
        # On a cluster that others share, never more at once than was asked for.
        width = self.workers if self.address and self.workers else _AHEAD * cores
        table = ray.put(jobs[0].table if jobs else None)  # once, whoever needs it
        waiting = deque((replace(job, table=None), 1) for job in jobs)
        flying: dict[Any, tuple[Job, int]] = {}
        while waiting or flying:
            while waiting and len(flying) < width:
                job, attempt = waiting.popleft()
                flying[remote.remote(job, table)] = (job, attempt)
            (ready, *_), _ = ray.wait(list(flying), num_returns=1)
            job, attempt = flying.pop(ready)
            try:
                replies: list[Reply] = ray.get(ready)
            except ray.exceptions.RayTaskError as error:
                # Not the work (its failures come as replies): the worker could not begin.
                replies = [failed(f"a Ray worker could not take the job\n{error}")] * len(job.works)
            except ray.exceptions.RayError as error:
                if attempt < self.attempts:
                    # Nobody knows which work it was: from here on each is on its own.
                    waiting.extend((one, attempt + 1) for one in _singly(job))
                    continue
                replies = [died(attempt, str(error).splitlines()[0])] * len(job.works)
            for name, reply in zip(job.hashes, replies, strict=True):
                yield name, reply.on_attempt(attempt)


def _replies(job: Job, table: bytes | None) -> list[Reply]:
    """What runs on the cluster."""
    return list(perform(replace(job, table=table)))


def _singly(job: Job) -> Iterator[Job]:
    for work, name in zip(job.works, job.hashes, strict=True):
        yield replace(job, works=(work,), hashes=(name,))


def _connect(address: str, workers: int, patience: float) -> Any:
    try:
        import ray
    except ImportError:
        raise lacking(choice("on", "ray"), "ray") from None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address:
        if not _answers(address, patience):
            raise UsageError(
                f"no Ray cluster answered at address {address} within {patience:.0f} s. "
                "Check host, port and, if the cluster asks for a token, RAY_AUTH_TOKEN; "
                "or leave the address out to use this machine"
            )
        ray.init(address=address, runtime_env={"env_vars": ONE_THREAD}, **quiet)
        return ray
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent home
    # The same machine: its workers find the modules where this process finds them.
    here = {**ONE_THREAD, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ray.init(
        num_cpus=workers or None, include_dashboard=False, runtime_env={"env_vars": here}, **quiet
    )
    return ray


def _answers(address: str, patience: float) -> bool:
    """Ask for the cluster from a process that can be given up.

    Ray's own client may wait for minutes and may end its process when nobody answers. A
    port at which nobody listens is told at once.
    """
    start = time.monotonic()
    where = re.fullmatch(r"(?:ray://)?([^/]+):(\d+)", address)
    if where:
        try:
            socket.create_connection((where[1], int(where[2])), timeout=patience).close()
        except (OSError, OverflowError):
            return False
    code = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False)"
    try:
        asked = subprocess.run(
            [sys.executable, "-c", code, address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=max(1.0, patience - (time.monotonic() - start)),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return asked.returncode == 0
