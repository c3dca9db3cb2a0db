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
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

pytest.importorskip("grpc", reason="needs grpcio: pip install 'whatleaks[processes]'")
pytest.importorskip("cryptography", reason="needs cryptography: pip install 'whatleaks[processes]'")

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.codec import decode, encode
from whatleaks.crypto.certificates import (
    CA_FILE,
    CERTIFICATE_FILE,
    KEY_FILE,
    host_name,
    load_credentials,
    make_certificates,
    read_host_name,
)
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import OPEN
from whatleaks.errors import PeerLost, UsageError, WireError
from whatleaks.federation.additive.run import AdditiveFederation
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.federation.boost.run import run as run_boost
from whatleaks.federation.boost.settings import SecureBoostSettings
from whatleaks.federation.horizontal.run import run_horizontal
from whatleaks.federation.horizontal.settings import HorizontalSettings
from whatleaks.federation.joint_network.run import JointNetworkFederation
from whatleaks.federation.joint_network.settings import JointNetworkSettings
from whatleaks.federation.regression.linear import run
from whatleaks.federation.regression.logistic import run_logistic
from whatleaks.federation.regression.settings import SecureLinearSettings
from whatleaks.federation.split.run import SplitFederation
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.federation.sshe.settings import SharedSettings
from whatleaks.federation.sshe.training import run_shared
from whatleaks.federation.trees.run import TreesFederation
from whatleaks.federation.trees.settings import TreeSettings
from whatleaks.models.boosted_trees import BoostSettings, train_joined
from whatleaks.models.shared_trees import joined as joined_trees
from whatleaks.models.torch_network import Layers, export
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.expected import Expected
from whatleaks.wire.message import Plain
from whatleaks.wire.node import Hello, Identity, Node, Place
from whatleaks.wire.transcript import Transcript

pytestmark = pytest.mark.timeout(180)
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
    parties |= {"client-1": "client", "client-2": "client", "client-3": "client"}
    parties |= {"coordinator": "coordinator"}
    make_certificates(folder, parties | {"arbiter": "arbiter"})
    return folder


@dataclass(frozen=True)
class Files:
    """One party's table, the ids of its rows, and its targets if it has them."""

    x: Floats
    ids: list[str]
    y: Floats | None = None


class Processes:
    """Writes every party's files into a folder of its own and starts the processes."""

    def __init__(
        self,
        folder: Path,
        authority: Path,
        plan: dict[str, Any],
        settings: dict[str, Any],
        files: dict[str, Files | None],
        new: dict[str, Files] | None = None,
    ) -> None:
        self.folder = folder
        self.parties = tuple(files)
        addresses = {
            n: f"127.0.0.1:{p}" for n, p in zip(files, free_ports(len(files)), strict=True)
        }
        tables = {"plan": plan, "plan.settings": settings, "plan.parties": addresses}
        for name, held in files.items():
            home = folder / name
            home.mkdir()
            own = {"keys": str(authority / name), "state": "state", "seed": SEED}
            if held is not None:
                own |= {"table": "table.csv", "id": "id"}
                own |= {"target": "y"} if held.y is not None else {}
                write_files(home / "table.csv", held)
            if new is not None and name in new:
                own |= {"predict": "new.csv"}
                write_files(home / "new.csv", new[name])
            lines = []
            for table, chosen in (*tables.items(), ("own", own)):
                lines += [f"[{table}]", *(f"{k} = {toml(v)}" for k, v in chosen.items())]
            (home / "party.toml").write_text("\n".join(lines))

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
                _, errors = process.communicate(timeout=60)
                assert process.returncode == 0, f"{name}: {errors}"

    def column(self, name: str, file: str = "weights.csv") -> Floats:
        with (self.folder / name / "state" / file).open() as text:
            return np.array([float(row[1]) for row in list(csv.reader(text))[1:]])


def toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    with path.open("w", newline="") as out:
        csv.writer(out).writerows([header, *rows])


