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
from dataclasses import dataclass, field
from datetime import date
from html.parser import HTMLParser
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
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
        for at, value in enumerate(tree):
            name = value.get("name") or value.get("column") if isinstance(value, dict) else None
            here = f"{path}.{name if isinstance(name, str) else at}"
            found |= leaves(value, f"{here}#{at}" if here in found else here)
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

TABLE = """
import numpy as np, pandas as pd
rng, n = np.random.default_rng(7), 240
t = pd.DataFrame({"age": rng.integers(18, 80, n), "income": np.round(rng.lognormal(10, 0.5, n), 2)})
t["debt"] = np.round(t.income * rng.uniform(0, 1, n), -1)
t["city"] = rng.choice(["Bonn", "Hof", "Trier"], n, p=[0.5, 0.3, 0.2])
t["member"], t["children"] = rng.choice(["yes", "no"], n), rng.integers(0, 4, n)
score = (t.age - 45) / 20 + np.log(t.income) - 10 - t.debt / t.income + (t.city == "Bonn")
score = score + 0.7 * rng.normal(size=n)
t["loan"] = np.where(score > score.median(), "good", "bad")
t.insert(0, "id", range(n))
t.drop(columns="id").to_csv("people.csv", index=False)
t[["id", "age", "city", "children", "loan"]].to_csv("ours.csv", index=False)
t[["id", "income", "member"]].iloc[::-1].to_csv("bank.csv", index=False)
t[["id", "debt"]].iloc[5:].to_csv("shop.csv", index=False)
"""
GIVEN = """
import pandas as pd, skops.io
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
t = pd.read_csv("people.csv").drop(columns=["city", "member"])
t["trained"] = t.index < 150
x = t.drop(columns=["loan", "trained"])
scale = make_column_transformer((StandardScaler(), list(x.columns)))
model = make_pipeline(scale, LogisticRegression()).fit(x[t.trained], t.loan[t.trained])
skops.io.dump(model, "model.skops")
t.to_csv("marked.csv", index=False)
"""
HELP = """
import contextlib, io, sys
from whatleaks.cli import main
def page(*words):
    sys.argv, text = ["whatleaks", *words, "--help"], io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        main()
    print("==", "whatleaks", *words)
    print(text.getvalue())
    listed = text.getvalue().partition("Commands:")[2].splitlines()
    for line in listed:
        if line[:2] == "  " and line[2:3].strip():
            page(*words, line.split()[0])
page()
"""
VERDICTS = """
import sys
from pathlib import Path
try:
    from whatleaks_lab import check, ledger
except ImportError:
    from whatleaks.papers import check, ledger
known = check.checks()
for path in sorted(Path(sys.argv[1], "results").glob("*/*.json")):
    if path.stem in known:
        entry = ledger.read(path, known[path.stem])
        stale = ledger.stale(entry, known[path.stem])
        print(path.parent.name, path.stem, entry.judgement.verdict.value, stale)
"""


@dataclass(frozen=True)
class Case:
    """Commands in an empty folder, and what is read of what they leave there."""

    commands: tuple[tuple[str, ...], ...]
    read: Callable[[Path], Leaves | list[str]]
    files: Mapping[str, str] = field(default_factory=dict)
    quick: bool = False  # also in the tests


def _people(words: str, **more: Any) -> Case:
    """Return a quick audit of the made table."""
    asked = f"audit people.csv --label loan --passive income,debt,member --quick --out out {words}"
    return Case((("-c", TABLE), _whatleaks(asked)), audit, **more)


def _whatleaks(words: str) -> tuple[str, ...]:
    return ("-m", "whatleaks", *words.split())


def _sweep(*files: str) -> Case:
    """Return sweeps, given as TOML, into one store."""
    runs = [_whatleaks(f"run {at}.toml --store runs.db --workers 1") for at in range(len(files))]
    export = _whatleaks("results --store runs.db --to all.parquet")
    return Case((*runs, export), sweep, {f"{at}.toml": text for at, text in enumerate(files)})


