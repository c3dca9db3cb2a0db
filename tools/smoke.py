"""Try the wheel where nobody has tried it: other Pythons, empty environments, the lowest versions allowed.

For each Python that this machine has besides the running one, and once for the running one with
the lowest versions that pyproject.toml allows: the core is installed from the wheel into an empty
environment, its size is checked, a public table and a CSV file are audited, an encrypted training
too, and the tests that need nothing but the core run. A Python that is missing is a line, no failure.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
LOWEST = "lowest"  # the running Python with the lowest versions that pyproject.toml allows
DOWNLOAD, DISK = 200, 700  # megabytes that the core may take
# Unit tests of what other versions of the libraries change first: tables, learners, ciphers, pages.
# Those that need an extra skip themselves.
TESTED = (
    "adapters_scikit", "boosted_trees", "ciphers", "codec", "crypto_*", "data_*", "grids", "intervals",
    "linear_attacks", "modular", "report_*", "stats_*", "stored_audits", "table_files",
    "words_and_numbers",
)  # fmt: skip


def main() -> None:
    """Make every trial that can be made here; leave with 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these, such as 3.12 or lowest; else all")
    parser.add_argument("--no-tests", action="store_true", help="leave the unit tests out")
    options = parser.parse_args()
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        wheel = build(work)
        (work / "lowest.txt").write_text(lowest_versions())

        def trial(name: str) -> bool:
            python, how = sys.executable if name == LOWEST else find(name), []
            if name == LOWEST:
                how = ["-c", str(work / "lowest.txt")]
            if python is None:
                print(f"smoke: Python {name} is not on this machine: skipped", flush=True)
                return True
            return attempt(name, python, wheel, work / name, how, not options.no_tests)

        names = options.names or [*(v for v in PYTHONS if v != own), LOWEST]
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            failed = [
                n for n, fine in zip(names, threads.map(trial, names), strict=True) if not fine
            ]
    if failed:
        sys.exit(f"smoke: failed: {', '.join(failed)}")


def find(version: str) -> str | None:
    """Return an interpreter of this version that starts: from the path, else from pyenv's folder."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [shutil.which(f"python{version}")]
    found += [str(path) for path in sorted(pyenv.glob(f"versions/{version}.*/bin/python"))]
    for python in filter(None, found):
        if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
            return python
    return None


def build(work: Path) -> Path:
    """Build the wheel that a user would get."""
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(work), str(ROOT)])
    return next(work.glob("*.whl"))


def project() -> dict[str, Any]:
    """Return what pyproject.toml says of the project."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def lowest_versions() -> str:
    """Turn every ``name>=version`` of the core into ``name==version``."""
    wanted = project()["dependencies"]
    lines = [re.sub(r"^([\w.-]+)(\[.*\])?>=([\w.]+).*$", r"\1==\3", one) for one in wanted]
    return "\n".join(line for line in lines if "==" in line) + "\n"


def attempt(name: str, python: str, wheel: Path, work: Path, how: list[str], tests: bool) -> bool:
    """Do all that a new user does, and print what it took; False if anything failed."""
    started = time.monotonic()
    work.mkdir()
    try:
        facts = install(python, wheel, work, how)
        facts += audits(work)
        if tests:
            facts += core_tests(work, how)
    except (subprocess.CalledProcessError, AssertionError) as error:
        printed = f"{getattr(error, 'stdout', '')}{getattr(error, 'stderr', '')}"
        print(f"smoke: {name}: FAILED: {error}\n{printed[-3000:]}", flush=True)
        return False
    seconds = time.monotonic() - started
    print(f"smoke: {name}: {', '.join(facts)}; {seconds:.0f} s in all", flush=True)
    return True


def install(python: str, wheel: Path, work: Path, how: list[str]) -> list[str]:
    """Fetch the core's wheels, install them into an empty environment, and weigh both."""
    run([python, "-m", "venv", str(work / "env")])
    pip = [str(work / "env/bin/python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    fetched = work / "fetched"
    run([*pip, "download", *how, "--only-binary", ":all:", "-d", str(fetched), str(wheel)])
    download = megabytes(fetched)
    assert download <= DOWNLOAD, f"the core fetches {download:.0f} MB, allowed are {DOWNLOAD}"
    run([*pip, "install", *how, "--no-index", "--find-links", str(fetched), str(wheel)])
    disk = megabytes(work / "env")
    assert disk <= DISK, f"the core takes {disk:.0f} MB on disk, allowed are {DISK}"
    return [f"{download:.0f} MB fetched", f"{disk:.0f} MB on disk"]


def audits(work: Path) -> list[str]:
    """Audit a public table, an encrypted training on it and a CSV file, with the core alone."""
    draw = random.Random(1)
    lines = ["age,income,deposit,default"]
    for _ in range(200):
        age, income = draw.randint(18, 90), round(draw.lognormvariate(7, 0.4), 2)
        deposit = round(draw.gammavariate(2, 3000), 2)
        lines.append(f"{age},{income},{deposit},{'yes' if age * 60 + deposit > 9000 else 'no'}")
    (work / "loans.csv").write_text("\n".join(lines) + "\n")
    own = ["loans.csv", "--label", "default", "--passive", "income,deposit"]
    facts = []
    for name, words in (
        ("wine", ["wine"]),
        ("encrypted", ["wine", "--threat", "encrypted"]),
        ("CSV", own),
    ):
        started = time.monotonic()
        out = work / f"report-{name}"
        run([str(work / "env/bin/whatleaks"), "audit", *words, "--quick", "--out", str(out)], work)
        assert (out / "report.html").stat().st_size > 10_000
        facts.append(f"{name} audited in {time.monotonic() - started:.0f} s")
    return facts


def core_tests(work: Path, how: list[str]) -> list[str]:
    """Add the test runner and run the unit tests; those that need an extra skip themselves."""
    python = str(work / "env/bin/python")
    wanted = project()["optional-dependencies"]["dev"]
    tools = [one for one in wanted if re.match("pytest|hypothesis|mpmath", one)]
    run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *how, *tools])
    unit = ROOT / "tests" / "unit"
    chosen = {path for name in TESTED for path in unit.glob(f"test_{name}.py")}
    left = [f"--ignore={path}" for path in unit.glob("test_*.py") if path not in chosen]
    done = run([python, "-m", "pytest", str(unit), *left, "-p", "no:cacheprovider"], ROOT)
    return [done.stdout.strip().splitlines()[-1].strip("= ")]


def megabytes(folder: Path) -> float:
    """Return the size of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def run(words: list[str], where: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what it printed is in the error if it fails."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(words, cwd=where, env=kept, capture_output=True, text=True, check=True)


if __name__ == "__main__":
    main()
