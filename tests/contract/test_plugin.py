"""A package from outside brings one part of each kind, and nothing of whatleaks is touched.

It is installed apart, into a folder that only these tests put on the path.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli_here import run_here

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tests" / "plugin_package"
PARTS = {
    "attacks": "example-follow-score",
    "defenses": "example-steps-4",
    "detectors": "example-long-answers",
    "threats": "example-trained-with",
    "federations": "example-nearest",
}
QUICK = ("--label", "y", "--passive", "c,d", "--quick", "--targets", "30")


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package from a copy: building leaves files behind."""
    source, target = (tmp_path_factory.mktemp(name) for name in ("source", "installed"))
    shutil.copytree(PACKAGE, source, dirs_exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


def run(
    installed: Path, *words: str, cwd: Path, tests: bool = False
) -> subprocess.CompletedProcess[str]:
    path = [str(ROOT / "src"), str(installed)]
    path += [str(ROOT / "tests")] if tests else []
    return subprocess.run(
        [sys.executable, "-m", *words],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "COLUMNS": "80"},
        check=False,
    )


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((120, 4)).round(4), columns=["a", "b", "c", "d"])
    frame["y"] = np.where(frame.a + frame.c > 1.0, "yes", "no")
    path = tmp_path_factory.mktemp("table") / "t.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("kind", PARTS)
def test_it_is_in_the_listings_when_it_is_installed(
    kind: str, installed: Path, tmp_path: Path
) -> None:
    assert PARTS[kind] in run(installed, "whatleaks", kind, cwd=tmp_path).stdout
    listed = run_here(kind, cwd=tmp_path, COLUMNS="80")  # here it is not installed
    assert listed.returncode == 0
    assert PARTS[kind] not in listed.stdout


def test_an_audit_tries_the_attack_and_the_defense_on_the_federation_under_the_threat(
    installed: Path, table: Path, tmp_path: Path
) -> None:
    flags = ("--model", PARTS["federations"], "--threat", PARTS["threats"], "--workers", "2")
    done = run(installed, "whatleaks", "audit", str(table), *QUICK, *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "audit-report" / "audit.json").read_text())
    (threat,) = result["threats"]
    assert threat["name"] == PARTS["threats"]
    assert "which records trained the model" in threat["sentence"]
    assert threat["federation"] == PARTS["federations"]
    attacks = [found["name"] for found in threat["findings"] if found["role"] == "attack"]
    assert PARTS["attacks"] in attacks
    assert PARTS["defenses"] in [found["name"] for found in result["defenses"]]


def test_an_audit_lets_the_detector_watch(installed: Path, table: Path, tmp_path: Path) -> None:
    flags = ("--threat", "split-hijack", "--quick")
    done = run(installed, "whatleaks", "audit", str(table), *QUICK, *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "audit-report" / "audit.json").read_text())
    detector = next(d for d in result["defenses"] if d["name"] == PARTS["detectors"])
    assert "halted the hijacker" in detector["remark"]


def test_an_audit_isolates_the_attack(installed: Path, table: Path, tmp_path: Path) -> None:
    flags = ("--threat", "black-box", "--isolated", "--quick", "--no-defenses")
    done = run(installed, "whatleaks", "audit", str(table), *QUICK, *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "audit-report" / "audit.json").read_text())
    found = next(
        f for t in result["threats"] for f in t["findings"] if f["name"] == PARTS["attacks"]
    )
    assert found["isolated"]


def test_its_parts_keep_the_contract(installed: Path) -> None:
    contract = str(ROOT / "tests" / "contract" / "test_catalog.py")
    words = ("pytest", "-vv", "-p", "no:cacheprovider", "-p", "no:xdist", contract, "-k", "example")
    done = run(installed, *words, cwd=ROOT, tests=True)
    assert done.returncode == 0, done.stdout
    for name in PARTS.values():  # listed, described, audited, and its kind's own test
        passed = [line for line in done.stdout.splitlines() if name in line and "PASSED" in line]
        assert len(passed) >= 4, done.stdout
