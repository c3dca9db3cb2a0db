"""The bars of the pictures in colour: what auxiliary records tell on the very seeds of Y04 and Y05.

The stored runs of these two were made when the bar was a regression alone, and hijacks in colour are dear.
The bar needs none of them: ``python -m whatleaks.papers.yao_bars`` trains honestly on the same records, lets both
learners try the same targets, and keeps their errors in ``results/gallery/yao-bars.json``, with URVFL's stored
error over the bar that auxiliary pictures left out choose.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from whatleaks.files import write_atomically
from whatleaks.metrics.measurement import Measurement
from whatleaks.papers.check import checks
from whatleaks.papers.comparison import ratio_of
from whatleaks.papers.grouping import scenario_of, value
from whatleaks.papers.ledger import read, results_home
from whatleaks.papers.yao_setup import ASKING, BAR, OURS, PICTURE_BAR, of_attack
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

CLAIMS = ("Y04", "Y05")
GUESSES = (BAR, "auxiliary-decoder", PICTURE_BAR, *ASKING)


def bars_path() -> Path:
    """Return where the errors are kept."""
    return results_home() / "gallery" / "yao-bars.json"


def asking(record: Record) -> Scenario:
    """Return the honest training on a stored run's records whose network the two learners may ask."""
    return replace(
        scenario_of(record),
        threat="split-query",
        attacks=ASKING,
        attack_options=Settings({}),
        measures=tuple(m for m in scenario_of(record).measures if m.startswith("pictures")),
    )


def barred(claim: str) -> dict[str, Any]:
    """Return every guess's error seed by seed, and what stored hijacks have over the bar."""
    stored = read(results_home() / "standard" / f"{claim}.json", checks()[claim]).records
    errors: dict[str, list[float]] = {name: [] for name in GUESSES}
    for record in of_attack(stored, OURS[0]):
        outcome = run_trial(asking(record)).outcome
        numbers = {**outcome.baselines, **outcome.measurements}
        again = numbers[f"{BAR} pixels"]
        assert isinstance(again, Measurement)
        if abs(again.value - value(record, f"{BAR} pixels")) > 1e-6:  # the same records and targets
            raise ValueError(f"{claim}: the regression is not the stored one")
        for name in GUESSES:
            found = numbers[f"{name} pixels"]
            assert isinstance(found, Measurement)
            errors[name].append(found.value)
    over = {}
    for ours in OURS:
        hijack = [value(record, f"{ours} pixels") for record in of_attack(stored, ours)]
        found = ratio_of(list(zip(hijack, errors[PICTURE_BAR], strict=True)))
        over[ours] = [found.value, found.low, found.high]
    return {"errors": errors, "over the bar": over}


def main() -> None:
    """Make the trainings and keep the errors."""
    from whatleaks.runs.executors.inline import one_thread

    with one_thread():
        tree = {claim: barred(claim) for claim in CLAIMS}
    write_atomically(bars_path(), (json.dumps(tree, indent=1, allow_nan=False) + "\n").encode())


if __name__ == "__main__":
    main()
