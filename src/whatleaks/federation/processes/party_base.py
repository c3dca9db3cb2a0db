"""What every party's process does, whatever the protocol: meet, agree, align, keep, write."""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import encode
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
from whatleaks.crypto.psi import check_ids, normal_form, untidy
from whatleaks.errors import TableError, UsageError, WireError
from whatleaks.federation.processes.aligned_rows import (
    align_active,
    align_passive,
    hear_counts,
    tell_helper,
)
from whatleaks.federation.processes.checkpoints import Checkpoints, make_private
from whatleaks.federation.processes.own_table import OwnTable, read_table
from whatleaks.federation.processes.party_config import PartyConfig
from whatleaks.files import write_atomically
from whatleaks.seeds import Streams
from whatleaks.wire.mailbox import LARGEST
from whatleaks.wire.node import HEADER, Hello, Identity, Node, Place
from whatleaks.wire.parties import ACTIVE, ARBITER, HELPERS, role_of
from whatleaks.wire.transcript import Transcript

Tell = Callable[[str], None]


class PartyProcess:
    """One party from start to end; a protocol adds ``work``."""

    unit: ClassVar[str] = "epoch"  # what a checkpoint is taken after
    key_role: ClassVar[str] = ARBITER  # who holds the secret key
    largest: ClassVar[int] = LARGEST  # bytes of one message
    gaps: ClassVar[bool] = False  # may a value be missing?

    def __init__(self, config: PartyConfig, resume: bool, heard: Transcript, tell: Tell) -> None:
        self.config = config
        self.plan = config.plan
        self.heard = heard
        self.tell = tell
        make_private(config.state)
        seed = self._seed()
        self.streams = Streams(seed)
        self.table, self.wanted = OwnTable(), OwnTable()
        if config.table is not None and config.role not in HELPERS:
            self.table = self._read(config.table, config.target)
        if config.predict is not None and config.role not in HELPERS:
            self.wanted = self._read(config.predict, None)
            if self.wanted.columns != self.table.columns:
                raise TableError(f"{config.predict} has other columns than {config.table}")
        data = hashlib.sha256(f"{self.table.fingerprint} {seed}".encode()).hexdigest()
        self.checkpoints = Checkpoints(config.state, self.plan.digest, config.name, data)
        self.saved: dict[int, Any] = self.checkpoints.load(self._say) if resume else {}
        self.records, self.predictions = len(self.table.x), len(self.wanted.x)
        self.keys = self.make_keys() if config.role == self.key_role else None

    def _say(self, line: str) -> None:
        self.tell(f"{self.config.name}: {line}")

    def work(self, node: Node, peers: Mapping[str, Hello], first: int) -> None:
        """Train from the last common checkpoint, and predict if the plan says so."""
        raise NotImplementedError

    def limit(self, records: int, columns: int) -> int:
        """Return how many bytes the longest message of the protocol can have.

        ``records`` and ``columns`` are the most that any party has.
        """
        del records, columns
        return self.largest

    def _limit(self, peers: Mapping[str, Hello]) -> int:
        if self.plan.align and self.config.role in HELPERS:
            return self.largest  # it is not told how many records there are
        all_of_us = (self.hello(ACTIVE), *peers.values())
        records = max(max(hello.records, hello.predictions) for hello in all_of_us)
        columns = max(hello.columns for hello in all_of_us)
        return HEADER + 64 * records + self.limit(records, columns)  # 64 for a blinded id

    def make_keys(self) -> tuple[PublicKey, SecretKey] | None:
        """Make the key pair of this run."""
        chosen = self.plan.settings
        return generate_keys(
            chosen.backend, chosen.key_bits, insecure_test_key=chosen.insecure_test_key
        )

    @property
    def columns(self) -> int:
        """How many columns this party trains on."""
        return int(self.table.x.shape[1])

    @property
    def outputs(self) -> int:
        """How many classes there are, or trees a round of SecureBoost: the active party tells."""
        return 0

    def labels(self) -> Ints:
        """Return the active party's targets as classes."""
        y = self.table.y
        if y is None or (y != np.floor(y)).any() or (y < 0).any():
            raise TableError(
                f"the target of {self.plan.protocol} must be a class: 0, 1, ... in every row"
            )
        labels: Ints = y.astype(np.int64)
        return labels

    def _read(self, path: Any, target: str | None) -> OwnTable:
        table = read_table(path, self.config.id, target, self.gaps)
        if self.plan.align:
            assert table.ids is not None  # ``load_config`` has seen to it
            formed = tuple(normal_form(table.ids, self.plan.strip, self.plan.ignore_case))
            check_ids(formed, str(path))
            table = OwnTable(table.columns, table.x, formed, table.y)
        return table

    def _seed(self) -> int:
        """Return the own seed: from the file, else one drawn once and kept in the own folder."""
        if self.config.seed is not None:
            return self.config.seed
        path = self.config.state / "seed"
        if not path.exists():
            write_atomically(path, str(secrets.randbits(63)).encode(), mode=0o600)
        kept = path.read_text(errors="replace")
        if not kept.isdecimal():
            raise UsageError(f"{path} holds no seed: delete it, and the checkpoints beside it")
        return int(kept)

    def run(self, join_timeout: float) -> None:
        """Meet the others, agree on where to begin, align the rows if asked, and work."""
        config = self.config
        places = {
            name: Place(name, role_of(name), address, host_name(name, role_of(name)))
            for name, address in self.plan.addresses.items()
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
        with Node(own, places, identity, self.heard, self.hello, self.largest) as node:
            self.tell(f"{config.name}: listening on {own.address}")
            peers = node.join(join_timeout)
            first = self.agree(peers)
            node.limit(self._limit(peers))
            if self.plan.align:
                self._align(node, peers)
            self.tell(f"{config.name}: all parties are here, training from {self.unit} {first}")
            self.work(node, peers, first)
        self.tell(f"{config.name}: done")

    def hello(self, role: str) -> Hello:
        """Introduce this party to one in ``role``: ids are not a helper's business.

        Before rows are aligned a helper does not learn how many there are, either.
        """
        hidden = role in HELPERS and self.plan.align
        return Hello(
            self.config.name,
            self.config.role,
            self.plan.digest,
            0 if hidden else len(self.table.x),
            self.columns,
            0 if hidden else len(self.wanted.x),
            "" if role in HELPERS or self.plan.align else self.table.digest + self.wanted.digest,
            tuple(sorted(self.saved)),
            self.keys[0].key_bytes if self.keys else b"",
            self.outputs,
        )

    def agree(self, peers: Mapping[str, Hello]) -> int:
        """Refuse peers that do not fit, and return the last epoch that all data parties saved."""
        own = self.hello(ACTIVE)
        data = {n: h for n, h in peers.items() if h.role not in HELPERS}
        if own.role not in HELPERS:
            data[own.name] = own
        for name, hello in peers.items():
            if hello.plan != own.plan:
                raise WireError(f"party {name!r} has another plan: compare the [plan] tables")
        self.agree_on_rows(own, data)
        return max(set.intersection(*(set(h.epochs) for h in data.values())), default=0)

    def agree_on_rows(self, own: Hello, data: Mapping[str, Hello]) -> None:
        """Refuse tables of other records, unless they are to be aligned."""
        if self.plan.align:
            return
        for part in ("records", "predictions"):
            counts = {name: getattr(hello, part) for name, hello in data.items()}
            if len(set(counts.values())) > 1:
                raise WireError(f"the parties hold different numbers of {part}: {counts}")
        if own.role not in HELPERS and len({hello.ids for hello in data.values()}) > 1:
            raise WireError(
                "the parties' rows are not the same records in the same order: align them by id"
            )

    def _align(self, node: Node, peers: Mapping[str, Hello]) -> None:
        """Cut the own tables to the common records, in the common order."""
        if self.config.role in HELPERS:
            self.records, self.predictions = node.run(hear_counts())
            return
        self.table = self._aligned(
            self.table, {name: peers[name].records for name in peers}, 0, node
        )
        if self.plan.prediction is not None:
            self.wanted = self._aligned(
                self.wanted, {name: peers[name].predictions for name in peers}, 1, node
            )
        self.records, self.predictions = len(self.table.x), len(self.wanted.x)
        for helper in HELPERS if self.config.role == ACTIVE else ():
            if helper in peers:
                tell_helper(helper, self.records, self.predictions, node)

    def _aligned(
        self, table: OwnTable, counts: Mapping[str, int], step: int, node: Node
    ) -> OwnTable:
        name, ids = self.config.name, table.ids
        assert ids is not None
        if self.config.role == ACTIVE:
            asked = {passive: counts[passive] for passive in self.plan.passives}
            found = node.run(align_active(ids, asked, step, node))
        else:
            found = node.run(align_passive(name, ids, counts[ACTIVE], step, node))
        left = table.at(found)
        assert left.ids is not None
        self.tell(f"{name}: {len(found)} of {len(ids)} records are common")
        near = untidy(ids, set(left.ids))
        if near:
            self.tell(
                f"{name}: {near} ids without a match have spaces or capitals: "
                "set plan.strip or plan.ignore_case"
            )
        return left

    def public(self, peers: Mapping[str, Hello]) -> PublicKey:
        """Return the public key, from whoever holds the secret one."""
        if self.keys is not None:
            return self.keys[0]
        settings = self.plan.settings
        return load_public(settings.backend, settings.key_bits, peers[self.key_role].key)

    def keep(self, count: int, state: Any, of: int) -> None:
        """Save what this party needs to go on after ``count`` epochs, rounds or trees."""
        self.checkpoints.save(count, state)
        self.tell(f"{self.config.name}: {self.unit} {count} of {of}")

    def write(self, file: str, header: str, names: tuple[str, ...], *values: Floats) -> None:
        """Write columns to the own folder, every double in full, for the owner alone."""
        import csv

        columns = [[repr(float(v)) for v in column] for column in values]
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        writer.writerow(header.split(","))
        writer.writerows(zip(names, *columns, strict=True))
        write_atomically(self.config.state / file, out.getvalue().encode(), mode=0o600)

    def write_scores(self, scores: Floats) -> None:
        """Write the scores of the predicted records, one column per class."""
        rows = self.wanted.ids or tuple(map(str, range(len(scores))))
        header = ",".join(["row", *(f"class {c}" for c in range(scores.shape[1]))])
        self.write("scores.csv", header, rows, *map(sealed, scores.T))

    def store(self, file: str, value: Any) -> None:
        """Write records in our own encoding to the own folder, readable by the owner alone."""
        write_atomically(self.config.state / file, encode(value), mode=0o600)
