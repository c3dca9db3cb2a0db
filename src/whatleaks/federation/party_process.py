"""One party as a process of its own: its files, its keys, its programme, its results.

The programmes are those of ``regression_parties``; only the post differs from a run in one
process. A party writes to its own folder alone: its weights after each epoch, its final
weights, and the active party its scores.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.certificates import (
    CA_FILE,
    CERTIFICATE_FILE,
    KEY_FILE,
    host_name,
    load_credentials,
    read_host_name,
)
from whatleaks.crypto.keys import generate_keys, load_public
from whatleaks.errors import TableError, UsageError, WireError
from whatleaks.federation.checkpoints import Checkpoints
from whatleaks.federation.party_config import PartyConfig, role_of
from whatleaks.federation.regression_parties import ActiveParty, Arbiter, PassiveParty
from whatleaks.federation.regression_settings import (
    ACTIVE,
    ARBITER,
    LOGISTIC,
    check_labels,
    with_fakes,
)
from whatleaks.federation.secure_prediction import collect_scores, return_scores, send_outputs
from whatleaks.seeds import Streams
from whatleaks.wire.expected import Programme
from whatleaks.wire.node import Hello, Identity, Node, Place
from whatleaks.wire.transcript import Transcript

Tell = Callable[[str], None]


@dataclass(frozen=True)
class OwnTable:
    """A party's own rows: numbers, their column names, ids and targets if there are any."""

    columns: tuple[str, ...] = ()
    x: Floats = field(default_factory=lambda: sealed(np.zeros((0, 0))))
    ids: tuple[str, ...] | None = None
    y: Floats | None = None

    @property
    def digest(self) -> str:
        """A fingerprint of the ids in their order, or nothing where there are no ids."""
        if self.ids is None:
            return ""
        parts = (value.encode() for value in self.ids)
        framed = b"".join(len(part).to_bytes(4, "little") + part for part in parts)
        return hashlib.sha256(framed).hexdigest()


def read_table(path: Path, id_column: str | None, target: str | None) -> OwnTable:
    """Read a CSV file of numbers."""
    import pandas as pd

    try:
        names = {id_column: str} if id_column else None
        frame = pd.read_csv(path, dtype=names, float_precision="round_trip")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise TableError(f"{path} is not a CSV table: {error}") from None
    for column in (id_column, target):
        if column is not None and column not in frame.columns:
            raise TableError(f"{path} has no column {column!r}")
    ids = None
    if id_column is not None:
        ids = tuple(str(value) for value in frame.pop(id_column))
        if len(set(ids)) < len(ids):
            raise TableError(f"{path}: the id column {id_column!r} has a value twice")
    try:
        numbers = frame.astype(np.float64)
    except ValueError:
        raise TableError(f"{path} has a column that is not numeric: encode or drop it") from None
    if not len(numbers) or not np.isfinite(numbers.to_numpy()).all():
        raise TableError(f"{path} is empty or has a value that is not finite: fill or drop it")
    y = None if target is None else sealed(numbers.pop(target).to_numpy())
    return OwnTable(tuple(map(str, numbers.columns)), sealed(numbers.to_numpy()), ids, y)


def run_party(
    config: PartyConfig,
    resume: bool = False,
    transcript: Path | None = None,
    tell: Tell = print,
    join_timeout: float = 30.0,
) -> None:
    """Run one party from start to end; what it received is saved even if the run breaks."""
    heard = Transcript()
    try:
        _Process(config, resume, heard, tell).run(join_timeout)
    finally:
        if transcript is not None:
            heard.save(transcript)