def write_files(path: Path, held: Files) -> None:
    header = ["id", *(f"c{i}" for i in range(held.x.shape[1]))]
    rows = [
        [name, *("" if np.isnan(v) else repr(float(v)) for v in row)]
        for name, row in zip(held.ids, held.x, strict=True)
    ]
    if held.y is not None:
        header = [*header, "y"]
        rows = [[*row, repr(float(y))] for row, y in zip(rows, held.y, strict=True)]
    write(path, header, rows)


class Federation(Processes):
    """A vertical regression on ``data()`` with an arbiter."""

    def __init__(
        self,
        folder: Path,
        authority: Path,
        passives: tuple[str, ...],
        protocol: str,
        settings: SecureLinearSettings,
        prediction: str | None = None,
    ) -> None:
        tables = data()
        ids = [f"r{i}" for i in range(len(tables["y"]))]
        files: dict[str, Files | None] = {"active": Files(tables["active"], ids, tables["y"])}
        files |= {name: Files(tables[name], ids) for name in passives}
        new = {name: Files(tables[name][:4], ids[:4]) for name in files}
        plan = {"protocol": protocol} | ({"prediction": prediction} if prediction else {})
        chosen = {key: value for key, value in vars(settings).items() if value is not None}
        super().__init__(folder, authority, plan, chosen, files | {"arbiter": None}, new)


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


def test_two_processes_train_without_an_arbiter(tmp_path: Path, authority: Path) -> None:
    settings = SharedSettings(
        "logistic", 2, 4, learning_rate=0.05, fake_columns=1, key_bits=512, insecure_test_key=True
    )
    tables, channel = data(), Channel()
    ids = [f"r{i}" for i in range(len(tables["y"]))]
    files: dict[str, Files | None] = {
        "active": Files(tables["active"], ids, tables["y"]),
        "passive": Files(tables["passive"], ids),
    }
    pair = Processes(tmp_path, authority, {"protocol": "shared-regression"}, vars(settings), files)
    pair.finish()
    x, others, y = tables["active"], tables["passive"], tables["y"]
    single = run_shared(x, others, y, settings, Streams(SEED), channel)
    # Masks and shares are drawn anew: equal but for a last step of the fixed point.
    np.testing.assert_allclose(pair.column("active"), single.active_weights, atol=1e-12)
    np.testing.assert_allclose(pair.column("passive"), single.passive_weights, atol=1e-12)
    for name in pair.parties:
        heard = Transcript.load(tmp_path / name / "heard.wlk")
        told = [t for t in channel.transcript.traffic() if t.receiver == name]
        assert heard.traffic() == tuple(told)


SOON = (
    60.0  # seconds, however busy the machine; after three of silence a peer is lost (wire/node.py)
)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_party_that_dies_is_named_soon_and_training_resumes(
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
            _, errors = running[name].communicate(timeout=60)
            assert running[name].returncode == 3, errors
            assert "party 'passive'" in errors
            assert "Traceback" not in errors
        assert time.monotonic() - died < SOON
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


# SecureBoost: no arbiter, the active party holds the key.

BOOST = BoostSettings(rounds=2, max_depth=2, max_bin=6, min_child_weight=0.2, subsample=0.8)
FAST = SecureBoostSettings(BOOST, "heu-ou", 960, insecure_test_key=True)


def boost_settings(settings: SecureBoostSettings) -> dict[str, Any]:
    apart = {key: value for key, value in vars(settings).items() if key != "boost"}
    return vars(settings.boost) | apart


def boost_data(records: int = 40) -> tuple[list[Floats], Ints]:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(records, 6))
    drive = x[:, 0] + 2 * x[:, 3] + x[:, 5] + rng.normal(size=records)
    x[rng.random(x.shape) < 0.1] = np.nan
    labels = np.searchsorted(np.quantile(drive, [1 / 3, 2 / 3]), drive)
    return [x[:, :2], x[:, 2:4], x[:, 4:]], labels


