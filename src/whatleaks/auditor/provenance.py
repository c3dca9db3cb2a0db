"""Where a result comes from: hashes of the table and of our code, versions of what it ran on."""

from __future__ import annotations

import hashlib
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import whatleaks

if TYPE_CHECKING:
    import pandas as pd

PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "torch", "sf-heu", "phe")


def code() -> dict[str, Any]:
    """Return the version and one hash over every source file of the package."""
    home = Path(whatleaks.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(home.rglob("*.py")):
        digest.update(path.relative_to(home).as_posix().encode())
        digest.update(path.read_bytes())
    return {"version": whatleaks.__version__, "sha256": digest.hexdigest()}


def table_hash(frame: pd.DataFrame) -> str:
    """Hash column names, kinds and values, whatever file or frame they came from."""
    import pandas as pd

    digest = hashlib.sha256()
    for name in frame.columns:
        digest.update(f"{name}\0{frame[name].dtype}\0".encode())
        digest.update(pd.util.hash_pandas_object(frame[name], index=False).to_numpy().tobytes())
    return digest.hexdigest()


def environment() -> dict[str, Any]:
    """Return the interpreter, the platform and the versions of what computes."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "python": sys.version.split()[0],
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": found,
    }
