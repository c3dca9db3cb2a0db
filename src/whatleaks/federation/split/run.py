"""Split training (Yao et al., section III-A): passive bottom models, one active party above them.

All of it crosses ``wire.Channel`` as bytes: no tensor, no graph, no shared memory. Whether
the active party is honest or a hijacker is a matter of which programme plays it.

Streams used: ``bottom`` (first weights; of a further passive party ``bottom/PARTY``),
``batches`` (agreed rows), ``detector``, ``honest`` or ``hijacker``; a detector's rehearsals
draw below ``rehearsal/NUMBER``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import OPEN, Guard
from whatleaks.detectors.protocol import Detector, DetectorGrant
from whatleaks.errors import UsageError
from whatleaks.federation.coalitions import victims
from whatleaks.federation.protocol import Fact, Federation, Progress, likeliest
from whatleaks.federation.roles import ActiveSeat, Hijacker
from whatleaks.federation.schedule import agreed_batches
from whatleaks.federation.split.parties import (
    TARGET_EMBEDDINGS,
    Course,
    HonestActive,
    PassiveParty,
    take_embeddings,
)
from whatleaks.federation.split.rehearsal import watch_of
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.split_top import TopSettings
from whatleaks.models.structures import outputs_of
from whatleaks.models.torch_network import Layers
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Auxiliary, Grant, PassiveNetwork, hand_out
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.mailbox import UNBOUNDED
from whatleaks.wire.parties import ACTIVE, PASSIVE
from whatleaks.wire.transcript import Transcript


class SplitTrained:
    """The parties after an honest, hijacked or halted training.

    ``reading`` is the attack that a hijacker took home; ``honest`` the party of an honest
    training. One of them is there.
    """

    def __init__(
        self,
        holdings: Holdings,
        rows: Rows,
        seat: ActiveSeat,
        passives: Mapping[str, PassiveParty],
        courses: Mapping[str, Course],
        honest: HonestActive | None,
        reading: Any | None,
    ) -> None:
        self.holdings = holdings
        self.rows = rows
        self.passives = dict(passives)
        self.honest = honest
        self.reading = reading
        self._seat = seat
        self.course = courses[seat.passives[0]]
        halted = self.course.halted
        self.stop = None if halted is None else f"step {halted.step}: {halted.reason}"

    def release(self, rows: Ints, channel: Channel, guard: Guard) -> Floats | None:
        """Send the active party the embeddings of ``rows``; an honest one makes scores of them."""
        if guard.release or guard.gate is not None:
            raise UsageError("a split network releases no scores: no release defense or gate fits")
        exchange, step = Exchange(channel, UNBOUNDED), self.course.steps
        tables = self.holdings.columns
        programmes: dict[str, Programme[Any]] = {
            name: passive.release(sealed(tables[name][rows]), step, exchange)
            for name, passive in self.passives.items()
        }
        programmes[ACTIVE] = (
            take_embeddings(self._seat, len(rows), step)
            if self.honest is None
            else self.honest.take_scores(sealed(tables[ACTIVE][rows]), step)
        )
        scores: Floats | None = exchange.drive(programmes)[ACTIVE]
        return scores

    def classes(self, rows: Ints, guard: Guard) -> Ints | None:
        """Return the likeliest class of every record; a hijacker predicts nothing."""
        scores = self.release(rows, Channel(Transcript([]), guard.alter), OPEN)
        return None if scores is None else likeliest(scores)

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return complete records of people who did not train, and the first victim's network."""
        first = self.passives[victims(self.holdings, coalition)[0]]
        return (auxiliary_records(self.holdings, self.rows, coalition), first.disclosed())

    def memory(self, party: str) -> tuple[object, ...]:
        """Nobody keeps anything of the training but networks."""
        del party
        return ()

    def facts(self) -> dict[str, Fact]:
        """Tell how long it went on, whether it was halted, and what the detector scored."""
        return {
            "steps": self.course.steps,
            "halted": self.course.halted is not None,
            "detector scores": [score for _, score in self.course.scores],
        }

    def notes(self) -> tuple[str, ...]:
        """There is nothing to tell."""
        return ()

    def outputs(self) -> Floats | None:
        """There is nothing in between that the evaluator would judge."""
        return None


def auxiliary_records(holdings: Holdings, rows: Rows, coalition: tuple[str, ...]) -> Auxiliary:
    """Return the auxiliary records: the coalition's columns, the victims' columns, the labels."""
    return Auxiliary(
        holdings.joined(coalition, rows.auxiliary),
        holdings.joined(victims(holdings, coalition), rows.auxiliary),
        sealed_ints(holdings.labels[rows.auxiliary]),
    )