def boost_processes(folder: Path, authority: Path, settings: SecureBoostSettings) -> Processes:
    parts, labels = boost_data()
    ids = [f"r{i}" for i in range(len(labels))]
    names = ("active", "passive", "passive-2")
    files: dict[str, Files | None] = {
        name: Files(x, ids, labels if name == "active" else None)
        for name, x in zip(names, parts, strict=True)
    }
    new = {name: Files(x[:7], ids[:7]) for name, x in zip(names, parts, strict=True)}
    plan = {"protocol": "secure-boost", "prediction": "walk"}
    return Processes(folder, authority, plan, boost_settings(settings), files, new)


def check_trees(processes: Processes, settings: SecureBoostSettings) -> None:
    """The parties' files, put together, are the model of the joined table, byte for byte."""
    parts, labels = boost_data()
    state = {name: processes.folder / name / "state" for name in processes.parties}
    trees = decode((state["active"] / "trees.wlk").read_bytes())
    owned = [decode((folder / "splits.wlk").read_bytes()) for folder in state.values()]
    model = joined_trees(trees, owned, [x.shape[1] for x in parts], 3)
    assert encode(model) == encode(train_joined(parts, labels, settings.boost, Streams(SEED)))
    scores = np.loadtxt(
        state["active"] / "scores.csv", delimiter=",", skiprows=1, usecols=(1, 2, 3)
    )
    first = np.concatenate([x[:7] for x in parts], axis=1)
    np.testing.assert_array_equal(scores, model.scores(first))


def test_boosting_processes_grow_the_trees_and_send_the_messages_of_one(
    tmp_path: Path, authority: Path
) -> None:
    processes = boost_processes(tmp_path, authority, FAST)
    processes.finish()
    check_trees(processes, FAST)
    parts, labels = boost_data()
    channel = Channel()
    single = run_boost(parts[0], parts[1:], labels, FAST, Streams(SEED), channel)
    trees = decode((tmp_path / "active" / "state" / "trees.wlk").read_bytes())
    assert encode(trees) == encode(single.trees)
    heard = {n: Transcript.load(tmp_path / n / "heard.wlk").traffic() for n in processes.parties}
    for name in processes.parties:
        told = {
            (t.kind, t.readable, t.count)
            for t in channel.transcript.traffic()
            if t.receiver == name
        }
        trained = {(t.kind, t.readable, t.count) for t in heard[name]}
        walked = {"ask", "left"}  # the processes also predict
        assert {t for t in trained if t[0] not in walked} == {t for t in told if t[0] not in walked}
    everything = (tmp_path / "active" / "heard.wlk").read_bytes()
    for x in parts[1:]:
        values = x[~np.isnan(x)]
        assert not any(np.float64(v).tobytes() in everything for v in values)
    assert not list(tmp_path.rglob("*secret*"))


def test_a_boosting_party_that_dies_is_named_and_the_trees_come_out_the_same(
    tmp_path: Path, authority: Path
) -> None:
    settings = replace(FAST, boost=replace(BOOST, rounds=12, colsample_bytree=0.5))
    processes = boost_processes(tmp_path, authority, settings)
    with processes.started() as running:
        victim = running["passive-2"]
        assert victim.stdout is not None
        for line in victim.stdout:
            if line.strip() == "passive-2: tree 4 of 36":  # within a round of three
                break
        victim.kill()
        died = time.monotonic()
        for name in ("active", "passive"):
            _, errors = running[name].communicate(timeout=60)
            assert running[name].returncode == 3, errors
            assert "party 'passive-2'" in errors
        assert time.monotonic() - died < SOON
    processes.finish("--resume")
    check_trees(processes, settings)
    heard = Transcript.load(tmp_path / "passive" / "heard.wlk").received_by("passive")
    assert heard[0].step >= 4 * BOOST.max_depth  # it went on, it did not start again


# Rows are aligned before training.


