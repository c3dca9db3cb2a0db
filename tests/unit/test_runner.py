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
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from run_doubles import Double
from whatleaks.catalog import load_plugin
from whatleaks.errors import SpecError, StoreError, UsageError
from whatleaks.runs.executors import Executor, choose
from whatleaks.runs.executors.inline import InlineExecutor
from whatleaks.runs.executors.local import LocalExecutor
from whatleaks.runs.live import PlainDisplay
from whatleaks.runs.record import Record
from whatleaks.runs.runner import make_jobs, run
from whatleaks.runs.store import Store
from whatleaks.runs.work import name_of

TWO = LocalExecutor(workers=2)
TESTS = Path(__file__).parent.parent


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "r.db") as opened:
        yield opened


def doubles(count: int, log: Path, pause: float = 0.0) -> list[Double]:
    return [Double(seed=seed, log=str(log), pause=pause) for seed in range(count)]


def begun(log: Path) -> Counter[int]:
    if not log.exists():
        return Counter()
    lines = log.read_text().splitlines()
    return Counter(int(line.split()[1]) for line in lines if line.startswith("begin"))


def test_a_sweep_runs_once_and_is_then_answered_from_the_store(
    store: Store, tmp_path: Path
) -> None:
    works = doubles(6, tmp_path / "log")
    first = run(works, store, TWO)
    second = run(works, store, TWO)
    assert (first.ok, first.reused, first.failed, first.left) == (6, 0, 0, 0)
    assert (second.ok, second.reused, second.failed, second.left) == (6, 6, 0, 0)
    assert first.records == second.records
    assert [r.work.seed for r in first.records if r] == list(range(6))
    assert set(begun(tmp_path / "log").values()) == {1}


def test_the_label_does_not_cause_a_second_run(store: Store, tmp_path: Path) -> None:
    works = doubles(1, tmp_path / "log")
    run(works, store, TWO)
    again = run([replace(works[0], label="other")], store, TWO)
    assert again.reused == 1


def test_nothing_runs_if_one_work_is_wrong(store: Store, tmp_path: Path) -> None:
    wrong = Double("mesure", sigma=2.0)
    with pytest.raises(SpecError, match=r"^run 4 \(mesure sigma=2\.0\): .*Did you mean 'measure'"):
        run([*doubles(3, tmp_path / "log"), wrong], store, TWO)
    assert not begun(tmp_path / "log")


def test_a_failure_is_recorded_with_its_traceback_and_never_reused(store: Store) -> None:
    works = [Double("raises", seed=seed) for seed in range(4)]
    done = run(works, store, TWO)
    assert [r.status for r in done.records if r] == ["ok", "failed", "ok", "failed"]
    bad = done.records[1]
    assert bad is not None
    assert bad.error == "ZeroDivisionError: seed 1 is odd"
    assert "run_doubles.py" in bad.traceback
    assert bad.outcome is None
    again = run(works, store, TWO)
    assert (again.reused, again.ok, again.failed) == (2, 2, 2)


def test_what_cannot_be_stored_fails_inside_its_run(store: Store) -> None:
    (record,) = run([Double("not-finite")], store, TWO).records
    assert record is not None
    assert "only finite numbers are stored" in record.error


