"""Parties as real processes over mutual TLS on loopback: same result, strangers out, deaths named."""

from __future__ import annotations

import csv
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

pytest.importorskip("grpc", reason="needs grpcio: pip install 'whatleaks[processes]'")
pytest.importorskip("cryptography", reason="needs cryptography: pip install 'whatleaks[processes]'")

from whatleaks.arrays import Floats
from whatleaks.crypto.certificates import (
    CA_FILE,
    CERTIFICATE_FILE,
    KEY_FILE,
    host_name,
    load_credentials,
    make_certificates,
    read_host_name,
)
from whatleaks.errors import PeerLost, UsageError, WireError
from whatleaks.federation.regression_settings import SecureLinearSettings
from whatleaks.federation.secure_linear import run
from whatleaks.federation.secure_logistic import run_logistic
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.expected import Expected
from whatleaks.wire.message import Plain
from whatleaks.wire.node import Hello, Identity, Node, Place
from whatleaks.wire.transcript import Transcript

pytestmark = pytest.mark.timeout(60)
SEED = 17
SOURCE = Path(__file__).resolve().parents[2] / "src"


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def data(records: int = 9) -> dict[str, Floats]:
    rng = np.random.default_rng(4)
    return {
        "active": rng.uniform(size=(records, 3)),
        "passive": rng.uniform(size=(records, 2)),
        "passive-2": rng.uniform(size=(records, 2)),
        "y": (rng.uniform(size=records) > 0.5).astype(float),
    }


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    parties = {"active": "active", "passive": "passive", "passive-2": "passive"}
    make_certificates(folder, parties | {"arbiter": "arbiter"})
    return folder


