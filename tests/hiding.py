"""An interpreter from which modules are hidden, as if they had not been installed; its workers too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Every interpreter imports a ``sitecustomize`` when it starts, those of worker processes too.
HOOK = """
import os, sys

HIDDEN = os.environ["HIDDEN_MODULES"].split(",")

class Without:
    def __init__(self, finder):
        self._finder = finder
    def __getattr__(self, name):
        return getattr(self._finder, name)
    def find_spec(self, name, *rest):
        return None if name.partition(".")[0] in HIDDEN else self._finder.find_spec(name, *rest)

sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""


def run_without(modules: Sequence[str], *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with these words in a folder where nobody finds these modules."""
    home = cwd / "hidden"
    home.mkdir(exist_ok=True)
    (home / "sitecustomize.py").write_text(HOOK)
    more = {"PYTHONPATH": str(home), "HIDDEN_MODULES": ",".join(modules)}
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
    )
