"""What is kept on a disk or told to others: nothing that gives a table away."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditing import audited
from whatleaks.arrays import sealed
from whatleaks.auditor.spec import AuditSpec
from whatleaks.codec import encode
from whatleaks.data.table import storable
from whatleaks.errors import StoreError, UsageError
from whatleaks.federation.processes.checkpoints import Checkpoints
from whatleaks.federation.processes.own_table import OwnTable
from whatleaks.federation.processes.party_base import PartyProcess
from whatleaks.federation.processes.party_config import PartyConfig, Plan
from whatleaks.federation.regression.parties import ActiveParty
from whatleaks.federation.regression.settings import SecureLinearSettings
from whatleaks.files import write_atomically
from whatleaks.report.html import render
from whatleaks.runs.provenance import table_hash
from whatleaks.wire.transcript import Transcript

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
    checkpoints(tmp_path).save(1, np.ones(2))
    assert done == ["file", "name", "folder"]


def test_a_full_disk_is_one_line_and_leaves_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = checkpoints(tmp_path)
    mine.save(1, np.ones(2))

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"^cannot write .*: No space left on device$"):
            mine.save(2, np.ones(2))
    assert [path.name for path in tmp_path.iterdir()] == ["epoch-000001.checkpoint"]
    assert list(checkpoints(tmp_path).load()) == [1]


# A party's own folder


def party(folder: Path) -> PartyProcess:
    (folder / "table.csv").write_text("a,b,y\n1,2,0\n3,4,1\n")
    settings = SecureLinearSettings(key_bits=512, insecure_test_key=True)
    addresses = dict.fromkeys(("active", "passive", "arbiter"), "127.0.0.1:1")
    table = folder / "table.csv"
    config = PartyConfig(
        "active",
        Plan("linear", settings, addresses),
        folder,
        folder / "state",
        table,
        None,
        "y",
        None,
        None,
    )
    return PartyProcess(config, False, Transcript(()), print)


@pytest.mark.parametrize("kept", ["", "seven", "-3", "\x00"])
def test_a_seed_file_that_holds_no_seed_is_one_line(tmp_path: Path, kept: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "seed").write_text(kept)
    with pytest.raises(UsageError, match="seed holds no seed: delete it"):
        party(tmp_path)


def test_what_a_party_writes_is_its_owners_alone(tmp_path: Path) -> None:
    mine = party(tmp_path)
    mine.write("weights.csv", "column,weight", ("a", "b"), sealed(np.ones(2)))
    mine.store("part.wlk", np.ones(2))
    mine.keep(1, np.ones(2), 2)
    written = list((tmp_path / "state").iterdir())
    assert len(written) == 4  # with its seed
    for path in written:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


# Checkpoints


def checkpoints(folder: Path, **changed: Any) -> Checkpoints:
    chosen = {"plan": "plan", "party": "active", "data": "data"} | changed
    return Checkpoints(folder, **chosen)


def test_a_checkpoint_of_other_data_is_refused(tmp_path: Path) -> None:
    checkpoints(tmp_path).save(1, np.ones(2))
    assert list(checkpoints(tmp_path).load()) == [1]
    for changed in ({"plan": "other"}, {"party": "passive"}, {"data": "other"}):
        with pytest.raises(UsageError, match="another plan, party or table"):
            checkpoints(tmp_path, **changed).load()


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "junk"])
def test_a_damaged_newest_checkpoint_falls_back_to_the_one_before(
    tmp_path: Path, damage: str
) -> None:
    mine = checkpoints(tmp_path)
    mine.save(1, np.ones(2))
    mine.save(2, np.full(2, 2.0))
    newest = sorted(tmp_path.glob("epoch-*"))[-1]
    data = newest.read_bytes()
    broken = {
        "cut": data[:-3],
        "bit": data[:-1] + bytes([data[-1] ^ 1]),
        "empty": b"",
        "junk": b"x" * 50,
    }
    newest.write_bytes(broken[damage])
    told: list[str] = []
    found = checkpoints(tmp_path).load(told.append)
    assert list(found) == [1]
    assert newest.name in told[0]
    assert "damaged" in told[0]
    assert stat.S_IMODE(sorted(tmp_path.glob("epoch-*"))[0].stat().st_mode) == 0o600


def test_a_damaged_older_checkpoint_leaves_the_newest(tmp_path: Path) -> None:
    mine = checkpoints(tmp_path)
    mine.save(1, np.ones(2))
    mine.save(2, np.full(2, 2.0))
    sorted(tmp_path.glob("epoch-*"))[0].write_bytes(b"")
    assert list(checkpoints(tmp_path).load(lambda line: None)) == [2]


def test_every_change_of_a_table_changes_its_fingerprint() -> None:
    x, y = sealed(np.arange(6.0).reshape(3, 2)), sealed(np.ones(3))
    table = OwnTable(("a", "b"), x, ("r", "s", "t"), y)
    others = [
        replace(table, columns=("b", "a")),
        replace(table, x=sealed(x[::-1])),
        replace(table, x=sealed(x[:, ::-1])),
        replace(table, x=sealed(x + 1e-12)),
        replace(table, ids=("r", "t", "s")),
        replace(table, ids=None),
        replace(table, y=sealed(np.zeros(3))),
        replace(table, y=None),
    ]
    assert len({table.fingerprint, *(other.fingerprint for other in others)}) == 9


# Memory


def test_a_party_that_is_not_asked_for_its_history_keeps_none() -> None:
    from whatleaks.crypto.keys import generate_keys
    from whatleaks.wire.channel import Channel

    pytest.importorskip("phe")
    public, _ = generate_keys("phe-paillier", 512, insecure_test_key=True)
    settings = SecureLinearSettings(key_bits=512, insecure_test_key=True)
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(400, 30))
    party = ActiveParty(x, np.ones(400), settings, rng, public, Channel(), remember=False)
    tracemalloc.start()
    try:
        for _ in range(3000):
            party.take_step(np.ones(30))
        assert tracemalloc.get_traced_memory()[0] < 100_000
    finally:
        tracemalloc.stop()


def test_without_a_transcript_no_message_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from whatleaks.federation.processes import party_process

    seen = []

    class Process:
        def __init__(self, config: Any, resume: bool, heard: Any, tell: Any) -> None:
            seen.append(heard)

        def run(self, join_timeout: float) -> None:
            pass

    class Module:
        RegressionProcess = Process

    class Config:
        class plan:
            protocol = "linear"

    from whatleaks.wire.message import Message, Plain

    monkeypatch.setattr(party_process, "import_module", lambda name: Module)
    party_process.run_party(Config)  # type: ignore[arg-type]
    message = Message(0, "a", "b", "k", Plain(np.ones(3)))
    seen[0].record(message, encode(message))
    assert seen[0].receivers() == ()
    assert seen[0].traffic()[0].count == 1
