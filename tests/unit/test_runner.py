"""The runner: runs once, resumes, records failures, survives dying workers and kill -9."""

from __future__ import annotations

import io
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

import experiment_doubles  # noqa: F401  (registers the doubles)
from whatleaks.errors import SpecError, StoreError, UsageError
from whatleaks.experiments.executors import choose
from whatleaks.experiments.executors.local import LocalExecutor
from whatleaks.experiments.live import PlainView, Tally, TerminalView
from whatleaks.experiments.record import Record
from whatleaks.experiments.runner import run
from whatleaks.experiments.settings import Settings
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.store import Store

TWO = LocalExecutor(workers=2)
TESTS = Path(__file__).parent.parent


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "r.db") as opened:
        yield opened


def doubles(count: int, log: Path, pause: float = 0.0) -> list[Spec]:
    options = Settings({"log": str(log), "pause": pause})
    return [Spec("double", seed=seed, options=options) for seed in range(count)]


def begun(log: Path) -> Counter[int]:
    if not log.exists():
        return Counter()
    lines = log.read_text().splitlines()
    return Counter(int(line.split()[1]) for line in lines if line.startswith("begin"))


def test_a_sweep_runs_once_and_is_then_answered_from_the_store(
    store: Store, tmp_path: Path
) -> None:
    specs = doubles(6, tmp_path / "log")
    first = run(specs, store, TWO)
    second = run(specs, store, TWO)
    assert (first.ok, first.reused, first.failed, first.left) == (6, 0, 0, 0)
    assert (second.ok, second.reused, second.failed, second.left) == (6, 6, 0, 0)
    assert first.records == second.records
    assert [r.spec.seed for r in first.records if r] == list(range(6))
    assert set(begun(tmp_path / "log").values()) == {1}


def test_the_label_does_not_cause_a_second_run(store: Store, tmp_path: Path) -> None:
    from dataclasses import replace

    specs = doubles(1, tmp_path / "log")
    run(specs, store, TWO)
    again = run([replace(specs[0], label="other", profile="fast")], store, TWO)
    assert again.reused == 1


def test_nothing_runs_if_one_spec_is_wrong(store: Store, tmp_path: Path) -> None:
    wrong = Spec("double", options=Settings({"sigm": 1.0}))
    with pytest.raises(SpecError, match=r"^run 4 \(double sigm=1\.0\): .*Did you mean 'sigma'"):
        run([*doubles(3, tmp_path / "log"), wrong], store, TWO)
    assert not begun(tmp_path / "log")


def test_a_failure_is_recorded_with_its_traceback_and_never_reused(store: Store) -> None:
    specs = [Spec("double-raises", seed=seed) for seed in range(4)]
    done = run(specs, store, TWO)
    assert [r.status for r in done.records if r] == ["ok", "failed", "ok", "failed"]
    bad = done.records[1]
    assert bad is not None
    assert bad.error == "ZeroDivisionError: seed 1 is odd"
    assert "experiment_doubles.py" in bad.traceback
    assert bad.outcome is None
    again = run(specs, store, TWO)
    assert (again.reused, again.ok, again.failed) == (2, 2, 2)


def test_what_cannot_be_stored_fails_inside_its_run(store: Store) -> None:
    (record,) = run([Spec("double-nan")], store, TWO).records
    assert record is not None
    assert "only finite numbers are stored" in record.error


def test_a_dead_worker_is_replaced_and_its_run_started_again(store: Store, tmp_path: Path) -> None:
    options = Settings({"marks": str(tmp_path), "lives": 1})
    done = run([Spec("double-dies", seed=s, options=options) for s in range(3)], store, TWO)
    assert [(r.status, r.attempts, r.measurements["deaths"]) for r in done.records if r] == [
        ("ok", 2, 1)
    ] * 3


def test_a_run_that_always_kills_its_worker_fails_alone(store: Store, tmp_path: Path) -> None:
    options = Settings({"marks": str(tmp_path), "lives": 99})
    killer = Spec("double-dies", options=options)
    done = run([killer, *doubles(4, tmp_path / "log")], store, TWO)
    assert [r.status for r in done.records if r] == ["failed", "ok", "ok", "ok", "ok"]
    assert done.records[0] is not None
    assert done.records[0].attempts == 3
    assert "died 3 times" in done.records[0].traceback
    assert "SIGKILL" in done.records[0].traceback
    assert set(begun(tmp_path / "log").values()) == {1}


