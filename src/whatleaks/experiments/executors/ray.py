"""Ray: the same jobs on a cluster, or on a cluster of this machine's cores.

Ray is an extra (``pip install "whatleaks[ray]"``) and loads when it is used. The cluster's
machines need whatleaks installed. Only this process writes to the store.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from whatleaks.errors import UsageError
from whatleaks.experiments.executors.protocol import Reply, died
from whatleaks.experiments.executors.worker import ONE_THREAD, perform
from whatleaks.experiments.tasks import Job

ANSWER_WITHIN = 15.0  # seconds
_AHEAD = 2  # jobs in flight per core: one runs, one is already there


@dataclass(frozen=True)
class RayExecutor:
    """``address`` of a running cluster, or empty for one on this machine."""

    address: str = ""
    workers: int = 0  # 0: all cores of the cluster
    attempts: int = 3

    @property
    def name(self) -> str:
        """Ray."""
        return "ray"

    def perform(self, jobs: Sequence[Job]) -> Generator[tuple[Job, Reply], None, None]:
        """Perform every job; closing the iterator lets go of the cluster."""
        ray = _connect(self.address, self.workers)
        try:
            yield from self._drive(ray, jobs)
        finally:
            ray.shutdown()

    def _drive(self, ray: Any, jobs: Sequence[Job]) -> Iterator[tuple[Job, Reply]]:
        # Retries are counted here, as for local workers, and not a second time by Ray.
        remote = ray.remote(num_cpus=1, max_retries=0)(perform)
        cores = int(ray.cluster_resources().get("CPU", 1))
        width = _AHEAD * (min(self.workers, cores) if self.workers else cores)
        if self.workers and self.address:
            width = self.workers  # a shared cluster: never more at once than was asked for
        waiting = deque((job, 1) for job in jobs)
        flying: dict[Any, tuple[Job, int]] = {}
        while waiting or flying:
            while waiting and len(flying) < width:
                job, attempt = waiting.popleft()
                flying[remote.remote(job)] = (job, attempt)
            (ready, *_), _ = ray.wait(list(flying), num_returns=1)
            job, attempt = flying.pop(ready)
            try:
                reply: Reply = ray.get(ready)
            except ray.exceptions.RayError as error:
                if attempt < self.attempts:
                    waiting.append((job, attempt + 1))
                    continue
                reply = died(attempt, str(error).splitlines()[0])
            yield job, reply.on_attempt(attempt)


def _connect(address: str, workers: int) -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError(
            '--on ray needs Ray, which is not installed: pip install "whatleaks[ray]"'
        ) from None
    if address:
        _answers(address)
    settings: dict[str, Any] = {
        "runtime_env": {"env_vars": ONE_THREAD},
        "log_to_driver": False,
        "logging_level": "ERROR",
    }
    if address:
        ray.init(address=address, **settings)
    else:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent home
        ray.init(num_cpus=workers or None, include_dashboard=False, **settings)
    return ray


def _answers(address: str) -> None:
    """Ask for the cluster from a process that can be given up.

    Ray's own client may wait for minutes and may end its process when nobody answers.
    """
    code = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False)"
    try:
        asked = subprocess.run(
            [sys.executable, "-c", code, address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=ANSWER_WITHIN,
            check=False,
        )
        heard = asked.returncode == 0
    except subprocess.TimeoutExpired:
        heard = False
    if not heard:
        raise UsageError(
            f"--address {address}: no Ray cluster answered within {ANSWER_WITHIN:.0f} s. "
            "Check host and port, or leave --address out to use this machine"
        )
