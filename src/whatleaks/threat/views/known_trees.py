"""Views on the releases of joint trees of an adversary who knows some of the shared people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from whatleaks.codec import travels
from whatleaks.threat.grants import ForestModel, Grant, KnownPeople, TreeModel
from whatleaks.threat.views.split import AuxiliaryView
from whatleaks.threat.views.tree import VotesView, WhiteBoxForestView, WhiteBoxTreeView


@travels
@dataclass(frozen=True)
class KnownVotesView(VotesView, AuxiliaryView):
    """Own columns, the released classes or votes, and some people with theirs; no tree."""

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    auxiliary: KnownPeople = field(kw_only=True)


@travels
@dataclass(frozen=True)
class KnownTreeView(WhiteBoxTreeView, KnownVotesView):
    """The same, and the tree."""

    needs: ClassVar[tuple[type[Grant], ...]] = (TreeModel,)


@travels
@dataclass(frozen=True)
class KnownForestView(WhiteBoxForestView, KnownVotesView):
    """The same, and the forest."""

    needs: ClassVar[tuple[type[Grant], ...]] = (ForestModel,)
