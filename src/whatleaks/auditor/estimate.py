"""How long an audit will take, roughly, before it starts: for people who plan their day.

Measured with ``benchmarks/bench_audit_cost.py`` on linear models: the start and what every trial has
on wine and breast cancer, what a column adds on 2,000 x 500, what a million cells add on the
preparation of 200,000 x 50. Other models, and a busy machine, take longer.
"""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.trial.scenario import Scenario

START = 4.0  # seconds of processor time for what is loaded
TRIAL = 0.8  # that every trial costs
PER_COLUMN = 0.005  # and for each column of the table
PER_MILLION_CELLS = 0.3  # reading, preparing (0.1) and training, once for each training
LONG = 60.0  # seconds from which an estimate is worth a line


def estimated_seconds(planned: Sequence[Scenario], rows: int, columns: int, width: int) -> float:
    """Return about how long the trials take on so many processes."""
    trainings = len({scenario.training_key() for scenario in planned})
    cells = trainings * rows * columns / 1e6
    total = START + len(planned) * (TRIAL + PER_COLUMN * columns) + PER_MILLION_CELLS * cells
    return total / max(1, min(width, len(planned)))


def in_words(seconds: float) -> str:
    """Say it as people would: a rough number of minutes."""
    if seconds < 90:
        return f"about {10 * max(1, round(seconds / 10))} s"
    return f"about {round(seconds / 60)} minutes"
