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

import experiment_doubles
from whatleaks.errors import UsageError
from whatleaks.experiments.executors import Executor, choose
from whatleaks.experiments.executors.ray import RayExecutor
from whatleaks.experiments.runner import run
from whatleaks.experiments.settings import Settings
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.store import Store
from whatleaks.experiments.sweep import parse

needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason='Ray is not installed: pip install "whatleaks[ray]"'
)
EXECUTORS = ["local", pytest.param("ray", marks=needs_ray)]

# 200 small runs whose numbers come from draws, sums and a bootstrap.
TWO_HUNDRED = parse(
    """
    task = "uniform-data"
    targets = 50
    [sweep]
    seed = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]
    attack = ["half", "uniform"]
    options.columns = [1, 2, 3, 5, 8]
    """
).specs


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "r.db") as opened:
        yield opened


def measured(specs: tuple[Spec, ...], store: Store, executor: Executor) -> list[bytes]:
    records = run(specs, store, executor).records
    assert all(record is not None and record.ok for record in records)
    return [json.dumps(r.outcome.to_dict()).encode() for r in records if r and r.outcome]


@needs_ray
def test_ray_gives_the_same_bytes_as_local_processes(tmp_path: Path) -> None:
    assert len(TWO_HUNDRED) == 200
    with Store(tmp_path / "a.db") as here, Store(tmp_path / "b.db") as there:
        local = measured(TWO_HUNDRED, here, choose("local", workers=2))
        ray = measured(TWO_HUNDRED, there, choose("ray", workers=2))
    assert len(set(local)) > 100  # they do differ from each other
    assert local == ray


def test_the_number_of_workers_changes_no_byte(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as one, Store(tmp_path / "b.db") as two:
        first = measured(TWO_HUNDRED, one, choose("local", workers=1))
        second = measured(TWO_HUNDRED, two, choose("local", workers=2))
    assert first == second


def test_theory_holds_through_the_runner(store: Store) -> None:
    """On U(0, 1): the uniform guess errs by 1/6, one half by 1/12 (n = 20,000)."""
    specs = [Spec("uniform-data", attack=a, targets=20_000, seed=3) for a in ("uniform", "half")]
    for record, theory in zip(run(specs, store, choose()).records, (1 / 6, 1 / 12), strict=True):
        assert record is not None
        error = record.measurements["error"]
        # Three half-widths: a right run falls outside once in ten million.
        assert abs(error.value - theory) < 3 * (error.high - error.value)  # type: ignore[union-attr]


@pytest.mark.parametrize("on", EXECUTORS)
def test_failures_deaths_and_threads_are_treated_alike(
    on: str, store: Store, tmp_path: Path
) -> None:
    once = Settings({"marks": str(tmp_path), "lives": 1})
    always = Settings({"marks": str(tmp_path), "lives": 99})
    specs = [
        Spec("double-raises", seed=1),
        Spec("double-dies", seed=2, options=once),
        Spec("double-dies", seed=3, options=always),
        Spec("double-threads"),
        Spec("double", seed=4),
    ]
    raised, revived, dead, threads, plain = run(specs, store, choose(on, workers=2)).records
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
            run([Spec("double")], store, RayExecutor(address, patience=5.0))
    assert time.monotonic() - start < (8 if listening else 2)
    assert str(refused.value).startswith(f"--address {address}: no Ray cluster answered")
    assert "\n" not in str(refused.value)


CLUSTER = """
task = "uniform-data"
attack = "uniform"
targets = 50
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
    script = Path(experiment_doubles.__file__).with_name("sweep_process.py")
    sweep = [sys.executable, str(script), str(tmp_path / "sweep.toml"), str(tmp_path / "r.db")]
    try:
        end = time.monotonic() + 40
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
    specs = parse(CLUSTER).specs
    with Store(tmp_path / "r.db") as there, Store(tmp_path / "here.db") as here:
        cluster = run(specs, there, choose("local", workers=1))
        assert cluster.reused == 10
        local = measured(specs, here, choose("local", workers=1))
    assert [
        json.dumps(r.outcome.to_dict()).encode() for r in cluster.records if r and r.outcome
    ] == local


def test_ray_that_is_not_installed_is_one_line(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # what an absent package does
    with pytest.raises(UsageError, match=r'--on ray needs Ray.*pip install "whatleaks\[ray\]"'):
        run([Spec("double")], store, choose("ray"))
