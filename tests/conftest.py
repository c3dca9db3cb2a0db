"""Shared by all tests: one thread per worker, where the public data sets lie, and what an extra brings."""

from __future__ import annotations

import atexit
import os
import random
import re
import secrets
import shutil
import tempfile
import tomllib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from whatleaks.errors import ExtraError
from whatleaks.extras import MODULES

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("WHATLEAKS_WORKERS", "1")  # there are as many tests at once as cores
# A busy machine is no failure: tests say how many cases, never how fast.
# The same cases every time, so that a commit is green or red; WHATLEAKS_SEARCH=1 looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("search" if os.environ.get("WHATLEAKS_SEARCH") else "same")


def pytest_sessionstart() -> None:
    """Stop in one line where entry points have changed since the package was installed here."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    for group, entries in project["project"]["entry-points"].items():
        if not entries.keys() <= metadata.entry_points(group=group).names:
            pytest.exit(
                f"the entry points {group} are not installed: "
                "run .venv/bin/python -m pip install --no-deps --editable .",
                returncode=3,
            )


# The longest files, longest first: a worker that took one of them last would work alone at the end.
LONG = (
    "test_docs.py",
    "test_catalog.py",
    "test_plugin.py",
    "test_withholding_defenses.py",
    "test_commands.py",
    "test_what_joining_adds.py",
    "test_executors.py",
    "test_one_rule.py",
    "test_claims_and_sweeps.py",
    "test_nasty_tables.py",
    "test_runner.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the longest files; ``make test`` hands files out in this order."""
    place = {name: at for at, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONG)))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Draw the same masks, shares and secrets in a test every time, unless new ones are looked for."""
    if os.environ.get("WHATLEAKS_SEARCH"):
        return
    drawn = random.Random(item.nodeid)
    for name, way in (
        ("_sysrand", drawn),
        ("token_bytes", lambda count=None: drawn.randbytes(32 if count is None else count)),
        ("randbits", drawn.getrandbits),
        ("randbelow", drawn.randrange),
        ("choice", drawn.choice),
    ):
        setattr(secrets, name, way)


# Where an extra or a library of the tests alone is not installed, the tests that need it are left out: a
# file that imports it at its top, and a test in which the package says that it needs it.
OPTIONAL = {*(m for some in MODULES.values() for m in some), "xgboost", "lightgbm", "safetensors"}
ABSENT = {module for module in {*OPTIONAL, "skl2onnx"} if find_spec(module) is None}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave a file out that imports at its top what is not installed."""
    if not ABSENT or collection_path.suffix != ".py":
        return None
    imports = re.findall(r"^(?:import|from) (\w+)", collection_path.read_text(), re.M)
    return True if ABSENT.intersection(imports) else None


@contextmanager
def skipped_without_extras() -> Iterator[None]:
    """Skip a test that reaches for something which is not installed."""
    try:
        yield
    except ExtraError as error:
        pytest.skip(str(error))
    except ModuleNotFoundError as error:
        if error.name not in ABSENT:
            raise
        pytest.skip(f"{error.name} is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, object, object]:
    """Skip where a fixture needs an extra."""
    with skipped_without_extras():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Skip where the test itself does."""
    with skipped_without_extras():
        return (yield)


if "WHATLEAKS_STATE" not in os.environ:  # the user's own secret is none of the tests' business
    os.environ["WHATLEAKS_STATE"] = tempfile.mkdtemp(prefix="whatleaks-state-")
    atexit.register(shutil.rmtree, os.environ["WHATLEAKS_STATE"], ignore_errors=True)

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"
if "WHATLEAKS_DATA" not in os.environ and SHARED.is_dir():
    os.environ["WHATLEAKS_DATA"] = str(SHARED)
