"""The stage: a trained federation, and the view of it that a threat model projects.

This side knows the whole table. An attack gets what ``view`` returns and nothing else: made
from messages recorded on a channel of their own, from what the coalition's parties remember,
and from what is granted, each a copy by bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, Ints, seal, sealed, sealed_ints
from whatleaks.catalog import guesser
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import Guard, ParameterDefense
from whatleaks.errors import AttackError, UsageError
from whatleaks.federation.protocol import Trained
from whatleaks.models.asked_otherwise import QUESTIONS, OtherAnswers
from whatleaks.seeds import Streams
from whatleaks.threat.grants import (
    ChosenParts,
    EarlierScores,
    Grant,
    KnownPeople,
    ModelGrant,
    Schema,
    TreesGrant,
    hand_out,
)
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.model import LABEL, Memory, ThreatModel, averaged, plain_messages
from whatleaks.trial.plan import build_guesser
from whatleaks.wire.channel import Alter, Channel
from whatleaks.wire.message import Message
from whatleaks.wire.parties import ACTIVE
from whatleaks.wire.transcript import Transcript


@dataclass(frozen=True)
class Stage:
    """A trained federation under one threat, one coalition and one defense."""

    holdings: Holdings
    rows: Rows
    trained: Trained
    training: Transcript | None  # where threats look at messages of the training
    threat: ThreatModel[Any]
    view_type: type[Any]
    coalition: tuple[str, ...]
    streams: Streams
    guard: Guard
    parameters: ParameterDefense | None = None
    alter: Alter | None = None
    asks: int = 1  # how often the adversary has every record predicted
    questions: int = QUESTIONS  # how often again with another own part, where it may choose that

    @property
    def victims(self) -> tuple[str, ...]:
        """The passive parties whose columns are wanted, or the label in a party's place."""
        if self.threat.wants == LABEL:
            return (LABEL,)
        return self.holdings.victims(self.coalition)

    @property
    def members(self) -> tuple[str, ...]:
        """Those of the coalition that hold columns: an arbiter holds none."""
        return tuple(party for party in self.coalition if party in self.holdings.columns)

    @property
    def truth(self) -> Floats:
        """The victims' columns of the target records."""
        return self.holdings.joined(self.victims, self.rows.targets)

    @property
    def own(self) -> Floats:
        """The coalition's columns of the target records."""
        return self.holdings.joined(self.members, self.rows.targets)

    @property
    def holds_labels(self) -> bool:
        """Whether the coalition has the label of every target: the active party's, of who trained."""
        return ACTIVE in self.coalition and bool(
            np.isin(self.rows.targets, self.rows.training).all()
        )

    def known_labels(self, rows: Ints) -> Floats:
        """Return the labels of some records as columns, or no column where targets' are not held.

        A class has a column of its own, and a numeric label one more, so that whatever is a
        function of the label can be learnt from them.
        """
        if not self.holds_labels:
            return sealed(np.zeros((len(rows), 0)))
        classes = self.holdings.labels[rows, None] == np.arange(self.holdings.classes)
        parts = [classes.astype(np.float64)]
        if self.holdings.target is not None:
            parts.append(self.holdings.target[rows, None])
        return sealed(np.concatenate(parts, axis=1))

    def view(self, rows: Ints) -> Any:
        """Have ``rows`` predicted, and project what the coalition then holds."""
        answers = self._asked(rows)
        received = [
            message
            for party in self.members
            for message in (
                *(() if self.training is None else self.training.received_by(party)),
                *(answer for answer in answers if answer.receiver == party),
            )
        ]
        memory = Memory(
            self.holdings.joined(self.members, rows),
            self._own_of_training,
            sealed_ints(
                self.holdings.labels[self.rows.training] if ACTIVE in self.coalition else []
            ),
            sum(self.holdings.columns[party].shape[1] for party in self.victims),
            (
                *(kept for party in self.coalition for kept in self.trained.memory(party)),
                *self._asked_otherwise(rows),
            ),
            self._places(rows),
        )
        granted = hand_out(self.threat.grants, self._offer())
        return self.threat.project(received, memory, granted, self.view_type)

    @cached_property
    def _own_of_training(self) -> Floats:
        """The coalition's columns of the records that trained."""
        return self.holdings.joined(self.members, self.rows.training)

    def replayed(self, order: Ints) -> Any | None:
        """Return the targets' view had the victims' records been those of other targets.

        For messages of whole batches, which cannot be exchanged between records: the federation
        trains again in the clear, with the coalition's columns and the labels in place. None where
        it cannot.
        """
        again = getattr(self.trained, "replayed", None)
        if again is None:
            return None
        holdings = self.holdings.exchanged(self.victims, self.rows.targets, order)
        channel = Channel(Transcript(self.coalition), self.alter)
        trained = again(holdings, channel)
        stage = replace(self, holdings=holdings, trained=trained, training=channel.transcript)
        return stage.view(self.rows.targets)

    def _asked(self, rows: Ints) -> list[Message]:
        """Have ``rows`` predicted as often as the adversary asks; the coalition's messages."""
        rounds = []
        for _ in range(self.asks):
            channel = Channel(Transcript(self.coalition), self.alter)
            self.trained.release(rows, channel, self.guard)
            rounds.append(
                [m for party in self.coalition for m in channel.transcript.received_by(party)]
            )
        return averaged(rounds, self.threat.reads)

    def _asked_otherwise(self, rows: Ints) -> tuple[OtherAnswers, ...]:
        """Have ``rows`` predicted again with own parts of the adversary's choice, if it may choose."""
        if ChosenParts not in self.threat.grants:
            return ()
        ask = getattr(self.trained, "asked_otherwise", None)
        if ask is None:
            raise UsageError(
                f"threat {self.threat.name} asks again, and nobody answers a recording"
            )
        channel = Channel(Transcript(self.coalition), self.alter)
        return (ask(rows, channel, self.guard, self.questions),)

    def _offer(self) -> tuple[Grant, ...]:
        """Return what could be granted; disclosed parameters go through their defense here."""
        public = Schema(self.holdings.joined_grids(self.victims))
        return (*self.disclosed, public, *self._known, *self._earlier)

    @cached_property
    def disclosed(self) -> tuple[Grant, ...]:
        """What the federation offers, blurred once by its defense if there is one."""
        offer = self.trained.offer(self.coalition)
        if self.parameters is None:
            return offer
        rng = self.streams.rng("disclosure")
        rows = self.rows.training if len(self.rows.training) else self.rows.judged
        columns = self.holdings.joined(self.victims, rows)
        return tuple(
            self.parameters.disclose(grant, columns, rng)
            if isinstance(grant, ModelGrant | TreesGrant) and self.parameters.fits(type(grant))
            else grant
            for grant in offer
        )

    @cached_property
    def _known(self) -> tuple[Grant, ...]:
        """The people whom the adversary knows, with what it is sent about them; asked for once."""
        if KnownPeople not in self.threat.grants:
            return ()
        rows = self.rows.known
        sent = plain_messages(self._asked(rows), *self.threat.reads)
        released = np.concatenate(sent) if sent else np.zeros((len(rows), 0))
        return (
            KnownPeople(
                self.holdings.joined(self.members, rows),
                self.holdings.joined(self.victims, rows),
                sealed_ints(self.holdings.labels[rows]),
                sealed(released),
                self._places(rows),
            ),
        )

    @cached_property
    def _earlier(self) -> tuple[Grant, ...]:
        """The scores of other records that were asked about before the attack."""
        if EarlierScores not in self.threat.grants:
            return ()
        rows, answers = self.rows.earlier, self._asked(self.rows.earlier)
        for let_out in plain_messages(answers, "released"):
            rows = rows[let_out > 0.5]
        sent = plain_messages(answers, "scores")
        scores = np.concatenate(sent) if sent else np.zeros((0, self.holdings.classes))
        return (EarlierScores(self.holdings.joined(self.coalition, rows), sealed(scores)),)

    def _places(self, rows: Ints) -> Ints:
        """Say where records stand among those that trained; -1 where one did not."""
        place = np.full(len(self.holdings.labels), -1)
        place[self.rows.training] = np.arange(len(self.rows.training))
        return sealed_ints(place[rows])

    def scores(self) -> Floats | None:
        """Return what the active party holds of the judged records; None: no scores, or a gate."""
        if self.guard.gate is not None:
            return None
        silent = Channel(Transcript([]))
        return self.trained.release(self.rows.judged, silent, self.guard)

    def correct(self) -> Ints | None:
        """Say for every judged record whether the release classes it right; None: nobody predicts."""
        classes = self.trained.classes(self.rows.judged, self.guard)
        if classes is None:
            return None
        return sealed_ints(classes == self.holdings.labels[self.rows.judged])

    def value_errors(self) -> tuple[Floats, Floats] | None:
        """Return how far a numeric label is missed on each judged record, by the model and by its mean.

        A model that predicts the number itself says it; one that was trained on classes of it is
        taken to say the mean of its class. None: the label is no number, or nobody predicts.
        """
        target, judged = self.holdings.target, self.rows.judged
        if target is None or not len(judged) or not len(self.rows.training):
            return None
        known = target[self.rows.training]
        predict = getattr(self.trained, "predicted", None)
        if predict is not None:
            values = predict(judged)
        else:
            classes = self.trained.classes(judged, self.guard)
            if classes is None:
                return None
            values = self._class_means(target, classes)
        truth = target[judged]
        return sealed(np.abs(values - truth)), sealed(np.abs(known.mean() - truth))

    def value_errors_of(self, classes: Ints, values: Floats | None) -> Floats | None:
        """Return the same of somebody who names these classes, or values; None: the label is no number."""
        target = self.holdings.target
        if target is None or not len(self.rows.training):
            return None
        said = self._class_means(target, classes) if values is None else values
        return sealed(np.abs(said - target[self.rows.judged]))

    def _class_means(self, target: Floats, classes: Ints) -> Floats:
        """Return the mean of each class among the training records; of all where no class is named."""
        known, labels = target[self.rows.training], self.holdings.labels[self.rows.training]
        means = np.full(self.holdings.classes, known.mean())
        for one in np.unique(labels):
            means[one] = known[labels == one].mean()
        return np.where(classes < 0, known.mean(), means[classes])

    def released(self) -> Stage:
        """Return the stage with only those targets whose scores the gate lets out, and no gate."""
        if self.guard.gate is None:
            return self
        classes = self.trained.classes(self.rows.targets, self.guard)
        assert classes is not None
        known = self.rows.known
        if len(known):
            told = self.trained.classes(known, self.guard)
            assert told is not None
            known = sealed_ints(known[told >= 0])
        left = replace(self.rows, targets=sealed_ints(self.rows.targets[classes >= 0]), known=known)
        return replace(self, rows=left, guard=replace(self.guard, gate=None))


def simulation(stage: Stage, options: Any) -> Any:
    """Return the attacks as a gate simulates them: by name, on own columns and scores.

    The gate holds the whole model, as the adversary does whom it simulates.
    """
    unknown = sum(stage.holdings.columns[party].shape[1] for party in stage.victims)
    granted = hand_out(stage.threat.grants, stage.trained.offer(stage.coalition))
    models = [grant for grant in granted.given if isinstance(grant, ModelGrant)]

    def simulate(name: str, own: Floats, scores: Floats) -> Floats:
        attack = build_guesser(name, options)
        if not models:
            raise AttackError(f"the gate simulates {name}, for which no model is granted")
        view = guesser(name).view(
            own=seal(own), scores=seal(scores), unknown=unknown, model=models[0].model
        )
        guess = attack.infer(view, stage.streams.rng("gate"))
        if not isinstance(guess, ValueGuess):
            raise AttackError(f"the gate simulates {name}, which guesses no values")
        return np.asarray(guess.values)

    return simulate
