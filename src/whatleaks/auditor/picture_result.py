"""What an audit of pictures found, as plain data: no pictures but those that were asked for."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.auditor.result import Worth
from whatleaks.metrics.measurement import Measurement


@dataclass(frozen=True)
class PictureFinding:
    """One guess at the passive halves: pixels run from -1 to 1.

    ``adds``: how much lower its error is than that of the best guess without the messages about
    that person, record by record; below zero it told less than was known before. Baselines have
    none. ``ahead``: in how many trainings, one for each seed, it was lower beyond chance.
    """

    name: str
    title: str
    role: str
    error: Measurement
    psnr: Measurement
    ssim: Measurement
    adds: Measurement | None = None
    rival: str = ""  # the best guess without the messages
    obeys: bool = False  # it answers honestly and only watches
    isolated: str = ""
    ahead: int = 0
    trainings: int = 1


@dataclass(frozen=True)
class WatchFinding:
    """One hijack watched by one detector: how often it was halted, when, and what was told by then."""

    hijack: str
    detector: str
    halted: int
    of: int
    steps: tuple[int, ...]  # taken before the halt, seed by seed
    error: Measurement
    adds: Measurement


@dataclass(frozen=True)
class DetectorFinding:
    """What a detector needs, and how often it halts honest training by mistake.

    ``silent``: why it could not halt any of these trainings, where that is so.
    """

    name: str
    title: str
    grants: tuple[str, ...]
    false_halts: Measurement
    watched: tuple[WatchFinding, ...]
    silent: str = ""


@dataclass(frozen=True)
class PictureDefense:
    """A hijack with a defense in place, and what the defense costs an honest training."""

    name: str
    title: str
    hijack: str
    before: Measurement
    error: Measurement
    adds: Measurement
    accuracy_before: Measurement
    accuracy: Measurement


@dataclass(frozen=True)
class PictureRow:
    """A row of the grid: whole pictures, one after another, as rows of numbers from 0 to 1."""

    label: str
    pictures: Floats


@dataclass(frozen=True)
class PictureAudit:
    """Everything that an audit of pictures found, with all that is needed to run it again.

    ``asked``: guesses of one who does not hijack and may ask the honestly trained network.
    ``grid`` is empty unless the user asked to see pictures, and never part of ``to_dict``.
    """

    sentence: str
    level: str  # leaks, no more than known, open
    findings: tuple[PictureFinding, ...]
    detectors: tuple[DetectorFinding, ...]
    defenses: tuple[PictureDefense, ...]
    worth: Worth
    threat: str
    grants: tuple[str, ...]
    pictures: int
    training: int
    attacked: int
    granted: int
    shape: tuple[int, int, int]
    classes: int
    steps: int
    spec: dict[str, Any]
    table: dict[str, Any]
    code: dict[str, Any]
    environment: dict[str, Any]
    seeds: tuple[int, ...]
    seconds: float
    created: str
    notes: tuple[str, ...] = ()
    grid: tuple[PictureRow, ...] = ()
    phases: dict[str, float] = field(default_factory=dict)
    asked: tuple[PictureFinding, ...] = ()

    def asking(self) -> str:
        """Say which hijacks draw worse than one who only asks the honestly trained network."""
        if not self.asked:
            return ""
        best = min(self.asked, key=lambda one: one.error.value)
        worse = [one.name for one in self.of("attack") if one.error.value >= best.error.value]
        said = f"Whoever may ask the honestly trained network about the granted pictures ({best.name}) has an error of "
        return f"{said}{best.error.value:.3f}; " + (
            f"not below it: {', '.join(worse)}." if worse else "every hijack is below it."
        )

    def of(self, role: str) -> tuple[PictureFinding, ...]:
        """Return the findings of one role, the lowest error first."""
        found = [one for one in self.findings if one.role == role]
        return tuple(sorted(found, key=lambda one: one.error.value))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for audit.json: numbers only."""
        tree = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "grid"}
        return {"kind": "pictures", **{name: _plain(value) for name, value in tree.items()}}


def joined_halves(own: Floats, passive: Floats, height: int, colours: int) -> Floats:
    """Put left and right halves together; return records x height x width x colours."""
    left, right = (
        np.clip(h, 0.0, 1.0).reshape(len(h), height, -1, colours) for h in (own, passive)
    )
    return sealed(np.concatenate([left, right], axis=2))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value
