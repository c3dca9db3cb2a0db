"""What the runner costs: overhead per run, two workers against one, a warm store.

    python benchmarks/bench_runner.py [--ray]

Measure on a quiet machine: the second figure needs two free cores.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from whatleaks.experiments.executors import Executor, choose
from whatleaks.experiments.executors.worker import perform
from whatleaks.experiments.record import Record
from whatleaks.experiments.runner import Silent, Summary, run
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.store import Store
from whatleaks.experiments.tasks import prepare

RUNS = 1200  # enough that starting the workers (about half a second) does not count


class Stopwatch(Silent):
    """Notes when each run was over."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def finished(self, record: Record) -> None:
        """Note the time."""
        assert record.ok, record.traceback
        self.times.append(time.perf_counter())


def specs(count: int, targets: int) -> list[Spec]:
    """Runs of the built-in task; ``targets`` sets how much each has to compute."""
    return [Spec("uniform-data", attack="uniform", targets=targets, seed=s) for s in range(count)]


def timed(runs: list[Spec], executor: Executor, folder: Path) -> tuple[Summary, Stopwatch]:
    """Run in a new store."""
    watch = Stopwatch()
    with Store(Path(tempfile.mkdtemp(dir=folder)) / "r.db") as store:
        return run(runs, store, executor, watch), watch


def overhead(executor: Executor, folder: Path, count: int = 300) -> float:
    """Seconds per run that are not spent in the task, once the worker is up."""
    done, watch = timed(specs(count, 20), executor, folder)
    inside = sum(record.seconds for record in done.records[1:] if record)
    return (watch.times[-1] - watch.times[0] - inside) / (count - 1)


def speedup(folder: Path) -> float:
    """Wall time of one worker over that of two, start of the workers included."""
    one, _ = timed(specs(RUNS, 1000), choose("local", 1), folder)
    two, _ = timed(specs(RUNS, 1000), choose("local", 2), folder)
    return one.seconds / two.seconds


def _bare(seeds: range) -> None:
    for seed in seeds:
        perform(prepare(Spec("uniform-data", attack="uniform", targets=1000, seed=seed)))


def control() -> float:
    """The same work in bare processes, no runner: what the machine can give at this moment."""
    context = get_context("spawn")
    seconds = []
    for parts in ([range(RUNS)], [range(RUNS // 2), range(RUNS // 2, RUNS)]):
        start = time.perf_counter()
        processes = [context.Process(target=_bare, args=(part,)) for part in parts]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        seconds.append(time.perf_counter() - start)
    return seconds[0] / seconds[1]


def warm(folder: Path) -> float:
    """Seconds for 1,000 runs that are stored already, from opening the store to the records."""
    runs = specs(1000, 2)
    path = folder / "warm.db"
    with Store(path) as store:
        run(runs, store, choose("local", 2))
    start = time.perf_counter()
    with Store(path) as store:
        done = run(runs, store, choose("local", 2))
    assert done.reused == 1000
    return time.perf_counter() - start


def main() -> None:
    """Print the figures with their limits."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"cores {os.cpu_count()}, load before {os.getloadavg()[0]:.2f}")
        cost = overhead(choose("local", 1), folder)
        print(f"overhead, local, one worker: {1000 * cost:.2f} ms a run (limit 20)")
        if "--ray" in sys.argv[1:]:
            cost = overhead(choose("ray", 1), folder)
            print(f"overhead, Ray, one core: {1000 * cost:.2f} ms a run (limit 20)")
        print(f"1,000 stored runs: {warm(folder):.3f} s (limit 1)")
        for _ in range(3):
            print(
                f"two workers against one, {RUNS} CPU-bound runs: {speedup(folder):.2f} times "
                f"(goal 1.7); two bare processes just after: {control():.2f} times"
            )


if __name__ == "__main__":
    main()
