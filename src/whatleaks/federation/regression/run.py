"""The encrypted regression of the catalog: the active party's curiosity about batches (Li et al.).

Without a target of its own a table's class number is the target. A batch is as large as the
attack can solve: as many records as the active party has columns, with fake columns added
where it has few (section 4.1). One such batch trains, as in the paper, or with ``whole`` all
records in batches that take turns. What is attacked are the records that train.

Streams used: ``batch``, ``active/fakes`` and ``PARTY/weights``. Keys are drawn from the
system's randomness, as keys must be: no number of the training depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import Guard
from whatleaks.detectors.protocol import Detector
from whatleaks.federation.coalitions import victims
from whatleaks.federation.protocol import Fact, Federation, Progress
from whatleaks.federation.regression.settings import RegressionSettings, SecureLinearSettings
from whatleaks.federation.roles import Hijacker
from whatleaks.federation.summed.trained import public_ranges
from whatleaks.models.joined_parts import diagonal
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Grant, Queries, Ranges
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE

if TYPE_CHECKING:
    from whatleaks.federation.regression.linear import Run


class RegressionTrained:
    """A finished training on ciphertexts, and what the evaluator can work out about it."""

    stop: str | None = None
    reading: Any = None

    def __init__(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: SecureLinearSettings,
        streams: Streams,
        run: Run,
    ) -> None:
        self.holdings = holdings
        self.rows = rows
        self.settings = settings
        self.run = run
        self._streams = streams

    def release(self, rows: Ints, channel: Channel, guard: Guard) -> Floats | None:
        """Release nothing: what the active party is shown it was sent in training."""
        del rows, channel, guard
        return None

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return the public ranges and the victims' answers to made-up records."""
        unknown = victims(self.holdings, coalition)
        columns = sum(self.holdings.columns[party].shape[1] for party in unknown)
        ranges = public_ranges(columns)
        if self.run.queries is None:
            return (ranges,)
        asked = [self.run.asked[party] for party in unknown]
        # A record that is zero in all other columns asks one party alone.
        records = diagonal([records for records, _ in asked])
        answers = np.concatenate([answers for _, answers in asked])
        return (ranges, Queries(sealed(records), sealed(answers)))

    def memory(self, party: str) -> tuple[object, ...]:
        """Return the active party's own part in the training, step by step."""
        return (self.run.active,) if party == ACTIVE else ()

    def classes(self, rows: Ints, guard: Guard) -> Ints | None:
        """Class records by the minimum of the loss on the batch.

        A dozen epochs leak the table but do not finish the training; the minimum is where
        more epochs would lead, so it is the fair measure of what joining is worth.
        """
        del guard
        together = self.holdings.joined(tuple(self.holdings.columns))
        return ridge_classes(together, self.holdings, self.rows.training, rows, self.settings.alpha)

    def predicted(self, rows: Ints) -> Floats:
        """Predict a numeric label itself, at the minimum of the loss on the batch."""
        assert self.holdings.target is not None
        x = self.holdings.joined(tuple(self.holdings.columns))
        batch = self.rows.training
        return sealed(
            x[rows] @ ridge_weights(x[batch], self.holdings.target[batch], self.settings.alpha)
        )

    def facts(self) -> dict[str, Fact]:
        """Tell the sizes of what was trained."""
        widths = {name: table.shape[1] for name, table in self.holdings.columns.items()}
        return {
            "attacker columns": widths[ACTIVE] + self.settings.fake_columns,
            "victim columns": sum(widths[name] for name in self.holdings.passives),
            "records": len(self.rows.training),
        }

    def notes(self) -> tuple[str, ...]:
        """Tell how much of the table trained, and in what batches."""
        records, everybody = len(self.rows.training), len(self.holdings.labels)
        size = self.settings.batch_size or records
        made_up = self.settings.fake_columns
        fakes = f", {made_up} of them made up," if made_up else ""
        return (
            f"{records} of the table's {everybody} records trained on ciphertexts, in "
            f"{-(-records // size)} batches of {size}: the partner's "
            f"{self.holdings.columns[ACTIVE].shape[1] + made_up} columns{fakes} are what its "
            "equations for a batch are made of.",
        )

    def outputs(self) -> Floats | None:
        """Return the passive parties' summed z of every record (rows) in every epoch (columns)."""
        from whatleaks.federation.regression.linear import plain_linear

        plain = plain_linear(*tables_of(self.holdings, self.rows), self.settings, self._streams)
        records, epochs = len(self.rows.training), self.settings.epochs
        found = np.empty((records, epochs))
        steps = iter(plain.outputs)
        for epoch in range(epochs):
            for rows in self.settings.batches(records, epoch):
                found[rows, epoch] = next(steps)
        return sealed(found)