@pytest.mark.parametrize("protocol", ["linear", "secure-boost"])
def test_parties_align_their_rows_by_private_set_intersection(
    tmp_path: Path, authority: Path, protocol: str
) -> None:
    pytest.importorskip("private_set_intersection.python", reason="needs openmined-psi")
    rng = np.random.default_rng(8)
    people = 14
    x = {"active": rng.uniform(size=(people, 3)), "passive": rng.uniform(size=(people, 2))}
    x["passive-2"] = rng.uniform(size=(people, 2))
    y = (np.arange(people) % 2).astype(float)
    # Everybody misses some people, lists the others in an order of its own, and writes ids
    # in a manner of its own.
    held = {"active": range(12), "passive": range(2, 14), "passive-2": [*range(9), 11, 12]}
    common = [2, 3, 4, 5, 6, 7, 8, 11]
    style = {"active": "Person {:02}", "passive": " person  {:02}", "passive-2": "PERSON {:02} "}
    order = {name: rng.permutation(list(rows)) for name, rows in held.items()}
    ids = {name: [style[name].format(i) for i in order[name]] for name in held}
    files: dict[str, Files | None] = {
        name: Files(x[name][order[name]], ids[name], y[order[name]] if name == "active" else None)
        for name in held
    }
    settings: dict[str, Any] = vars(FAST.boost) | {"rounds": 1} | {"backend": "heu-ou"}
    settings |= {"key_bits": 960, "insecure_test_key": True, "min_child_weight": 0.0}
    if protocol == "linear":
        files |= {"arbiter": None}
        settings = {"epochs": 2, "learning_rate": 0.05, "key_bits": 512, "insecure_test_key": True}
    plan = {"protocol": protocol, "align": True, "strip": True, "ignore_case": True}
    processes = Processes(tmp_path, authority, plan, settings, files)
    processes.finish()
    rows = {name: x[name][common] for name in held}
    if protocol == "linear":
        chosen = SecureLinearSettings(**settings)
        others = [rows["passive"], rows["passive-2"]]
        single = run(rows["active"], others, y[common], chosen, Streams(SEED), Channel())
        for name in held:
            np.testing.assert_array_equal(processes.column(name), single.weights[name])
    else:
        boost = replace(BOOST, rounds=1, min_child_weight=0.0)
        trees = decode((tmp_path / "active" / "state" / "trees.wlk").read_bytes())
        owned = [decode((tmp_path / n / "state" / "splits.wlk").read_bytes()) for n in held]
        parts = list(rows.values())
        plain = train_joined(parts, y[common].astype(np.int64), boost, Streams(SEED))
        assert encode(joined_trees(trees, owned, [3, 2, 2], 1)) == encode(plain)
    for name in processes.parties:
        heard = (tmp_path / name / "heard.wlk").read_bytes().lower()
        assert b"person" not in heard  # no id, common or not, in any spelling
    seen = Transcript.load(tmp_path / "passive" / "heard.wlk").received_by("passive")
    assert [m.kind for m in seen][:4] == ["id-request", "id-setup", "id-response", "kept-records"]


def test_alignment_refuses_repeated_ids_and_reports_near_misses(
    tmp_path: Path, authority: Path
) -> None:
    pytest.importorskip("private_set_intersection.python", reason="needs openmined-psi")
    x, y = np.arange(6.0).reshape(3, 2) / 6, np.array([0.0, 1.0, 0.0])
    files = {"active": Files(x, ["a", "A", "b"], y), "passive": Files(x, ["a", "b", "C"])}
    plan = {"protocol": "secure-boost", "align": True}
    chosen = {"rounds": 1, "backend": "heu-ou", "key_bits": 960, "insecure_test_key": True}
    folded, exact = tmp_path / "folded", tmp_path / "exact"
    folded.mkdir()
    exact.mkdir()
    refused = Processes(folded, authority, plan | {"ignore_case": True}, chosen, dict(files))
    active = refused.start("active", "--join-timeout", "1")
    _, errors = active.communicate(timeout=60)
    assert active.returncode != 0
    assert "rows 1 and 2 have the same id" in errors
    with Processes(exact, authority, plan, chosen, dict(files)).started() as running:
        said = {name: process.communicate(timeout=60)[0] for name, process in running.items()}
    assert "active: 2 of 3 records are common" in said["active"]
    assert "passive: 1 ids without a match have spaces or capitals" in said["passive"]


