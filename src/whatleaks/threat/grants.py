"""Grants: knowledge handed to an adversary beyond its own data and its messages.

This is the only place where extra knowledge changes hands. A threat model declares its
grants; ``hand_out`` gives exactly these, as copies by bytes, and refuses the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import decode, encode, travels
from whatleaks.errors import GrantError
from whatleaks.models.additive import Additive
from whatleaks.models.forest import Forest
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.tree import Tree


class Grant(Enum):
    """One kind of extra knowledge; the value is the sentence that a report prints."""

    MODEL = "the whole trained model, the passive party's part included"
    TREES = "every node of the trained trees, the passive party's columns and thresholds included"
    AUXILIARY = "complete records of other people, with both parties' columns and labels"
    RANGES = "the public range of every column (values are on a scale from 0 to 1)"
    QUERIES = "answers of the trained partner to records that the adversary makes up"


@travels
@dataclass(frozen=True)
class Auxiliary:
    """Complete records of other people."""

    own: Floats
    passive: Floats
    labels: Ints


@dataclass(frozen=True)
class Offer:
    """All that could be granted in a federation; most threat models take little of it."""

    model: Additive | JointNetwork | None = None
    auxiliary: Auxiliary | None = None
    ranges: tuple[Floats, Floats] | None = None
    queries: tuple[Floats, Floats] | None = None
    trees: Tree | Forest | None = None


@dataclass(frozen=True)
class Granted:
    """What was handed out. Asking for more raises ``GrantError``."""

    grants: frozenset[Grant]
    offer: Offer

    def _get(self, grant: Grant, value: Any) -> Any:
        if grant not in self.grants:
            raise GrantError(f"this threat model does not grant {grant.value}")
        if value is None:
            raise GrantError(f"this federation has nothing to grant as {grant.value}")
        return value

    @property
    def model(self) -> Additive | JointNetwork:
        """The whole trained model, if granted."""
        model: Additive | JointNetwork = self._get(Grant.MODEL, self.offer.model)
        return model

    @property
    def tree(self) -> Tree:
        """The whole trained tree, if granted."""
        tree = self._get(Grant.TREES, self.offer.trees)
        if not isinstance(tree, Tree):
            raise GrantError("this federation trained a forest: there is no single tree to grant")
        return tree

    @property
    def forest(self) -> Forest:
        """The whole trained forest, if granted."""
        forest = self._get(Grant.TREES, self.offer.trees)
        if not isinstance(forest, Forest):
            raise GrantError("this federation trained a single tree: there is no forest to grant")
        return forest

    @property
    def auxiliary(self) -> Auxiliary:
        """Complete records of other people, if granted."""
        auxiliary: Auxiliary = self._get(Grant.AUXILIARY, self.offer.auxiliary)
        return auxiliary

    @property
    def ranges(self) -> tuple[Floats, Floats]:
        """Lowest and highest public value of every passive column, if granted."""
        ranges: tuple[Floats, Floats] = self._get(Grant.RANGES, self.offer.ranges)
        return ranges

    @property
    def queries(self) -> tuple[Floats, Floats]:
        """Made-up records and the partner's answers, if granted."""
        queries: tuple[Floats, Floats] = self._get(Grant.QUERIES, self.offer.queries)
        return queries


_FIELD = {
    Grant.MODEL: "model",
    Grant.TREES: "trees",
    Grant.AUXILIARY: "auxiliary",
    Grant.RANGES: "ranges",
    Grant.QUERIES: "queries",
}


def hand_out(grants: frozenset[Grant], offer: Offer) -> Granted:
    """Copy exactly the declared grants out of an offer, by bytes."""
    given = {_FIELD[grant] for grant in grants}
    copies = {
        f.name: decode(encode(getattr(offer, f.name))) if f.name in given else None
        for f in fields(offer)
    }
    return Granted(grants, Offer(**copies))
