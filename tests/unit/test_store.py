"""The store: whole records, several writers, damage named and set aside, full disks survived."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from run_doubles import Double
from whatleaks.errors import StoreError
from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.record import Record
from whatleaks.runs.store import Store
from whatleaks.runs.work import _READERS, name_of
from whatleaks.trial.outcome import Outcome

ERROR = Measurement(0.1, 0.05, 0.2, 100, "mse", "records")


def record(seed: int, status: str = "ok", padding: int = 0) -> Record:
    work = Double(seed=seed, columns=2)
    outcome = Outcome({"error": ERROR, "curve": [0.5, 0.25], "name": "x"}, {"half": 1 / 12}, ("g",))
    return Record(
        hash=name_of(work),
        work=work,
        sources="d" * 64,
        status=status,
        outcome=outcome if status == "ok" else None,
        traceback="" if status == "ok" else "Traceback\nValueError: no" + " " * padding,
        environment={"python": "3", "packages": {"numpy": "2"}},
        seconds=0.1 + 0.2,
        attempts=1,
        created="2024-01-01T00:00:00+00:00",
    )


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    with Store(tmp_path / "deep" / "r.db") as store:
        store.put(record(1))
        store.put(record(2, "failed"))
    with Store(tmp_path / "deep" / "r.db") as store:
        found, bad = store.get([record(1).hash, record(2).hash, "0" * 64])
    assert bad == ()
    assert found == {r.hash: r for r in (record(1), record(2, "failed"))}
    assert found[record(1).hash].to_json() == record(1).to_json()


def test_a_failed_record_gives_way_and_an_ok_one_stays(tmp_path: Path) -> None:
    with Store(tmp_path / "r.db") as store:
        store.put(record(1, "failed"))
        store.put(record(1))
        assert store.all()[0] == (record(1),)
        store.put(record(1, "failed"))
        assert store.all()[0] == (record(1),)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("UPDATE runs SET record = substr(record, 1, 40) WHERE hash = ?", "checksum"),
        ("UPDATE runs SET record = CAST('x' || record AS BLOB) WHERE hash = ?", "checksum"),
        ("UPDATE runs SET checksum = '' WHERE hash = ?", "checksum"),
        ("UPDATE runs SET status = 'failed' WHERE hash = ?", "another run"),
    ],
)
def test_a_corrupt_record_is_named_and_set_aside(tmp_path: Path, damage: str, reason: str) -> None:
    name = record(1).hash
    with Store(tmp_path / "r.db") as store:
        store.put(record(1))
        store.put(record(2))
        with sqlite3.connect(tmp_path / "r.db") as db:
            db.execute(damage, (name,))
        db.close()
        found, bad = store.get([name, record(2).hash])
        assert set(found) == {record(2).hash}
        assert [b.hash for b in bad] == [name]
        assert name[:12] in str(bad[0])
        assert reason in str(bad[0])
        assert store.quarantined() == bad
        assert store.get([name]) == ({}, ())  # forgotten: the run is repeated
        store.put(record(1))
        assert len(store.all()[0]) == 2


def test_a_record_under_a_foreign_name_is_not_believed(tmp_path: Path) -> None:
    with Store(tmp_path / "r.db") as store:
        store.put(record(1))
        with sqlite3.connect(tmp_path / "r.db") as db:
            db.execute("UPDATE runs SET hash = ?", ("f" * 64,))
        db.close()
        assert store.get(["f" * 64])[0] == {}


def _write(path: Path, start: int) -> None:
    with Store(path) as store:
        for seed in range(start, start + 50):
            store.put(record(seed))


def test_several_processes_write(tmp_path: Path) -> None:
    context = get_context("fork")
    writers = [context.Process(target=_write, args=(tmp_path / "r.db", 50 * i)) for i in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    with Store(tmp_path / "r.db") as store:
        assert len(store.all()[0]) == 200


FILL = """
import resource
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from test_store import record, Store, StoreError
store = Store(Path({file!r}))
store.put(record(0))
if {limit}:
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
written = 1
try:
    for seed in range(1, 5000):
        store.put(record(seed, "failed", padding=2000))
        written += 1
except StoreError as error:
    print(written, len(store.all()[0]), error)
