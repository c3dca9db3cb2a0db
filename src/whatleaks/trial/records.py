"""What comes of a trial: numbers for everybody, and what is known of single records."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.codec import travels
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scorers.branches import BranchScored
from whatleaks.trial.scorers.values import Scored


@travels
@dataclass(frozen=True)
class PerRecord:
    """What a trial knows of single records: private to whoever owns the table.

    ``correct`` and ``alone`` hold 1 per judged record classed right, else 0; they are empty
    where nobody predicts. ``apart``: how far the targets lie from their columns' means. ``joint`` and ``own`` are the scores behind them and ``labels`` the
    true classes, ``judged`` the records' places in the table. ``spans``: what 0 to 1 stands for
    in each column. ``granted``: complete records of others that the adversary was given.
    ``groups``: which of ``group_names`` each target belongs to. ``samples`` hold truth beside
    guess, only if the user asked for it; of pictures ``pictures`` do: the own halves, the truth and
    every attack's guess. ``missed`` and ``missed_alone``: how far a numeric label is missed with and
    without joining, as a share of its range.
    """

    columns: tuple[str, ...]
    apart: Floats
    scored: tuple[Scored, ...]
    branches: tuple[BranchScored, ...]
    correct: Ints
    alone: Ints
    asked: int
    training_rows: int
    samples: tuple[tuple[float, float, str, str], ...] = ()
    phases: tuple[tuple[str, float], ...] = ()  # processor seconds of each phase
    joint: Floats = field(default_factory=lambda: sealed(np.zeros((0, 0))))
    own: Floats = field(default_factory=lambda: sealed(np.zeros((0, 0))))
    labels: Ints = field(default_factory=lambda: sealed_ints([]))
    judged: Ints = field(default_factory=lambda: sealed_ints([]))
    spans: tuple[float, ...] = ()
    granted: int = 0
    groups: Ints = field(default_factory=lambda: sealed_ints([]))
    group_names: tuple[str, ...] = ()
    pictures: tuple[tuple[str, Floats], ...] = ()
    missed: Floats = field(default_factory=lambda: sealed(np.zeros(0)))
    missed_alone: Floats = field(default_factory=lambda: sealed(np.zeros(0)))

    @property
    def targets(self) -> int:
        """The number of records whose guesses were scored."""
        return len(self.apart)


@dataclass(frozen=True)
class Trial:
    """What came of a scenario: the outcome for everybody, the rest for the table's owner."""

    outcome: Outcome
    records: PerRecord


def no_records() -> PerRecord:
    """Return what is known where nothing was attacked."""
    none = sealed_ints([])
    return PerRecord((), sealed(np.zeros((0, 0))), (), (), none, none, 0, 0)
