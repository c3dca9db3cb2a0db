"""Boosted trees after training: the sides that records take, and those of made-up records.

At prediction the label holder names records and nodes, and the owner of a node says which
side a record takes. Nothing ties the two together: like the engines that were looked at, an
owner answers about any of its nodes for any record of its table. Whoever can have records
enrolled there asks about made-up ones (L section 5.2).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import Guard
from whatleaks.federation.boost.settings import LARGEST, BoostModelSettings
from whatleaks.federation.boost.walking import SplitOwner, sides
from whatleaks.federation.coalitions import victims
from whatleaks.federation.protocol import Fact, likeliest
from whatleaks.federation.summed.trained import public_ranges
from whatleaks.models.additive import link
from whatleaks.models.shared_trees import Above, NodesOfOthers, splits_above
from whatleaks.models.threshold_paths import along_paths
from whatleaks.models.threshold_queries import queries_per_node
from whatleaks.models.threshold_search import (
    MOST_QUERIES,
    Thresholds,
    all_at_once,
    columns_of,
    one_by_one,
)
from whatleaks.threat.grants import Grant, Probes
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.parties import ACTIVE
from whatleaks.wire.transcript import Transcript

if TYPE_CHECKING:
    from whatleaks.federation.boost.run import Run


class BoostTrained:
    """A finished SecureBoost training."""

    stop: str | None = None
    reading: Any = None

    def __init__(
        self, holdings: Holdings, rows: Rows, settings: BoostModelSettings, run: Run
    ) -> None:
        self.holdings = holdings
        self.rows = rows
        self.settings = settings
        self.run = run

    def release(self, rows: Ints, channel: Channel, guard: Guard) -> Floats:
        """Have the side of every record at every passive node answered; return the scores."""
        del guard
        for party in self.holdings.passives:
            count = self._nodes(party)
            record, node = np.divmod(np.arange(len(rows) * count), max(count, 1))
            self._ask(channel, party, self.holdings.columns[party][rows], record, node)
        joined = self.holdings.joined(tuple(self.holdings.columns), rows)
        return link(self.run.model.margins(joined))

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return the public ranges and the answers to made-up records."""
        unknown = victims(self.holdings, coalition)
        offered: list[Grant] = [public_ranges(self.holdings.joined(unknown).shape[1])]
        if self.settings.queries:
            offered.append(self._probes[0])
        return tuple(offered)

    def memory(self, party: str) -> tuple[object, ...]:
        """Return how many nodes each passive party owns: the shape of the trees."""
        if party != ACTIVE:
            return ()
        counts = tuple(self._nodes(one) for one in self.holdings.passives)
        return (NodesOfOthers(counts, self.run.trees, self.run.owned[0]),)

    def classes(self, rows: Ints, guard: Guard) -> Ints | None:
        """Return the class with the largest score."""
        return likeliest(self.release(rows, Channel(Transcript([])), guard))

    def facts(self) -> dict[str, Fact]:
        """Tell how many nodes were searched, with how many queries, and whether they were found."""
        told: dict[str, Fact] = {
            "trees": len(self.run.trees),
            "nodes": sum(self._nodes(party) for party in self.holdings.passives),
        }
        if self.settings.queries:
            settings = self.settings
            found, right = self._probes[1], 0
            for party, bounds in found.items():
                owned = self.run.owned[1 + self.holdings.passives.index(party)]
                inside = (bounds.low < owned.threshold) & (owned.threshold <= bounds.high)
                near = bounds.high - bounds.low <= settings.epsilon * (1.0 + 1e-9)
                right += int((inside & near & (bounds.column == owned.column)).sum())
            each = queries_per_node(1.0, settings.epsilon, settings.per_query)
            told |= {
                "nodes found": right,
                "queries": sum(bounds.queries for bounds in found.values()),
                "queries by the formula": int(told["nodes"]) * each,  # type: ignore[arg-type]
            }
        return told

    def notes(self) -> tuple[str, ...]:
        """Tell how much of the table trained."""
        return (
            f"{len(self.rows.training)} of the table's {len(self.holdings.labels)} records grew "
            f"{len(self.run.trees)} trees on ciphertexts.",
        )

    def outputs(self) -> Floats | None:
        """Say that there are no intermediate values."""
        return None

    def _nodes(self, party: str) -> int:
        return len(self.run.owned[1 + self.holdings.passives.index(party)].column)

    def _ask(self, channel: Channel, party: str, table: Floats, record: Ints, node: Ints) -> Bools:
        """Ask one passive party about pairs of a record of ``table`` and a node."""
        exchange = Exchange(channel, LARGEST)
        number = 1 + self.holdings.passives.index(party)
        owned = self.run.owned[number]
        above = self._own_above(number) if self.settings.real_paths else None
        programmes: dict[str, Programme[Any]] = {
            ACTIVE: sides(party, record, node, exchange),
            party: SplitOwner(party, table, owned, exchange, above).serve(range(1)),
        }
        found: Bools = exchange.drive(programmes)[ACTIVE]
        return found

    def _own_above(self, number: int) -> tuple[Above, ...]:
        """Return which own splits lie above each split of a party: what it knows of its paths."""
        every = splits_above(self.run.trees, number, len(self.run.owned[number].column))
        return tuple(tuple(one for one in above if one[0] == number) for above in every)

    @cached_property
    def _probes(self) -> tuple[Probes, dict[str, Thresholds]]:
        """Search every passive party's thresholds over the live protocol, once; keep all answers."""
        tables: list[Floats] = []
        pairs: list[tuple[Ints, Ints, Bools]] = []
        found: dict[str, Thresholds] = {}
        silent = Channel(Transcript([]))
        widths = [self.holdings.columns[p].shape[1] for p in self.holdings.passives]
        first_node = first_column = 0
        for party, width in zip(self.holdings.passives, widths, strict=True):

            def oracle(
                table: Floats,
                record: Ints,
                node: Ints,
                party: str = party,
                columns: slice = slice(first_column, first_column + width),
                nodes: int = first_node,
            ) -> Bools:
                left = self._ask(silent, party, sealed(table), record, node)
                wide = np.full((len(table), sum(widths)), 0.5)  # others' columns stand still
                wide[:, columns] = table
                pairs.append((record + sum(map(len, tables)), node + nodes, left))
                tables.append(wide)
                return left

            low, high = np.zeros(width), np.ones(width)
            count = self._nodes(party)
            if count:
                settings = (self.settings.epsilon, self.settings.per_query)
                most = self.settings.most_queries or MOST_QUERIES
                if self.settings.real_paths:
                    above = self._own_above(1 + self.holdings.passives.index(party))
                    found[party] = along_paths(oracle, above, low, high, *settings, most)
                elif self.settings.together:
                    found[party] = all_at_once(oracle, count, low, high, *settings, most)
                else:  # Algorithm 1 is given the columns; it learns them with one query here
                    column = columns_of(oracle, count, low, high)
                    found[party] = one_by_one(oracle, column, low, high, *settings)
            first_node, first_column = first_node + count, first_column + width
        none = np.zeros(0, dtype=np.int64)
        record, node, left = (
            [np.concatenate(part) for part in zip(*pairs, strict=True)] if pairs else [none] * 3
        )
        table = np.concatenate(tables) if tables else np.zeros((0, sum(widths)))
        probes = Probes(sealed(table), sealed_ints(record), sealed_ints(node), sealed_ints(left))
        return probes, found