def test_a_dead_worker_is_replaced_and_its_run_started_again(store: Store, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    done = run([Double("dies", seed=s, log=log, lives=1) for s in range(3)], store, TWO)
    assert [(r.status, r.attempts, r.measurements["deaths"]) for r in done.records if r] == [
        ("ok", 2, 1)
    ] * 3


def test_a_run_that_always_kills_its_worker_fails_alone(store: Store, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    killer = Double("dies", log=str(tmp_path / "marks" / "log"), lives=99)
    done = run([killer, *doubles(4, tmp_path / "log")], store, TWO)
    assert [r.status for r in done.records if r] == ["failed", "ok", "ok", "ok", "ok"]
    assert done.records[0] is not None
    assert done.records[0].attempts == 3
    assert "died 3 times" in done.records[0].traceback
    assert "SIGKILL" in done.records[0].traceback
    assert set(begun(tmp_path / "log").values()) == {1}


def test_a_worker_killed_from_outside_loses_nothing(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"

    class Killer(PlainDisplay):
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
    pytest.importorskip("torch")
    before = dict(os.environ)
    (record,) = run([Double("threads")], store, TWO).records
    assert record is not None
    assert record.measurements == {"torch": 1, "pools": 1}
    assert dict(os.environ) == before


def test_a_corrupt_record_is_named_and_its_run_repeated(store: Store, tmp_path: Path) -> None:
    works = doubles(3, tmp_path / "log")
    first = run(works, store, TWO)
    assert first.records[1] is not None
    with sqlite3.connect(store.path) as db:
        db.execute("UPDATE runs SET record = zeroblob(9) WHERE hash = ?", (first.records[1].hash,))
    db.close()
    out = io.StringIO()
    second = run(works, store, TWO, PlainDisplay(out=out))
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
    works = doubles(200, tmp_path / "log")
    with pytest.raises(StoreError, match=r"the disk is full\. What was stored stays readable"):
        run(works, store, TWO)
    stored = len(store.all()[0])
    store._db.execute("PRAGMA max_page_count = 100000")
    done = run(works, store, TWO)
    assert (done.reused, done.ok) == (stored, 200)


def group(count: int, log: Path, name: str = "g", **others: Any) -> list[Double]:
    """Works that share a training."""
    return [Double(seed=seed, group=name, log=str(log), **others) for seed in range(count)]


def trained(log: Path) -> int:
    return sum(line.startswith("train") for line in log.read_text().splitlines())


def sizes(works: list[Double], width: int) -> list[int]:
    named = {name_of(work): work for work in works}
    jobs = make_jobs(named, {name: work.modules() for name, work in named.items()}, width, b"t")
    assert sorted(name for job in jobs for name in job.hashes) == sorted(named)
    assert all(named[n] == w for job in jobs for n, w in zip(job.hashes, job.works, strict=True))
    assert all(len({w.training_key() for w in job.works}) == 1 for job in jobs)
    assert all((job.table, job.outsiders) == (b"t", ("run_doubles",)) for job in jobs)
    return [len(job.works) for job in jobs]


def test_works_that_share_a_training_are_one_job(tmp_path: Path) -> None:
    log = tmp_path / "log"
    works = [*group(2, log, "a"), *group(5, log, "b"), Double(seed=9)]
    assert sizes(works, width=1) == [2, 5, 1]  # as they come: one seed after another


def test_groups_are_split_only_where_workers_would_stand_idle(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert sizes(group(8, log), width=2) == [2, 2, 2, 2]
    assert sizes(group(5, log), width=2) == [2, 1, 1, 1]
    assert sizes(group(2, log), width=4) == [1, 1]
    assert sizes([*group(6, log, "a"), *group(2, log, "b"), Double()], width=2) == [3, 3, 2, 1]
    many = [work for name in "abcd" for work in group(6, log, name)]
    assert sizes(many, width=2) == [6, 6, 6, 6]
    # Three seeds on two workers: one of them would have twice as much to do.
    seeds = [work for name in "abc" for work in group(12, log, name)]
    assert sizes([*seeds, Double()], width=2) == [12, 12, 6, 6, 1]
    assert sizes(seeds, width=1) == [12, 12, 12]


def test_a_group_trains_once(store: Store, tmp_path: Path) -> None:
    done = run(group(5, tmp_path / "log"), store, LocalExecutor(1))
    assert done.ok == 5
    assert trained(tmp_path / "log") == 1


@pytest.mark.parametrize("executor", [InlineExecutor(), LocalExecutor(1)], ids=lambda e: e.name)
def test_a_failure_inside_a_group_harms_no_other(
    executor: Executor, store: Store, tmp_path: Path
) -> None:
    done = run(group(4, tmp_path / "log", does="raises"), store, executor)
    assert [r.status for r in done.records if r] == ["ok", "failed", "ok", "failed"]
    assert set(begun(tmp_path / "log").values()) == {1}
    assert trained(tmp_path / "log") == 2  # what a failure ends begins anew


def test_a_group_whose_worker_dies_repeats_nothing_that_is_finished(
    store: Store, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    works = [*group(2, log), *group(4, log, does="dies", lives=1)[2:], *group(5, log)[4:]]
    done = run(works, store, LocalExecutor(1))
    assert [(r.work.seed, r.status, r.attempts) for r in done.records if r] == [
        (0, "ok", 1),
        (1, "ok", 1),
        (2, "ok", 2),
        (3, "ok", 2),
        (4, "ok", 1),
    ]
    assert begun(log) == {0: 1, 1: 1, 2: 2, 3: 2, 4: 1}


def test_a_killer_inside_a_group_fails_alone(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"
    works = [*group(1, log), *group(2, log, does="dies", lives=99)[1:], *group(4, log)[2:]]
    done = run(works, store, LocalExecutor(1))
    assert [(r.status, r.attempts) for r in done.records if r] == [
        ("ok", 1),
        ("failed", 3),
        ("ok", 1),
        ("ok", 1),
    ]
    assert begun(log) == {0: 1, 1: 3, 2: 1, 3: 1}


def test_works_of_a_group_are_stored_as_they_finish(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"
    seen = []

    class Watching(PlainDisplay):
        def finished(self, record: Record) -> None:
            ended = [line for line in log.read_text().splitlines() if line.startswith("end")]
            seen.append((record.work.seed, len(ended), len(store.all()[0])))

    run(group(3, log, pause=0.3), store, LocalExecutor(1), Watching(out=io.StringIO()))
    assert seen == [(0, 1, 1), (1, 2, 2), (2, 3, 3)]


def test_the_table_reaches_every_work(store: Store) -> None:
    works = [Double("read-table", seed=seed) for seed in range(3)]
    table = b"x" * 1_000_000
    for executor in (InlineExecutor(), TWO):
        done = run(works, None, executor, table=table)
        assert [r.measurements["bytes"] for r in done.records if r] == [len(table)] * 3
        done = run(works, None, executor)
        assert [r.measurements["bytes"] for r in done.records if r] == [-1] * 3


def test_what_is_private_comes_back_from_a_private_store_only(tmp_path: Path) -> None:
    works = [*group(2, tmp_path / "log"), Double("raises", seed=1), Double("raises", seed=2)]
    with Store(tmp_path / "public.db") as public:
        first = run(works, public, InlineExecutor())
        assert first.privates == (None,) * 4
        assert all(public.private(name_of(work)) is None for work in works)
    with Store(tmp_path / "own" / "private.db", private=True) as private:
        second = run(works, private, TWO)
        third = run(works, private, TWO)
    assert (second.reused, third.reused) == (0, 3)  # a failed one is never reused
    assert second.privates == third.privates
    assert [data and data[:7] for data in second.privates] == [
        b"private",
        b"private",
        None,
        b"even",
    ]
    assert run(works, None, TWO).privates == second.privates
    with Store(tmp_path / "own" / "private.db", private=True) as private:
        left = run(works, private, TWO, leave_private=True)
        assert left.reused == 3
        assert left.privates == (None,) * 4
        for work, data in zip(works, second.privates, strict=True):
            assert (private.private(name_of(work)) or None) == data  # of a failed run nothing
    errors = (second.privates[0] or b"").removeprefix(b"private ")
    assert len(errors) == 8 * 50
    assert errors in (tmp_path / "own" / "private.db").read_bytes()
    assert errors not in (tmp_path / "public.db").read_bytes()
    with Store(tmp_path / "public.db", private=True) as grown:  # it lacks what is asked for now
        assert run(works, grown, TWO).reused == 0


def test_damage_to_what_is_private_repeats_the_run(tmp_path: Path) -> None:
    works = doubles(3, tmp_path / "log")
    with Store(tmp_path / "p.db", private=True) as store:
        first = run(works, store, InlineExecutor())
        with sqlite3.connect(store.path) as db:
            db.execute("UPDATE runs SET private = zeroblob(9) WHERE hash = ?", (name_of(works[1]),))
        db.close()
        assert store.private(name_of(works[1])) is None
        out = io.StringIO()
        second = run(works, store, InlineExecutor(), PlainDisplay(out=out))
    assert second.reused == 2
    assert "is corrupt" in out.getvalue()
    assert second.privates == first.privates


def test_an_inline_run_has_one_thread_and_gives_the_others_back(store: Store) -> None:
    import torch

    before, variables = torch.get_num_threads(), dict(os.environ)
    torch.set_num_threads(2)
    try:
        (record,) = run([Double("threads")], store, InlineExecutor()).records
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert record is not None
    assert record.measurements == {"torch": 1, "pools": 1}
    assert dict(os.environ) == variables


def test_an_outcome_is_demanded(store: Store) -> None:
    (record,) = run([Double("nothing")], store, InlineExecutor()).records
    assert record is not None
    assert "perform_group yields an Outcome and bytes" in record.error


def test_a_changed_source_runs_again_with_a_word_about_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attack that is changed by +5.0 under the same name: the old number does not stand."""
    package = tmp_path / "theirs"
    package.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    (package / "__init__.py").write_text("")
    (package / "attack.py").write_text("from theirs.sum import VALUE\n")
    (package / "sum.py").write_text("VALUE = 1.0\n")
    works = [Double("borrowed", seed=seed, behind="theirs.attack") for seed in range(2)]
    works.append(Double("borrowed", seed=2, behind="theirs.sum"))
    others = doubles(2, tmp_path / "log")

    def values() -> tuple[list[object], int, list[str]]:
        out = io.StringIO()
        done = run([*works, *others], store, TWO, PlainDisplay(out=out))
        warnings = [line for line in out.getvalue().splitlines() if line.startswith("warning")]
        return [r.measurements["value"] for r in done.records[:3] if r], done.reused, warnings

    assert values() == ([1.0] * 3, 0, [])
    assert values() == ([1.0] * 3, 5, [])
    (package / "sum.py").write_text("VALUE = 1.0 + 5.0\n")
    told = "warning: 3 stored runs were made by other sources: they are run again"
    assert values() == ([6.0] * 3, 2, [told])
    assert values() == ([6.0] * 3, 5, [])
    (package / "attack.py").write_text("from theirs.sum import VALUE  # the same\n")
    assert values()[2] == [told]  # all of a package counts


def test_what_is_edited_after_loading_is_not_believed_in_the_same_process(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inline the old code still runs: its number must not pass for that of the new file."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "edited_later.py").write_text("VALUE = 1.0\n")
    works = [Double("borrowed", behind="edited_later")]

    def value(executor: Executor) -> tuple[object, int]:
        done = run(works, store, executor)
        assert done.records[0] is not None
        return done.records[0].measurements["value"], done.reused

    inline = InlineExecutor()
    assert [value(inline), value(inline), value(TWO)] == [(1.0, 0), (1.0, 1), (1.0, 1)]
    (tmp_path / "edited_later.py").write_text("VALUE = 1.0 + 5.0\n")
    assert [value(inline), value(inline)] == [(1.0, 0), (1.0, 0)]
    assert [value(TWO), value(TWO)] == [(6.0, 0), (6.0, 1)]


def test_a_plugin_is_loaded_by_the_workers(store: Store, tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text("VALUE = 3.0\n")
    behind = load_plugin(plugin)
    works = [Double("borrowed", seed=seed, behind=behind) for seed in range(2)]
    done = run(works, store, TWO)
    assert [r.measurements["value"] for r in done.records if r] == [3.0, 3.0]
    assert run(works, store, TWO).reused == 2
    plugin.write_text("VALUE = 4.0\n")
    again = run(works, store, TWO)
    assert [r.measurements["value"] for r in again.records if r] == [4.0, 4.0]


SWEEP = """
log = "{log}"
pause = {pause}
[sweep]
seed = {seeds}
"""


def start(
    tmp_path: Path,
    seeds: int,
    pause: float = 0.05,
    to: str = "k.db",
    on: str = "local",
    hang: int = 1 << 31,
) -> subprocess.Popen[str]:
    file = tmp_path / "sweep.toml"
    text = SWEEP.format(log=tmp_path / "log", pause=pause, seeds=list(range(seeds)))
    file.write_text(text)
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    return subprocess.Popen(
        [sys.executable, str(TESTS / "sweep_process.py"), str(file), str(tmp_path / to), on],
        env={**os.environ, "PYTHONPATH": paths, "DOUBLES_HANG_FROM": str(hang)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def stored(tmp_path: Path, to: str = "k.db") -> set[int]:
    with Store(tmp_path / to) as opened:
        records, bad = opened.all()
    assert bad == ()
    return {record.work.seed for record in records if record.ok}


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
    end = time.monotonic() + 60
    while not all(gone(pid) for pid in workers):
        assert time.monotonic() < end, "workers outlive their parent"
        time.sleep(0.02)


def test_a_worker_in_a_long_run_leaves_with_its_parent(tmp_path: Path) -> None:
    process = start(tmp_path, 2, pause=60.0)
    wait_for(tmp_path, 2)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=90)
    all_gone(tmp_path)
    assert stored(tmp_path) == set()


def test_kill_9_loses_at_most_the_runs_in_flight(tmp_path: Path) -> None:
    """60 runs on 2 workers, killed after 20 have begun, resumed in a new process."""
    process = start(tmp_path, 60, hang=40)
    wait_for(tmp_path, 20)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=90)

    all_gone(tmp_path)

    before, begun_before = stored(tmp_path), begun(tmp_path / "log")
    assert len(before) >= 10
    # In flight: one job at each worker, and one reply of each on its way into the store.
    assert len(set(begun_before) - before) <= 4

    resumed = start(tmp_path, 60)
    text, _ = resumed.communicate(timeout=120)
    assert resumed.returncode == 0, text
    assert f"60 runs: {len(before)} stored already, {60 - len(before)} to do" in text
    assert stored(tmp_path) == set(range(60))
    after = begun(tmp_path / "log")
    assert all(after[seed] == 1 for seed in before)  # nothing finished was run twice
    assert all(after[seed] == begun_before[seed] + 1 for seed in set(range(60)) - before)


@pytest.mark.parametrize("on", ["local", "inline"])
def test_an_audits_store_resumes_after_kill_9(tmp_path: Path, on: str) -> None:
    """What is private too, in a file that stays its owner's alone."""
    to = "own/private.db"
    process = start(tmp_path, 30, to=to, on=on, hang=20)
    wait_for(tmp_path, 10)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=90)
    all_gone(tmp_path)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "own").iterdir()}
    assert modes == {0o600}
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700
    before = stored(tmp_path, to)
    assert len(before) >= 5
    resumed = start(tmp_path, 30, to=to, on=on)
    text, _ = resumed.communicate(timeout=120)
    assert resumed.returncode == 0, text
    assert f"30 runs: {len(before)} stored already" in text
    assert all(begun(tmp_path / "log")[seed] == 1 for seed in before)
    with Store(tmp_path / to, private=True) as opened:
        works = [Double(seed=s, log=str(tmp_path / "log"), pause=0.05) for s in range(30)]
        done = run(works, opened, InlineExecutor())
        assert done.reused == 30
        fresh = run([replace(w, pause=0.0, log="") for w in works], None, InlineExecutor())
        assert done.privates == fresh.privates
        opened.remove()
    assert not (tmp_path / "own").exists()


@pytest.mark.parametrize("on", ["local", "inline"])
def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(tmp_path: Path, on: str) -> None:
    process = start(tmp_path, 60, on=on, hang=40)
    wait_for(tmp_path, 10)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to parent and workers
    text, _ = process.communicate(timeout=90)
    assert process.returncode == 130, text
    assert "interrupted: finished runs are stored. Give the same command to go on" in text
    assert "Traceback" not in text
    before = stored(tmp_path)
    assert len(before) >= 5
    assert "0 failed" in text
    resumed = start(tmp_path, 60, on=on)
    text, _ = resumed.communicate(timeout=120)
    assert resumed.returncode == 0, text
    assert stored(tmp_path) == set(range(60))
    assert all(begun(tmp_path / "log")[seed] == 1 for seed in before)


@pytest.mark.parametrize(("does", "finished"), [("lose-ctrl-c", 3), ("mistake-ctrl-c", 2)])
def test_ctrl_c_that_native_code_keeps_to_itself_still_interrupts(
    store: Store, does: str, finished: int
) -> None:
    before = signal.getsignal(signal.SIGINT)
    done = run([Double(does, seed=seed) for seed in range(5)], store, InlineExecutor())
    assert done.interrupted
    assert (done.ok, done.failed, done.left) == (finished, 0, 5 - finished)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"on": "rya"}, "Did you mean 'ray'"),
        ({"on": "local", "address": "x:1"}, "address is for on='ray'"),
        ({"workers": -1}, "^workers must be at least 0"),
    ],
)
def test_a_wrong_executor_is_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        choose(**arguments)  # type: ignore[arg-type]
