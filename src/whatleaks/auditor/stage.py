"""The stage of an attack on released predictions: what all kinds of joint model have in common.

The evaluator's side knows the whole table. An attack gets the view that ``view`` projects
from one prediction, recorded on a channel of its own, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.attacks.baselines import BASELINES, Nothing
from whatleaks.auditor.evaluator import Evaluator, Scored
from whatleaks.auditor.isolation import commit
from whatleaks.auditor.units import DefenseScores, ThreatScores
from whatleaks.data.preparation import Prepared
from whatleaks.federation.summed import ACTIVE
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Offer, hand_out
from whatleaks.threat.model import Own
from whatleaks.threat.registry import threat_model
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript


@dataclass(frozen=True)
class Rows:
    """Which records train, which are attacked, which only the evaluator learns the limit from."""

    training: Ints
    targets: Ints
    others: Ints


def choose_rows(prepared: Prepared, most: int, rng: np.random.Generator) -> Rows:
    """Attack up to ``most`` of the records that did not train; leave the rest to the limit."""
    order = rng.permutation(prepared.targets)
    count = min(most, max(len(order) // 2, min(len(order), 10)))
    return Rows(prepared.training, sealed_ints(order[:count]), sealed_ints(order[count:]))


class Predicting(Protocol):
    """A trained federation that releases scores for its records."""

    def predict(self, rows: Ints, channel: Channel) -> Floats:
        """Release the scores of ``rows`` over a channel."""
        ...


F = TypeVar("F", bound=Predicting)


@dataclass
class Stage(Generic[F]):
    """A trained federation and all that the evaluator needs to stage attacks on it."""

    prepared: Prepared
    streams: Streams
    rows: Rows
    federation: F

    def _offer(self, ranges: tuple[Floats, Floats]) -> Offer:
        """Return all that could be granted: the trained model, the public ranges."""
        raise NotImplementedError

    @property
    def truth(self) -> Floats:
        """The passive columns of the target records."""
        return sealed(self.prepared.passive[self.rows.targets])

    def evaluator(self) -> Evaluator:
        """Return a new holder of the truth, of the targets and of the records for the limit."""
        return Evaluator(self.truth, sealed(self.prepared.passive[self.rows.others]))

    def baselines(self, evaluator: Evaluator) -> list[Scored]:
        """Score the guesses that look at nothing."""
        nothing = Nothing(*self.truth.shape)
        return [
            evaluator.score(
                commit(baseline, nothing, self.streams.rng(f"baseline/{baseline.name}")), "baseline"
            )
            for baseline in BASELINES
        ]

    def limits(
        self, evaluator: Evaluator, threat_name: str, view: Any, *, alone: bool
    ) -> list[Scored]:
        """Score what a regressor gets from the view and, ``alone``, from the own columns only."""
        evidence = view.evidence()
        others = evidence[:0]
        if len(self.rows.others):
            others = self.view(threat_name, self.rows.others).evidence()
        scored = [evaluator.limit(evidence, others, self.streams.rng("limit"))]
        if alone:
            own, other_own = (
                self.prepared.active[r] for r in (self.rows.targets, self.rows.others)
            )
            scored.append(evaluator.limit(own, other_own, self.streams.rng("limit"), "alone"))
        return scored

    def defended(self, defense: str, scores: ThreatScores) -> DefenseScores:
        """Return what a defense that is in place leaves of the leak, and the classes it leaves right."""
        return DefenseScores(
            defense,
            scores.threat,
            scores.scored,
            self.correct(),
            scores.spread,
            self.prepared.passive_columns,
        )

    def correct(self) -> Ints:
        """Say for every target whether the released scores class it right."""
        return classed_right(self.federation, self.prepared, self.rows)

    def view(self, threat_name: str, rows: Ints) -> Any:
        """Predict ``rows`` on a channel of its own and project what the active party received."""
        threat = threat_model(threat_name)
        channel = Channel(Transcript([ACTIVE]))
        self.federation.predict(rows, channel)
        columns = self.prepared.passive.shape[1]
        own = Own(
            sealed(self.prepared.active[rows]),
            sealed(self.prepared.active[self.rows.training]),
            sealed_ints(self.prepared.labels[self.rows.training]),
            columns,
        )
        # Every column is scaled to 0..1.
        offer = self._offer((sealed(np.zeros(columns)), sealed(np.ones(columns))))
        return threat.project(
            channel.transcript.received_by(ACTIVE), own, hand_out(threat.grants, offer)
        )


def classed_right(federation: Predicting, prepared: Prepared, rows: Rows) -> Ints:
    """Say for every target whether a federation's release classes it right."""
    released = federation.predict(rows.targets, Channel())
    return sealed_ints(released.argmax(axis=1) == prepared.labels[rows.targets])
