"""How long an audit will take, roughly, before it starts: for people who plan their day.

Measured with ``benchmarks/bench_audit_cost.py`` on linear models: the start and what every trial has
on wine (19 s) and breast cancer (56 s), what a column adds on 2,000 x 500 (187 s), what a million cells add
on 1,000,000 x 50 (361 s); a training on ciphertexts under ``encrypted`` on breast cancer and on 5,000 x 10,
of which 330 and 400 records train (40 s and 39 s). Other models, and a busy machine, take longer.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from whatleaks.trial.scenario import Scenario

START = 4.0  # seconds of processor time for what is loaded
TRIAL = 0.92  # that every trial costs
PER_COLUMN = 0.0055  # and for each column of the table
PER_MILLION_CELLS = 0.62  # reading, preparing and training, once for each training
ON_CIPHERTEXTS = 40.0  # a training on them, of as many records as an audit lets train
LONG = 30.0  # seconds from which an estimate is worth a line
# Workers, where nobody says how many. Each loads the libraries first, and holds the table once more.
PAYS = 12.0  # seconds that an audit must take alone
FITS = 2_000_000  # cells of the largest table that every worker holds
MOST_WORKERS = 4


def estimated_seconds(planned: Sequence[Scenario], rows: int, columns: int, width: int) -> float:
    """Return about how long the trials take on so many processes."""
    trainings = {scenario.training_key(): scenario.model_options for scenario in planned}
    cells = len(trainings) * rows * columns / 1e6
    shared = len(planned) * (TRIAL + PER_COLUMN * columns) + PER_MILLION_CELLS * cells
    shared += ON_CIPHERTEXTS * sum("whole" in options for options in trainings.values())
    return START + shared / max(1, min(width, len(planned)))


def workers_that_pay(seconds: float, cells: int) -> int:
    """Return how many processes share an audit that takes so long alone: one where starting more costs more."""
    if seconds < PAYS or cells > FITS:
        return 1
    return min(MOST_WORKERS, os.cpu_count() or 1)


def in_words(seconds: float) -> str:
    """Say it as people would: a rough number of minutes."""
    if seconds < 90:
        return f"about {10 * max(1, round(seconds / 10))} s"
    return f"about {round(seconds / 60)} minutes"
