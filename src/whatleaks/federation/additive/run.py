"""The additive federation: data parties and a coordinator (J section 4.1, Eq 9; A section II-B).

Each party maps its own columns to outputs. The coordinator adds them up, applies the link
and returns to each party the gradient by its outputs. At prediction the active party is sent
the scores of the records asked for, after whatever release defense is in place.

Streams used: ``weights/PARTY`` for every data party, and ``batches``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from whatleaks import catalog
from whatleaks.arrays import Ints, sealed
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import Guard
from whatleaks.detectors.protocol import Detector
from whatleaks.errors import UsageError
from whatleaks.federation.additive.asking import asked_otherwise
from whatleaks.federation.additive.parties import AddingCoordinator, additive_holder
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.federation.coalitions import victims
from whatleaks.federation.protocol import Fact, Federation, Progress
from whatleaks.federation.roles import Hijacker
from whatleaks.federation.summed.parties import output_count
from whatleaks.federation.summed.private import (
    PrivateGradients,
    noise_multiplier,
    sampled_batches,
)
from whatleaks.federation.summed.trained import SummedTrained, public_ranges
from whatleaks.models.additive import Additive
from whatleaks.models.asked_otherwise import OtherAnswers
from whatleaks.models.joined_parts import OwnPart, joined_part
from whatleaks.models.linear import Linear
from whatleaks.seeds import Streams
from whatleaks.threat.grants import AdditiveModel, ChosenParts, Grant, LinearModel, Ranges
from whatleaks.wire.channel import Channel


class AdditiveTrained(SummedTrained):
    """Holders with models of their own; the joint model is the sum of their outputs."""

    _noise: float = 0.0

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return the joint model with the coalition's part first, and the public ranges."""
        unknown = victims(self.holdings, coalition)
        own, other = (
            joined_part([self.holders[party].export() for party in parties])
            for parties in (coalition, unknown)
        )
        linear = isinstance(own, Linear)
        model = Additive(own, other)
        columns = sum(self.holdings.columns[party].shape[1] for party in unknown)
        known = LinearModel(model) if linear else AdditiveModel(model)
        return (known, public_ranges(columns), ChosenParts())

    def schedule(
        self, records: int, settings: AdditiveSettings, streams: Streams
    ) -> tuple[Ints, ...]:
        """Sample batches record by record where the training is private, and set up the noise."""
        if not settings.epsilon:
            return super().schedule(records, settings, streams)
        batch = min(settings.batch, records)
        noise = noise_multiplier(settings.epsilon, records, batch, settings.steps)
        for name, holder in self.holders.items():
            holder.keep_private(
                PrivateGradients(
                    settings.clip, noise, len(self.holders), batch, streams.rng(f"dp/{name}")
                )
            )
        self._noise = noise
        return sampled_batches(records, batch, settings.steps, streams.rng("batches"))

    def facts(self) -> dict[str, Fact]:
        """Return the noise of private training."""
        return {"noise multiplier": self._noise} if self._noise else {}

    def memory(self, party: str) -> tuple[object, ...]:
        """Every party keeps its own part of the model: nobody can take it away (J Eq 11)."""
        return (OwnPart(self.holders[party].export()),)

    def asked_otherwise(
        self, rows: Ints, channel: Channel, guard: Guard, questions: int
    ) -> OtherAnswers:
        """Have ``rows`` predicted so often, by an active party that chooses its part each time."""
        if guard.gate is not None:
            raise UsageError("a gate checks columns, and nobody can check those of who lies")
        tables = {name: sealed(self.holdings.columns[name][rows]) for name in self.holders}
        classes = self.holdings.classes
        return asked_otherwise(
            self.holders, tables, self.coordinator, classes, questions, channel, guard
        )


@catalog.federation(
    "additive",
    title="Each party has a model of its own; a coordinator adds up their outputs",
    paper="Jiang, Zhou, Grossklags 2022 (PoPETs), section 4.1",
)
class AdditiveFederation(Federation):
    """Logistic regression, or a small network in every party."""

    settings_type = AdditiveSettings
    models: ClassVar[Mapping[str, AdditiveSettings]] = {
        "lr": AdditiveSettings(),
        "network": AdditiveSettings(hidden=(8, 8)),
    }
    shows = frozenset({"scores"})
    gated = True

    def offers(self, settings: AdditiveSettings) -> frozenset[type[Grant]]:
        """The model is linear unless there are hidden layers."""
        return frozenset({AdditiveModel if settings.hidden else LinearModel, Ranges, ChosenParts})

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: AdditiveSettings,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> AdditiveTrained:
        """Train on ``rows.training``; every value between the parties crosses ``channel``."""
        self.refuse(hijacker, detector)
        outputs = output_count(holdings.classes)
        holders = {
            name: additive_holder(
                name,
                sealed(columns[rows.training]),
                outputs,
                settings,
                streams.rng(f"weights/{name}"),
            )
            for name, columns in holdings.columns.items()
        }
        trained = AdditiveTrained(holdings, holders, AddingCoordinator(tuple(holders), outputs))
        trained.train(rows, settings, streams, channel, progress)
        return trained
