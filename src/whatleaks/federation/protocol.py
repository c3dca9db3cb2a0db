"""What a federation is to whoever stages it: one way to train, three doors afterwards.

A federation of the catalog is stateless; ``train`` returns something trained. Its parties
are programmes (``wire.expected``), and another programme may play the active role. Only the evaluator's side ever holds a ``Trained``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import Guard
from whatleaks.detectors.protocol import Detector
from whatleaks.errors import UsageError
from whatleaks.federation.roles import Hijacker
from whatleaks.models.own_columns import scores_from_own
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Grant
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE

Progress = Callable[[int, int], None]
Fact = str | bool | int | float | list[float]


class Trained(Protocol):
    """A trained federation. ``stop`` says when and why a detector halted it.

    ``reading`` is what a hijacker took home: the attack that reads what it is sent.
    """

    stop: str | None
    reading: Any

    def release(self, rows: Ints, channel: Channel, guard: Guard) -> Floats | None:
        """Run the prediction of ``rows`` over ``channel``; return what the active party holds."""
        ...

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return all that could be granted to a coalition of its parties."""
        ...

    def memory(self, party: str) -> tuple[object, ...]:
        """Return records of what a party remembers of the training, fit to travel."""
        ...

    def classes(self, rows: Ints, guard: Guard) -> Ints | None:
        """Return the predicted classes, -1 where a gate withholds them; None: nobody predicts."""
        ...

    def facts(self) -> Mapping[str, Fact]:
        """Return what is worth recording about the training."""
        ...

    def notes(self) -> tuple[str, ...]:
        """Say in sentences what a report should tell about the trained model."""
        ...

    def outputs(self) -> Floats | None:
        """Return the victims' intermediate values, for the evaluator alone; None: there are none."""
        ...


class Federation:
    """A protocol of the catalog. Subclasses say what they train and what they show."""

    settings_type: ClassVar[type[Any]]
    models: ClassVar[Mapping[str, Any]]  # the names that a user chooses by, with their settings
    forms: ClassVar[Mapping[str, Any]] = {}  # the same for models that somebody hands over
    shows: ClassVar[frozenset[str]]  # kinds of message that reach the active party
    carries: ClassVar[frozenset[str]] = frozenset()  # kinds that cross while it trains
    stream: ClassVar[str] = ""  # where an audit's random streams branch off; empty: its name
    hijackable: ClassVar[bool] = False  # may another programme play the active role?
    watchable: ClassVar[bool] = False  # can a detector live in the passive party?
    gated: ClassVar[bool] = False  # can scores be withheld record by record?
    recorded: ClassVar[bool] = False  # do threats look at messages of the training?
    trains: ClassVar[bool] = True  # does it train at all?
    costly: ClassVar[bool] = False  # does it train on ciphertexts? Then not once per defense

    def offers(self, settings: Any) -> frozenset[type[Grant]]:
        """Return the kinds of knowledge that ``Trained.offer`` will hold."""
        raise NotImplementedError

    def against(self, settings: Any, adversary: tuple[str, ...]) -> Any:
        """Return the settings as this adversary makes them by what it does to its own table."""
        del adversary
        return settings

    def choose_rows(
        self, holdings: Holdings, chosen: Rows, pool: Ints, settings: Any, streams: Streams
    ) -> Rows:
        """Return the records as this protocol can use them; ``pool`` are all that did not train."""
        del holdings, pool, settings, streams
        return chosen

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: Any,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> Trained:
        """Train on ``rows.training``; every value between the parties crosses ``channel``."""
        raise NotImplementedError

    def refuse(self, hijacker: Hijacker | None, detector: Detector | None) -> None:
        """Refuse a hijacker or a detector where this protocol has no place for one."""
        name = type(self).__name__
        if hijacker is not None and not self.hijackable:
            raise UsageError(f"{name} has no seat for a hijacker: only its own party trains there")
        if detector is not None and not self.watchable:
            raise UsageError(f"{name} has nothing that {detector.name} could watch")

    def alone(self, holdings: Holdings, rows: Rows, settings: Any, streams: Streams) -> Ints:
        """Class ``rows.judged`` with the active party's own columns: what it has without joining."""
        scores = self.alone_scores(holdings, rows, settings, streams)
        if scores is None:
            raise NotImplementedError
        return likeliest(scores)

    def alone_scores(
        self, holdings: Holdings, rows: Rows, settings: Any, streams: Streams
    ) -> Floats | None:
        """Score ``rows.judged`` so, one column per class; None where there are only classes."""
        del settings, streams
        return scores_from_own(
            holdings.columns[ACTIVE], holdings.labels, holdings.classes, rows.training, rows.judged
        )

    def alone_values(self, holdings: Holdings, rows: Rows, settings: Any) -> Floats | None:
        """Predict a numeric label so, where joining predicts the number itself; None: a class of it."""
        del holdings, rows, settings
        return None


def likeliest(scores: Floats) -> Ints:
    """Return the class with the largest score of every record."""
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)
