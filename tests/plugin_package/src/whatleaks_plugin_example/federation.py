"""A federation: the passive party is told the labels and sends scores by nearest class mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import Guard
from whatleaks.detectors.protocol import Detector
from whatleaks.errors import UsageError
from whatleaks.federation.protocol import Fact, Federation, Progress, likeliest
from whatleaks.federation.roles import Hijacker
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Grant, Ranges
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Expected, Post, Programme, read_plain
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE, PASSIVE
from whatleaks.wire.transcript import Transcript


@dataclass(frozen=True)
class NearestSettings:
    """``sharpness`` turns distances into scores: the larger, the surer."""

    sharpness: float = 4.0


def tell_labels(labels: Ints, post: Post) -> Programme[None]:
    """Play the active party in training: tell the labels of the records that train."""
    post.send(0, ACTIVE, PASSIVE, "labels", Plain(sealed(labels)))
    yield from ()


def learn_means(columns: Floats, classes: int) -> Programme[Floats]:
    """Play the passive party in training: average the own columns of every class."""
    labels = read_plain((yield Expected(0, ACTIVE, "labels", (len(columns),), True)))
    return sealed([columns[labels == k].mean(axis=0) for k in range(classes)])


def send_scores(scores: Floats, post: Post) -> Programme[None]:
    """Play the passive party in prediction."""
    post.send(1, PASSIVE, ACTIVE, "scores", Plain(scores))
    yield from ()


def take_scores(shape: tuple[int, int]) -> Programme[Floats]:
    """Play the active party in prediction."""
    return read_plain((yield Expected(1, PASSIVE, "scores", shape, True)))


class NearestTrained:
    """The passive party's class means after training."""

    stop: str | None = None
    reading: Any = None

    def __init__(self, holdings: Holdings, means: Floats, settings: NearestSettings) -> None:
        self._holdings = holdings
        self._means = means
        self._settings = settings

    def release(self, rows: Ints, channel: Channel, guard: Guard) -> Floats:
        """Send the scores of ``rows``, through the guard."""
        columns = self._holdings.columns[PASSIVE][rows]
        away = ((columns[:, None, :] - self._means[None]) ** 2).sum(axis=2)
        weight = np.exp(-self._settings.sharpness * (away - away.min(axis=1, keepdims=True)))
        scores = sealed(guard.apply(sealed(weight / weight.sum(axis=1, keepdims=True))))
        exchange = Exchange(channel)
        shape = (len(rows), len(self._means))
        programmes: dict[str, Programme[Any]] = {
            PASSIVE: send_scores(scores, exchange),
            ACTIVE: take_scores(shape),
        }
        taken: Floats = exchange.drive(programmes)[ACTIVE]
        return taken

    def classes(self, rows: Ints, guard: Guard) -> Ints:
        """Return the likeliest class of every record."""
        return likeliest(self.release(rows, Channel(Transcript([])), guard))

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Only the public ranges could be granted."""
        del coalition
        columns = self._holdings.columns[PASSIVE].shape[1]
        return (Ranges(sealed(np.zeros(columns)), sealed(np.ones(columns))),)

    def memory(self, party: str) -> tuple[object, ...]:
        """Nobody keeps anything but the passive party its means."""
        del party
        return ()

    def facts(self) -> dict[str, Fact]:
        """There is nothing to tell."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """There is nothing to tell."""
        return ()

    def outputs(self) -> Floats | None:
        """There is nothing in between that the evaluator would judge."""
        return None


@catalog.federation(
    "example-nearest",
    title="Example: the passive party classes by nearest mean",
    paper="example",
)
class NearestFederation(Federation):
    """Two parties; the passive one scores with its own columns alone."""

    settings_type = NearestSettings
    models: ClassVar[dict[str, NearestSettings]] = {"example-nearest": NearestSettings()}
    shows = frozenset({"scores"})

    def offers(self, settings: NearestSettings) -> frozenset[type[Grant]]:
        """Only the public ranges."""
        del settings
        return frozenset({Ranges})

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: NearestSettings,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> NearestTrained:
        """Tell the passive party the labels; it averages its columns."""
        del streams, progress
        self.refuse(hijacker, detector)
        if len(holdings.passives) > 1:
            raise UsageError("example-nearest has a seat for one passive party")
        exchange = Exchange(channel)
        labels = sealed_ints(holdings.labels[rows.training])
        columns = sealed(holdings.columns[PASSIVE][rows.training])
        programmes: dict[str, Programme[Any]] = {
            ACTIVE: tell_labels(labels, exchange),
            PASSIVE: learn_means(columns, holdings.classes),
        }
        return NearestTrained(holdings, exchange.drive(programmes)[PASSIVE], settings)
