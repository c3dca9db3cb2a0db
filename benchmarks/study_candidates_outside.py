"""Models from outside: what joining adds by an audit, with candidate search and without it.

    python benchmarks/study_candidates_outside.py [--tables 6] [--unknown 1,3] [--first 90]

Every table is made anew from its seed: 600 people, four own columns, and of the partner a skewed amount,
a whole number and an even number; half of the people train the model. Each audit is a quick one (one
seed) of a partner who holds the model (of boosted trees, which no threat grants, the scores), and is
read twice: as it is, and as if candidate search had not been among the attacks. What joining adds is the headline's number
(the worst column, on the scale on which it adds more), zero where the audit cannot tell it from luck.
Intervals are Student's, over tables; "paired" is the difference of the two readings table by table.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from study_candidates import OURS, interval

import whatleaks
from whatleaks.auditor.advice import headline
from whatleaks.auditor.result import Headline, ThreatFinding

OWN = ("age", "visits", "region", "balance")
THEIRS = ("salary", "children", "share")
TRAINED = 300


def made_table(seed: int) -> pd.DataFrame:
    """Return a table whose label follows all columns, bent and with noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 600),
            "visits": rng.poisson(4.0, 600),
            "region": rng.integers(0, 5, 600),
            "balance": rng.normal(1000.0, 400.0, 600).round(2),
            "salary": rng.gamma(2.0, 1500.0, 600).round(0),
            "children": rng.binomial(6, 0.25, 600),
            "share": rng.uniform(0.0, 1.0, 600),
        }
    )
    level = (frame - frame.mean()) / frame.std()
    weights = rng.normal(size=len(frame.columns))
    bend = level.age * level.salary - level.share * level.visits
    chance = 1.0 / (1.0 + np.exp(-(level.to_numpy() @ weights + 0.5 * bend)))
    frame["y"] = (rng.random(600) < chance).astype(int)
    return frame


def forest(x: pd.DataFrame, y: pd.Series[Any], seed: int) -> Any:
    """Return scikit-learn's forest of 100 trees, grown to the end."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, random_state=seed).fit(x, y)


def tree(x: pd.DataFrame, y: pd.Series[Any], seed: int) -> Any:
    """Return scikit-learn's tree, five levels deep."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=5, random_state=seed).fit(x, y)


def perceptron(x: pd.DataFrame, y: pd.Series[Any], seed: int) -> Any:
    """Return scikit-learn's network of 16 units behind a scaler."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = MLPClassifier((16,), max_iter=1000, random_state=seed)
    return make_pipeline(StandardScaler(), network).fit(x, y)


def module(x: pd.DataFrame, y: pd.Series[Any], seed: int) -> Any:
    """Return a torch network of 16 units on the columns as they are (scaled by its first layer)."""
    import torch

    torch.manual_seed(seed)
    inputs, wanted = torch.tensor(x.to_numpy(), dtype=torch.float32), torch.tensor(y.to_numpy())
    middle, width = inputs.mean(dim=0), inputs.std(dim=0)
    first, last = torch.nn.Linear(x.shape[1], 16), torch.nn.Linear(16, 2)
    network = torch.nn.Sequential(first, torch.nn.ReLU(), last)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(500):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(network((inputs - middle) / width), wanted)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    with torch.no_grad():  # the scaler becomes part of the first layer
        first.weight /= width
        first.bias -= first.weight @ middle
    return network


def boosted(x: pd.DataFrame, y: pd.Series[Any], seed: int) -> Any:
    """Return XGBoost's classifier of 50 trees."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=50, max_depth=3, random_state=seed).fit(x, y)


# How they are fitted, and the threat: the partner holds the model, where any threat grants it.
MODELS: dict[str, tuple[Callable[..., Any], str]] = {
    "scikit-learn forest": (forest, "white-box-forest"),
    "scikit-learn tree": (tree, "white-box-tree"),
    "scikit-learn network": (perceptron, "white-box"),
    "torch network": (module, "white-box"),
    "XGBoost": (boosted, "black-box"),
}


def without_ours(threats: Sequence[ThreatFinding]) -> tuple[ThreatFinding, ...]:
    """Return the findings of an audit that did not have candidate search."""
    return tuple(
        replace(threat, findings=tuple(g for g in threat.findings if g.name.split()[0] not in OURS))
        for threat in threats
    )


def said(head: Headline) -> float:
    """Return what an audit says that joining adds."""
    return head.adds.value if head.beyond_guessing else 0.0


def main() -> None:
    """Print a line for each model and number of unknown columns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=6)
    parser.add_argument("--first", type=int, default=90)
    parser.add_argument("--unknown", default="1,3")
    parser.add_argument("--models", default=",".join(MODELS))
    asked = parser.parse_args()
    print(
        "| model | unknown | without candidate search | with it | paired | it says nothing: without, "
        "with | best attack | s |\n|---|---|---|---|---|---|---|---|"
    )
    for name in asked.models.split(","):
        for unknown in map(int, asked.unknown.split(",")):
            began, before, after, best = time.perf_counter(), [], [], []
            for seed in range(asked.first, asked.first + asked.tables):
                frame = made_table(seed)
                columns = [*OWN, *THEIRS[:unknown]]
                train = np.arange(len(frame)) < TRAINED
                model = MODELS[name][0](frame.loc[train, columns], frame.y[train], seed)
                report = whatleaks.audit(
                    frame[[*columns, "y"]], "y", THEIRS[:unknown], model=model, trained_on=train,
                    threats=MODELS[name][1], quick=True, defenses=False, seed=seed,
                )  # fmt: skip
                threats = report.result.threats
                before.append(said(headline(without_ours(threats))))
                after.append(said(report.result.headline))
                best.append(report.result.headline.attack or "none fits")
            cells = [f"{mean:.0%} ± {half:.0%}" for mean, half in map(interval, (before, after))]
            mean, half = interval(np.subtract(after, before).tolist())
            cells.append(f"{100 * mean:+.0f} ± {100 * half:.0f} points")
            cells.append(f"{before.count(0.0)}, {after.count(0.0)}")
            counted = [f"{one} {best.count(one)}" for one in dict.fromkeys(best)]
            cells += [", ".join(counted), f"{(time.perf_counter() - began) / len(best):.1f}"]
            print(f"| {name} | {unknown} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