# Horizontal: clients share their weights out, so no secret key is shared.


def test_clients_average_their_weights_between_processes_and_go_on(
    tmp_path: Path, authority: Path
) -> None:
    rng = np.random.default_rng(2)
    names = ("client-1", "client-2", "client-3")
    tables = [(rng.uniform(size=(5 + i, 3)), rng.normal(size=5 + i)) for i in range(3)]
    files: dict[str, Files | None] = {
        name: Files(x, [str(i) for i in range(len(x))], y)
        for name, (x, y) in zip(names, tables, strict=True)
    }
    settings = HorizontalSettings(rounds=40, local_steps=2, averaging="shared")
    plan = {"protocol": "horizontal"}
    processes = Processes(tmp_path, authority, plan, vars(settings), files | {"arbiter": None})
    with processes.started() as running:
        victim = running["client-2"]
        assert victim.stdout is not None
        for line in victim.stdout:
            if line.strip() == "client-2: round 3 of 40":
                break
        victim.kill()
        for name in ("client-1", "client-3", "arbiter"):
            _, errors = running[name].communicate(timeout=60)
            assert running[name].returncode == 3, errors
            assert "party 'client-2'" in errors
    processes.finish("--resume")
    single = run_horizontal(tables, settings, Streams(SEED), Channel())
    for name in names:
        np.testing.assert_array_equal(processes.column(name), single.weights)


# Additive models, the joint network, trees and split networks: trained together, kept apart.


def network_holdings(passives: tuple[str, ...], records: int = 40) -> tuple[Holdings, Rows]:
    """The first 30 records train, the last 10 are predicted; three classes."""
    rng = np.random.default_rng(9)
    columns = {name: sealed(rng.uniform(size=(records, 3))) for name in ("active", *passives)}
    drive = sum(table.sum(axis=1) for table in columns.values())
    labels = np.searchsorted(np.quantile(drive, [1 / 3, 2 / 3]), drive)
    names = dict.fromkeys(columns, ("a", "b", "c"))
    none = sealed_ints([])
    rows = Rows(sealed_ints(range(30)), sealed_ints(range(30, records)), none, none, none)
    return Holdings(columns, names, sealed_ints(labels), 3), rows


def network_processes(
    folder: Path,
    authority: Path,
    protocol: tuple[str, str],
    settings: dict[str, Any],
    holdings: Holdings,
    rows: Rows,
    helpers: tuple[str, ...] = (),
) -> Processes:
    ids = [f"r{i}" for i in range(len(holdings.labels))]
    files: dict[str, Files | None] = dict.fromkeys(helpers)
    new = {}
    for name, x in holdings.columns.items():
        y = holdings.labels[rows.training] if name == "active" else None
        files[name] = Files(x[rows.training], [ids[i] for i in rows.training], y)
        new[name] = Files(x[rows.targets], [ids[i] for i in rows.targets])
    plan = {"protocol": protocol[0], "prediction": protocol[1], "seed": SEED}
    return Processes(folder, authority, plan, settings, files, new)


def kept(processes: Processes, name: str, file: str = "part.wlk") -> bytes:
    return (processes.folder / name / "state" / file).read_bytes()


def check_scores(processes: Processes, expected: Floats) -> None:
    path = processes.folder / "active" / "state" / "scores.csv"
    scores = np.loadtxt(path, delimiter=",", skiprows=1, usecols=(1, 2, 3))
    np.testing.assert_array_equal(scores, expected)


def check_messages(processes: Processes, channel: Channel) -> None:
    """Every process heard what its party hears in one process."""
    for name in processes.parties:
        heard = Transcript.load(processes.folder / name / "heard.wlk").traffic()
        told = [t for t in channel.transcript.traffic() if t.receiver == name]
        assert {(t.sender, t.kind, t.count) for t in heard} == {
            (t.sender, t.kind, t.count) for t in told
        }


