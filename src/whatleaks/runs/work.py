"""Work: one run as the runner sees it, whatever it computes.

A work is frozen and says what it is; its name is a hash of that. The sources that compute it
are no part of the name: they are kept beside the result, and a result whose sources have
changed is made again under the same name (``runner``).
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

from whatleaks.errors import SpecError, nearest
from whatleaks.trial.outcome import Outcome


class Work(Protocol):
    """One run: frozen, hashable, and small enough to be sent to another process."""

    kind: ClassVar[str]

    @property
    def seed(self) -> int:
        """The root of all its random streams."""
        ...

    @property
    def label(self) -> str:
        """What people call it; no part of its name."""
        ...

    def identity(self) -> dict[str, Any]:
        """Return what determines the numbers, as plain JSON; defaults are left out."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON; the registered reader reads it back."""
        ...

    def title(self) -> str:
        """Say on one line which run this is."""
        ...

    def training_key(self) -> str:
        """Works with equal keys are performed one after another and share what they train."""
        ...

    def modules(self) -> tuple[str, ...]:
        """Name modules in whose packages the sources behind the numbers are."""
        ...

    @classmethod
    def perform_group(
        cls, works: Sequence[Self], table: bytes | None
    ) -> Iterator[tuple[Outcome, bytes]]:
        """Perform works of one training key, in order: the outcome and what is private, each.

        ``b""`` where nothing is private. What it raises is charged to the work in turn; the
        rest of the group is performed by a new call.
        """
        ...


@runtime_checkable
class Checked(Protocol):
    """A work that can refuse itself before anything runs."""

    def check(self) -> None:
        """Raise if this run cannot be performed as declared."""
        ...


Reader = Callable[[Mapping[str, Any]], Work]
C = TypeVar("C", bound=type[Any])


def _scenario(tree: Mapping[str, Any]) -> Work:
    # Scenarios live one level below and cannot register themselves here.
    made: Work = importlib.import_module("whatleaks.trial.scenario").from_dict(tree, "record")
    return made


_READERS: dict[str, Reader] = {"scenario": _scenario}
_HOMES: dict[str, str] = {}  # kind -> the class that registered it, by its full name


def work(cls: C) -> C:
    """Register a class of works by its ``kind``; its ``from_dict`` reads ``to_dict`` back."""
    home = f"{cls.__module__}.{cls.__qualname__}"
    if cls.kind in _READERS and _HOMES.get(cls.kind) != home:
        other = _HOMES.get(cls.kind, "the scenario")
        raise ValueError(f"two classes of works are named {cls.kind!r}: {other} and {home}")
    _READERS[cls.kind] = cls.from_dict
    _HOMES[cls.kind] = home
    return cls


def work_to_dict(one: Work) -> dict[str, Any]:
    """Return a work with its kind as plain JSON."""
    return {"kind": one.kind, **one.to_dict()}


def work_from_dict(tree: Mapping[str, Any]) -> Work:
    """Read back what ``work_to_dict`` wrote; an unknown kind is refused with the nearest."""
    kind = str(tree["kind"])
    others = entry_points(group="whatleaks.works")
    if kind not in _READERS and kind in others.names:
        others[kind].load()
    if kind not in _READERS:
        raise SpecError(f"unknown kind of run {kind!r}.{nearest(kind, {*_READERS, *others.names})}")
    return _READERS[kind]({key: value for key, value in tree.items() if key != "kind"})


def name_of(one: Work) -> str:
    """Name the result of a work: sha256 over its kind and identity."""
    return digest({"kind": one.kind, "identity": one.identity()})


def digest(tree: Any) -> str:
    """Hash a tree of plain values through canonical JSON."""
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
