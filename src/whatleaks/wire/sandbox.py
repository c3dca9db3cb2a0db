"""A fresh interpreter behind walls: it gets bytes on its standard input, and nothing else.

On Linux it sees no files but Python's own, no other process and no network (``wire.walls``).
Where the system gives no such walls it is a process in an empty folder, which can still open
what its user can open; the result says which of the two it was.

Classes that travel must be known there too: those of the package are found by the catalog,
those of others by their home, the module or file that defines them.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import whatleaks
from whatleaks.catalog import FROM_FILE, cards, load_plugin
from whatleaks.errors import IsolationError
from whatleaks.wire.walls import MISSING, STANDING, needed

KEPT = ("PATH", "LANG", "SYSTEMROOT")
# Which of a library's routines run here: others round otherwise, and the same attack would give other last digits.
ROUTINES = ("OPENBLAS_", "MKL_", "BLIS_", "ATEN_", "DNNL_", "ONEDNN_", "NPY_")
SANDBOX, PROCESS = "sandbox", "process"  # how a part was isolated; empty: it was not
WALLS = True  # tests take them away
Home = tuple[str, str, str]
Homes = tuple[Home, ...]
INSIDE = "WHATLEAKS_INSIDE"  # set where a part runs by itself: it starts no other


def command(module: str, function: str, homes: Homes) -> list[str]:
    """Return the command that runs one of our functions in an interpreter of its own.

    Before anything else runs there it puts up its walls and writes whether they stand.
    """
    if os.environ.get(INSIDE):
        raise IsolationError("a part that runs by itself asked for another: guard it by __main__")
    package = Path(whatleaks.__file__).resolve().parent
    seen = [*needed(), str(package), *(file for home in homes for file in _files_of(home))]
    walls = f"enter({seen!r})" if WALLS else f"sys.stdout.buffer.raw.write({MISSING!r})"
    programme = (
        f"import sys; sys.path.insert(0, {str(package.parent)!r}); "
        f"from whatleaks.wire.walls import enter; {walls}; "
        f"from {module} import {function}; {function}()"
    )
    return [sys.executable, "-I", "-c", programme]


def isolation(told: bytes) -> str:
    """Say how a part was isolated, from the first byte that its interpreter wrote."""
    return SANDBOX if told == STANDING else PROCESS


def _files_of(home: Home) -> list[str]:
    """Return what a part of somebody else's needs: its file or package, not what lies beside."""
    name, folder, file = home
    if file:
        return [file]
    if not name:
        return []
    top = Path(folder) / name.partition(".")[0]
    return [str(path) for path in (top, Path(f"{top}.py")) if path.exists()]


def environment() -> dict[str, str]:
    """Return the few variables that an interpreter needs to start."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT or name.startswith(ROUTINES)
    }
    return kept | threads | {INSIDE: "1"}


@dataclass(frozen=True)
class Done:
    """What a function in an interpreter of its own left: exit code, answer, last words."""

    code: int
    answer: bytes
    said: str
    isolated: str


def finished(module: str, function: str, task: bytes, homes: Homes) -> Done:
    """Run a function to its end."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            command(module, function, homes),
            input=task,
            capture_output=True,
            cwd=empty,
            env=environment(),
            check=False,
        )
    said = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
    return Done(done.returncode, done.stdout[1:], said[0], isolation(done.stdout[:1]))


def homes_of(*parts: type) -> Homes:
    """Return where several classes are defined, each place once."""
    return tuple(dict.fromkeys(home_of(part) for part in parts))


def home_of(part: type) -> Home:
    """Return where a class is defined: module, folder to import it from, file of a plugin."""
    name = part.__module__
    if name.split(".")[0] == "whatleaks":
        return "", "", ""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if file is None:
        raise IsolationError(
            f"{part.__name__} is defined at a prompt: to isolate it, write it into a file"
        )
    path = Path(file).resolve()
    if name == "__main__" or name.startswith(FROM_FILE):
        return "", "", str(path)
    up = name.count(".") + (1 if path.name == "__init__.py" else 0)
    return name, str(path.parents[up]), ""


def load_homes(homes: Homes) -> None:
    """Make the package's own classes known, and those of some homes."""
    cards("attack")
    for name, folder, file in homes:
        if file:
            load_plugin(Path(file))
        elif name:
            sys.path.insert(0, folder)
            importlib.import_module(name)
