"""What an audit costs: processor time and memory of four tables, against the goals.

Run one with ``python benchmarks/bench_audit_cost.py breast-cancer``, or all without a name. Every
audit runs in a process of its own; its processor time is measured, since others may use the
machine too. The last column is the cost over the goal: below 1 it is met. Goals are seconds on
two cores, so the goal of processor time is twice that.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd

# name: rows, columns, seconds on two cores, GiB
GOALS = {
    "breast-cancer": (569, 30, 40, 4.0),
    "2000x500": (2_000, 500, 90, 4.0),
    "2000x5000": (2_000, 5_000, 600, 4.0),
    "1000000x50": (1_000_000, 50, 300, 3.0),
}
CORES = 2


def table(rows: int, columns: int) -> pd.DataFrame:
    """Make columns that go together, and a label that follows some of them."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(rows, 8)).astype(np.float32)
    mixing = rng.normal(size=(8, columns)).astype(np.float32)
    values = hidden @ mixing
    for j in range(columns):  # column by column: a million rows of noise at once are large
        values[:, j] += rng.normal(size=rows).astype(np.float32)
    frame = pd.DataFrame(values, columns=[f"c{j}" for j in range(columns)])
    frame["y"] = (hidden[:, 0] + 0.5 * rng.normal(size=rows) > 0).astype(int)
    return frame


def audit(name: str) -> dict[str, object]:
    """Audit one table here and return what it cost."""
    import whatleaks
    from whatleaks.data.loading import load

    rows, columns, *_ = GOALS[name]
    if name == "breast-cancer":
        dataset = load(name)
        frame, label = dataset.frame, dataset.label
        passive = [str(c) for c in frame.columns if c != label][:15]
    else:
        frame, label = table(rows, columns), "y"
        passive = [f"c{j}" for j in range(columns // 2)]
    start, wall = time.process_time(), time.time()
    result = whatleaks.audit(frame, label, passive, progress=True).result
    return {
        "processor": time.process_time() - start,
        "wall": time.time() - wall,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "phases": result.phases,
    }


def main() -> None:
    """Print a line for each table: cost, goal, ratio, and where the time went."""
    if sys.argv[1:2] == ["--here"]:
        print(json.dumps(audit(sys.argv[2])))
        return
    for name in sys.argv[1:] or GOALS:
        _, _, seconds, memory = GOALS[name]
        done = subprocess.run(
            [sys.executable, __file__, "--here", name], stdout=subprocess.PIPE, check=True
        )
        cost = json.loads(done.stdout)
        print(
            f"{name}: {cost['processor']:.0f} s of processor time (goal {CORES * seconds}, ratio "
            f"{cost['processor'] / (CORES * seconds):.2f}), {cost['memory']:.2f} GiB (goal {memory}, "
            f"ratio {cost['memory'] / memory:.2f}), {cost['wall']:.0f} s on the clock",
            flush=True,
        )
        for phase, spent in list(cost["phases"].items())[:8]:
            print(f"    {phase:<34} {spent:8.1f} s", flush=True)


if __name__ == "__main__":
    main()
