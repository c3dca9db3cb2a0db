"""Figures, words and verdicts that no change may move unless it says so.

A case is a few commands in an empty folder and what is read of the files they leave. What it gave
when it was last recorded stands beside this file, one text file a case, so that git shows what moved.

    make golden                                  all cases
    make golden CASES=linear,help                some of them
    make golden-record WHY="reason" CASES=help   record some anew; the reason goes to CHANGES.md

Libraries and processors add in other orders. Where they are not those that recorded a case, the
commit that recorded it runs here too and its figures are compared instead.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from html.parser import HTMLParser
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INPUTS = HERE / "inputs"
CHANGES = HERE / "CHANGES.md"
NEAR = 1e-12  # sums in another order; what is below is an exact attack's rest
SHOWN = 20  # lines of a case's differences

# Not figures of the data: where, when, by what. Words are in the snapshots of pages and help.
OTHER = {"seconds", "created", "phases", "command", "spec", "table", "code", "environment"}
# A digest holds these together: they are many, and a base run says which one moved.
MANY = re.compile(r"^(threats\.\S+?\.findings\.[^.]+)\.(?!adds$)|^(defenses\.[^.]+\.columns)\.")
MASKS = (
    (r"\d{4}-\d\d-\d\d(T[0-9:+]+)?|\d+ [A-Z][a-z]+ \d{4}(, \d\d:\d\d UTC)?", "DATE"),
    (r"under 1 second|\b\d+(\.\d+)? (s|seconds?|minutes?|min)\b", "TIME"),
    (r"\b[0-9a-f]{12,64}\b", "HASH"),
    (r'\{"numpy": .*\}', "PACKAGES"),
    (r"\b\d+\.\d+\.\d+(\.dev\d+|\+cpu|b\d+)?", "VERSION"),
    (r"(Linux|Darwin|Windows)[ \w.-]*|\b\d+ cores?\b", "MACHINE"),
    (r"/\S*/(golden-\w+)", "FOLDER"),
)

Leaves = dict[str, Any]


class NotHere(Exception):
    """A case that cannot be compared on this machine, and why."""


# --- what is read of the files that a command leaves


def leaves(tree: Any, path: str = "") -> Leaves:
    """Flatten plain JSON: things in lists by their names, measurements as one line each."""
    if isinstance(tree, dict) and {"value", "low", "high", "n"} <= tree.keys():
        return {path: [tree[key] for key in ("value", "low", "high", "n")]}
    found: Leaves = {}
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key not in OTHER:
                found |= leaves(value, f"{path}.{key}".lstrip("."))
    elif isinstance(tree, list):
        names: list[str] = []
        for at, value in enumerate(tree):
            name = value.get("name") or value.get("column") if isinstance(value, dict) else None
            names.append(name if isinstance(name, str) and name not in names else str(at))
            found |= leaves(value, f"{path}.{names[-1]}")
        found[f"{path}.count"] = len(tree)
    elif not (isinstance(tree, str) and " " in tree):
        found[path] = tree
    return found


def audit(folder: Path) -> Leaves:
    """Return the figures of an audit."""
    return leaves(json.loads((folder / "out" / "audit.json").read_text("utf-8")))


def sweep(folder: Path) -> Leaves:
    """Return the figures of a sweep's runs, by what was run."""
    found: Leaves = {}
    frame = pd.read_parquet(folder / "all.parquet").astype(object)
    for row in frame.where(frame.notna(), None).to_dict("records"):
        parts = ("dataset", "model", "threat", "defense", "detector", "seed", "quantity")
        names = [str(row.get(part)) for part in parts if row.get(part) not in (None, "")]
        numbers = [row[key] for key in ("value", "low", "high", "n", "text")]
        found[" / ".join(names)] = [row["status"], *numbers]
    return found


