"""What auxiliary records tell on the very seeds of Y01 and Y02, by the bar of today.

The stored runs of these were made when answers of the regression were not kept in range; hijacks are dear. The bar
needs none of them: ``python -m whatleaks.papers.yao_bars`` trains honestly on the same records, lets the learners
try the same targets, without any message and with the honest network's answers, and keeps their errors in
``results/gallery/yao-bars.json``, with the stored errors of URVFL over the bar.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from whatleaks.files import write_atomically
from whatleaks.metrics.measurement import Measurement
from whatleaks.papers.check import checks
from whatleaks.papers.comparison import ratio_of
from whatleaks.papers.grouping import scenario_of, value
from whatleaks.papers.ledger import read, results_home
from whatleaks.papers.yao_setup import ASKING, BAR, OURS, of_attack
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

CLAIMS = {"Y01": "standardised", "Y02": "standardised"}
SAME = "auxiliary-mean"  # it has not changed: the records are the same if it is


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
        measures=tuple(m for m in scenario_of(record).measures if m != "imitation"),
    )


def barred(claim: str) -> dict[str, Any]:
    """Return every guess's error seed by seed, and what stored hijacks have over the bar."""
    stored = read(results_home() / "standard" / f"{claim}.json", checks()[claim]).records
    unit = CLAIMS[claim]
    errors: dict[str, list[float]] = {}
    for record in of_attack(stored, OURS[0]):
        outcome = run_trial(asking(record)).outcome
        numbers = {**outcome.baselines, **outcome.measurements}
        for name in (BAR, SAME, *ASKING):
            found = numbers[f"{name} {unit}"]
            assert isinstance(found, Measurement)
            errors.setdefault(name, []).append(found.value)
        if abs(errors[SAME][-1] - value(record, f"{SAME} {unit}")) > 1e-6:
            raise ValueError(f"{claim}: these are not the records of the stored runs")
    over = {}
    for ours in OURS:
        hijack = [value(record, f"{ours} {unit}") for record in of_attack(stored, ours)]
        ratio = ratio_of(list(zip(hijack, errors[BAR], strict=True)))
        over[ours] = [ratio.value, ratio.low, ratio.high]
    return {"errors": errors, "bar": BAR, "over the bar": over}


def main(arguments: Sequence[str] = ()) -> None:
    """Make the trainings of all claims, or of those that are named, and keep the errors."""
    from whatleaks.runs.executors.inline import one_thread

    path = bars_path()
    tree = json.loads(path.read_text("utf-8")) if arguments and path.exists() else {}
    with one_thread():
        for claim in arguments or CLAIMS:
            tree[claim] = barred(claim)
    write_atomically(path, (json.dumps(tree, indent=1, allow_nan=False) + "\n").encode())


if __name__ == "__main__":
    main(sys.argv[1:])
