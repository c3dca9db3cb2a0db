"""Every executor keeps the same contract and gives the same bytes."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import run_doubles
from run_doubles import Double
from whatleaks.errors import UsageError
from whatleaks.runs.executors import Executor, InlineExecutor, choose
from whatleaks.runs.executors.ray import RayExecutor
from whatleaks.runs.runner import run
from whatleaks.runs.store import Store
from whatleaks.runs.sweep import parse
from whatleaks.runs.work import Work

needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason='Ray is not installed: pip install "whatleaks[ray]"'
)
EXECUTORS = ["local", pytest.param("ray", marks=needs_ray)]

# 200 small runs whose numbers come from draws, sums and a bootstrap; ten share a training.
TWO_HUNDRED = parse(
    """
    [sweep]
    group = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
    seed = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    sigma = [0.5, 1.0]
    """,
    read=Double.from_dict,
).works


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "r.db") as opened:
        yield opened


def measured(works: tuple[Work, ...], executor: Executor) -> list[tuple[bytes, bytes | None]]:
    """What is public and what is private of every run."""
    done = run(works, None, executor)
    assert all(record is not None and record.ok for record in done.records)
    public = [json.dumps(r.outcome.to_dict()).encode() for r in done.records if r and r.outcome]
    return list(zip(public, done.privates, strict=True))


@pytest.fixture(scope="module")
def inline() -> list[tuple[bytes, bytes | None]]:
    return measured(TWO_HUNDRED, InlineExecutor())


def test_the_runs_differ(inline: list[tuple[bytes, bytes | None]]) -> None:
    assert len(TWO_HUNDRED) == 200
    assert len({public for public, _ in inline}) == 20  # a group is no part of the numbers
    assert len({private for _, private in inline}) == 20


@pytest.mark.parametrize(
    ("on", "workers"),
    [("local", 1), ("local", 2), pytest.param("ray", 2, marks=needs_ray)],
)
def test_every_executor_gives_the_same_bytes(
    on: str, workers: int, inline: list[tuple[bytes, bytes | None]]
) -> None:
    assert measured(TWO_HUNDRED, choose(on, workers)) == inline


def test_theory_holds_through_the_runner(store: Store) -> None:
    """On U(0, 1) a constant half errs by 1/12 (50 records of 400 columns)."""
    (record,) = run([Double(sigma=0.0, columns=400, seed=3)], store, choose("local", 1)).records
    assert record is not None
    error = record.measurements["error"]
    # Three half-widths: a right run falls outside once in ten million.
    assert abs(error.value - 1 / 12) < 3 * (error.high - error.value)  # type: ignore[union-attr]


def test_one_worker_can_be_this_process() -> None:
    assert choose("local", 1, inline=True).name == "inline"
    assert [e.width for e in (choose("local", 1), choose("local", 3), choose("ray", 4))] == [
        1,
        3,
        4,
    ]
    assert choose("local", 2, inline=True).name == "local"
    assert choose("local", 1).name == "local"


@pytest.mark.parametrize("on", EXECUTORS)
def test_failures_deaths_and_threads_are_treated_alike(
    on: str, store: Store, tmp_path: Path
) -> None:
    log = str(tmp_path / "log")
    works = [
        Double("raises", seed=1),
        Double("dies", seed=2, log=log, lives=1),
        Double("dies", seed=3, log=log, lives=99),
        Double("threads"),
        Double(seed=4),
    ]
    raised, revived, dead, threads, plain = run(works, store, choose(on, workers=2)).records
    assert raised is not None
    assert revived is not None
    assert dead is not None
    assert threads is not None
    assert plain is not None
    assert (raised.status, raised.error) == ("failed", "ZeroDivisionError: seed 1 is odd")
    assert (revived.status, revived.attempts) == ("ok", 2)
    assert (dead.status, dead.attempts) == ("failed", 3)
    assert "died 3 times" in dead.traceback
    assert threads.measurements == {"torch": 1, "pools": 1}
    assert plain.ok
    assert plain.environment["python"] == threads.environment["python"]


@pytest.mark.parametrize("on", EXECUTORS)
def test_a_killer_in_a_group_harms_no_other(on: str, store: Store, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    works = [Double(seed=seed, group="g", log=log) for seed in range(4)]
    works[2] = Double("dies", seed=2, group="g", log=log, lives=99)
    done = run(works, store, choose(on, workers=1))
    assert [record.status for record in done.records if record] == ["ok", "ok", "failed", "ok"]
    assert done.records[2] is not None
    assert "died 3 times" in done.records[2].traceback


@pytest.mark.parametrize("on", EXECUTORS)
def test_the_table_travels_to_every_worker(on: str) -> None:
    works = [Double("read-table", seed=seed) for seed in range(4)]
    done = run(works, None, choose(on, workers=2), table=b"x" * 300_000)
    assert [r.measurements["bytes"] for r in done.records if r] == [300_000] * 4


def _silent_port() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener


@needs_ray
@pytest.mark.parametrize("listening", [False, True], ids=["nobody-there", "there-but-silent"])
def test_an_address_that_does_not_answer_is_one_line_in_time(listening: bool, store: Store) -> None:
    with _silent_port() as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        if not listening:
            listener.close()
        start = time.monotonic()
        with pytest.raises(UsageError) as refused:
            run([Double()], store, RayExecutor(address, patience=5.0))
    assert time.monotonic() - start < 120  # patience is 5 s; the machine may be busy
    assert str(refused.value).startswith(f"no Ray cluster answered at address {address}")
    assert "\n" not in str(refused.value)


CLUSTER = """
[sweep]
seed = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
"""


@needs_ray
def test_a_running_cluster_is_used_by_its_address(tmp_path: Path) -> None:
    """A cluster in processes of its own, as on another machine, with a token made for it."""
    with _silent_port() as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    short = tempfile.mkdtemp(prefix="r")  # Ray's sockets live there; their paths must be short
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
    command += ["--num-cpus=2", "--include-dashboard=false"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }
    head = subprocess.Popen(
        [*command, f"--port={address.partition(':')[2]}", f"--temp-dir={short}"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    (tmp_path / "sweep.toml").write_text(CLUSTER)
    script = Path(run_doubles.__file__).with_name("sweep_process.py")
    sweep = [sys.executable, str(script), str(tmp_path / "sweep.toml"), str(tmp_path / "r.db")]
    try:
        end = time.monotonic() + 120
        code = 2
        while code == 2 and time.monotonic() < end:  # 2: it does not answer yet
            code = subprocess.run(
                [*sweep, "ray", address], env=environment, capture_output=True, check=False
            ).returncode
        assert code == 0
    finally:
        os.killpg(head.pid, signal.SIGKILL)  # Ray's servers watch their parent and leave
        head.wait(30)
        shutil.rmtree(short, ignore_errors=True)
    works = parse(CLUSTER, read=Double.from_dict).works
    with Store(tmp_path / "r.db") as there:
        cluster = run(works, there, choose("local", workers=1))
        assert cluster.reused == 10
    here = run(works, None, InlineExecutor())
    assert [r.outcome for r in cluster.records if r] == [r.outcome for r in here.records if r]


def test_ray_that_is_not_installed_is_one_line(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # what an absent package does
    with pytest.raises(UsageError, match=r"on='ray' needs .*pip install \"whatleaks\[ray\]\""):
        run([Double()], store, choose("ray"))


def test_a_script_that_starts_workers_as_it_is_read_is_told_what_to_do(tmp_path: Path) -> None:
    """Workers read the script too. One that dies of that has not taken the table: nobody may wait for it."""
    script = tmp_path / "mine.py"
    script.write_text(
        "from run_doubles import Double\n"
        "from whatleaks.runs.executors.local import LocalExecutor\n"
        "from whatleaks.runs.runner import run\n"
        "run([Double('process', seed=1)], None, LocalExecutor(1), table=bytes(10_000_000))\n"
    )
    here = str(Path(run_doubles.__file__).parent)
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])},
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("whatleaks.errors.UsageError: a worker process could not start")
    assert 'put the call below `if __name__ == "__main__":`' in last
