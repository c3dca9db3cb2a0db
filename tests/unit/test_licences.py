"""The list of licences: what it reads, what it refuses, and that no direct dependency is left out."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def licences() -> ModuleType:
    spec = importlib.util.spec_from_file_location("licences", ROOT / "tools" / "licences.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("licence", "gpl"),
    [
        ("MIT AND LGPL-3.0-or-later", False),
        ("GPL-3.0-only", True),
        ("MIT AND GPL-3.0-or-later", True),
        ("MIT OR GPL-3.0-or-later", False),
        ("BSD-3-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1", False),
        ("AGPLv3", True),
        ("GNU General Public License v3 (GPLv3)", True),
        ("GNU Affero General Public License v3", True),
        ("GNU Lesser General Public License v3 or later (LGPLv3+)", False),
        ("Apache-2.0", False),
    ],
)
def test_the_gpl_is_told_from_its_neighbours(licences: ModuleType, licence: str, gpl: bool) -> None:
    assert licences.is_gpl(licence) is gpl


@pytest.mark.parametrize(
    ("metadata", "file", "licence"),
    [
        ("License-Expression: GPL-3.0-only\nLicense: MIT", "", "GPL-3.0-only"),
        ("Classifier: License :: OSI Approved :: MIT License\nLicense: BSD", "", "MIT License"),
        ("Classifier: License :: OSI Approved\nLicense: BSD", "", "BSD"),
        ("Classifier: Topic :: Software", "\n ISC License\n\nwords", "ISC License"),
        ("Classifier: Topic :: Software", "", "says nothing"),
    ],
)
def test_a_licence_is_what_a_package_declares(
    licences: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    metadata: str,
    file: str,
    licence: str,
) -> None:
    home = tmp_path / "made_up-1.dist-info"
    home.mkdir()
    (home / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: made-up\nVersion: 1\n{metadata}\n"
    )
    (home / "RECORD").write_text("made_up-1.dist-info/LICENSE,,\n" if file else "")
    (home / "LICENSE").write_text(file)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert licences.licence_of("made-up") == licence


def test_nothing_installed_is_under_the_gpl_and_the_page_has_every_direct_dependency(
    licences: ModuleType,
) -> None:
    for table in licences.tables().values():
        assert not [name for name, licence in table.items() if licences.is_gpl(licence)]
    text = (ROOT / "docs" / "licences.md").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: of for name, of in project["optional-dependencies"].items() if name != "dev"}
    for extra, lines in {"": project["dependencies"], **extras}.items():
        title = f"## Extra `{extra}`" if extra else "## Core"
        section = text.partition(title + "\n")[2].partition("\n## ")[0]
        for line in lines:
            name = re.split(r"[<>=!\[; ]", line)[0].lower()
            if name != "whatleaks":
                assert f"| {name} |" in section, f"call make licences: {name} is new"
