"""SecureBoost: boosted trees over vertical parties (Li et al., section 2.3, Fig 4).

The active party holds the labels and both keys. For every tree it encrypts the derivatives
g and h of its records, both in one ciphertext, and sends them to the passive parties. Level
by level it says which record is in which node. A passive party sums the ciphertexts on the
left of each of its candidate splits, shuffles the candidates of every node anew, and sends
the encrypted sums. The active party decrypts, finds the best split over all parties, and
tells its owner, who answers which records go left. So the active party learns how records
are divided, but neither by which column nor where; a passive party learns the same
divisions, and no derivative.

Two choices of ours. Candidates that divide the records of a node alike have equal gains;
the active party marks all of them and the owner takes its first, so that the tree does not
depend on the shuffle. And the sums of a node are packed, many to a ciphertext, before they
are sent (``pack``). A node's sums are the parent's less its sibling's where that is cheaper than
adding them up (``subtract_above``).

Everything is exact: the trees are those of ``models.boosted_trees.train_joined``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import generate_keys
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.detectors.protocol import Detector
from whatleaks.errors import TableError, UsageError
from whatleaks.federation.boost.active import ActiveParty
from whatleaks.federation.boost.passive import PassiveParty
from whatleaks.federation.boost.settings import LARGEST, BoostModelSettings, SecureBoostSettings
from whatleaks.federation.boost.walking import SplitOwner, walk
from whatleaks.federation.protocol import Federation, Progress
from whatleaks.federation.roles import Hijacker
from whatleaks.models.additive import link
from whatleaks.models.boosted_trees import BoostedTrees
from whatleaks.models.shared_trees import OwnedSplits, SharedTree, depth_of, joined
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Grant, Probes, Ranges
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.parties import ACTIVE, passive_names
from whatleaks.wire.transcript import Transcript

if TYPE_CHECKING:
    from whatleaks.federation.boost.trained import BoostTrained


@dataclass(frozen=True)
class Run:
    """A finished training, for the experimenter.

    The active party holds ``trees`` and ``owned[0]``, passive party p holds ``owned[p]``, and
    each what ``transcript`` says it received. ``model`` is what no party holds: all of it.
    """

    trees: tuple[SharedTree, ...]
    owned: tuple[OwnedSplits, ...]
    outputs: int
    margins: Floats
    model: BoostedTrees
    transcript: Transcript


def run(
    x_active: Floats,
    x_passives: Sequence[Floats],
    labels: Ints,
    settings: SecureBoostSettings,
    streams: Streams,
    channel: Channel,
    keys: tuple[PublicKey, SecretKey] | None = None,
) -> Run:
    """Train over ``channel``. ``keys`` reuses a pair (tests, timings); else one is made.

    A missing value is NaN. Labels are 0, 1, ...; more than two classes give a softmax model.
    """
    check_tables(x_active, x_passives)
    keys = keys or generate_keys(
        settings.backend, settings.key_bits, insecure_test_key=settings.insecure_test_key
    )
    exchange = Exchange(channel, LARGEST)
    names = passive_names(len(x_passives))
    active = ActiveParty(x_active, labels, settings, streams, keys, exchange, names)
    passives = [
        PassiveParty(
            name,
            x,
            settings,
            streams.rng(f"columns/{number}"),
            keys[0],
            exchange,
        )
        for number, (name, x) in enumerate(zip(names, x_passives, strict=True), start=1)
    ]
    programmes: dict[str, Programme[Any]] = {
        **{
            name: passive.train(active.outputs)
            for name, passive in zip(names, passives, strict=True)
        },
        ACTIVE: active.train(),
    }
    exchange.drive(programmes)
    owned = (active.columns.owned(), *(party.columns.owned() for party in passives))
    widths = [x_active.shape[1], *(x.shape[1] for x in x_passives)]
    trees = tuple(active.trees)
    model = joined(trees, owned, widths, active.outputs)
    return Run(trees, owned, active.outputs, sealed(active.margins), model, channel.transcript)


def predict_scores(
    run: Run, x_active: Floats, x_passives: Sequence[Floats], channel: Channel
) -> Floats:
    """Score new records with the parties of a finished run, one column per class."""
    check_tables(x_active, x_passives)
    exchange = Exchange(channel, LARGEST)
    steps = range(max(depth_of(tree) for tree in run.trees))
    owners = {
        name: SplitOwner(name, x, owned, exchange)
        for name, x, owned in zip(
            passive_names(len(x_passives)), x_passives, run.owned[1:], strict=True
        )
    }
    programmes: dict[str, Programme[Any]] = {
        ACTIVE: walk(
            run.trees, run.outputs, run.owned[0], x_active, tuple(owners), steps, exchange
        ),
        **{name: owner.serve(steps) for name, owner in owners.items()},
    }
    return link(exchange.drive(programmes)[ACTIVE])


def check_tables(x_active: Floats, x_passives: Sequence[Floats]) -> None:
    """Refuse tables whose records do not match."""
    if not x_passives:
        raise TableError("SecureBoost needs at least one passive party")
    tables = [x_active, *x_passives]
    if any(x.ndim != 2 for x in tables) or len({len(x) for x in tables}) != 1 or not len(x_active):
        raise TableError(
            "the parties must hold tables of the same records, got shapes "
            + ", ".join(str(x.shape) for x in tables)
        )


@catalog.federation(
    "boost",
    title="SecureBoost on ciphertexts; owners of nodes answer which side a record takes",
    paper="Li, Bao, Xiang, Liu, Chen, Wang, Wang (secure FL), section 2.3",
)
class BoostFederation(Federation):
    """Boosted trees whose nodes lie with several parties."""

    settings_type = BoostModelSettings
    costly = True
    models: ClassVar[Mapping[str, BoostModelSettings]] = {"boost": BoostModelSettings()}
    shows = frozenset({"left"})

    def offers(self, settings: BoostModelSettings) -> frozenset[type[Grant]]:
        """Answers to made-up records, unless the prediction phase stays closed."""
        return frozenset({Ranges, Probes} if settings.queries else {Ranges})

    def choose_rows(
        self,
        holdings: Holdings,
        chosen: Rows,
        pool: Ints,
        settings: BoostModelSettings,
        streams: Streams,
    ) -> Rows:
        """Train on some records and attack these (L section 5.1); judge on all that did not train."""
        batch = sealed_ints(streams.rng("batch").permutation(chosen.training)[: settings.records])
        return Rows(batch, batch, sealed_ints([]), chosen.auxiliary, pool)

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: BoostModelSettings,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> BoostTrained:
        """Grow the trees on real ciphertexts of ``rows.training``."""
        from whatleaks.federation.boost.trained import BoostTrained

        del progress
        self.refuse(hijacker, detector)
        labels = holdings.labels[rows.training]
        present = np.unique(labels)
        if len(present) < 2:
            raise UsageError("the records that train are all of one class: take more of them")
        own = holdings.joined((ACTIVE,), rows.training)
        passives = [holdings.joined((name,), rows.training) for name in holdings.passives]
        numbered = sealed_ints(np.searchsorted(present, labels))
        done = run(own, passives, numbered, settings.secure, streams, channel)
        return BoostTrained(holdings, rows, settings, done)