class _Process:
    """The state of one party's process."""

    def __init__(self, config: PartyConfig, resume: bool, heard: Transcript, tell: Tell) -> None:
        self._config = config
        self._plan = config.plan
        self._heard = heard
        self._tell = tell
        settings = self._plan.settings
        self._checkpoints = Checkpoints(config.state, self._plan.digest, config.name)
        self._saved = self._checkpoints.load() if resume else {}
        self._streams = Streams(self._seed())
        self._table, self._wanted = OwnTable(), OwnTable()
        if config.table is not None and config.role != ARBITER:
            self._table = read_table(config.table, config.id, config.target)
        if config.predict is not None and config.role != ARBITER:
            self._wanted = read_table(config.predict, config.id, None)
            if self._wanted.columns != self._table.columns:
                raise TableError(f"{config.predict} has other columns than {config.table}")
        self._x = self._table.x
        if config.role == ACTIVE:
            self._x = with_fakes(self._x, settings, self._streams.rng("active/fakes"))
            if self._plan.link is LOGISTIC and self._table.y is not None:
                check_labels(self._table.y)
        self._keys: tuple[PublicKey, SecretKey] | None = None
        if config.role == ARBITER:
            self._keys = generate_keys(
                settings.backend, settings.key_bits, insecure_test_key=settings.insecure_test_key
            )

    def _seed(self) -> int:
        """Return the own seed: from the file, else one drawn once and kept in the own folder."""
        if self._config.seed is not None:
            return self._config.seed
        path = self._config.state / "seed"
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(str(secrets.randbits(63)))
        return int(path.read_text())

    def run(self, join_timeout: float) -> None:
        """Meet the others, train from the last common epoch, predict if the plan says so."""
        config = self._config
        places = {
            name: Place(name, role_of(name), address, host_name(name, role_of(name)))
            for name, address in self._plan.addresses.items()
        }
        own = places.pop(config.name)
        keys = load_credentials(config.keys)
        identity = Identity(
            keys.authority,
            keys.certificate,
            keys.key,
            str(config.keys / CA_FILE),
            str(config.keys / CERTIFICATE_FILE),
            str(config.keys / KEY_FILE),
            read_host_name,
        )
        with Node(own, places, identity, self._heard, self._hello) as node:
            self._tell(f"{config.name}: listening on {own.address}")
            peers = node.join(join_timeout)
            first = self._agree(peers)
            self._tell(f"{config.name}: all parties are here, training from epoch {first}")
            public = self._public(peers)
            if config.role == ARBITER:
                self._arbitrate(node, peers, first)
            else:
                self._take_part(node, peers, first, public)
        self._tell(f"{config.name}: done")

    def _hello(self, role: str) -> Hello:
        """Introduce this party to one in ``role``: ids are not the arbiter's business."""
        return Hello(
            self._config.name,
            self._config.role,
            self._plan.digest,
            len(self._x),
            self._x.shape[1],
            len(self._wanted.x),
            "" if role == ARBITER else self._table.digest + self._wanted.digest,
            tuple(sorted(self._saved)),
            self._keys[0].key_bytes if self._keys else b"",
        )

    def _agree(self, peers: Mapping[str, Hello]) -> int:
        """Refuse peers that do not fit, and return the last epoch that all data parties saved."""
        own = self._hello(ACTIVE)
        data = {n: h for n, h in peers.items() if h.role != ARBITER}
        if own.role != ARBITER:
            data[own.name] = own
        for name, hello in peers.items():
            if hello.plan != own.plan:
                raise WireError(f"party {name!r} has another plan: compare the [plan] tables")
        for part in ("records", "predictions"):
            counts = {name: getattr(hello, part) for name, hello in data.items()}
            if len(set(counts.values())) > 1:
                raise WireError(f"the parties hold different numbers of {part}: {counts}")
        if own.role != ARBITER and len({hello.ids for hello in data.values()}) > 1:
            raise WireError(
                "the parties' rows are not the same records in the same order: align them by id"
            )
        return max(set.intersection(*(set(h.epochs) for h in data.values())), default=0)

    def _public(self, peers: Mapping[str, Hello]) -> PublicKey:
        if self._keys is not None:
            return self._keys[0]
        settings = self._plan.settings
        return load_public(settings.backend, settings.key_bits, peers[ARBITER].key)

    def _arbitrate(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        assert self._keys is not None
        settings = self._plan.settings
        columns = {name: peers[name].columns for name in (ACTIVE, *self._plan.passives)}
        records = peers[ACTIVE].records
        node.run(Arbiter(*self._keys, settings, node).serve(records, columns, first))
        if self._plan.prediction is not None:
            step = settings.epochs * settings.batch_count(records) + 1
            count = peers[ACTIVE].predictions
            style, link = self._plan.prediction, self._plan.link
            node.run(return_scores(count, step, style, self._keys, node, link))

    def _take_part(
        self, node: Node, peers: Mapping[str, Hello], first: int, public: PublicKey
    ) -> None:
        config, plan = self._config, self._plan
        settings, link = plan.settings, plan.link
        rng = self._streams.rng(f"{config.name}/weights")
        party: ActiveParty | PassiveParty
        if config.role == ACTIVE:
            assert self._table.y is not None
            party = ActiveParty(
                self._x, self._table.y, settings, rng, public, node, link, plan.passives
            )
        else:
            party = PassiveParty(config.name, self._x, settings, rng, public, node, link)
        if first:
            party.weights = self._saved[first]

        def epoch_end(epoch: int, weights: Floats) -> None:
            self._checkpoints.save(epoch, weights)
            self._tell(f"{config.name}: epoch {epoch} of {settings.epochs}")

        node.run(party.train(first, epoch_end))
        step = settings.epochs * settings.batch_count(len(self._x))
        if settings.queries:
            columns = {name: peers[name].columns for name in plan.passives if name in peers}
            asking: Programme[Any] = (
                party.ask_queries(step, columns)
                if isinstance(party, ActiveParty)
                else party.answer_queries(step)
            )
            node.run(asking)
        self._write("weights.csv", "column,weight", self._names(), party.weights)
        if plan.prediction is None:
            return
        style, x = plan.prediction, self._wanted.x
        # Fake columns mean nothing: new records get zeros there.
        z = sealed(x @ party.weights[: x.shape[1]])
        if config.role == ACTIVE:
            programme = collect_scores(z, step + 1, style, public, node, link, plan.passives)
            rows = self._wanted.ids or tuple(map(str, range(len(z))))
            self._write("scores.csv", "row,score", rows, node.run(programme))
        else:
            node.run(send_outputs(config.name, z, step + 1, style, public, node))

    def _names(self) -> tuple[str, ...]:
        extra = self._x.shape[1] - len(self._table.columns)
        return self._table.columns + tuple(f"(fake {i + 1})" for i in range(extra))

    def _write(self, file: str, header: str, names: tuple[str, ...], values: Floats) -> None:
        """Write two columns to the own folder, every double in full."""
        import csv

        path = self._config.state / file
        with path.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(header.split(","))
            writer.writerows(zip(names, (repr(float(v)) for v in values), strict=True))
