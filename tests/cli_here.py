"""The command line in this process, for tests that need no interpreter of their own.

What a user sees is the same: the words, both streams, the exit code, files below the folder. An
interpreter costs seconds (it loads torch), so one test of each file starts a true one.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from whatleaks.cli import main


@contextmanager
def _told_as_in_a_new_interpreter() -> Iterator[None]:
    """Print every warning that a new interpreter would print, also if it was seen before."""

    def show(message: Any, category: Any, file: str, line: int, *_: Any) -> None:
        sys.stderr.write(warnings.formatwarning(message, category, file, line))

    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter("always")
        for quiet in (DeprecationWarning, PendingDeprecationWarning, ImportWarning):
            warnings.simplefilter("ignore", quiet)
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.showwarning = show
        yield


def run_here(*words: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run ``whatleaks`` with these words in a folder; ``extra`` are variables of the environment."""
    out, err = io.StringIO(), io.StringIO()
    argv, held = sys.argv, dict(os.environ)
    try:
        sys.argv = ["whatleaks", *words]
        os.environ.update(extra)
        with (
            chdir(cwd),
            redirect_stdout(out),
            redirect_stderr(err),
            _told_as_in_a_new_interpreter(),
        ):
            main()
        code: object = 0
    except SystemExit as left:
        code = left.code
    finally:
        sys.argv = argv
        os.environ.clear()
        os.environ.update(held)
    assert isinstance(code, int), f"the command left with {code!r}"
    return subprocess.CompletedProcess(list(words), code, out.getvalue(), err.getvalue())
