"""Without an extra: what needs it is left out and named, and nothing else changes."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditing import audited as audited_here
from hiding import run_without
from whatleaks.auditor.spec import AuditSpec
from whatleaks.extras import MODULES

ROOT = Path(__file__).resolve().parents[2]
LINUX = ("fcntl", "resource", "termios", "pwd", "grp")
LINUX_CALLS = ("fork", "getuid", "geteuid", "sched_getaffinity", "O_DIRECTORY", "register_at_fork")
NETWORKS = "Not tried here: needs whatleaks[networks]: {}."


def made(folder: Path) -> Path:
    """Write a table whose label follows two columns of either party."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.random((160, 5)).round(3), columns=["a", "b", "p", "q", "r"])
    frame["y"] = (frame["a"] + frame["p"] + 0.2 * rng.random(160) > 1.1).astype(int)
    frame.to_csv(folder / "table.csv", index=False)
    return folder / "table.csv"


@cache
def audited(
    folder: Path, model: str, *hidden: str, flags: tuple[str, ...] = ()
) -> tuple[dict[str, Any], str, str]:
    """Audit the table on two workers; return audit.json, what was printed, and the page."""
    table, out = made(folder), folder / "-".join(("out", model, *hidden))
    words = ("--label", "y", "--passive", "p,q,r", "--model", model, "--quick")
    more = ("--targets", "60", "--workers", "2", "--out", str(out))
    made_by = ("-m", "whatleaks", "audit", str(table), *words, *more)
    done = run_without(hidden, *made_by, *flags, cwd=folder)
    assert done.returncode == 0, done.stderr
    page = (out / "report.html").read_text()
    return json.loads((out / "audit.json").read_text()), done.stdout, page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("extras")


def findings(audit: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Return every guess's numbers by threat and name, without the time that it took."""
    return {
        (threat["name"], guess["name"]): {k: v for k, v in guess.items() if k != "seconds"}
        for threat in audit["threats"]
        for guess in threat["findings"]
        if guess["role"] != "limit"  # the best of all that were tried
    }


def test_without_torch_all_numbers_but_those_of_what_is_left_out_are_the_same(
    folder: Path,
) -> None:
    whole, told, page = audited(folder, "lr")
    less, told_less, page_less = audited(folder, "lr", "torch")
    names = ["generative-regression", "generative-regression-snapped"]
    assert [one["name"] for one in less["not_tried"]] == names
    assert {one["extra"] for one in less["not_tried"]} == {"networks"}
    line = NETWORKS.format(", ".join(names))
    assert line in " ".join(told_less.split())
    assert line in page_less
    assert whole["not_tried"] == []
    assert "Not tried here" not in told + page
    with_it, without = findings(whole), findings(less)
    gone = {name for _, name in with_it.keys() - without.keys()}
    assert gone
    assert all(name.startswith("generative-regression") for name in gone)
    assert without.keys() <= with_it.keys()
    for key, found in without.items():
        assert found == with_it[key], key
    assert less["worth"] == whole["worth"]
    assert [d["name"] for d in less["defenses"]] == [d["name"] for d in whole["defenses"]]
    named = {"dp-sgd-1", "purifier-random", "purifier-real"}
    assert named <= {d["name"] for d in less["defenses"]}
    for one, other in zip(less["defenses"], whole["defenses"], strict=True):
        assert one["accuracy"] == other["accuracy"]


def test_forests_are_audited_without_torch(folder: Path) -> None:
    audit, told, _ = audited(folder, "forest", "torch", flags=("--no-defenses",))
    assert [one["name"] for one in audit["not_tried"]] == ["forest-generative-regression"]
    assert NETWORKS.format("forest-generative-regression") in " ".join(told.split())
    assert all(
        any(guess["role"] == "attack" for guess in threat["findings"])
        for threat in audit["threats"]
    )


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("--model", "network"), "networks"),
        (("--model", "joint-network"), "networks"),
        (("--threat", "split-hijack"), "networks"),
    ],
)
def test_a_command_that_cannot_do_without_ends_in_one_line(
    words: tuple[str, ...], extra: str, tmp_path: Path
) -> None:
    table = made(tmp_path)
    asked = ("-m", "whatleaks", "audit", str(table), "--label", "y", "--passive", "p,q,r")
    done = run_without(MODULES[extra], *asked, *words, "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"whatleaks: {' '.join(words)}")
    assert line.endswith(f'needs whatleaks[{extra}]: pip install "whatleaks[{extra}]"')
    assert not (tmp_path / "out").exists()


def test_a_spec_that_names_what_is_not_here_is_refused_before_it_runs(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(
        'dataset = "wine"\nunknown = 3\nattacks = ["generative-regression"]\n'
    )
    done = run_without(["torch"], "-m", "whatleaks", "run", "one.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert 'pip install "whatleaks[networks]"' in done.stderr


def test_a_sweep_that_could_not_be_drawn_is_refused_before_it_runs(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('dataset = "wine"\nunknown = 3\n')
    asked = ("-m", "whatleaks", "run", "one.toml", "--figure", "one.svg")
    done = run_without(["matplotlib"], *asked, cwd=tmp_path)
    assert done.returncode == 2
    needs = 'needs whatleaks[figures]: pip install "whatleaks[figures]"'
    assert done.stderr == f"whatleaks: --figure {needs}\n"
    assert {path.name for path in tmp_path.iterdir()} == {"one.toml", "hidden"}


def test_the_catalog_is_walked_without_extras_and_on_systems_that_are_not_linux(
    tmp_path: Path,
) -> None:
    late = sorted({module for brought in MODULES.values() for module in brought})
    late += ["pymanopt", "dp_accounting", "flint"]  # in the core, loaded when used
    walk = (
        "import os, signal, sys\n"
        f"for name in {LINUX_CALLS}: os.__dict__.pop(name, None)\n"
        "signal.__dict__.pop('SIGKILL', None)\n"
        "import whatleaks, whatleaks.cli\n"
        "from whatleaks.catalog import KINDS, cards\n"
        "from whatleaks.trial.plan import forms, models\n"
        "assert all(cards(kind) for kind in KINDS)\n"
        "assert models() and forms()\n"
        f"print([name for name in {late} if name in sys.modules])\n"
    )
    done = run_without([*late, *LINUX], "-c", walk, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"


def test_every_extra_is_one_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert MODULES.keys() <= project["optional-dependencies"].keys()
    core = " ".join(project["dependencies"])
    assert not any(heavy in core for heavy in ("torch", "ray", "cryptography", "onnx"))


def test_where_nothing_can_be_tried_nothing_is_said_to_be_low(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whatleaks.catalog.absent", lambda extra: True)  # of every part
    threats = ("black-box", "agnostic")
    spec = AuditSpec("y", ("p", "q", "r"), threats=threats, quick=True, defenses=False)
    found = audited_here(pd.read_csv(made(folder)), spec)
    assert found.untried == threats
    assert {"score-rest", "agnostic"} <= {one.name for one in found.not_tried}
    assert found.headline.level == "unknown"
    said = "No attack could be tried here under black-box and agnostic: nothing is said of it."
    assert found.headline.sentence.endswith(said)
    kept = next(one for one in found.headline.conditions if one.name == "kept")
    assert "not tried" in kept.sentence
    assert "no attack known here" not in kept.sentence
