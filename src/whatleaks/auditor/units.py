"""Units of audit work: one seed of one federation. A finished unit survives an interruption.

A unit holds errors and deviations record by record. Whoever knows a column's average can
work the values out from these, so a unit is as secret as the table: its file is readable by
its owner only and is removed when the audit is complete.
"""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.arrays import Floats, Ints
from whatleaks.auditor.evaluator import Scored
from whatleaks.codec import travels


@travels
@dataclass(frozen=True)
class ThreatScores:
    """All guesses under one threat model: attacks, baselines and the limit."""

    threat: str
    spread: Floats
    scored: tuple[Scored, ...]
    notes: tuple[str, ...] = ()


@travels
@dataclass(frozen=True)
class DefenseScores:
    """What a defense leaves of the leak (attacks and limit) and which records are classed right.

    A defense that withholds records or columns has scores of what it released only: ``spread``
    is then that of these records, ``columns`` are those that stay.
    """

    defense: str
    threat: str
    scored: tuple[Scored, ...]
    correct: Ints
    spread: Floats
    columns: tuple[str, ...]
    halts: tuple[int, int] = (-1, -1)  # of the hijacker, of honest training; -1: no detector


@travels
@dataclass(frozen=True)
class UnitResult:
    """One seed of one federation. ``correct`` holds 1 per target classed right, else 0."""

    federation: str
    seed: int
    columns: tuple[str, ...]
    threats: tuple[ThreatScores, ...]
    defenses: tuple[DefenseScores, ...]
    correct: Ints
    correct_alone: Ints
    training_rows: int
    samples: tuple[tuple[float, float, str, str], ...] = ()  # only with --show-values
