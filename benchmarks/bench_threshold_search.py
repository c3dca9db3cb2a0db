"""Seconds of the search for SecureBoost thresholds alone, against the live protocol.

WHATLEAKS_DATA=... python benchmarks/bench_threshold_search.py

Li et al., Table 5: 102 nodes of a victim with 9 columns, epsilon 1e-7 of a range of 2, 306 queries
of 401 records, 19,311 s.
"""

from __future__ import annotations

import time
from dataclasses import replace

from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import train

PAPER = 19311.0
OPTIONS = {
    "key_bits": 512, "insecure_test_key": True, "records": 400, "rounds": 10, "per_query": 401,
    "epsilon": 5e-8,
}  # fmt: skip

if __name__ == "__main__":
    scenario = Scenario(
        "statlog-vehicle", unknown=9, model="boost", threat="boost-queries",
        model_options=Settings(OPTIONS), seed=10,
    )  # fmt: skip
    training = train(scenario, plan(scenario), None)
    assert not isinstance(training, str)
    trained = training.trained
    for name, more in (
        ("Algorithm 1, node by node", {"together": False}),
        ("all nodes together", {"together": True}),
        ("along real paths", {"real_paths": True}),
    ):
        trained.settings = replace(trained.settings, **more)  # type: ignore[attr-defined]
        trained.__dict__.pop("_probes", None)  # what was found is kept
        start = time.perf_counter()
        facts = trained.facts()
        seconds = time.perf_counter() - start
        print(
            f"{name}: {facts['nodes found']} of {facts['nodes']} thresholds, {facts['queries']} queries "
            f"(formula {facts['queries by the formula']}), {seconds:.2f} s; the paper's 102 nodes took "
            f"{PAPER:,.0f} s, {PAPER / seconds:,.0f} times as long on another machine"
        )