"""


def _fill(file: Path, limit: int) -> tuple[int, int, str]:
    script = FILL.format(path=[str(Path(__file__).parent), *sys.path], file=str(file), limit=limit)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
    (line,) = done.stdout.splitlines()  # one clear line
    written, readable, text = line.split(" ", 2)
    return int(written), int(readable), text


def test_a_file_that_may_not_grow_gives_one_line_and_stays_readable(tmp_path: Path) -> None:
    written, readable, text = _fill(tmp_path / "r.db", 200_000)
    assert 1 < written == readable
    assert "cannot be written: the disk" in text
    with Store(tmp_path / "r.db") as store:
        assert len(store.all()[0]) == written
        store.put(record(9999))  # space again: it goes on
        assert len(store.all()[0]) == written + 1


def test_a_full_disk_gives_one_line_and_stays_readable(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        written, readable, text = _fill(disk / "r.db", 0)
        assert 1 < written == readable
        assert "the disk is full. What was stored stays readable" in text
        with Store(disk / "r.db") as store:  # still full, opened anew
            assert len(store.all()[0]) == written
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.db").write_bytes(b"not a database, but long enough to be looked at" * 50)
    with pytest.raises(StoreError, match="damaged or is no results store"):
        Store(tmp_path / "r.db")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="is a folder"):
        Store(tmp_path / "folder")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"folder of .* cannot be made"):
        Store(tmp_path / "file" / "r.db")


def test_damaged_pages_are_an_error_of_one_line(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    with Store(path) as store:
        for seed in range(200):
            store.put(record(seed))
    data = bytearray(path.read_bytes())
    data[8192:-4096] = os.urandom(len(data) - 12288)
    path.write_bytes(bytes(data))
    with pytest.raises(StoreError, match="damaged") as refused:
        Store(path).all()
    assert "\n" not in str(refused.value)


def test_a_private_store_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "own" / "p.db"
    before = os.umask(0)  # the most careless setting there is
    try:
        with Store(path, private=True) as store:
            store.put(record(1), b"secret")
            store.put(record(2, "failed"))
            names = {file.name for file in path.parent.iterdir()}
            assert names == {"p.db", "p.db-wal", "p.db-shm"}
            assert {f.stat().st_mode & 0o777 for f in path.parent.iterdir()} == {0o600}
            assert path.parent.stat().st_mode & 0o777 == 0o700
            assert store.private(record(1).hash) == b"secret"
            assert store.private(record(2).hash) == b""
            assert store.private("0" * 64) is None
    finally:
        os.umask(before)
    with Store(path, private=True) as store:
        assert store.private(record(1).hash) == b"secret"
        store.remove()
    assert not path.parent.exists()


def test_a_public_file_is_closed_when_it_is_opened_as_private(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    with Store(path) as store:
        path.chmod(0o644)
        store.put(record(1), b"secret")
        assert store.private(record(1).hash) is None
        with Store(path, private=True) as private:
            private.put(record(1), b"secret")
            assert {f.stat().st_mode & 0o777 for f in tmp_path.iterdir()} == {0o600}


def test_what_is_private_is_never_written_to_a_public_store(tmp_path: Path) -> None:
    with Store(tmp_path / "r.db") as store:
        store.put(record(1), b"secret of somebody")
        for path in tmp_path.iterdir():
            assert b"secret" not in path.read_bytes()
    for path in tmp_path.iterdir():
        assert b"secret" not in path.read_bytes()


def test_a_set_aside_record_leaves_nothing_private(tmp_path: Path) -> None:
    with Store(tmp_path / "r.db", private=True) as store:
        store.put(record(1), b"secret")
        with sqlite3.connect(tmp_path / "r.db") as db:
            db.execute("UPDATE runs SET private = CAST('other secret' AS BLOB)")
        db.close()
        _, bad = store.all()
        assert [b.reason for b in bad] == ["its checksum does not match"]
        assert store.private(record(1).hash) is None
        columns = [row[1] for row in store._db.execute("PRAGMA table_info(quarantine)")]
        assert "private" not in columns


def test_removing_leaves_other_files_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "own" / "p.db", private=True)
    (tmp_path / "own" / "report.html").touch()
    store.remove()
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["report.html"]


def test_a_store_of_an_older_version_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "r.db") as db:
        db.execute("CREATE TABLE runs (hash TEXT, status TEXT, record BLOB, checksum TEXT)")
    db.close()
    with pytest.raises(StoreError, match=r"another version of whatleaks.*Move it away") as refused:
        Store(tmp_path / "r.db")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("private", [False, True])
def test_a_place_that_cannot_be_used_is_one_line(tmp_path: Path, private: bool) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="is a folder"):
        Store(tmp_path / "folder", private)


def test_a_record_of_somebody_elses_kind_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store is shared with somebody who has a plugin that is not here."""
    with Store(tmp_path / "r.db") as store:
        store.put(record(1))
        with monkeypatch.context() as without:
            without.delitem(_READERS, "double")
            records, bad = store.all()
        assert records == ()
        assert [b.damaged for b in bad] == [False]
        assert "is left alone: unknown kind of run 'double'" in str(bad[0])
        assert store.quarantined() == ()
        assert store.all() == ((record(1),), ())