class _Text(HTMLParser):
    """The words of a page, one piece a line."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.silent += tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if data.strip() and not self.silent:
            self.lines.append(" ".join(data.split()))


def pages(folder: Path) -> list[str]:
    """Return what an audit prints, its report and its page to sign, without times and versions."""
    lines = ["== terminal", *(folder / "stdout").read_text("utf-8").splitlines()]
    for name in ("report.html", "signoff.html"):
        text = _Text()
        text.feed((folder / "out" / name).read_text("utf-8"))
        lines += [f"== {name}", *text.lines]
    for pattern, mask in MASKS:
        lines = [re.sub(pattern, mask, line) for line in lines]
    return [line.rstrip() for line in lines]


def printed(folder: Path) -> list[str]:
    """Return what the commands printed."""
    return (folder / "stdout").read_text("utf-8").splitlines()


# --- the cases


@dataclass(frozen=True)
class Case:
    """What to read of what commands leave in an empty folder: ``whatleaks`` words, or a file of inputs/."""

    read: Callable[[Path], Leaves | list[str]]
    commands: tuple[str, ...]
    quick: bool = False  # also in the tests


QUICK = "--quick --out out"


def people(words: str, quick: bool = False) -> Case:
    """Return an audit of the made table."""
    asked = f"audit people.csv --label loan --passive income,debt,member {QUICK} {words}"
    return Case(audit, ("tables.py", asked), quick)


def paper(*files: str) -> Case:
    """Return sweeps whose runs go to one store."""
    runs = [f"run {{inputs}}/{name} --store runs.db --workers 1" for name in files]
    return Case(sweep, (*runs, "results --store runs.db --to all.parquet"))


CASES: dict[str, Case] = {
    "help": Case(printed, ("help.py",), quick=True),
    "verdicts": Case(printed, ("verdicts.py {root}",), quick=True),
    "pages": Case(pages, ("audit iris --quick --by species --out out", "signoff out"), quick=True),
    "linear": people("--model lr"),
    "network": people("--model network"),
    "joint-network": people("--model joint-network --no-defenses"),
    "tree": people("--model tree", quick=True),
    "forest": people("--model forest --no-defenses"),
    "boosted": people("--model boost", quick=True),
    "encrypted": people("--model encrypted"),
    "encrypted-logistic": people("--model encrypted-logistic --no-defenses"),
    "split": people("--model split"),
    "split-hijack": people("--model split --threat split-hijack --no-defenses"),
    "known": people("--threat black-box-known --known 20 --compare-defenses", quick=True),
    "label": people("--protect label"),
    "isolated": people("--threat black-box,agnostic --isolated --no-defenses"),
    "given": Case(
        audit,
        (
            "tables.py",
            "given.py",
            "audit marked.csv --label loan --passive income,debt --model-file model.skops"
            f" --training-rows trained {QUICK}",
        ),
    ),
    "parties": Case(
        audit,
        (
            "tables.py",
            "audit ours.csv --label loan --passive-file bank.csv --passive-file shop.csv --id id"
            f" --inner --categories one-hot --by city --no-defenses {QUICK}",
        ),
    ),
    "jiang": paper("jiang.toml"),
    "li": paper("li.toml", "li-horizontal.toml"),
    "luo": paper("luo.toml"),
    "varasteh": paper("varasteh.toml"),
    "yao": paper("yao.toml"),
}


# --- run


def run(case: Case, root: Path = ROOT) -> Leaves | list[str]:
    """Run a case with the sources of a tree and return what it gives."""
    with tempfile.TemporaryDirectory(prefix="golden-") as home:
        folder = Path(home, "work")
        folder.mkdir()
        surroundings = {
            **os.environ,
            "PYTHONPATH": str(root / "src"),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "WHATLEAKS_WORKERS": "1",
            "WHATLEAKS_STATE": home,
            "COLUMNS": "100",
            "NO_COLOR": "1",
        }
        with open(folder / "stdout", "w", encoding="utf-8") as out:
            for command in case.commands:
                words = command.format(root=root, inputs=INPUTS).split()
                script = words[0].endswith(".py")
                words[:1] = [str(INPUTS / words[0])] if script else ["-m", "whatleaks", words[0]]
                done = subprocess.run(
                    [sys.executable, *words],
                    cwd=folder,
                    env=surroundings,
                    stdout=out,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                )
                if done.returncode:
                    last = (done.stderr.strip().splitlines() or [""])[-1]
                    raise RuntimeError(f"{command}: exit code {done.returncode}: {last}")
        return case.read(folder)


def environment() -> dict[str, Any]:
    """Say what adds numbers up here: libraries, linear algebra, the processor's instructions."""
    versions: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine()}
    for name in ("numpy", "scipy", "scikit-learn", "torch", "pandas", "typer"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    config: Any = np.show_config(mode="dicts")
    blas = config["Build Dependencies"]["blas"]
    versions["blas"] = f"{blas['name']} {blas['version']}"
    versions["simd"] = " ".join(config["SIMD Extensions"].get("found", []))
    return versions


# --- compare


def digest(figures: Mapping[str, Any]) -> str:
    """Hold many figures together; where this moves, a run of the base tells whether they did."""
    rounded = [
        [path, [round(x, 12) and f"{x:.11g}" if isinstance(x, float) else x for x in _list(value)]]
        for path, value in sorted(figures.items())
    ]
    text = json.dumps(rounded).encode()
    return f"{len(figures)} figures, {hashlib.sha256(text).hexdigest()[:16]}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def short(figures: Leaves) -> Leaves:
    """Keep the figures that people read; hold the others together."""
    kept: Leaves = {}
    many: dict[str, Leaves] = {}
    for path, value in figures.items():
        found = MANY.match(path)
        if found:
            many.setdefault(found[1] or found[2], {})[path] = value
        else:
            kept[path] = value
    return kept | {f"{name}.digest": digest(values) for name, values in many.items()}


def same(before: Any, after: Any) -> bool:
    """Say whether two figures are one: words and counts equal, others up to the order of sums."""
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return all(same(a, b) for a, b in zip(before, after, strict=True))
    if isinstance(before, float) and isinstance(after, float):
        both = math.isnan(before) and math.isnan(after)
        return both or math.isclose(before, after, rel_tol=NEAR, abs_tol=NEAR)
    return bool(before == after) and type(before) is type(after)


def differences(before: Leaves | list[str], after: Leaves | list[str]) -> list[str]:
    """Return lines that say what moved: place, before, after; or both texts' lines."""
    if isinstance(before, list) or isinstance(after, list):
        return [
            line
            for line in difflib.unified_diff(list(before), list(after), lineterm="", n=0)
            if not line.startswith(("---", "+++", "@@"))
        ]
    found = []
    for path in dict.fromkeys([*before, *after]):
        old, new = before.get(path, "nothing"), after.get(path, "nothing")
        if not same(old, new):
            found.append(f"{path}: {_brief(old)} -> {_brief(new)}")
    return found


def _brief(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 120 else text[:117] + "..."


# --- keep


def stored(name: str) -> tuple[dict[str, Any], Leaves | list[str]]:
    """Return the environment that recorded a case, and what it gave there."""
    path = HERE / f"{name}.txt"
    if not path.is_file():
        raise NotHere(f'nothing is recorded yet: make golden-record WHY="..." CASES={name}')
    head, *lines = path.read_text("utf-8").splitlines()
    if CASES[name].read in (pages, printed):
        return json.loads(head), lines
    pairs = (line.split(" = ", 1) for line in lines)
    return json.loads(head), {key: json.loads(value) for key, value in pairs}


def record(name: str) -> None:
    """Run a case and keep what it gives."""
    found = run(CASES[name])
    if isinstance(found, dict):
        lines = [f"{path} = {json.dumps(value)}" for path, value in sorted(short(found).items())]
    else:
        lines = found
    text = "\n".join([json.dumps(environment()), *lines])
    (HERE / f"{name}.txt").write_text(text + "\n", "utf-8")


@contextmanager
def base_of(name: str) -> Iterator[Path]:
    """Check out the commit that last recorded a case, beside this tree."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise NotHere(f"the commit that recorded it is not at hand: {done.stderr.strip()}")
        return done.stdout.strip()

    commit = git("log", "-1", "--format=%H", "--", str(HERE / f"{name}.txt"))
    if not commit:
        raise NotHere("what is recorded is not committed yet")
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        tree = Path(folder, "base")
        git("worktree", "add", "--detach", "--force", str(tree), commit)
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def compare(name: str) -> list[str]:
    """Return what a case gives otherwise than recorded; ``NotHere`` if that cannot be said."""
    recorded, before = stored(name)
    try:
        after = run(CASES[name])
    except RuntimeError as error:
        return [f"it no longer runs: {error}"]
    if recorded == environment():
        moved = differences(before, short(after) if isinstance(after, dict) else after)
        if not moved or not any(".digest: " in line for line in moved):
            return moved
    else:
        moved = None
    try:
        with base_of(name) as tree:
            return differences(run(CASES[name], tree), after)
    except (RuntimeError, NotHere) as error:
        if moved is None:
            other = [key for key, x in environment().items() if recorded.get(key) != x]
            raise NotHere(
                f"recorded with other {', '.join(other)}, and not run here by the base: {error}"
            ) from None
        return moved


def note(names: Iterable[str], why: str) -> None:
    """Say in CHANGES.md what was recorded anew and why; a case that is gone loses its file."""
    said = []
    for name in names:
        said.append(name if name in CASES else f"{name} (removed)")
        if name not in CASES:
            (HERE / f"{name}.txt").unlink()
    if said:
        with open(CHANGES, "a", encoding="utf-8") as file:
            file.write(f"| {date.today()} | {', '.join(said)} | {why} |\n")


def main() -> int:
    """Compare or record cases, two at a time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="?", default="", help="names with commas between; all")
    parser.add_argument("--record", metavar="WHY", help="keep what they give now")
    asked = parser.parse_args()
    names = [name for name in asked.cases.split(",") if name] or list(CASES)
    gone = [name for name in names if name not in CASES]
    if any(not (asked.record and (HERE / f"{name}.txt").is_file()) for name in gone):
        parser.error(f"no such case: {', '.join(gone)}; there are {', '.join(CASES)}")
    if asked.record is not None and not asked.record.strip():
        parser.error('say why: make golden-record WHY="..." CASES=...')

    def one(name: str) -> tuple[str, list[str], float]:
        start = time.monotonic()
        lines: list[str] = []
        try:
            if asked.record:
                record(name)
            else:
                lines = compare(name)
            word = "recorded" if asked.record else "DIFFERS" if lines else "equal"
        except NotHere as error:
            word = f"cannot be compared here: {error}"
        except RuntimeError as error:
            word, lines = "FAILS", [str(error)]
        return word, lines, time.monotonic() - start

    bad: list[str] = []
    todo = [name for name in names if name in CASES]
    with ThreadPoolExecutor(2) as pool:
        for name, (word, lines, seconds) in zip(todo, pool.map(one, todo), strict=True):
            print(f"{name:20}{word}  ({seconds:.0f} s)", flush=True)
            bad += [name] if lines else []
            for line in lines[:SHOWN]:
                print(f"    {line}")
            if len(lines) > SHOWN:
                print(f"    and {len(lines) - SHOWN} more")
    if asked.record:
        note([name for name in names if name not in bad], asked.record)
    else:
        print(f"{len(todo) - len(bad)} of {len(todo)} without a difference")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
