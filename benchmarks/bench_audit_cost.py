"""What an audit costs: processor time and memory of five tables, against the goals.

Run some with ``python benchmarks/bench_audit_cost.py breast-cancer quick``, or all without a name.
Every audit runs in a process of its own with one worker (``--workers 2`` for two); its processor time
is measured, that of its workers too, since others may use the machine. The ratio is the cost over the
goal: below 1 it is met. Goals for large tables are seconds on two cores, so their processor time may
be twice that. ``--seeds 1`` takes about a third of the time, and the goal is not asked of it.

``--csv`` writes the table into a file and audits that from the command line, reading it included.

``--before TREE`` runs the same audits with the sources of another checkout, such as one of an
older commit, and prints both with the ratio. ``--most SECONDS`` ends an audit that takes longer.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

# name: rows, columns, seconds of processor time, GiB
GOALS = {
    "quick": (178, 13, 15, 4.0),
    "breast-cancer": (569, 30, 40, 4.0),
    "2000x500": (2_000, 500, 2 * 90, 4.0),
    "2000x5000": (2_000, 5_000, 2 * 600, 4.0),
    "1000000x50": (1_000_000, 50, 2 * 300, 3.0),
}
SHOWN = 8  # phases


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


def public(name: str) -> pd.DataFrame:
    """Return a set that ships with scikit-learn."""
    from sklearn.datasets import load_breast_cancer, load_wine

    loaded = {"breast-cancer": load_breast_cancer, "quick": load_wine}[name](as_frame=True)
    frame: pd.DataFrame = loaded.frame.rename(columns={"target": "y"})
    return frame


def made(name: str) -> tuple[pd.DataFrame, list[str]]:
    """Return a table and its passive columns."""
    rows, columns, *_ = GOALS[name]
    frame = public(name) if name in ("breast-cancer", "quick") else table(rows, columns)
    return frame, [str(c) for c in frame.columns if c != "y"][: columns // 2]


def phases_here(name: str, workers: int, seeds: int) -> dict[str, float]:
    """Audit one table here and return where the time went."""
    import whatleaks

    frame, passive = made(name)
    options: dict[str, Any] = {"quick": True} if name == "quick" else {"seeds": seeds}
    try:
        found = whatleaks.audit(frame, "y", passive, workers=workers, **options).result
    except TypeError:  # a tree that has no quick look
        found = whatleaks.audit(frame, "y", passive).result
    return getattr(found, "phases", {})


def phases_from_file(name: str, workers: int, seeds: int, file: Path) -> dict[str, float]:
    """Audit a file as a user does and return where the time went."""
    from whatleaks.cli import main as command_line

    names = file.open().readline().strip().split(",")
    passive = [column for column in names if column != "y"][: GOALS[name][1] // 2]
    words = ["audit", str(file), "--label", "y", "--workers", str(workers)]
    words += [word for column in passive for word in ("--passive", column)]
    words += ["--quick"] if name == "quick" else ["--seeds", str(seeds)]
    sys.argv = ["whatleaks", *words, "--out", str(file.with_suffix(""))]
    with redirect_stdout(io.StringIO()), suppress(SystemExit):
        command_line()
    phases: dict[str, float] = json.loads((file.with_suffix("") / "audit.json").read_text())[
        "phases"
    ]
    return phases


def cost_here(name: str, workers: int, seeds: int, file: Path | None) -> dict[str, Any]:
    """Audit one table in this process and return what it cost."""
    wall = time.time()
    phases = (
        phases_here(name, workers, seeds)
        if file is None
        else phases_from_file(name, workers, seeds, file)
    )
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        # imports and the making of the table included
        "processor": sum(one.ru_utime + one.ru_stime for one in used),
        "wall": time.time() - wall,
        "memory": (used[0].ru_maxrss + (workers if workers > 1 else 0) * used[1].ru_maxrss) / 2**20,
        "phases": phases,
    }


def cost_of(name: str, tree: Path, chosen: argparse.Namespace) -> dict[str, Any] | None:
    """Audit in a fresh process with the sources of ``tree``; None: it took too long."""
    asked = ["--workers", str(chosen.workers), "--seeds", str(chosen.seeds)]
    with tempfile.TemporaryDirectory() as folder:
        if chosen.csv:
            made(name)[0].round(4).to_csv(file := Path(folder) / f"{name}.csv", index=False)
            asked += ["--file", str(file)]
        return _in_fresh_process(name, tree, asked, chosen.most)


def _in_fresh_process(
    name: str, tree: Path, asked: Sequence[str], most: float
) -> dict[str, Any] | None:
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--here", name, *asked],
            stdout=subprocess.PIPE,
            check=True,
            env=os.environ | {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"},
            timeout=most,
        )
    except subprocess.TimeoutExpired:
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told(cost: dict[str, Any] | None, most: float) -> str:
    """Write a cost as a cell of the table."""
    if cost is None:
        return f"more than {most:.0f} s on the clock"
    return f"{cost['processor']:.0f} s ({cost['wall']:.0f} on the clock), {cost['memory']:.2f} GiB"


def main() -> None:
    """Print a line for each table: cost, goal, ratio, and where the time went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(GOALS)}; default: all")
    parser.add_argument("--here", choices=list(GOALS))
    parser.add_argument("--file", type=Path, help="with --here: audit this file")
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--most", type=float, default=1200.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.here:
        print(json.dumps(cost_here(chosen.here, chosen.workers, chosen.seeds, chosen.file)))
        return
    for name in chosen.names or GOALS:
        _, _, seconds, memory = GOALS[name]
        now = cost_of(name, Path(__file__).resolve().parents[1], chosen)
        line = f"{name}: {told(now, chosen.most)}, goal {seconds} s, {memory} GiB"
        if now is not None:
            line += f" (ratios {now['processor'] / seconds:.2f}, {now['memory'] / memory:.2f})"
        if chosen.before:
            then = cost_of(name, chosen.before.resolve(), chosen)
            line += f"; before {told(then, chosen.most)}"
            if now is not None and then is not None:
                line += f", {then['processor'] / now['processor']:.1f} times as much"
        print(line, flush=True)
        for phase, spent in list((now or {"phases": {}})["phases"].items())[:SHOWN]:
            print(f"    {phase:<34} {spent:8.1f} s", flush=True)


if __name__ == "__main__":
    main()
