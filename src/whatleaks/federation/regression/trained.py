"""An encrypted regression after training: what it offers, what its parties remember of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import Guard
from whatleaks.federation.coalitions import victims
from whatleaks.federation.protocol import Fact
from whatleaks.federation.regression.settings import (
    LINEAR,
    LOGISTIC,
    Link,
    SecureLinearSettings,
)
from whatleaks.federation.summed.trained import public_ranges
from whatleaks.models.gram_rows import corollary_positions
from whatleaks.models.joined_parts import diagonal
from whatleaks.models.regression_history import DecryptedSteps
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Grant, KnownValues, Queries
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE, ARBITER

if TYPE_CHECKING:
    from whatleaks.federation.regression.linear import Run


class RegressionTrained:
    """A finished training with an arbiter, and what the evaluator can work out about it."""

    stop: str | None = None
    reading: Any = None

    def __init__(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: SecureLinearSettings,
        streams: Streams,
        run: Run,
        link: Link,
        passives: list[Floats],
        curious: str = ACTIVE,
    ) -> None:
        self.holdings = holdings
        self.rows = rows
        self.settings = settings
        self.run = run
        self.link = link
        self._streams = streams
        self._passives = passives
        self._curious = curious

    def classes(self, rows: Ints, guard: Guard) -> Ints | None:
        """Class records by the minimum of the loss on the batch.

        A dozen epochs leak the table but do not finish the training; the minimum is where
        more epochs would lead, so it is the fair measure of what joining is worth.
        """
        del guard
        together = self.holdings.joined(tuple(self.holdings.columns))
        batch, alpha = self.rows.training, self.settings.alpha
        return ridge_classes(together, self.holdings, batch, rows, alpha, self.link)

    def predicted(self, rows: Ints) -> Floats:
        """Predict a numeric label itself, at the minimum of the loss on the batch."""
        x = self.holdings.joined(tuple(self.holdings.columns))
        asked = replace(self.rows, judged=rows)
        return ridge_values(x, self.holdings, asked, self.settings.alpha)

    def facts(self) -> dict[str, Fact]:
        """Tell the sizes of what was trained, and the loss of a record at the end."""
        widths = {name: table.shape[1] for name, table in self.holdings.columns.items()}
        return {
            "attacker columns": self.curious_columns,
            "victim columns": sum(widths[name] for name in self.holdings.passives),
            "records": len(self.rows.training),
            "loss": self.run.losses[-1] / len(self.rows.training),
        }

    def notes(self) -> tuple[str, ...]:
        """Tell how much trained, in what batches, and what the protocol cannot stop."""
        records, everybody = len(self.rows.training), len(self.holdings.labels)
        size = self.settings.batch_size or records
        made_up = self.made_up
        fakes = f", {made_up} of them made up," if made_up else ""
        return (
            f"{records} of the table's {everybody} records trained on ciphertexts, in "
            f"{-(-records // size)} batches of {size}: the partner's "
            f"{self.curious_columns} columns{fakes} are what its "
            "equations for a batch are made of.",
            "Accuracy is that of the loss's minimum with an intercept, where more epochs would lead, "
            "with any defense on the way there: what a defense costs in epochs is not in it.",
            "the partner is taken to follow the protocol: one that does not can have the arbiter "
            f"decrypt {self.curious_columns} numbers of its choice in every step, and nothing here stops it.",
        )

    @property
    def made_up(self) -> int:
        """How many fake columns the curious party added."""
        if self._curious == ACTIVE:
            return self.settings.fake_columns
        names = dict(zip(self.holdings.passives, self._passives, strict=True))
        held = self.holdings.columns[self._curious]
        return int(names[self._curious].shape[1]) - int(held.shape[1])

    @property
    def curious_columns(self) -> int:
        """How many columns the curious party has, fakes included."""
        return int(self.holdings.columns[self._curious].shape[1]) + self.made_up

    def tables(self) -> tuple[Floats, list[Floats], Floats]:
        """Return own columns, passive tables (with fakes) and targets as they trained."""
        own, _, target = tables_of(self.holdings, self.rows, self.link)
        return own, self._passives, target

    def outputs(self) -> Floats | None:
        """Return the passive parties' summed z of every record (rows) in every epoch (columns)."""
        from whatleaks.federation.regression.linear import plain_regression

        plain = plain_regression(self.link, *self.tables(), self.settings, self._streams)
        records, epochs = len(self.rows.training), self.settings.epochs
        found = np.empty((records, epochs))
        steps = iter(plain.outputs)
        for epoch in range(epochs):
            for rows in self.settings.batches(records, epoch):
                found[rows, epoch] = next(steps)
        return sealed(found)

    def replayed(self, holdings: Holdings, channel: Channel) -> RegressionTrained:
        """Return the same training of other ``holdings``, in the clear, fake columns as they were."""
        from whatleaks.federation.regression.replay import replay

        own, tables, target = tables_of(holdings, self.rows, self.link)
        passives = [
            sealed(np.concatenate([table, held[:, table.shape[1] :]], axis=1))
            for table, held in zip(tables, self._passives, strict=True)
        ]
        settings, streams, link = self.settings, self._streams, self.link
        done = replay(link, own, passives, target, settings, streams, channel)
        return RegressionTrained(
            holdings, self.rows, settings, streams, done, link, passives, self._curious
        )

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return the public ranges and the victims' answers to made-up records.

        Whoever holds columns only asks nobody and is offered nothing.
        """
        if ACTIVE not in coalition:
            return ()
        unknown = victims(self.holdings, coalition)
        columns = sum(self.holdings.columns[party].shape[1] for party in unknown)
        ranges = public_ranges(columns)
        # Where a passive party made columns up, the answers are about those too.
        if self.run.queries is None or self._curious != ACTIVE:
            return (ranges, self._elements(unknown, None))
        asked = [self.run.asked[party] for party in unknown]
        # A record that is zero in all other columns asks one party alone.
        records = diagonal([records for records, _ in asked])
        answers = np.concatenate([answers for _, answers in asked])
        weights = np.concatenate([self.run.weights[party] for party in unknown])
        known = self._elements(unknown, weights)
        return (ranges, Queries(sealed(records), sealed(answers)), known)

    def release(self, rows: Ints, channel: Channel, guard: Guard) -> Floats | None:
        """Have records predicted: every passive party sends its plain z (section 4.1).

        Fake columns mean nothing: records get zeros there. Closed with the queries.
        """
        del guard
        if self.settings.queries:
            for party in self.holdings.passives:
                columns = self.holdings.columns[party]
                z = columns[rows] @ self.run.weights[party][: columns.shape[1]]
                channel.send_plain(0, party, ACTIVE, "output", z)
        return None

    def _elements(self, unknown: tuple[str, ...], weights: Floats | None) -> KnownValues:
        """Return the elements of the trained records that Corollary 1 asks for."""
        table = self.holdings.joined(unknown, self.rows.training)
        rows, columns = np.nonzero(corollary_positions(table, weights))
        return KnownValues(sealed_ints(rows), sealed_ints(columns), sealed(table[rows, columns]))

    def memory(self, party: str) -> tuple[object, ...]:
        """Return a data party's own part in the training, or what the arbiter's key opens."""
        if party == ARBITER:
            return (self._decrypted(),)
        return (self.run.active if party == ACTIVE else self.run.passive[party],)

    def _decrypted(self) -> DecryptedSteps:
        """Return the passive gradients that the arbiter decrypted, and the residuals it can.

        The active party holds [[d]] of every step, the arbiter the key. Of masked gradients it
        holds none.
        """
        held = [self.run.passive[party] for party in self.holdings.passives]
        mine = self.run.active
        residuals, gradients = [], []
        for step in range(len(mine.gradients)):
            rows = mine.batches[step % len(mine.batches)]
            z = sum(one.columns[rows] @ one.weights[step] for one in (mine, *held))
            d = mine.slope * z + mine.offset - mine.targets[rows]
            residuals.append(sealed(d))
            parts = [one.columns[rows].T @ d + one.alpha * one.weights[step] for one in held]
            gradients.append(np.concatenate(parts))
        count = 0 if self.settings.mask_gradients else len(gradients)
        returned = np.concatenate([one.gradients for one in held], axis=1)
        return DecryptedSteps(
            sealed(np.stack(gradients)[:count]), sealed(returned[:count]), tuple(residuals)
        )


def tables_of(
    holdings: Holdings, rows: Rows, link: Link = LINEAR
) -> tuple[Floats, list[Floats], Floats]:
    """Return own columns, passive tables and targets of the records that train."""
    if link is LOGISTIC:
        target = _last_class(holdings)[rows.training]
    elif holdings.target is not None:
        target = holdings.target[rows.training]
    else:
        target = holdings.labels[rows.training] / (holdings.classes - 1)
    passives = [holdings.joined((name,), rows.training) for name in holdings.passives]
    return holdings.joined((ACTIVE,), rows.training), passives, sealed(target)


def _last_class(holdings: Holdings) -> Floats:
    """Say of every record whether it is of the last class: with two classes, the label itself."""
    return np.asarray(holdings.labels == holdings.classes - 1, dtype=np.float64)


def ridge_weights(x: Floats, y: Floats, alpha: float, link: Link = LINEAR) -> Floats:
    """Return the minimum of the loss: its gradient X^T (slope X w + offset - y) + alpha w is zero."""
    return np.asarray(
        np.linalg.solve(link.slope * x.T @ x + alpha * np.eye(x.shape[1]), x.T @ (y - link.offset)),
        dtype=np.float64,
    )


def _with_intercept(columns: Floats) -> Floats:
    """Add a column of ones, as whoever predicts does.

    The protocol as published has none, and columns lie in [0, 1]: without one neither a party alone
    nor all together could place the boundary, and joining would seem to be worth nothing.
    """
    return np.column_stack([columns, np.ones(len(columns))])


def ridge_values(columns: Floats, holdings: Holdings, rows: Rows, alpha: float) -> Floats:
    """Predict a numeric label of ``rows.judged`` at the minimum of the loss on ``rows.training``."""
    assert holdings.target is not None
    columns = _with_intercept(columns)
    weights = ridge_weights(columns[rows.training], holdings.target[rows.training], alpha)
    return sealed(columns[rows.judged] @ weights)


def ridge_classes(
    columns: Floats,
    holdings: Holdings,
    batch: Ints,
    asked: Ints,
    alpha: float,
    link: Link = LINEAR,
) -> Ints:
    """Class the ``asked`` records by the minimum of the loss on the batch.

    A logistic regression tells the last class from the rest: the rest is its most frequent one.
    """
    columns = _with_intercept(columns)
    top, x = holdings.classes - 1, columns[batch]
    if link is LOGISTIC:
        weights = ridge_weights(x, _last_class(holdings)[batch], alpha, link)
        others = np.bincount(holdings.labels[batch], minlength=top + 1)[:top]
        found = np.where(columns[asked] @ weights > 0.0, top, others.argmax())
        return np.asarray(found, dtype=np.int64)
    weights = ridge_weights(x, holdings.labels[batch] / top, alpha)
    guess = np.clip(np.rint(columns[asked] @ weights * top), 0, top)
    return np.asarray(guess, dtype=np.int64)
