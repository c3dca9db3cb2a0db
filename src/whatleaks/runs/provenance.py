"""Where a result comes from: the sources behind it, the table, and what it ran on.

The sources of a run are one hash: all of whatleaks, and of the packages or files that others'
modules are in. Any change there, and stored results are made again.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import os
import platform
import secrets
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import whatleaks

if TYPE_CHECKING:
    import pandas as pd

HOME = "whatleaks"
PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "torch", "python-flint")

_FIRST: dict[tuple[str, ...], str] = {}  # the hash of packages when this process first read them


def packages_of(modules: Iterable[str]) -> tuple[str, ...]:
    """Name whatleaks and the top-level packages that some modules are in."""
    return tuple(sorted({HOME, *(name.partition(".")[0] for name in modules)}))


def sources_of(packages: tuple[str, ...] = (HOME,), here: bool = False) -> str:
    """Hash all sources of some packages.

    What never hashes twice to the same, because nobody can say later what it was: a module
    without a file (a notebook's cell), and, if the run is performed ``here`` in this process,
    files that were edited after this process had read them.
    """
    total = hashlib.sha256()
    for package in packages:
        files = _files(package)
        if not files:
            return f"without a file, {secrets.token_hex(8)}"
        for name, path in files:
            told = path.stat()
            total.update(
                f"{package} {name} {_sha256(path, told.st_mtime_ns, told.st_size)}\0".encode()
            )
    digest = total.hexdigest()
    if here and _FIRST.setdefault(packages, digest) != digest:
        return f"edited while loaded, {secrets.token_hex(8)}"
    return digest


def code() -> dict[str, str]:
    """Return the version and one hash over every source file of the package."""
    return {"version": whatleaks.__version__, "sha256": sources_of()}


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


def _files(top: str) -> list[tuple[str, Path]]:
    """Return the files of a top-level package, a script, a plugin or one file, and their names."""
    loaded = sys.modules.get(top)
    if loaded is not None and not hasattr(loaded, "__path__"):
        file = getattr(loaded, "__file__", None)
        return [(top, Path(file))] if file else []
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [(top, Path(spec.origin))] if spec.origin else []
    return sorted(
        (path.relative_to(place).as_posix(), path)
        for place in spec.submodule_search_locations
        for path in Path(place).rglob("*.py")
    )


@cache
def _sha256(path: Path, changed_at: int, size: int) -> str:
    """Hash a file; time and size only say when to look again."""
    del changed_at, size
    return hashlib.sha256(path.read_bytes()).hexdigest()