class Federation:
    """Writes every party's files into a folder of its own and starts the processes."""

    def __init__(
        self,
        folder: Path,
        authority: Path,
        passives: tuple[str, ...],
        protocol: str,
        settings: SecureLinearSettings,
        prediction: str | None = None,
    ) -> None:
        self.folder = folder
        self.parties = ("active", *passives, "arbiter")
        ports = free_ports(len(self.parties))
        chosen = [
            f"{key} = {toml(value)}" for key, value in vars(settings).items() if value is not None
        ]
        plan = [f'protocol = "{protocol}"']
        plan += [f'prediction = "{prediction}"'] if prediction else []
        addresses = [f'{n} = "127.0.0.1:{p}"' for n, p in zip(self.parties, ports, strict=True)]
        shared = ["[plan]", *plan, "[plan.settings]", *chosen, "[plan.parties]", *addresses]
        tables = data()
        for name in self.parties:
            home = folder / name
            home.mkdir()
            own = ["[own]", f'keys = "{authority / name}"', 'state = "state"', f"seed = {SEED}"]
            if name != "arbiter":
                x = tables[name]
                header = ["id"] + [f"c{i}" for i in range(x.shape[1])]
                rows = [[f"r{i}", *map(repr, map(float, row))] for i, row in enumerate(x)]
                own += ['table = "table.csv"', 'id = "id"', 'predict = "new.csv"']
                write(home / "new.csv", header, rows[:4])
                if name == "active":
                    own += ['target = "y"']
                    header = [*header, "y"]
                    rows = [
                        [*row, repr(float(y))] for row, y in zip(rows, tables["y"], strict=True)
                    ]
                write(home / "table.csv", header, rows)
            (home / "party.toml").write_text("\n".join([*shared, *own]))

    def start(self, name: str, *flags: str) -> subprocess.Popen[str]:
        home = self.folder / name
        role = name.partition("-")[0]
        command = [sys.executable, "-m", "whatleaks.cli", "party", "--role", role, "--name", name]
        return subprocess.Popen(
            [*command, "--config", "party.toml", "--transcript", "heard.wlk", *flags],
            cwd=home,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @contextmanager
    def started(self, *flags: str) -> Iterator[dict[str, subprocess.Popen[str]]]:
        running = {name: self.start(name, *flags) for name in self.parties}
        try:
            yield running
        finally:
            for process in running.values():
                if process.poll() is None:
                    process.kill()
                process.communicate()

    def finish(self, *flags: str) -> None:
        with self.started(*flags) as running:
            for name, process in running.items():
                _, errors = process.communicate(timeout=40)
                assert process.returncode == 0, f"{name}: {errors}"

    def column(self, name: str, file: str = "weights.csv") -> Floats:
        with (self.folder / name / "state" / file).open() as text:
            return np.array([float(row[1]) for row in list(csv.reader(text))[1:]])


def toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    with path.open("w", newline="") as out:
        csv.writer(out).writerows([header, *rows])


SMALL = SecureLinearSettings(
    epochs=2, batch_size=4, learning_rate=0.05, key_bits=512, insecure_test_key=True
)


def test_three_processes_give_the_weights_and_messages_of_one(
    tmp_path: Path, authority: Path
) -> None:
    settings = replace(SMALL, backend="phe-paillier")
    federation = Federation(tmp_path, authority, ("passive",), "linear", settings)
    federation.finish()
    tables, channel = data(), Channel()
    single = run(tables["active"], tables["passive"], tables["y"], settings, Streams(SEED), channel)
    np.testing.assert_array_equal(federation.column("active"), single.active_weights)
    np.testing.assert_array_equal(federation.column("passive"), single.passive_weights)
    for name in federation.parties:
        heard = Transcript.load(tmp_path / name / "heard.wlk")
        assert heard.receivers() == (name,)
        told = [t for t in channel.transcript.traffic() if t.receiver == name]
        assert heard.traffic() == tuple(told)
    everything = (tmp_path / "arbiter" / "heard.wlk").read_bytes()
    assert not any(np.float64(v).tobytes() in everything for v in tables["passive"].ravel())


def test_four_processes_with_masks_and_shuffling_predict(tmp_path: Path, authority: Path) -> None:
    settings = replace(SMALL, mask_gradients=True, shuffle=True, queries=False)
    passives = ("passive", "passive-2")
    federation = Federation(tmp_path, authority, passives, "logistic", settings, "coordinator")
    federation.finish()
    tables = data()
    others = [tables[name] for name in passives]
    single = run_logistic(tables["active"], others, tables["y"], settings, Streams(SEED), Channel())
    for name in ("active", *passives):
        np.testing.assert_array_equal(federation.column(name), single.weights[name])
    z = sum(tables[name][:4] @ single.weights[name] for name in ("active", *passives))
    scores = federation.column("active", "scores.csv")
    np.testing.assert_allclose(scores, 1 / (1 + np.exp(-z)), atol=1e-13)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_party_that_dies_is_named_in_five_seconds_and_training_resumes(
    tmp_path: Path, authority: Path, how: signal.Signals
) -> None:
    settings = replace(SMALL, epochs=60, queries=False)
    federation = Federation(tmp_path, authority, ("passive",), "linear", settings)
    with federation.started() as running:
        passive = running["passive"]
        assert passive.stdout is not None
        for line in passive.stdout:
            if line.strip() == "passive: epoch 3 of 60":
                break
        os.kill(passive.pid, how)
        died = time.monotonic()
        for name in ("active", "arbiter"):
            _, errors = running[name].communicate(timeout=20)
            assert running[name].returncode == 3, errors
            assert "party 'passive'" in errors
            assert "Traceback" not in errors
        assert time.monotonic() - died < 5.0
    saved = sorted(p.name for p in (tmp_path / "active" / "state").glob("epoch-*"))
    assert len(saved) == 2
    if how is signal.SIGSTOP:
        return
    federation.finish("--resume")
    tables = data()
    single = run(
        tables["active"], tables["passive"], tables["y"], settings, Streams(SEED), Channel()
    )
    np.testing.assert_array_equal(federation.column("active"), single.active_weights)
    np.testing.assert_array_equal(federation.column("passive"), single.passive_weights)
    heard = Transcript.load(tmp_path / "active" / "heard.wlk").received_by("active")
    assert heard[0].step >= 3 * 3  # it went on, it did not start again


# One end in this process: what a stranger, an impostor or a broken peer meets.


def identity(folder: Path) -> Identity:
    keys = load_credentials(folder)
    files = [str(folder / name) for name in (CA_FILE, CERTIFICATE_FILE, KEY_FILE)]
    return Identity(
        keys.authority, keys.certificate, keys.key, files[0], files[1], files[2], read_host_name
    )


class Pair:
    """An active and a passive node in this process."""

    def __init__(self, authority: Path) -> None:
        self.authority = authority
        ports = free_ports(2)
        self.places = {
            name: Place(name, name, f"127.0.0.1:{port}", host_name(name, name))
            for name, port in zip(("active", "passive"), ports, strict=True)
        }

    def node(self, name: str, keys: Path | None = None, **claims: Any) -> Node:
        own = self.places[name]
        peers = {n: p for n, p in self.places.items() if n != name}
        claimed = {"name": name, "role": name, **claims}

        def hello(role: str) -> Hello:
            return Hello(**claimed, plan="", records=1, columns=1, predictions=0, ids="", epochs=(), key=b"")  # fmt: skip

        return Node(
            own,
            peers,
            identity(keys or self.authority / name),
            Transcript(),
            hello,
            largest=10_000,
            patience=10.0,
        )


@pytest.fixture
def pair(authority: Path) -> Pair:
    return Pair(authority)


def refusal(node: Node) -> str:
    with node, pytest.raises(PeerLost) as refused:
        node.join(5.0)
    return str(refused.value)


def test_a_certificate_of_another_authority_is_refused(pair: Pair, tmp_path: Path) -> None:
    make_certificates(tmp_path, {"passive": "passive", "active": "active"})
    mixed = tmp_path / "mixed"  # trusts the right authority, but is certified by its own
    mixed.mkdir()
    for name in (CERTIFICATE_FILE, KEY_FILE):
        (mixed / name).write_bytes((tmp_path / "passive" / name).read_bytes())
    (mixed / CA_FILE).write_bytes((pair.authority / "passive" / CA_FILE).read_bytes())
    with pair.node("active"):
        assert "'active' refused our certificate" in refusal(pair.node("passive", mixed))
        stranger = pair.node("passive", tmp_path / "passive")
        assert "'active' showed a certificate that is refused" in refusal(stranger)


def test_no_certificate_is_refused(pair: Pair) -> None:
    with pair.node("active"):
        context = ssl.create_default_context(cafile=str(pair.authority / "active" / CA_FILE))
        context.set_alpn_protocols(["h2"])
        address = pair.places["active"].host_and_port
        name = host_name("active", "active")
        heard = b"?"
        try:
            with (
                socket.create_connection(address, 2.0) as plain,
                context.wrap_socket(plain, server_hostname=name) as secured,
            ):
                heard = secured.recv(1)  # with TLS 1.3 the refusal comes after the handshake
        except (ssl.SSLError, ConnectionResetError):
            heard = b""
        assert heard == b"", "the server spoke to a client without a certificate"


def test_a_certificate_of_another_role_is_refused(pair: Pair) -> None:
    with pair.node("active"):
        impostor = pair.node("passive", pair.authority / "arbiter")
        assert "does not know the party of this certificate" in refusal(impostor)


def test_a_server_of_another_role_is_refused(pair: Pair) -> None:
    with pair.node("active", pair.authority / "passive-2"):
        assert "'active' showed a certificate that is refused" in refusal(pair.node("passive"))


def test_a_claimed_role_must_be_the_certificates(pair: Pair) -> None:
    with pair.node("active"):
        impostor = pair.node("passive", role="arbiter")
        assert "says it is 'passive' in role 'arbiter'" in refusal(impostor)


def test_a_party_that_never_starts_is_named(pair: Pair) -> None:
    with pair.node("active") as alone, pytest.raises(PeerLost, match="'passive' did not start"):
        alone.join(0.5)


@contextmanager
def joined(pair: Pair) -> Iterator[tuple[Node, Node]]:
    with pair.node("active") as active, pair.node("passive") as passive:
        other = Thread(target=passive.join)
        other.start()
        active.join()
        other.join()
        yield active, passive


def test_broken_messages_are_refused_by_name(pair: Pair) -> None:
    with joined(pair) as (active, passive):
        values = Plain(np.ones(2))
        passive.send(3, "passive", "active", "output", values)
        for step, sender, payload, why in (
            (3, "passive", values, "repeated"),
            (2, "passive", values, "too late"),
            (4, "arbiter", values, "'passive' sent a message in the name of 'arbiter'"),
        ):
            with pytest.raises(WireError, match=f"'active' refused 'output'.*{why}"):
                passive.send(step, sender, "active", "output", payload)
        with pytest.raises(WireError, match="at most 10000"):
            passive.send(4, "passive", "active", "output", Plain(np.ones(2000)))
        passive._box.largest = 10**9  # a peer that does not keep to it
        with pytest.raises(WireError, match="'active' refused 'output' of step 4"):
            passive.send(4, "passive", "active", "output", Plain(np.ones(2000)))
        good = active.wait(Expected(3, "passive", "output", (2,), True))
        assert isinstance(good, Plain)
        checks: list[tuple[Any, str]] = [
            (Plain(np.ones(3)), "shape"),
            (Plain(np.array([1.0, np.nan])), "not finite"),
        ]
        for step, (payload, why) in enumerate(checks, 5):
            passive.send(step, "passive", "active", "output", payload)
            with pytest.raises(WireError, match=f"'passive' sent 'output' of step {step}.*{why}"):
                active.wait(Expected(step, "passive", "output", (2,), True))
        passive.send(9, "passive", "active", "output", values)
        with pytest.raises(WireError, match="out of order"):
            active.wait(Expected(7, "passive", "output", (2,), True))


def test_a_party_that_leaves_early_is_named(pair: Pair) -> None:
    with pair.node("active") as active:
        with pair.node("passive") as passive:
            other = Thread(target=passive.join)
            other.start()
            active.join()
            other.join()
        with pytest.raises(PeerLost, match="'passive' left before it sent 'output' of step 0"):
            active.wait(Expected(0, "passive", "output", (2,), True))


def test_keys_are_private_and_never_replaced(authority: Path) -> None:
    key = authority / "active" / KEY_FILE
    assert key.stat().st_mode & 0o077 == 0
    assert repr(load_credentials(authority / "active")).count("PRIVATE") == 0
    with pytest.raises(UsageError, match="never replaced"):
        make_certificates(authority, {"active": "active"})
    assert not list(authority.rglob("*ca-key*"))


def test_only_loopback_addresses_are_used() -> None:
    with pytest.raises(UsageError, match="loopback"):
        _ = Place("active", "active", "0.0.0.0:7000", "x").target
