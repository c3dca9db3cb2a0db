"""A table ready for a federation: every party's encoded columns, who trains, who is attacked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from whatleaks.arrays import Ints, sealed, sealed_ints
from whatleaks.data.holdings import Holdings
from whatleaks.data.preparation import Prepared, PreparedColumn
from whatleaks.models.adapters.given import Core
from whatleaks.wire.parties import ACTIVE, passive_names

MANY = 20  # whole numbers over a shorter range are right or wrong, not near


@dataclass(frozen=True)
class Ready:
    """A table ready for a federation: who holds what, what may train, what may be attacked."""

    holdings: Holdings
    training: Ints
    pool: Ints  # the records that do not train
    sources: dict[str, str]
    columns: tuple[PreparedColumn, ...] = ()
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    given: Core | None = None  # a model trained elsewhere, over the joined columns
    target_range: tuple[float, float] = (0.0, 1.0)  # what 0 and 1 of a numeric label are
    groups: Ints = field(default_factory=lambda: sealed_ints([]))  # of every record, if asked for
    group_names: tuple[str, ...] = ()
    # Records that an adversary is granted instead of some that would train; empty: drawn.
    auxiliary: Ints = field(default_factory=lambda: sealed_ints([]))

    def spans_of(self, names: Sequence[str]) -> tuple[float, ...]:
        """Return what 0 to 1 stands for in columns of numbers; zero in all others."""
        known = {
            encoded: span
            for column in self.columns
            if column.kind == "number"
            or (column.kind == "integer" and max(column.spans, default=0.0) >= MANY)
            for encoded, span in zip(column.encoded_as, column.spans, strict=True)
        }
        return tuple(known.get(name, 0.0) for name in names)

    def group_of(self, rows: Ints) -> tuple[Ints, tuple[str, ...]]:
        """Return the group of some records, and what the groups are called."""
        if not self.group_names:
            return sealed_ints([]), ()
        return sealed_ints(self.groups[rows]), self.group_names


def of_prepared(prepared: Prepared, parties: Sequence[Sequence[str]]) -> Ready:
    """Hand every party its encoded columns."""
    holder = {
        name: party
        for party, columns in zip(passive_names(len(parties)), parties, strict=True)
        for name in columns
    }
    owners = [holder[prepared.sources[name]] for name in prepared.passive_columns]
    columns = {ACTIVE: prepared.active}
    names = {ACTIVE: prepared.active_columns}
    grids = {}
    for party in passive_names(len(parties)):
        mine = np.array([owner == party for owner in owners])
        columns[party] = prepared.passive if mine.all() else sealed(prepared.passive[:, mine])
        names[party] = tuple(
            name
            for name, owner in zip(prepared.passive_columns, owners, strict=True)
            if owner == party
        )
        grids[party] = prepared.grids.pick(tuple(np.flatnonzero(mine).tolist()))
    return Ready(
        Holdings(columns, names, prepared.labels, len(prepared.classes), prepared.target, grids),
        prepared.training,
        prepared.targets,
        prepared.sources,
        prepared.columns,
        prepared.classes,
        prepared.notes,
        target_range=prepared.target_range,
    )


def numbered(found: Ready) -> Ready:
    """Number the one-hot columns of a user's own table: their names hold values of people."""
    renamed = {
        name: f"{column.name} (category {k})"
        for column in found.columns
        if len(column.encoded_as) > 1
        for k, name in enumerate(column.encoded_as, start=1)
    }
    if not renamed:
        return found

    def told(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(renamed.get(name, name) for name in names)

    held = found.holdings
    return replace(
        found,
        holdings=replace(held, names={party: told(names) for party, names in held.names.items()}),
        sources={renamed.get(name, name): source for name, source in found.sources.items()},
        columns=tuple(replace(c, encoded_as=told(c.encoded_as)) for c in found.columns),
    )
