"""A folder of results has one writer: of two audits into it the second is told so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import whatleaks
from whatleaks.errors import UsageError
from whatleaks.files import alone_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")

HOLDER = """
import sys
from pathlib import Path
from whatleaks.files import alone_in

with alone_in(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_folder_that_another_process_holds_is_refused_until_it_is_gone(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    words = [sys.executable, "-c", HOLDER, str(out)]
    found = os.pathsep.join(filter(None, sys.path))  # the sources under test
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": found},
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match=r"another audit is writing to .*choose another"):
            alone_in(out).__enter__()
        holder.kill()  # a killed one leaves no lock
    with alone_in(out):
        assert list(out.iterdir()) == []


def test_an_audit_does_not_begin_in_a_folder_that_is_written_to(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    frame["y"] = (frame.sum(axis=1) > 0).astype(int)
    with alone_in(tmp_path), pytest.raises(UsageError, match="another audit"):
        whatleaks.audit(frame, "y", ["a"], quick=True, defenses=False, out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_held_where_nothing_is_written() -> None:
    with alone_in(None), alone_in(None):
        pass
