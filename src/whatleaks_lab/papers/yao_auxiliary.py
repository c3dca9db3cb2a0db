"""From which number of auxiliary records on does the hijack pay? Measured on a table and on pictures.

No claim of the paper. ``python -m whatleaks_lab.papers.yao_auxiliary`` makes the runs, judges them by the rule
below, which stood here before the first run, and keeps errors in ``results/gallery/yao-auxiliary.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from whatleaks.files import write_atomically
from whatleaks.metrics.measurement import Measurement
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.trial import run_trial
from whatleaks_lab.papers.comparison import below, ratio_of
from whatleaks_lab.papers.ledger import results_home
from whatleaks_lab.papers.yao_setup import (
    BAR,
    CREDIT,
    MNIST,
    PICTURE_BAR,
    hijacked,
    pictures,
    table,
)

RULE = (
    "URVFL with the steps of the standard profile. At a size it pays if its error lies below that of the bar, which "
    "learns from the same auxiliary records without any message: the 95 % interval over seeds of the ratio, paired by "
    "seed, lies below 1. It pays from a size on if it pays there and at every larger one that was tried."
)
HIJACK = "urvfl"
SHARES = (0.003, 0.01, 0.03, 0.1, 0.5)  # auxiliary records for each that trains
SEEDS = range(70, 73)  # no rule has seen them
SETS = {CREDIT: (BAR, "standardised"), MNIST: (PICTURE_BAR, "pixels")}


def auxiliary_path() -> Path:
    """Return where the errors are kept."""
    return results_home() / "gallery" / "yao-auxiliary.json"


def runs() -> Iterator[tuple[str, float, Scenario]]:
    """Yield set, share and run."""
    for dataset in SETS:
        base = pictures("standard") if dataset == MNIST else table("standard", dataset)
        for share in SHARES:
            for run in hijacked({**base, "auxiliary": share}, HIJACK, seed=SEEDS):
                yield dataset, share, run


def measured() -> dict[str, Any]:
    """Run everything; return by set and number of auxiliary records the errors, seed by seed."""
    found: dict[str, Any] = {}
    for dataset, _, scenario in runs():
        done = run_trial(scenario)
        numbers = {**done.outcome.baselines, **done.outcome.measurements}
        bar, unit = SETS[dataset]
        at = found.setdefault(dataset, {}).setdefault(str(done.records.granted), {})
        for kind, guess in (("hijack", HIJACK), ("bar", bar), ("mean", "auxiliary-mean")):
            value = numbers[f"{guess} {unit}"]
            assert isinstance(value, Measurement)
            at.setdefault(kind, []).append(value.value)
    return found


def ratio_at(errors: Mapping[str, Sequence[float]]) -> Measurement:
    """Return the hijack's error over the bar's: a geometric mean over seeds with its interval."""
    return ratio_of(list(zip(errors["hijack"], errors["bar"], strict=True)))


def pays_from(errors: Mapping[str, Mapping[str, Sequence[float]]]) -> int | None:
    """Return the least size from which on the hijack pays, or none."""
    found = None
    for size in sorted(map(int, errors), reverse=True):
        if not below(ratio_at(errors[str(size)]), 1.0):
            break
        found = size
    return found


def main() -> None:
    """Make all runs, judge and keep the errors."""
    from whatleaks.runs.executors.inline import one_thread

    with one_thread():
        errors = measured()
    tree = {
        "rule": RULE,
        "seeds": list(SEEDS),
        "pays from": {dataset: pays_from(found) for dataset, found in errors.items()},
        "errors": errors,
    }
    text = json.dumps(tree, indent=1, allow_nan=False) + "\n"
    write_atomically(auxiliary_path(), text.encode())


if __name__ == "__main__":
    main()