@pytest.mark.parametrize("hidden", [(), (4,)])
def test_additive_processes_give_the_parts_and_scores_of_one(
    tmp_path: Path, authority: Path, hidden: tuple[int, ...]
) -> None:
    holdings, rows = network_holdings(("passive", "passive-2"))
    settings = AdditiveSettings(hidden=hidden, steps=20, batch=8)
    chosen = vars(settings) | {"hidden": list(hidden)}
    processes = network_processes(
        tmp_path, authority, ("additive", "scores"), chosen, holdings, rows, ("coordinator",)
    )
    processes.finish()
    channel = Channel()
    single = AdditiveFederation().train(holdings, rows, settings, Streams(SEED), channel)
    check_scores(processes, single.release(rows.targets, channel, OPEN))
    for name, holder in single.holders.items():
        assert kept(processes, name) == encode(holder.export())
    check_messages(processes, channel)


def test_joint_network_processes_give_the_parts_and_scores_of_one(
    tmp_path: Path, authority: Path
) -> None:
    holdings, rows = network_holdings(("passive",))
    settings = JointNetworkSettings((6, 4), dropout=0.2, steps=15, batch=8)
    chosen = vars(settings) | {"hidden": [6, 4]}
    processes = network_processes(
        tmp_path, authority, ("joint-network", "scores"), chosen, holdings, rows, ("coordinator",)
    )
    processes.finish()
    channel = Channel()
    single = JointNetworkFederation().train(holdings, rows, settings, Streams(SEED), channel)
    check_scores(processes, single.release(rows.targets, channel, OPEN))
    (grant, _) = single.offer(("active",))
    model = grant.model
    for name, part in (
        ("active", model.active),
        ("passive", model.passive),
        ("coordinator", model.rest),
    ):
        assert kept(processes, name) == encode(part)
    check_messages(processes, channel)


@pytest.mark.parametrize("trees", [1, 40])
def test_tree_processes_give_the_model_and_votes_of_one(
    tmp_path: Path, authority: Path, trees: int
) -> None:
    holdings, rows = network_holdings(("passive", "passive-2"))
    settings = TreeSettings("tree" if trees == 1 else "forest", depth=3, trees=trees)
    processes = network_processes(
        tmp_path, authority, ("trees", "votes"), vars(settings), holdings, rows, ("coordinator",)
    )
    processes.finish()
    single = TreesFederation().train(holdings, rows, settings, Streams(SEED), Channel())
    check_scores(processes, single.release(rows.targets, Channel(), OPEN))
    assert kept(processes, "coordinator", "model.wlk") == encode(single.model)
    for name in holdings.columns:
        tests = decode(kept(processes, name, "nodes.wlk"))
        assert set(tests[:, 1]) <= {0.0, 1.0, 2.0}  # columns of its own, nobody else's
    heard = (tmp_path / "active" / "heard.wlk").read_bytes()
    values = np.concatenate([holdings.columns[name] for name in holdings.passives], axis=1)
    assert not any(np.float64(v).tobytes() in heard for v in values.ravel())


def test_split_processes_give_the_bottoms_and_scores_of_one(
    tmp_path: Path, authority: Path
) -> None:
    holdings, rows = network_holdings(("passive", "passive-2"))
    settings = SplitSettings(steps=12, batch=8, learning_rate=1e-2, bottom=Layers((5,), 2))
    chosen = vars(settings) | {"bottom": [5, 2]}
    processes = network_processes(
        tmp_path, authority, ("split", "embeddings"), chosen, holdings, rows
    )
    processes.finish()
    channel = Channel()
    single = SplitFederation().train(holdings, rows, settings, Streams(SEED), channel)
    scores = single.release(rows.targets, channel, OPEN)
    assert scores is not None
    check_scores(processes, scores)
    for name, passive in single.passives.items():
        assert kept(processes, name) == encode(export(passive.bottom, settings.bottom))
    check_messages(processes, channel)


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
        usual = {"plan": "", "records": 1, "columns": 1, "predictions": 0, "ids": "", "epochs": ()}
        claimed = {"name": name, "role": name, "key": b"", **usual, **claims}

        def hello(role: str) -> Hello:
            return Hello(**claimed)

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
