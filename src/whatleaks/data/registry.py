"""The data sets by name: where each comes from, its checksums, its licence and its shape.

A card describes the copy that whatleaks reads. Where that copy is a part of the official set
or was packed again, ``complete`` and ``difference`` say so. Three sets are the core's own; others
come by entry points (``whatleaks.datasets``: each names a module whose import registers sets).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from whatleaks.errors import DataError, UsageError, nearest

if TYPE_CHECKING:
    import pandas as pd

# What reads a set: it takes the located files, if there are any, and options by keyword.
Reader = Callable[..., Any]


@dataclass(frozen=True)
class SourceFile:
    """One file of a set.

    ``sha256`` is of the file as kept, ``content`` of what a ``.gz`` holds; both are empty where
    we have not seen the file and cannot check it. Where ``address`` is empty the file has no
    public address of its own; ``member`` names it inside an archive.
    """

    name: str
    sha256: str
    content: str = ""
    address: str = ""
    member: str = ""


@dataclass(frozen=True)
class Card:
    """One data set; ``features`` counts the columns besides ``target`` that ``load`` gives."""

    name: str
    title: str
    page: str
    licence: str
    rows: int
    features: int
    target: str
    task: str  # "classification", "regression" or "images"
    note: str = ""
    complete: bool = True
    difference: str = ""
    files: tuple[SourceFile, ...] = ()
    official: tuple[SourceFile, ...] = ()  # read where ``files`` are absent; empty: the same
    regression_targets: tuple[str, ...] = ()  # of a set whose target can be chosen

    @property
    def embedded(self) -> bool:
        """Say whether the set ships with scikit-learn and needs no file."""
        return not self.files


_CARDS: dict[str, Card] = {}
_READERS: dict[str, Reader] = {}
_HOMES: dict[str, str] = {}  # the modules that registered them
_found = False


def register(card: Card, read: Reader) -> None:
    """Enter a set with what reads it; a second one of the same name is refused."""
    if card.name in _CARDS and _CARDS[card.name] != card:
        raise UsageError(f"two data sets are named {card.name!r}")
    _CARDS[card.name] = card
    _READERS[card.name] = read
    _HOMES[card.name] = str(sys._getframe(1).f_globals["__name__"])


def cards() -> Mapping[str, Card]:
    """Return every card by name; those of entry points are looked for once."""
    global _found
    if not _found:
        _found = True
        for entry in entry_points(group="whatleaks.datasets"):
            entry.load()
    return _CARDS


def names(task: str | None = None) -> tuple[str, ...]:
    """Return the names of all sets, or of those for one task."""
    return tuple(card.name for card in cards().values() if task in (None, card.task))


def card(name: str) -> Card:
    """Return the card of a set; an unknown name is refused with the nearest known one."""
    if name not in cards():
        raise DataError(
            f"there is no data set {name!r}.{nearest(name, cards())} "
            "'whatleaks datasets' shows all names."
        )
    return cards()[name]


def reader(name: str) -> Reader:
    """Return what reads a set that has a card."""
    return _READERS[card(name).name]


def home(name: str) -> str:
    """Return the module that registered a set: its sources stand behind every result."""
    return _HOMES[card(name).name]


def from_scikit(loader: str, target: str, named: bool = True, **settings: Any) -> Reader:
    """Return what reads one of scikit-learn's own sets; ``named``: class numbers become names."""

    def read() -> pd.DataFrame:
        from sklearn import datasets

        bunch = getattr(datasets, loader)(as_frame=True, **settings)
        frame: pd.DataFrame = bunch.data.copy()
        frame[target] = (
            [str(bunch.target_names[i]) for i in bunch.target] if named else bunch.target
        )
        return frame

    return read


register(
    Card(
        name="breast-cancer",
        title="Breast Cancer Wisconsin (Diagnostic)",
        page="https://archive.ics.uci.edu/dataset/17",
        licence="CC BY 4.0",
        rows=569,
        features=30,
        target="diagnosis",
        task="classification",
        note="ships with scikit-learn; the default of make audit",
    ),
    from_scikit("load_breast_cancer", "diagnosis"),
)
register(
    Card(
        name="iris",
        title="Iris",
        page="https://archive.ics.uci.edu/dataset/53",
        licence="CC BY 4.0",
        rows=150,
        features=4,
        target="species",
        task="classification",
        note="ships with scikit-learn",
    ),
    from_scikit("load_iris", "species"),
)
register(
    Card(
        name="wine",
        title="Wine recognition",
        page="https://archive.ics.uci.edu/dataset/109",
        licence="CC BY 4.0",
        rows=178,
        features=13,
        target="cultivar",
        task="classification",
        note="ships with scikit-learn",
    ),
    from_scikit("load_wine", "cultivar"),
)
