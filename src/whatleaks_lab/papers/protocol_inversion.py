"""Two protocols that no audit of columns can hold, on real records (Li et al., section 4.2 and 4.1).

Horizontal clients hold other people of the same columns: nobody's column is hidden from the other,
so there is no partner's column to audit, and these runs are of a kind of their own. ``whatleaks
run`` takes them with ``kind = "protocol-inversion"``, on a public set or on a table of the user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from whatleaks.arrays import Bools, Floats, sealed
from whatleaks.data.table import file_hash, is_file_name
from whatleaks.errors import AttackError, SpecError, nearest
from whatleaks.federation.regression.linear import plain_linear, run
from whatleaks.federation.regression.settings import SecureLinearSettings
from whatleaks.models.colluding_arbiter import table_from_gradients
from whatleaks.models.degrees_of_freedom import horizontal_freedom, known_data_ratio
from whatleaks.models.gram_rows import Bounds, corollary_positions, fitting_tables
from whatleaks.runs.work import work
from whatleaks.seeds import Streams
from whatleaks.trial.outcome import Outcome, Quantity
from whatleaks.trial.preparing import ready
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings, like
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE, PASSIVE
from whatleaks.wire.transcript import Transcript
from whatleaks_lab.horizontal.gram import others_gradients, others_gram
from whatleaks_lab.horizontal.run import run_horizontal
from whatleaks_lab.horizontal.settings import HorizontalSettings, client_names
from whatleaks_lab.papers.own_work import OwnWork

HORIZONTAL, COLLUDING = "horizontal", "colluding"
COUNTS = ("columns", "records", "others", "seed", "rounds")  # all other fields are texts


@work
@dataclass(frozen=True)
class ProtocolInversion(OwnWork):
    """One protocol on real records: ``columns`` and ``records`` of the victim.

    ``others``: the attacker's records in a horizontal federation. ``dataset`` may be the path of a
    table; then ``target`` names its column to predict, and ``table`` is the file's hash.
    """

    kind: ClassVar[str] = "protocol-inversion"

    protocol: str
    dataset: str
    columns: int
    records: int
    others: int = 0
    seed: int = 0
    target: str = ""
    table: str = ""
    rounds: int = 600

    def __post_init__(self) -> None:
        """Refuse what no protocol has."""
        if self.protocol not in (HORIZONTAL, COLLUDING):
            raise SpecError(f"protocol {self.protocol!r}: use {HORIZONTAL} or {COLLUDING}")
        least = {"columns": 1, "records": 1, "rounds": 1}
        if self.protocol == HORIZONTAL:
            least["others"] = 1
        for name, count in least.items():
            if getattr(self, name) < count:
                raise SpecError(f"{name} is {getattr(self, name)}: use at least {count}")

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> Self:
        """Read fields; the hash of a user's own file becomes part of the run."""
        known = [f.name for f in fields(cls)]
        unknown = sorted(set(tree) - set(known))
        if unknown:
            raise SpecError(f"{cls.kind} has no field {unknown[0]!r}.{nearest(unknown[0], known)}")
        lacking = {"protocol", "dataset", "columns", "records"} - set(tree)
        if lacking:
            raise SpecError(f"{cls.kind} needs {', '.join(sorted(lacking))}")
        for name, value in tree.items():
            like(value, 0 if name in COUNTS else "", f"{cls.kind}: {name}")
        named = tree["dataset"]
        if isinstance(named, str) and is_file_name(named) and not tree.get("table"):
            tree = {**tree, "table": file_hash(named)}
        return cls(**tree)

    @classmethod
    def perform_group(
        cls, works: Sequence[ProtocolInversion], table: bytes | None
    ) -> Iterator[tuple[Outcome, bytes]]:
        """Train and invert; what is stored tells no value."""
        del table
        for one in works:
            if one.protocol == HORIZONTAL:
                yield inverted(trained(one)), b""
            else:
                yield _colluding(one), b""


def _table(one: ProtocolInversion, unknown: int) -> tuple[Floats, Floats, Floats]:
    """Return own and passive columns and the target of all records, in an order by the seed."""
    asked = Scenario(
        one.dataset, unknown=unknown, model="encrypted", threat="encrypted", seed=one.seed,
        data=Settings({"prepare": "numbers", **({"label": one.target} if one.target else {})}),
        table=one.table,
    )  # fmt: skip
    held = ready(asked, None, Streams(one.seed)).holdings
    order = Streams(one.seed).rng("records").permutation(len(held.labels))
    target = held.labels if held.target is None else held.target
    own, passive = held.columns[ACTIVE][order], held.columns[PASSIVE][order]
    return own, passive, np.asarray(target[order], dtype=np.float64)


def _relative(found: Floats, truth: Floats) -> float:
    """Return the mean error over the mean size."""
    return float(np.abs(found - truth).mean() / np.abs(truth).mean())


