"""Grants: knowledge handed to an adversary beyond its own data and its messages.

A kind of knowledge is a class, and its ``sentence`` is what a report prints. A federation
offers what it could give, a threat model names the classes that it grants, and ``hand_out``
gives exactly these, as copies by bytes. This is the only place where extra knowledge changes
hands. A subclass is the same knowledge in a more special form: who grants a model grants a
linear one too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from whatleaks.arrays import Floats, Ints, sealed_ints
from whatleaks.codec import decode, encode, travels
from whatleaks.errors import GrantError
from whatleaks.models.additive import Additive
from whatleaks.models.forest import Forest
from whatleaks.models.grids import Grids
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.scaling import Scale
from whatleaks.models.structures import Kept
from whatleaks.models.tree import Tree

MODEL = "the whole trained model, the passive party's part included"
TREES = "every node of the trained trees, the passive party's columns and thresholds included"


@dataclass(frozen=True)
class Grant:
    """One kind of extra knowledge."""

    sentence: ClassVar[str] = ""


G = TypeVar("G", bound=Grant)


@dataclass(frozen=True)
class ModelGrant(Grant):
    """A joint model over both sides' columns that can be differentiated."""

    sentence: ClassVar[str] = MODEL
    model: Additive | JointNetwork


@travels
@dataclass(frozen=True)
class JointModel(ModelGrant):
    """A network whose first layer is split between the parties."""

    model: JointNetwork


@travels
@dataclass(frozen=True)
class AdditiveModel(ModelGrant):
    """Parts whose outputs are added up."""

    model: Additive


@travels
@dataclass(frozen=True)
class LinearModel(AdditiveModel):
    """Linear parts: the outputs are equations in the unknown columns."""


@dataclass(frozen=True)
class TreesGrant(Grant):
    """Joint trees."""

    sentence: ClassVar[str] = TREES


@travels
@dataclass(frozen=True)
class TreeModel(TreesGrant):
    """One tree."""

    model: Tree


@travels
@dataclass(frozen=True)
class ForestModel(TreesGrant):
    """A forest."""

    model: Forest


@travels
@dataclass(frozen=True)
class Auxiliary(Grant):
    """Complete records of other people."""

    sentence: ClassVar[str] = (
        "complete records of other people, with both parties' columns and labels"
    )

    own: Floats
    passive: Floats
    labels: Ints


@travels
@dataclass(frozen=True)
class KnownPeople(Auxiliary):
    """Complete records of people whom both parties share, and what was released on them.

    ``released`` holds a row for each of them: the numbers that the adversary is sent about any
    record. It has no columns where nothing is sent about single records. ``places`` says where
    each of them stands among the records that trained, -1 where one did not.
    """

    sentence: ClassVar[str] = (
        "the passive columns of some people whom both parties share, beside what it is sent "
        "about them"
    )

    released: Floats
    places: Ints = field(default_factory=lambda: sealed_ints([]))


@travels
@dataclass(frozen=True)
class EarlierScores(Grant):
    """The adversary's own columns of records that it asked about before, and their scores."""

    sentence: ClassVar[str] = "the scores of some other records, which it asked about before"

    own: Floats
    scores: Floats


@travels
@dataclass(frozen=True)
class ChosenParts(Grant):
    """Where outputs are added up: whoever sends its own may send any, and ask again with others."""

    sentence: ClassVar[str] = (
        "answers about the same records again, each with another own part that it chooses by the "
        "answers before"
    )


@travels
@dataclass(frozen=True)
class KnownValues(Grant):
    """Single elements of the partner's table: ``values[i]`` stands at ``rows[i]``, ``columns[i]``.

    Rows are places among the records that trained.
    """

    sentence: ClassVar[str] = (
        "single values of the partner's records, as many and where Corollary 1 of Li et al. asks "
        "for them"
    )

    rows: Ints
    columns: Ints
    values: Floats


@travels
@dataclass(frozen=True)
class PassiveNetwork(Grant):
    """What a passive party's bottom model became, with the way it scales its columns."""

    sentence: ClassVar[str] = (
        "the passive party's trained bottom model, to be asked about any record"
    )

    network: Kept
    scale: Scale
    scaling: str

    def answers(self, passive: Floats) -> Floats:
        """Return the embeddings of records."""
        return self.network.outputs(self.scale.apply(passive))


@travels
@dataclass(frozen=True)
class Ranges(Grant):
    """The lowest and highest public value of every unknown column."""

    sentence: ClassVar[str] = "the public range of every column (values are on a scale from 0 to 1)"

    low: Floats
    high: Floats


@travels
@dataclass(frozen=True)
class Schema(Grant):
    """What values every unknown column can take: yes/no, categories, whole numbers, steps."""

    sentence: ClassVar[str] = (
        "what values every column can take (yes or no, categories, whole numbers, steps of a "
        "cent), as the schema says"
    )

    grids: Grids


@travels
@dataclass(frozen=True)
class Queries(Grant):
    """Records that the adversary made up, and the trained partner's answers."""

    sentence: ClassVar[str] = (
        "answers of the trained partner to records that the adversary makes up"
    )

    records: Floats
    answers: Floats


@travels
@dataclass(frozen=True)
class Probes(Grant):
    """Made-up records, and which side they take at the partner's nodes.

    Pair i: record ``record[i]`` of ``records`` goes left at node ``node[i]`` if ``left[i]``.
    """

    sentence: ClassVar[str] = (
        "which side records that the adversary makes up take at the partner's nodes"
    )

    records: Floats
    record: Ints
    node: Ints
    left: Ints


@dataclass(frozen=True)
class Granted:
    """What was handed out, by class. Asking for more raises ``GrantError``."""

    allowed: frozenset[type[Grant]]
    given: tuple[Grant, ...]

    def __getitem__(self, kind: type[G]) -> G:
        """Return the one grant of this class."""
        found = self.get(kind)
        if found is None:
            raise GrantError(f"this federation has nothing to grant as {_name(kind)}")
        return found

    def get(self, kind: type[G]) -> G | None:
        """Return the one grant of this class, or None where the federation has none."""
        if not _covered(kind, self.allowed):
            raise GrantError(f"this threat model does not grant {_name(kind)}")
        return next((grant for grant in self.given if isinstance(grant, kind)), None)


def hand_out(allowed: frozenset[type[Grant]], offer: Iterable[Grant]) -> Granted:
    """Copy exactly what is granted out of an offer, by bytes."""
    given = (grant for grant in offer if isinstance(grant, tuple(allowed)))
    return Granted(allowed, tuple(decode(encode(grant)) for grant in given))


def sentences(allowed: Iterable[type[Grant]]) -> tuple[str, ...]:
    """Return the sentences of some grants in a fixed order."""
    return tuple(sorted(kind.sentence for kind in allowed))


def _covered(kind: type[Grant], allowed: Iterable[type[Grant]]) -> bool:
    return any(issubclass(kind, one) or issubclass(one, kind) for one in allowed)


def _name(kind: type[Grant]) -> str:
    return kind.sentence or kind.__name__