def seat_of(
    holdings: Holdings,
    rows: Rows,
    settings: SplitSettings,
    schedule: tuple[Ints, ...],
    *,
    probed: bool,
    granted: tuple[Grant, ...] = (),
) -> ActiveSeat:
    """Return what the active party holds and what all have agreed on."""
    passives = holdings.passives
    columns = tuple(holdings.columns[name].shape[1] for name in passives)
    return ActiveSeat(
        holdings.joined((ACTIVE,), rows.training),
        sealed_ints(holdings.labels[rows.training]),
        holdings.classes,
        passives,
        tuple(outputs_of(settings.structure, count) for count in columns),
        (settings.structure,) * len(passives),
        columns,
        schedule,
        probed,
        granted,
        settings.scaling,
        settings.precision,
    )


def refuse_misleading(holdings: Holdings, rows: Rows) -> None:
    """Refuse records on which a training would mislead: its own as auxiliary ones, or of one class.

    An adversary that is granted records which also train has part of the answer.
    """
    both = int(np.isin(rows.auxiliary, rows.training).sum())
    if both:
        raise UsageError(
            f"{both} of the {len(rows.auxiliary)} auxiliary records also train: grant records of other people"
        )
    if len(np.unique(holdings.labels[rows.training])) == 1:
        raise UsageError("the records that train are all of one class: there is nothing to learn")


def train_split(
    holdings: Holdings,
    rows: Rows,
    settings: SplitSettings,
    streams: Streams,
    channel: Channel,
    *,
    hijacker: Hijacker | None = None,
    detector: Detector | None = None,
    progress: Progress | None = None,
    honest: TopSettings | None = None,
) -> SplitTrained:
    """Train with an honest active party or with a hijacker, watched by a detector or by none.

    ``honest`` are the active party's own settings; unless told, its bottom mirrors the passive
    party's.
    """
    refuse_misleading(holdings, rows)
    honest = honest or TopSettings(bottom=settings.structure, precision=settings.precision)
    watch = None
    if detector is not None:
        watch = watch_of(detector, holdings, rows, settings, honest, streams)
    exchange = Exchange(channel, UNBOUNDED)
    schedule = agreed_batches(len(rows.training), settings, streams.rng("batches"))
    told = detector is not None and DetectorGrant.LABELS in detector.grants
    passives = {
        name: PassiveParty(
            name,
            holdings.joined((name,), rows.training),
            settings,
            streams.rng("bottom" if name == PASSIVE else f"bottom/{name}"),
            sealed_ints(holdings.labels[rows.training]) if told else None,
        )
        for name in holdings.passives
    }
    granted: tuple[Grant, ...] = ()
    if hijacker is not None:
        offered = (auxiliary_records(holdings, rows, (ACTIVE,)),)
        granted = hand_out(frozenset({Auxiliary}), offered).given
    seat = seat_of(holdings, rows, settings, schedule, probed=detector is not None, granted=granted)
    first = seat.passives[0]
    chance = streams.rng("detector")
    programmes: dict[str, Programme[Any]] = {
        name: passive.train(schedule, exchange, watch, chance, progress)
        if name == first
        else passive.train(schedule, exchange)
        for name, passive in passives.items()
    }
    player = None
    if hijacker is None:
        player = HonestActive(seat, honest, streams.rng("honest"))
        programmes[ACTIVE] = player.train(exchange)
    else:
        programmes[ACTIVE] = hijacker.programme(seat, exchange, streams.rng("hijacker"))
    results = exchange.drive(programmes)
    courses = {name: results[name] for name in passives}
    return SplitTrained(holdings, rows, seat, passives, courses, player, results[ACTIVE])


@catalog.federation(
    "split",
    title="Passive parties send embeddings, the active party answers with gradients",
    paper="Yao, Li, Gong, Hou, Pan 2025 (NDSS), section III-A",
)
class SplitFederation(Federation):
    """A network cut between the parties; its active seat may be hijacked."""

    settings_type = SplitSettings
    # As in Yao et al. (VI-A, appendix B): standardised columns, an activation after every layer.
    # Deviation: ten times their learning rate, for a tenth of their steps or less.
    models: ClassVar[Mapping[str, SplitSettings]] = {
        "split": SplitSettings(
            learning_rate=1e-3, bottom=Layers((64,), 16, last=True), scaling="standard"
        )
    }
    shows = frozenset({TARGET_EMBEDDINGS})
    carries = frozenset({"embeddings", "gradients"})
    hijackable = True
    watchable = True

    def offers(self, settings: SplitSettings) -> frozenset[type[Grant]]:
        """Auxiliary records and the passive party's network, whatever it is made of."""
        del settings
        return frozenset({Auxiliary, PassiveNetwork})

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: SplitSettings,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> SplitTrained:
        """Train on ``rows.training`` with the honest active party, or with a hijacker."""
        return train_split(
            holdings,
            rows,
            settings,
            streams,
            channel,
            hijacker=hijacker,
            detector=detector,
            progress=progress,
        )