@dataclass(frozen=True)
class Seen:
    """What one of two clients holds: its records, the averages it read, and what it was told.

    ``values`` are elements of the victim's table (columns x records) and count where ``known``:
    where Corollary 1 asks for them. All values lie in 0..1, which is public.
    """

    own: Floats
    targets: Floats
    averages: Floats
    rate: float
    known: Bools
    values: Floats


@dataclass(frozen=True)
class Trained:
    """What the curious client holds, the same with a stranger in the victim's place, the truth."""

    seen: Seen
    exchanged: Seen
    truth: Floats


def trained(one: ProtocolInversion) -> Trained:
    """Train two clients on ciphertexts; the second is curious."""
    own, passive, y = _table(one, 1)
    x = np.concatenate([passive, own], axis=1)[:, : one.columns]
    m, others = one.records, one.others
    if x.shape[1] < one.columns or len(x) < 2 * m + others:
        raise SpecError(
            f"{one.dataset} has {x.shape[1]} columns and {len(x)} records: {one.columns} and "
            f"{2 * m + others} are asked for (the victim's, the attacker's, a control's)"
        )
    mine = (sealed(x[m : m + others]), sealed(y[m : m + others]))
    rate = 2.5 / ((m + others) * one.columns)
    settings = HorizontalSettings(
        rounds=one.rounds, learning_rate=rate, key_bits=512, insecure_test_key=True
    )
    truth = sealed(x[:m].T)
    known = corollary_positions(truth)

    def held(rows: slice) -> Seen:
        clients = [(x[rows], y[rows]), mine]
        done = run_horizontal(clients, settings, Streams(one.seed), Channel(Transcript([])))
        read = done.averages[client_names(2)[1]]
        return Seen(*mine, read, rate, known, sealed(np.where(known, truth, 0.0)))

    return Trained(held(slice(0, m)), held(slice(m + others, 2 * m + others)), truth)


def others_tables(seen: Seen) -> tuple[Floats, tuple[Floats, ...]]:
    """Return the other client's Gram matrix and the tables that fit (Eqs 5 to 7, Corollary 1)."""
    own = (seen.averages[:-1] @ seen.own.T - seen.targets) @ seen.own
    gradients = others_gradients(seen.averages, own, seen.rate)
    gram, records = others_gram(seen.averages, gradients), seen.values.shape[1]
    bounds = Bounds(np.zeros(records), np.ones(records), slack=1e-2)
    try:
        return gram, fitting_tables(gram, seen.known, seen.values, bounds=bounds).tables
    except AttackError:
        return gram, ()


def inverted(done: Trained) -> Outcome:
    """Score the attack beside the means of one's own columns and a stranger's messages."""
    truth, seen = done.truth, done.seen
    n, m = truth.shape
    gram, tables = others_tables(seen)
    told: dict[str, Quantity] = {
        "known data ratio": known_data_ratio(horizontal_freedom(m, n), m, n),
        "gram error": _relative(gram, truth @ truth.T),
    }
    if tables:
        errors = [_relative(found, truth) for found in tables]
        told |= {"error": errors[0], "best": min(errors), "tables": len(errors)}
    means = np.where(seen.known, seen.values, seen.own.mean(axis=0)[:, None])
    bars: dict[str, Quantity] = {"own means": _relative(means, truth)}
    _, strangers = others_tables(done.exchanged)
    if strangers:
        bars["error control"] = _relative(strangers[0], truth)
    notes = () if tables else ("no table fits the Gram matrix, the known values and the ranges",)
    return Outcome(told, bars, notes=notes)


def _colluding(one: ProtocolInversion) -> Outcome:
    own, passive, y = (part[: one.records] for part in _table(one, one.columns))
    settings = SecureLinearSettings(
        epochs=2 * one.records + 2,
        learning_rate=2.5 / (one.records * (own.shape[1] + one.columns)),
        queries=False,
        key_bits=512,
        insecure_test_key=True,
    )
    transcript, streams = Transcript([PASSIVE]), Streams(one.seed)
    run(sealed(own), sealed(passive), sealed(y), settings, streams, Channel(transcript))
    gradients = np.stack(
        [
            message.payload.values
            for message in transcript.received_by(PASSIVE)
            if message.kind == "gradient" and isinstance(message.payload, Plain)
        ]
    )
    # The arbiter holds the key of the residuals; the reference computes what it decrypts.
    residuals = plain_linear(sealed(own), sealed(passive), sealed(y), settings, streams).residuals
    batches = [np.arange(one.records)] * len(gradients)
    found = table_from_gradients(
        gradients, residuals, batches, one.records, settings.learning_rate, settings.alpha
    )
    spread = np.linalg.svd(np.stack(residuals), compute_uv=False)
    resolved = int((spread > 1e-12 * spread[0]).sum())
    return Outcome({"error": _relative(found, passive), "directions of the residuals": resolved})
