"""Shared by all tests: one thread per worker, and where the public data sets lie."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"
if "WHATLEAKS_DATA" not in os.environ and SHARED.is_dir():
    os.environ["WHATLEAKS_DATA"] = str(SHARED)
