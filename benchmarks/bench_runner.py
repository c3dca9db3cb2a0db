"""What the runner costs: overhead per run, two workers against one, a warm store, provenance.

    python benchmarks/bench_runner.py [--ray]

Measure on a quiet machine: the second figure needs two free cores.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from whatleaks.metrics.intervals import mean_over_records
from whatleaks.runs.executors import Executor, Job, choose
from whatleaks.runs.executors.worker import perform
from whatleaks.runs.provenance import sources_of
from whatleaks.runs.record import Record
from whatleaks.runs.runner import Silent, Summary, run
from whatleaks.runs.store import Store
from whatleaks.runs.work import name_of, work
from whatleaks.seeds import Streams
from whatleaks.trial.outcome import Outcome

RUNS = 1200  # enough that starting the workers (about half a second) does not count


@work
@dataclass(frozen=True)
class UniformGuess:
    """Guess uniform data by other uniform data; ``targets`` sets how much there is to compute."""

    kind: ClassVar[str] = "uniform-guess"

    targets: int
    seed: int
    label: str = ""

    def identity(self) -> dict[str, Any]:
        """The size and the seed."""
        return {"targets": self.targets, "seed": self.seed}

    def to_dict(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> UniformGuess:
        """Read ``to_dict`` back."""
        return cls(**tree)

    def title(self) -> str:
        """Size and seed."""
        return f"{self.targets} targets, seed {self.seed}"

    def training_key(self) -> str:
        """Nothing is shared."""
        return self.title()

    def modules(self) -> tuple[str, ...]:
        """This file."""
        return (__name__,)

    @classmethod
    def perform_group(
        cls, works: Sequence[UniformGuess], table: bytes | None
    ) -> Iterator[tuple[Outcome, bytes]]:
        """Measure the squared error: 1/6 by theory."""
        for one in works:
            streams = Streams(one.seed)
            truth, guess = (streams.rng(n).uniform(0.0, 1.0, (one.targets, 5)) for n in "ab")
            errors = np.square(guess - truth).mean(axis=1)
            yield Outcome({"error": mean_over_records(errors, "mse", streams.rng("c"))}), b""


class Stopwatch(Silent):
    """Notes when each run was over."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def finished(self, record: Record) -> None:
        """Note the time."""
        assert record.ok, record.traceback
        self.times.append(time.perf_counter())


def works(count: int, targets: int) -> list[UniformGuess]:
    """Runs that differ in their seed."""
    return [UniformGuess(targets, seed) for seed in range(count)]


def timed(runs: list[UniformGuess], executor: Executor, folder: Path) -> tuple[Summary, Stopwatch]:
    """Run in a new store."""
    watch = Stopwatch()
    with Store(Path(tempfile.mkdtemp(dir=folder)) / "r.db") as store:
        return run(runs, store, executor, watch), watch


def overhead(executor: Executor, folder: Path, count: int = 300) -> float:
    """Seconds per run that are not spent in the task, once the worker is up."""
    done, watch = timed(works(count, 20), executor, folder)
    inside = sum(record.seconds for record in done.records[1:] if record)
    return (watch.times[-1] - watch.times[0] - inside) / (count - 1)


def speedup(folder: Path) -> float:
    """Wall time of one worker over that of two, start of the workers included."""
    one, _ = timed(works(RUNS, 1000), choose("local", 1), folder)
    two, _ = timed(works(RUNS, 1000), choose("local", 2), folder)
    return one.seconds / two.seconds


def _bare(seeds: range) -> None:
    for seed in seeds:
        one = UniformGuess(1000, seed)
        list(perform(Job((one,), (name_of(one),))))


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
    runs = works(1000, 2)
    path = folder / "warm.db"
    with Store(path) as store:
        run(runs, store, choose("local", 2))
    start = time.perf_counter()
    with Store(path) as store:
        done = run(runs, store, choose("local", 2))
    assert done.reused == 1000
    return time.perf_counter() - start


def provenance() -> float:
    """Seconds to hash all sources of the package."""
    start = time.perf_counter()
    sources_of()
    return time.perf_counter() - start


def main() -> None:
    """Print the figures with their limits."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"cores {os.cpu_count()}, load before {os.getloadavg()[0]:.2f}")
        print(f"sources, nothing cached: {provenance():.3f} s (limit 0.3)")
        cost = overhead(choose("local", 1, inline=True), folder)
        print(f"overhead, inline: {1000 * cost:.2f} ms a run (limit 20)")
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