JIANG = """
dataset = "iris"
targets = 40
share = 0.5
references = ["baselines", "limit", "alone", "control"]
attacks = ["equality-solving", "equality-solving-clipped", "gradient-inversion-kl", "gradient-inversion-mse"]
attack_options.steps = 200
[[run]]
[run.sweep]
seed = [1, 2]
[[run]]
dataset = "wine"
defense = "rounding-1"
[[run]]
model = "network"
attacks = ["gradient-inversion-kl"]
measures = ["by-column", "by-steps"]
[[run]]
threat = "black-box-known"
known = 30
attacks = ["shadow-inversion", "shadow-regression", "known-regression"]
"""
LI = """
dataset = "iris"
references = []
[[run]]
data.prepare = "numbers"
unknown = 2
model = "encrypted"
threat = "encrypted-values"
attacks = ["intermediate-recovery", "gram-inversion-known"]
measures = ["relative"]
model_options = {records = 4, fake_columns = -1, epochs = 60, learning_rate = 0.15, key_bits = 512, insecure_test_key = true}
[[run]]
unknown = 2
model = "boost"
threat = "boost-queries"
attacks = ["threshold-search", "threshold-intervals"]
model_options = {records = 100, rounds = 1, key_bits = 512, insecure_test_key = true}
"""
HORIZONTAL = """
kind = "protocol-inversion"
protocol = "horizontal"
dataset = "iris"
columns = 3
records = 4
others = 20
rounds = 100
"""
LUO = """
dataset = "breast-cancer"
targets = 60
share = 0.3
references = ["baselines", "control"]
[[run]]
model = "tree"
threat = "white-box-tree"
attacks = ["path-restriction", "path-restriction-values"]
measures = ["branches"]
[[run]]
model = "forest"
threat = "white-box-forest"
attacks = ["forest-generative-regression"]
model_options.trees = 10
attack_options = {made_up = 500, least_steps = 50}
[[run]]
model = "joint-network"
attacks = ["generative-regression"]
attack_options.least_steps = 50
model_options.steps = 200
[[run]]
attacks = ["equality-solving"]
defense = "rounding-3"
measures = ["correlations"]
"""
VARASTEH = """
dataset = "wine"
targets = 60
unknown = 4
attacks = ["half-star", "nearest-in-range"]
measures = ["bounds", "by-column"]
[[run]]
[run.sweep]
defense = ["", "blurred-weights-25"]
[[run]]
threat = "agnostic-earlier"
attacks = ["agnostic", "agnostic-weighted", "agnostic-refined"]
measures = []
references = ["baselines", "limit"]
"""
YAO = """
dataset = "breast-cancer"
share = 0.5
model = "split"
model_options.steps = 120
threat = "split-hijack"
targets = 60
measures = ["standardised"]
[sweep]
seed = [0]
[[run]]
attacks = ["fsha"]
detector = "splitguard"
[[run]]
attacks = ["urvfl"]
detector = "gradient-scrutinizer"
attack_options.pretraining = 100
[[run]]
threat = "split-query"
attacks = ["embedding-decoder", "embedding-regression", "gia-embeddings"]
attack_options.steps = 60
"""

CASES: dict[str, Case] = {
    "help": Case((("-c", HELP),), printed, quick=True),
    "verdicts": Case((("-c", VERDICTS, "{root}"),), printed, quick=True),
    "pages": Case(
        (_whatleaks("audit iris --quick --by species --out out"), _whatleaks("signoff out")),
        pages,
        quick=True,
    ),
    "linear": _people("--model lr"),
    "network": _people("--model network"),
    "joint-network": _people("--model joint-network --no-defenses"),
    "tree": _people("--model tree", quick=True),
    "forest": _people("--model forest --no-defenses"),
    "boosted": _people("--model boost", quick=True),
    "encrypted": _people("--model encrypted"),
    "encrypted-logistic": _people("--model encrypted-logistic --no-defenses"),
    "split": _people("--model split"),
    "split-hijack": _people("--model split --threat split-hijack --no-defenses"),
    "known": _people("--threat black-box-known --known 20 --compare-defenses", quick=True),
    "label": _people("--protect label"),
    "isolated": _people("--threat black-box,agnostic --isolated --no-defenses"),
    "given": Case(
        (
            ("-c", TABLE),
            ("-c", GIVEN),
            _whatleaks(
                "audit marked.csv --label loan --passive income,debt --model-file model.skops"
                " --training-rows trained --quick --out out"
            ),
        ),
        audit,
    ),
    "parties": Case(
        (
            ("-c", TABLE),
            _whatleaks(
                "audit ours.csv --label loan --passive-file bank.csv --passive-file shop.csv"
                " --id id --inner --categories one-hot --by city --quick --no-defenses --out out"
            ),
        ),
        audit,
    ),
    "jiang": _sweep(JIANG),
    "li": _sweep(LI, HORIZONTAL),
    "luo": _sweep(LUO),
    "varasteh": _sweep(VARASTEH),
    "yao": _sweep(YAO),
}


# --- run


def run(case: Case, root: Path = ROOT) -> Leaves | list[str]:
    """Run a case with the sources of a tree and return what it gives."""
    with tempfile.TemporaryDirectory(prefix="golden-") as home:
        folder = Path(home, "work")
        folder.mkdir()
        for name, text in case.files.items():
            (folder / name).write_text(text, "utf-8")
        extra = {
            "PYTHONPATH": str(root / "src"),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "WHATLEAKS_WORKERS": "1",
            "WHATLEAKS_STATE": home,
            "COLUMNS": "100",
            "NO_COLOR": "1",
        }
        with open(folder / "stdout", "w", encoding="utf-8") as out:
            for words in case.commands:
                command = [sys.executable, *(word.replace("{root}", str(root)) for word in words)]
                done = subprocess.run(
                    command,
                    cwd=folder,
                    env={**os.environ, **extra},
                    stdout=out,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                )
                if done.returncode:
                    last = (done.stderr.strip().splitlines() or [""])[-1]
                    shown = " ".join(words[1:] if words[0] == "-m" else words[:1])
                    raise RuntimeError(f"{shown}: exit code {done.returncode}: {last}")
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
