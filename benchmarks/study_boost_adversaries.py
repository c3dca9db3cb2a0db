"""What weaker adversaries of SecureBoost get, and what limits on answers leave of the search.

WHATLEAKS_DATA=... python benchmarks/study_boost_adversaries.py

Width: of a record's interval in a column that some node tests, as a share of its range, on average.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whatleaks.attacks.thresholds import bounds_from
from whatleaks.models.threshold_search import from_known
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import stage_of, train

OPTIONS = {"key_bits": 512, "insecure_test_key": True, "records": 200, "rounds": 5}
SETS = (("statlog-vehicle", 9), ("breast-cancer", 20))
KNOWN = (5, 10, 25, 50, 100)


def scenario(dataset: str, unknown: int, threat: str, **more: object) -> Scenario:
    """Declare a training of boosted trees under a threat."""
    return Scenario(
        dataset,
        unknown=unknown,
        model="boost",
        model_options=Settings({**OPTIONS, "queries": threat == "boost-queries", **more}),
        threat=threat,
        attacks=("threshold-intervals",) if threat == "boost-queries" else (),
        seed=10,
    )


def tested(wanted: Scenario) -> np.ndarray:
    """Say which columns some node tests."""
    training = train(wanted, plan(wanted), None)
    assert not isinstance(training, str)
    columns = np.zeros(wanted.unknown, dtype=bool)
    columns[training.trained.run.owned[1].column] = True  # type: ignore[attr-defined]
    return columns


def by_known(dataset: str, unknown: int) -> None:
    """Print the width left for one who knows k people, at any node and on real paths only."""
    base = scenario(dataset, unknown, "boost-known")
    parts = plan(base)
    training = train(base, parts, None)
    assert not isinstance(training, str)
    owned = training.trained.run.owned[1]  # type: ignore[attr-defined]
    used = np.unique(owned.column)
    for k in KNOWN:
        told = []
        for threat in ("boost-known", "boost-paths"):
            widths, held, sure, right = [], [], [], []
            for draw in range(5):
                wanted = replace(base, threat=threat, known=k)
                stage = stage_of(wanted, plan(wanted), training)
                rng = np.random.default_rng(100 * k + draw)
                order = rng.permutation(stage.rows.targets)
                rows = replace(stage.rows, known=order[:k], targets=order[k:])
                stage = replace(stage, rows=rows)
                view = stage.view(rows.targets)
                low, high = bounds_from(
                    view.known_bits, view.auxiliary.passive, view.bits, view.ranges
                )
                truth = stage.truth
                widths.append((high - low)[:, used].mean())
                held.append(((low <= truth) & (truth <= high)).mean())
                found, count = from_known(
                    view.known_bits, view.auxiliary.passive, view.ranges.low, view.ranges.high
                )
                sure.append((count == 1).mean())
                right.append(
                    (found.column == owned.column)[count == 1].mean() if (count == 1).any() else 1.0
                )
            told.append(
                f"{threat}: width {np.mean(widths):.2f}, column of a node found {np.mean(sure):.2f} "
                f"(right {np.mean(right):.2f}), values inside {np.mean(held):.3f}"
            )
        print(f"{dataset}, {k} known: {'; '.join(told)}", flush=True)


def by_limit(dataset: str, unknown: int) -> None:
    """Print what the search with made-up records leaves under limits."""
    used = tested(scenario(dataset, unknown, "boost-queries"))
    for name, more in (
        ("no limit", {}),
        ("1 query", {"most_queries": 1}),
        ("2 queries", {"most_queries": 2}),
        ("3 queries", {"most_queries": 3}),
        ("real paths", {"real_paths": True}),
        ("real paths, 20 queries", {"real_paths": True, "most_queries": 20}),
    ):
        wanted = scenario(dataset, unknown, "boost-queries", **more)
        parts = plan(wanted)
        training = train(wanted, parts, None)
        assert not isinstance(training, str)
        stage = stage_of(wanted, parts, training)
        view = stage.view(stage.rows.targets)
        guess = parts.attacks[0].infer(view, np.random.default_rng(0))
        width = (guess.high - guess.low)[:, used].mean()
        inside = ((guess.low <= stage.truth) & (stage.truth <= guess.high)).mean()
        facts = training.trained.facts()
        print(
            f"{dataset}, {name}: {facts['nodes found']} of {facts['nodes']} thresholds, "
            f"{facts['queries']} queries (formula {facts['queries by the formula']}), width {width:.3f}, "
            f"values inside {inside:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    for dataset, unknown in SETS:
        by_limit(dataset, unknown)
        by_known(dataset, unknown)
