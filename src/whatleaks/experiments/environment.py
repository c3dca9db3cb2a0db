"""Where a run took place: versions only, no host name and no path."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata

_PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "pandas")


@cache
def environment() -> dict[str, str]:
    """Return the versions of Python, the platform and the packages that make the numbers."""
    import whatleaks

    found = {
        "whatleaks": whatleaks.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
    }
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "absent"
    return found
