"""Candidate search beside the other attacks on the same view: errors, leaks, control, limit, seconds.

    python benchmarks/study_candidates.py [--models forest,tree,network,joint-network,lr] [--sets ...]

Every line is one set, one model and a number of unknown columns over some splits: the mean error
(of the scale 0 to 1, squared) and the mean leakage over columns, each with half the width of its 95 % interval
over the splits. "others" is the best of the other attacks on the view, chosen by the mean over the
splits with the truth in hand: a bar that no adversary could choose so well.
``outside``: a scikit-learn forest (100 trees, grown to the end) and a network (16 units), by their files' forms.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.stats import t as student

from whatleaks.auditor.plan import QUICK_LEARNING
from whatleaks.catalog import card, cards
from whatleaks.trial.plan import fits
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

THREATS = {"forest": "white-box-forest", "tree": "white-box-tree"}
OPTIONS: dict[str, dict[str, Any]] = {"joint-network": {"hidden": (32, 16)}}
OURS = ("candidate-search", "candidate-search-forest", "candidate-search-tree")
ROWS = {"breast-cancer": 0, "wine": 0, "credit-card-default": 1500, "bank-marketing": 1500}


def leak(together: Any, moved: Any, spread: Any) -> float:
    """Return the mean over columns of the squared correlation, zero where it is negative."""
    size = np.sqrt(moved.sum(axis=0) * spread.sum(axis=0))
    found = np.where(size > 0.0, together.sum(axis=0) / np.where(size > 0.0, size, 1.0), 0.0)
    return float((np.maximum(found, 0.0) ** 2).mean())


def attacks_on(model: str, view: type[Any]) -> tuple[str, ...]:
    """Return the attacks that fit; on linear models candidate search too, to see what it would do."""
    names = [entry.name for entry in cards("attack") if fits(entry, view)]
    if model == "lr":
        names.append("candidate-search")
    return tuple(name for name in dict.fromkeys(names) if name != "path-restriction")


def one(dataset: str, model: str, unknown: int, seed: int, targets: int) -> dict[str, Any]:
    """Return error, leak and seconds of everything that answered in one trial."""
    from whatleaks.auditor.plan import looks_at

    threat = THREATS.get(model, "white-box")
    names = attacks_on(model, looks_at(model, threat).view)
    known = {f for name in names for f in card("attack", name).part.__dataclass_fields__}
    brief = {"steps": 500, **QUICK_LEARNING}
    scenario = Scenario(
        dataset,
        unknown=unknown,
        model=model,
        model_options=Settings(OPTIONS.get(model, {})),
        data=Settings({"rows": ROWS[dataset]} if ROWS.get(dataset) else {}),
        threat=threat,
        attacks=names,
        attack_options=Settings({key: value for key, value in brief.items() if key in known}),
        references=("baselines", "limit", "control"),
        targets=targets,
        seed=seed,
    )
    done = run_trial(scenario)
    spread = done.records.spread
    return {
        one.name if one.role in ("attack", "baseline", "control") else one.role: (
            float(one.squared.mean()),
            leak(one.together, one.moved, spread),
            one.seconds,
        )
        for one in done.records.scored
    }


def over(values: Iterable[float]) -> str:
    """Write a mean and half the width of its interval."""
    held = np.array(list(values))
    half = student.ppf(0.975, len(held) - 1) * held.std(ddof=1) / np.sqrt(len(held))
    return f"{held.mean():.3f} ± {half:.3f}"


def line(dataset: str, model: str, unknown: int, seeds: int, targets: int) -> None:
    """Print one case."""
    runs = [one(dataset, model, unknown, seed, targets) for seed in range(seeds)]
    ours = next(name for name in OURS if name in runs[0])
    others = [
        name
        for name in runs[0]
        if name in {entry.name for entry in cards("attack")} and name not in OURS
    ]
    mean = {name: np.mean([run[name] for run in runs], axis=0) for name in others}
    nearest = min(mean, key=lambda name: mean[name][0])
    most = max(mean, key=lambda name: mean[name][1])
    cells = [
        f"{dataset} | {model} | {unknown}",
        over(run[ours][0] for run in runs),
        f"{over(run[nearest][0] for run in runs)} ({nearest})",
        over(run["half"][0] for run in runs),
        over(run["limit"][0] for run in runs),
        over(run[ours][1] for run in runs),
        f"{over(run[most][1] for run in runs)} ({most})",
        over(run[f"{ours} control"][1] for run in runs),
        over(run["limit"][1] for run in runs),
        f"{np.mean([run[ours][2] for run in runs]):.2f}",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def outside(dataset: str, unknown: int, seeds: int, targets: int) -> None:
    """Print models from outside: what the report says before joining is counted against it."""
    import pandas as pd
    from sklearn import datasets
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import whatleaks

    load = {"breast-cancer": datasets.load_breast_cancer, "wine": datasets.load_wine}[dataset]
    frame: pd.DataFrame = load(as_frame=True).frame.rename(columns={"target": "y"})
    columns = [name for name in frame if name != "y"]
    passive = columns[-unknown:]
    network = MLPClassifier((16,), max_iter=500, random_state=0)
    models = {
        "forest": (RandomForestClassifier(100, random_state=0), "white-box-forest"),
        "network": (make_pipeline(StandardScaler(), network), "white-box"),
    }
    for name, (model, threat) in models.items():
        began = time.process_time()
        report = whatleaks.audit(
            frame, "y", passive, model=model.fit(frame[columns], frame.y), threats=threat,
            seeds=seeds, targets=targets, quick=True, defenses=False,
        )  # fmt: skip
        found = report.result.threats[0].findings
        others = [g for g in found if g.role == "attack" and g.name not in OURS]
        chosen = [g for g in found if g.name in OURS or g.role == "limit" or g.name == "half"]
        chosen += [g for g in found if g.role == "control" and g.name.split()[0] in OURS]
        for guess in (*chosen, max(others, key=lambda g: g.leakage.value)):
            told = guess.leakage
            print(
                f"| {dataset} | outside {name} | {unknown} | {guess.name} | {guess.error.value:.4f} | "
                f"{told.value:.3f} ({told.low:.3f} to {told.high:.3f}) |",
                flush=True,
            )
        print(f"({time.process_time() - began:.0f} s)", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="forest,tree,network,joint-network")
    parser.add_argument("--sets", default="breast-cancer,wine,credit-card-default")
    parser.add_argument("--unknown", default="1,3,6")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--targets", type=int, default=150)
    chosen = parser.parse_args()
    print(
        "| set | model | unknown | error | others | one half | limit | leak | others | control | "
        "limit | s |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for dataset in chosen.sets.split(","):
        for model in chosen.models.split(","):
            for unknown in map(int, chosen.unknown.split(",")):
                if model == "outside":
                    outside(dataset, unknown, chosen.seeds, chosen.targets)
                else:
                    line(dataset, model, unknown, chosen.seeds, chosen.targets)


if __name__ == "__main__":
    main()
