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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import generate_keys
from whatleaks.errors import TableError
from whatleaks.federation.boost.active import ActiveParty
from whatleaks.federation.boost.passive import PassiveParty
from whatleaks.federation.boost.settings import LARGEST, SecureBoostSettings
from whatleaks.federation.boost.walking import SplitOwner, walk
from whatleaks.models.additive import link
from whatleaks.models.boosted_trees import BoostedTrees
from whatleaks.models.shared_trees import OwnedSplits, SharedTree, depth_of, joined
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.parties import ACTIVE, passive_names
from whatleaks.wire.transcript import Transcript


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