def tables_of(holdings: Holdings, rows: Rows) -> tuple[Floats, list[Floats], Floats]:
    """Return own columns, passive tables and targets of the records that train."""
    if holdings.target is not None:
        target = holdings.target[rows.training]
    else:
        target = holdings.labels[rows.training] / (holdings.classes - 1)
    passives = [holdings.joined((name,), rows.training) for name in holdings.passives]
    return holdings.joined((ACTIVE,), rows.training), passives, sealed(target)


def ridge_weights(x: Floats, y: Floats, alpha: float) -> Floats:
    """Return the minimum of the ridge loss."""
    return np.asarray(
        np.linalg.solve(x.T @ x + alpha * np.eye(x.shape[1]), x.T @ y), dtype=np.float64
    )


def ridge_classes(
    columns: Floats, holdings: Holdings, batch: Ints, asked: Ints, alpha: float
) -> Ints:
    """Class the ``asked`` records by the minimum of the ridge loss on the batch."""
    top = holdings.classes - 1
    x, y = columns[batch], holdings.labels[batch] / top
    weights = ridge_weights(x, y, alpha)
    guess = np.clip(np.rint(columns[asked] @ weights * top), 0, top)
    return np.asarray(guess, dtype=np.int64)


@catalog.federation(
    "regression",
    title="Linear regression on ciphertexts; an arbiter decrypts gradients",
    paper="Li, Bao, Xiang, Liu, Chen, Wang, Wang (secure FL), section 2.1",
)
class RegressionFederation(Federation):
    """Encrypted linear regression with an arbiter."""

    stream = "encrypted"
    recorded = True
    settings_type = RegressionSettings
    models: ClassVar[Mapping[str, RegressionSettings]] = {"encrypted": RegressionSettings()}
    shows = frozenset({"gradient"})

    def offers(self, settings: RegressionSettings) -> frozenset[type[Grant]]:
        """Answers to queries, unless the prediction phase stays closed."""
        return frozenset({Ranges, Queries} if settings.queries else {Ranges})

    def choose_rows(
        self,
        holdings: Holdings,
        chosen: Rows,
        pool: Ints,
        settings: RegressionSettings,
        streams: Streams,
    ) -> Rows:
        """Train on some records and attack these; judge accuracy on all that did not train."""
        own = holdings.columns[ACTIVE].shape[1]
        count, _ = settings.sizes(own, len(chosen.training))
        batch = sealed_ints(streams.rng("batch").permutation(chosen.training)[:count])
        none = sealed_ints([])
        return Rows(batch, batch, none, chosen.auxiliary, pool)

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: RegressionSettings,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> RegressionTrained:
        """Train on real ciphertexts of ``rows.training`` over ``channel``."""
        from whatleaks.federation.regression.linear import run

        del progress
        self.refuse(hijacker, detector)
        own, passives, target = tables_of(holdings, rows)
        unknown = sum(table.shape[1] for table in passives)
        chosen = settings.for_batch(own, unknown)
        done = run(own, passives, target, chosen, streams, channel)
        return RegressionTrained(holdings, rows, chosen, streams, done)

    def alone(
        self, holdings: Holdings, rows: Rows, settings: RegressionSettings, streams: Streams
    ) -> Ints:
        """Class by the minimum of the loss on the batch, over the own columns only."""
        del streams
        own = holdings.columns[ACTIVE]
        return ridge_classes(own, holdings, rows.training, rows.judged, settings.alpha)

    def alone_scores(
        self, holdings: Holdings, rows: Rows, settings: RegressionSettings, streams: Streams
    ) -> Floats | None:
        """Say that there are only classes: a regression on class numbers has no probabilities."""
        del holdings, rows, settings, streams
        return None
