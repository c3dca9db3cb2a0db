"""Who holds what: each party's columns of all records, the labels, and what each record is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, is_sealed, seal, sealed, sealed_ints
from whatleaks.models.grids import Grid, Grids, free
from whatleaks.wire.parties import ACTIVE


@dataclass(frozen=True)
class Holdings:
    """The whole table, as no single party has it: for the one who stages a federation.

    ``columns`` and ``names`` go by party, the active one first. ``target`` is the number that
    a regression predicts, where there is one beside the class. ``grids`` say what values the
    passive parties' columns can take; a party without one holds ordinary real numbers.
    """

    columns: Mapping[str, Floats]
    names: Mapping[str, tuple[str, ...]]
    labels: Ints
    classes: int
    target: Floats | None = None
    grids: Mapping[str, Grids] = field(default_factory=dict)

    @property
    def passives(self) -> tuple[str, ...]:
        """The passive parties, in order."""
        return tuple(party for party in self.columns if party != ACTIVE)

    def victims(self, coalition: Sequence[str]) -> tuple[str, ...]:
        """Return the passive parties outside a coalition: those whose columns it wants."""
        return tuple(party for party in self.passives if party not in coalition)

    def joined(self, parties: Sequence[str], rows: Ints | None = None) -> Floats:
        """Return the columns of some parties side by side, of ``rows`` or of all records."""
        picked = [self.columns[party] for party in parties]
        if rows is not None:
            picked = [columns[rows] for columns in picked]
        if len(picked) > 1:
            return seal(np.concatenate(picked, axis=1))
        if rows is not None:
            return seal(picked[0])
        # What is sealed cannot change, so nobody needs a copy of it.
        return picked[0] if is_sealed(picked[0]) else sealed(picked[0])

    def joined_names(self, parties: Sequence[str]) -> tuple[str, ...]:
        """Return the column names of some parties, in the order of ``joined``."""
        return tuple(name for party in parties for name in self.names[party])

    def joined_grids(self, parties: Sequence[str]) -> Grids:
        """Return the grids of some parties' columns, in the order of ``joined``."""
        columns: list[Grid] = []
        groups: list[tuple[int, ...]] = []
        for party in parties:
            width = self.columns[party].shape[1]
            held = self.grids.get(party, Grids((free(),) * width))
            groups += [tuple(len(columns) + j for j in group) for group in held.one_hot]
            columns += held.columns
        return Grids(tuple(columns), tuple(groups))

    def with_label(self, party: str, name: str) -> Holdings:
        """Return the same with the label as a party of its own: for a threat that is after it.

        A class is its number on a scale from 0 to 1, a numeric target itself.
        """
        top = max(self.classes - 1, 1)
        label, grid = self.target, free()
        if label is None:
            label, grid = sealed(self.labels / top), Grid(0.0, 1.0 / top, self.classes)
        return replace(
            self,
            columns={**self.columns, party: sealed(label[:, None])},
            names={**self.names, party: (name,)},
            grids={**self.grids, party: Grids((grid,))},
        )

    def exchanged(self, parties: Sequence[str], rows: Ints, order: Ints) -> Holdings:
        """Let some parties hold the record ``rows[order[i]]`` in the place of ``rows[i]``."""
        columns = dict(self.columns)
        for party in parties:
            table = np.array(columns[party])
            table[rows] = columns[party][rows[order]]
            columns[party] = sealed(table)
        return replace(self, columns=columns)

    def keeping(self, parties: Sequence[str], kept: Bools) -> Holdings:
        """Leave out columns of some parties: ``kept`` follows their joined columns."""
        columns, names, at = dict(self.columns), dict(self.names), 0
        grids = dict(self.grids)
        for party in parties:
            width = columns[party].shape[1]
            mask = kept[at : at + width]
            columns[party] = sealed(columns[party][:, mask])
            names[party] = tuple(n for n, k in zip(names[party], mask, strict=True) if k)
            if party in grids:
                grids[party] = grids[party].pick(tuple(np.flatnonzero(mask).tolist()))
            at += width
        return Holdings(columns, names, self.labels, self.classes, self.target, grids)


# How people who do not exist are drawn (J section 5.3.1): values of every column, independently.
MADE_UP = ("uniform", "gaussian", "laplace")


def with_made_up(holdings: Holdings, count: int, source: str, rng: np.random.Generator) -> Holdings:
    """Append ``count`` people who do not exist: their columns are drawn, their label is class 0."""
    columns = {}
    for party, table in holdings.columns.items():
        shape = (count, table.shape[1])
        if source == "uniform":
            values = rng.random(shape)
        elif source == "gaussian":
            values = rng.standard_normal(shape)
        else:
            values = rng.laplace(size=shape)
        columns[party] = sealed(np.concatenate([table, values]))
    labels = sealed_ints(np.append(holdings.labels, np.zeros(count, dtype=np.int64)))
    target = holdings.target
    if target is not None:
        target = sealed(np.append(target, np.full(count, target.mean())))
    return replace(holdings, columns=columns, labels=labels, target=target)


@dataclass(frozen=True)
class Rows:
    """Which records train, which are attacked, which only the evaluator learns the limit from.

    ``auxiliary`` are granted to the adversary and do not train. ``known`` are people whose
    records the adversary has, and who are not attacked. On ``judged`` accuracy is measured.
    ``earlier`` were predicted before an attack on others.
    """

    training: Ints
    targets: Ints
    others: Ints
    auxiliary: Ints
    judged: Ints
    known: Ints = field(default_factory=lambda: sealed_ints([]))
    earlier: Ints = field(default_factory=lambda: sealed_ints([]))


def choose_rows(training: Ints, pool: Ints, most: int, rng: np.random.Generator) -> Rows:
    """Attack up to ``most`` of the records that did not train; leave the rest to the limit."""
    order = pool[rng.permutation(len(pool))]  # numpy refuses to permute an empty sealed array
    count = min(most, max(len(order) // 2, min(len(order), 10)))
    targets = sealed_ints(order[:count])
    others = sealed_ints(order[count:])
    return Rows(training, targets, others, sealed_ints([]), sealed_ints(order))


def with_earlier(rows: Rows, count: int, rng: np.random.Generator) -> Rows:
    """Have up to ``count`` records predicted before: of those that did not train and nobody attacks.

    Where there are too few, records that trained come after them.
    """
    return replace(rows, earlier=sealed_ints(_unattacked(rows, count, rng)))


def _unattacked(rows: Rows, count: int, rng: np.random.Generator) -> Ints:
    """Draw records that nobody attacks: those that did not train, and if these are too few of the others."""
    drawn = rows.others[rng.permutation(len(rows.others))][:count]
    if len(drawn) == count:
        return drawn
    idle = np.setdiff1d(rows.training, rows.targets)
    return np.concatenate([drawn, idle[rng.permutation(len(idle))]])[:count]


def with_known(rows: Rows, count: int, rng: np.random.Generator) -> Rows:
    """Let the adversary know up to ``count`` people: those whom nobody attacks come first.

    Where too few are left, some targets are known instead of attacked, at most half of them.
    """
    free = _unattacked(rows, count, rng)
    missing = min(count - len(free), len(rows.targets) // 2)
    order = rows.targets[rng.permutation(len(rows.targets))] if missing else rows.targets[:0]
    known = sealed_ints(np.concatenate([free, order[:missing]]))
    return replace(
        rows, known=known, targets=sealed_ints(rows.targets[~np.isin(rows.targets, known)])
    )