def test_a_worker_killed_from_outside_loses_nothing(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"

    class Killer(PlainView):
        killed = False

        def finished(self, record: Record) -> None:
            if not self.killed:
                self.killed = True
                last = log.read_text().splitlines()[-1]
                os.kill(int(last.split()[2]), signal.SIGKILL)

    done = run(doubles(8, log, pause=0.1), store, TWO, Killer(out=io.StringIO()))
    assert (done.ok, done.failed) == (8, 0)
    assert max(r.attempts for r in done.records if r) == 2


def test_a_worker_has_one_thread(store: Store) -> None:
    before = dict(os.environ)
    (record,) = run([Spec("double-threads")], store, TWO).records
    assert record is not None
    assert record.measurements == {"torch": 1, "pools": 1}
    assert dict(os.environ) == before


def test_a_corrupt_record_is_named_and_its_run_repeated(store: Store, tmp_path: Path) -> None:
    specs = doubles(3, tmp_path / "log")
    first = run(specs, store, TWO)
    assert first.records[1] is not None
    with sqlite3.connect(store.path) as db:
        db.execute("UPDATE runs SET record = zeroblob(9) WHERE hash = ?", (first.records[1].hash,))
    db.close()
    out = io.StringIO()
    second = run(specs, store, TWO, PlainView(out=out))
    assert (second.reused, second.ok) == (2, 3)
    assert begun(tmp_path / "log") == {0: 1, 1: 2, 2: 1}
    assert f"warning: record {first.records[1].hash[:12]} in the store is corrupt" in out.getvalue()


def test_a_store_that_cannot_write_stops_the_sweep_with_one_line(
    store: Store, tmp_path: Path
) -> None:
    with sqlite3.connect(store.path) as db:  # a real refusal of SQLite: no page more
        pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.close()
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    specs = doubles(200, tmp_path / "log")
    with pytest.raises(StoreError, match=r"the disk is full\. What was stored stays readable"):
        run(specs, store, TWO)
    stored = len(store.all()[0])
    store._db.execute("PRAGMA max_page_count = 100000")
    done = run(specs, store, TWO)
    assert (done.reused, done.ok) == (stored, 200)


SWEEP = """
task = "double"
[options]
log = "{log}"
pause = {pause}
[sweep]
seed = {seeds}
"""


def start(tmp_path: Path, seeds: int, pause: float = 0.05) -> subprocess.Popen[str]:
    file = tmp_path / "sweep.toml"
    text = SWEEP.format(log=tmp_path / "log", pause=pause, seeds=list(range(seeds)))
    file.write_text(text)
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    return subprocess.Popen(
        [sys.executable, str(TESTS / "sweep_process.py"), str(file), str(tmp_path / "k.db")],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def stored(tmp_path: Path) -> set[int]:
    with Store(tmp_path / "k.db") as opened:
        records, bad = opened.all()
    assert bad == ()
    return {record.spec.seed for record in records if record.ok}


def wait_for(tmp_path: Path, count: int) -> None:
    end = time.monotonic() + 60
    while sum(begun(tmp_path / "log").values()) < count:
        assert time.monotonic() < end, "the sweep does not get going"
        time.sleep(0.01)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    try:  # a zombie that nobody has collected yet is gone as well
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def all_gone(tmp_path: Path) -> None:
    lines = (tmp_path / "log").read_text().splitlines()
    workers = {int(line.split()[2]) for line in lines}
    end = time.monotonic() + 10
    while not all(gone(pid) for pid in workers):
        assert time.monotonic() < end, "workers outlive their parent"
        time.sleep(0.02)


def test_a_worker_in_a_long_run_leaves_with_its_parent(tmp_path: Path) -> None:
    process = start(tmp_path, 2, pause=60.0)
    wait_for(tmp_path, 2)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    all_gone(tmp_path)
    assert stored(tmp_path) == set()


def test_kill_9_loses_at_most_the_runs_in_flight(tmp_path: Path) -> None:
    """60 runs on 2 workers, killed after 20 have begun, resumed in a new process."""
    process = start(tmp_path, 60)
    wait_for(tmp_path, 20)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)

    all_gone(tmp_path)

    before, begun_before = stored(tmp_path), begun(tmp_path / "log")
    assert len(before) >= 10
    # In flight: one job at each worker, and one reply of each on its way into the store.
    assert len(set(begun_before) - before) <= 4

    resumed = start(tmp_path, 60)
    text, _ = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, text
    assert f"60 runs: {len(before)} stored already, {60 - len(before)} to do" in text
    assert stored(tmp_path) == set(range(60))
    after = begun(tmp_path / "log")
    assert all(after[seed] == 1 for seed in before)  # nothing finished was run twice
    assert all(after[seed] == begun_before[seed] + 1 for seed in set(range(60)) - before)


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(tmp_path: Path) -> None:
    process = start(tmp_path, 60)
    wait_for(tmp_path, 10)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to parent and workers
    text, _ = process.communicate(timeout=30)
    assert process.returncode == 130, text
    assert "interrupted: finished runs are stored. Give the same command to go on" in text
    assert "Traceback" not in text
    before = stored(tmp_path)
    assert len(before) >= 5
    assert "0 failed" in text
    resumed = start(tmp_path, 60)
    text, _ = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, text
    assert stored(tmp_path) == set(range(60))
    assert all(begun(tmp_path / "log")[seed] == 1 for seed in before)


def test_the_tally_tells_rate_and_expected_end() -> None:
    tally = Tally(total=100, reused=20, ok=18, failed=2)
    noon = datetime(2024, 5, 1, 12, 0, 0)
    assert tally.line(10.0, noon) == (
        "38 done, 2 failed, 60 left, 2.0 runs/s, expected end 12:00:30"
    )
    assert tally.line(1000.0, noon).endswith("1.2 runs/min, expected end 12:50:00")
    assert tally.line(40000.0, noon).endswith("expected end 2024-05-02 21:20")
    assert Tally(5, 5).line(1.0, noon) == "5 done, 0 failed, 0 left"


def test_plain_lines_where_there_is_no_terminal(store: Store) -> None:
    out = io.StringIO()
    run([Spec("double-raises", seed=s) for s in (0, 1)], store, TWO, PlainView(True, out))
    lines = out.getvalue().splitlines()
    assert lines[0] == "2 runs: 0 stored already, 2 to do"
    assert any(line.startswith("ok ") and "seed 0" in line for line in lines)
    assert any(line.endswith("ZeroDivisionError: seed 1 is odd") for line in lines)
    assert lines[-2].startswith("1 ok (0 of them stored before), 1 failed, 0 left; 2 run in")
    assert "never reused" in lines[-1]
    assert "\x1b" not in out.getvalue()


def test_plain_lines_come_now_and_then(store: Store, tmp_path: Path) -> None:
    out = io.StringIO()
    ticks = iter(range(0, 1000, 3))
    view = PlainView(out=out, clock=lambda: float(next(ticks)))
    run(doubles(4, tmp_path / "log"), store, LocalExecutor(1), view)
    progress = [line for line in out.getvalue().splitlines() if "expected end" in line]
    assert len(progress) == 1  # at 6 s with 2 done; at 12 s nothing is left to expect
    assert progress[0].startswith("2 done, 0 failed, 2 left, 20.0 runs/min")


def test_the_terminal_view_draws_and_cleans_up(store: Store, tmp_path: Path) -> None:
    from rich.console import Console

    out = io.StringIO()
    view = TerminalView(True, Console(file=out, force_terminal=True, width=120))
    run(doubles(3, tmp_path / "log"), store, TWO, view)
    assert "3 done, 0 failed, 0 left" in out.getvalue()
    assert out.getvalue().count("ok ") >= 3
    assert "3 ok (0 of them stored before)" in out.getvalue().splitlines()[-1]
    assert "\x1b[?25h" in out.getvalue()  # the cursor is shown again


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"on": "rya"}, "Did you mean 'ray'"),
        ({"on": "local", "address": "x:1"}, "--address is for --on ray"),
        ({"workers": -1}, "--workers must be at least 1"),
    ],
)
def test_a_wrong_executor_is_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        choose(**arguments)  # type: ignore[arg-type]
