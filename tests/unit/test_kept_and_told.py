"""What is kept on a disk or told to others: nothing that gives a table away."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditing import audited
from whatleaks.auditor.spec import AuditSpec
from whatleaks.data.table import storable
from whatleaks.errors import StoreError
from whatleaks.files import write_atomically
from whatleaks.report.html import render
from whatleaks.runs.provenance import table_hash

SOURCE = str(Path(__file__).resolve().parents[2] / "src")


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = 60
    return pd.DataFrame(
        {
            "town": rng.choice(["Secretville", "Hiddenham", "Quietford"], rows),
            "age": rng.integers(20, 80, rows),
            "city": rng.choice(["Aplace", "Bplace", "Cplace"], rows),
            "income": rng.normal(size=rows) * 12345.678,
        }
    )


def test_no_value_of_any_party_is_written_unless_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHATLEAKS_STATE", str(tmp_path))
    spec = AuditSpec(
        "income",
        ("city",),
        model="tree",
        threats=("white-box-tree",),
        targets=10,
        inversion_steps=5,
        bins=3,
        categories="one-hot",
        defenses=False,
        quick=True,
    )
    frame = people()
    result = audited(frame, spec)
    found = result.to_dict()
    edges = np.quantile(frame["income"], [0, 1 / 3, 2 / 3, 1])
    for text in (json.dumps(found), render(result)):
        for value in ("Secretville", "Hiddenham", "Quietford", "Aplace", "Bplace", "Cplace"):
            assert value not in text
        for edge in edges:  # a number of its own: hashes and times hold any four digits
            assert not re.search(rf"(?<![\w.]){re.escape(f'{edge:.4g}')}(?![\w.])", text)
    # The table is named with a secret that is not among what is written.
    secret = (tmp_path / "secret").read_bytes()
    assert found["table"]["hmac_sha256"] == table_hash(storable(frame), secret)
    assert secret.hex() not in json.dumps(found)


# The table's hash: whoever holds the other columns tested guesses at the rest.


def test_the_tables_hash_cannot_be_made_without_the_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from whatleaks.runs.secret import own_secret

    frame = people()
    assert table_hash(frame, b"one secret" * 4) != table_hash(frame, b"another" * 5)
    assert table_hash(frame, b"one secret" * 4) == table_hash(frame, b"one secret" * 4)
    monkeypatch.setenv("WHATLEAKS_STATE", str(tmp_path / "state"))
    mine = own_secret()
    assert len(mine) == 32
    assert own_secret() == mine  # kept: an interrupted audit is resumed
    kept = tmp_path / "state" / "secret"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    monkeypatch.setenv("WHATLEAKS_STATE", str(tmp_path / "other"))
    assert own_secret() != mine
    kept.write_bytes(b"")  # cut off by a full disk: made anew
    monkeypatch.setenv("WHATLEAKS_STATE", str(tmp_path / "state"))
    assert len(own_secret()) == 32
    (tmp_path / "file").write_text("")  # nowhere to keep it: one for this run alone
    monkeypatch.setenv("WHATLEAKS_STATE", str(tmp_path / "file" / "below"))
    assert own_secret() != own_secret()


# Files


def test_a_kill_between_write_and_rename_leaves_nothing_behind(tmp_path: Path) -> None:
    programme = (
        f"import os, sys; sys.path.insert(0, {SOURCE!r}); os.replace = lambda *a: os._exit(9)\n"
        "from pathlib import Path; from whatleaks.files import write_atomically\n"
        f"write_atomically(Path({str(tmp_path)!r}) / 'report.json', b'private')"
    )
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", programme], check=False).returncode == 9
    for left in tmp_path.iterdir():  # until the next write nobody else can read it
        assert stat.S_IMODE(left.stat().st_mode) == 0o600
    write_atomically(tmp_path / "report.json", b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_a_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    synced, named = os.fsync, os.replace

    def fsync(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        synced(handle)

    def replace_(old: Any, new: Any) -> None:
        done.append("name")
        named(old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace_)
    write_atomically(tmp_path / "report.json", b"whole")
    assert done == ["file", "name", "folder"]


def test_a_full_disk_is_one_line_and_leaves_the_file_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_atomically(tmp_path / "report.json", b"before")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"^cannot write .*: No space left on device$"):
            write_atomically(tmp_path / "report.json", b"after")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert (tmp_path / "report.json").read_bytes() == b"before"
