"""Where a result comes from: the sources behind it, the table, and what it ran on.

The sources of a run are the files that its modules can reach by import statements, wherever
in a file these stand. Parts that are looked up in the catalog by name are no imports: a run
names their modules itself. Only what a type checker reads (``if TYPE_CHECKING``) and the
package's front door (``whatleaks/__init__.py``, which offers names and computes nothing) do
not count.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import hmac
import importlib.util
import os
import platform
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import whatleaks
from whatleaks.runs.work import digest

if TYPE_CHECKING:
    import pandas as pd

HOME = "whatleaks"
_NAMED = 3  # changed modules that a message names
PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "torch", "python-flint")


@dataclass(frozen=True)
class Sources:
    """The files behind a run: sha256 by module name, and one digest over all."""

    digest: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class _File:
    sha256: str
    imports: tuple[tuple[int, str], ...]  # level (0: absolute) and dotted name


_FIRST: dict[Path, str] = {}  # the hash of each file when this process first read it


def sources_of(modules: tuple[str, ...], here: bool = False) -> Sources:
    """Hash the modules and whatever of whatleaks (and of their own packages) they import.

    Files are read once per process and again when they change. What never hashes twice to the
    same, because nobody can say later what it was: a module without a file (a notebook's
    cell), and, if the run is performed ``here`` in this process, a file that was edited after
    this process had loaded it.
    """
    homes = {HOME, *(name.partition(".")[0] for name in modules)}
    files: dict[str, str] = {}
    waiting = [above for name in modules for above in _with_packages(name)]
    with _no_collecting():
        while waiting:
            name = waiting.pop()
            if name in files or name == HOME:
                continue
            path = _path(name)
            if path is not None:
                file = _read(path)
                files[name] = file.sha256
                edited = _FIRST.setdefault(path, file.sha256) != file.sha256
                if here and edited and name in sys.modules:
                    files[name] = f"edited while loaded, {secrets.token_hex(8)}"
                reached = _absolute(name, path, file.imports)
                waiting += [n for n in reached if n.partition(".")[0] in homes]
            elif name in modules:
                files[name] = f"without a file, {secrets.token_hex(8)}"
    files = dict(sorted(files.items()))
    return Sources(digest(files), files)


def changed(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    """Name the modules that are new, gone or different."""
    return tuple(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))


def what_changed(old: Mapping[str, str] | None, new: Mapping[str, str]) -> str:
    """Say on one line which modules changed; the first few by name."""
    if old is None:
        return "nobody knows which"
    names = [name.removeprefix(f"{HOME}.") for name in changed(old, new)]
    told = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{told}{more} changed"


def code() -> dict[str, str]:
    """Return the version and one hash over every source file of the package."""
    home = Path(whatleaks.__file__).parent
    total = hashlib.sha256()
    for path in sorted(home.rglob("*.py")):
        total.update(path.relative_to(home).as_posix().encode())
        total.update(path.read_bytes())
    return {"version": whatleaks.__version__, "sha256": total.hexdigest()}


def table_hash(frame: pd.DataFrame, secret: bytes) -> str:
    """Hash column names, kinds and values, whatever file or frame they came from.

    Without the secret nobody can test a guess at the values against the hash.
    """
    import pandas as pd

    total = hmac.new(secret, digestmod=hashlib.sha256)
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        total.update(f"{name}\0{column.dtype}\0".encode())
        total.update(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())
    return total.hexdigest()


@cache
def environment() -> dict[str, Any]:
    """Return the interpreter, the platform and the versions of what computes; no name, no path."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "whatleaks": whatleaks.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
        "packages": found,
    }


def _absolute(name: str, path: Path, imports: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Turn a file's imports into full names, with the packages above each."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for level, target in imports:
        if level:
            above = package.split(".")[: len(package.split(".")) - level + 1]
            target = ".".join([*above, *([target] if target else [])])
        yield from _with_packages(target)


def _with_packages(name: str) -> Iterator[str]:
    """Return a name and the packages above it, which are run before it."""
    parts = name.split(".")
    yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _path(name: str) -> Path | None:
    """Find a module's file without importing it; None if there is none."""
    top, *below = name.split(".")
    if top == HOME:
        return _own(name)
    loaded = sys.modules.get(top)
    if loaded is not None and not hasattr(loaded, "__path__"):  # a script, a plugin, one file
        file = getattr(loaded, "__file__", None)
        places = [Path(file)] if file else []
    else:
        places = _places(top)
    for place in places:
        found = place if place.is_file() and not below else _in_folder(place, below)
        if found is not None:
            return found
    return None


@cache
def _own(name: str) -> Path | None:
    return _in_folder(Path(whatleaks.__file__).parent, name.split(".")[1:])


def _in_folder(folder: Path, below: list[str]) -> Path | None:
    """Find the file of a module below a package's folder."""
    place = folder.joinpath(*below)
    for path in (place / "__init__.py", place.with_name(f"{place.name}.py")):
        if path.is_file():
            return path
    return None


def _places(top: str) -> list[Path]:
    """Where a top-level package lies, or the file of a top-level module."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return [Path(place) for place in spec.submodule_search_locations]
    return [Path(spec.origin)] if spec.origin else []


def _read(path: Path) -> _File:
    told = path.stat()
    return _parsed(path, told.st_mtime_ns, told.st_size)


@cache
def _parsed(path: Path, changed_at: int, size: int) -> _File:
    """Hash a file and find its imports; time and size only say when to look again."""
    data = path.read_bytes()
    try:
        body = ast.parse(data).body
    except SyntaxError:  # it says so itself when it is imported
        body = []
    found: set[tuple[int, str]] = set()
    for node in _statements(body):
        if isinstance(node, ast.Import):
            found |= {(0, alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            stem = f"{node.module}." if node.module else ""
            found |= {(node.level, stem + alias.name) for alias in node.names}
    return _File(hashlib.sha256(data).hexdigest(), tuple(sorted(found)))


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Go through all statements, however deep, except those for type checkers."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        blocks: tuple[str, ...] = _BLOCKS
        if isinstance(node, ast.If) and _for_type_checkers(node.test):
            blocks = ("orelse",)
        for block in blocks:
            inner = getattr(node, block, None)
            if isinstance(inner, list):
                waiting += inner


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def _for_type_checkers(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return bool(name == "TYPE_CHECKING")


class _no_collecting:
    """Hold the garbage collector off: it takes half of the time that parsing needs."""

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_on:
            gc.enable()
