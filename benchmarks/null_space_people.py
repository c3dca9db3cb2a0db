"""How many people null-space regression needs, what a linear rule can reach, and what else was tried.

python benchmarks/null_space_people.py [--seeds 0 1 2] [--targets 300]

The equations are solved as in the attack; the rest is learnt by the attack's own rule on more and
more people, by a ridge regression and a forest on all records that the limit learns from, and, on 25
people, by one normal distribution (EM) and by a Gaussian process. Seeds 0 to 2: the choice was made on these.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from null_space import SETS
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import RidgeCV
from staged import stage_for

from whatleaks.arrays import Floats
from whatleaks.attacks.equations import equations
from whatleaks.attacks.lattice_decoding import LatticeDecoding
from whatleaks.models.additive import log_ratios
from whatleaks.models.box_solutions import nearest, null_space, parts
from whatleaks.models.few_records import learnt_together
from whatleaks.models.lattice import LatticeSettings, decode
from whatleaks.models.precision import seen_precision
from whatleaks.trial.limit import TREES, learnt_from, predict_from_evidence
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.stage import Stage

PEOPLE = (25, 50, 100, 200, 400)
FEW = 25
SHRINKAGE = (1, 5, 20, 60)  # EM: people that the prior counts for
Learner = Callable[[Floats, Floats, Floats], Floats]  # inputs, wanted values, inputs asked for


def own_rule(inputs: Floats, wanted: Floats, asked: Floats) -> Floats:
    """Learn as the attack does."""
    return learnt_together(inputs, wanted, asked).values


def ridge(inputs: Floats, wanted: Floats, asked: Floats) -> Floats:
    """Learn one linear rule with many records; its strength by leaving one out."""
    fitted = RidgeCV(np.logspace(-6, 2, 9)).fit(inputs, wanted)
    return np.asarray(fitted.predict(asked)).reshape(len(asked), -1)


def forest(inputs: Floats, wanted: Floats, asked: Floats) -> Floats:
    """Learn with the trees that the limit has."""
    trees = ExtraTreesRegressor(TREES, min_samples_leaf=2, random_state=0).fit(inputs, wanted)
    return np.asarray(trees.predict(asked)).reshape(len(asked), -1)


def normal(shrinkage: float) -> Learner:
    """Fit one normal distribution to complete and incomplete records together, by EM.

    ``shrinkage`` records of unrelated columns with the same variances are added to the covariance.
    """

    def learn(inputs: Floats, wanted: Floats, asked: Floats) -> Floats:
        seen, whole = inputs.shape[1], np.hstack([inputs, wanted])
        everybody = np.concatenate([inputs, asked])
        mean = np.concatenate([everybody.mean(axis=0), wanted.mean(axis=0)])
        prior = np.diag(np.concatenate([everybody.var(axis=0), wanted.var(axis=0)]) + 1e-8)
        spread = 0.5 * np.cov(whole.T, bias=True) + 0.5 * prior
        for _ in range(60):
            rule = np.linalg.solve(
                spread[:seen, :seen] + 1e-10 * np.eye(seen), spread[:seen, seen:]
            )
            left = spread[seen:, seen:] - spread[seen:, :seen] @ rule
            filled = np.hstack([asked, mean[seen:] + (asked - mean[:seen]) @ rule])
            records = np.concatenate([whole, filled])
            mean = records.mean(axis=0)
            spread = (records - mean).T @ (records - mean) + shrinkage * prior
            spread[seen:, seen:] += len(asked) * left
            spread /= len(records) + shrinkage
        rule = np.linalg.solve(spread[:seen, :seen] + 1e-10 * np.eye(seen), spread[:seen, seen:])
        return np.asarray(mean[seen:] + (asked - mean[:seen]) @ rule)

    return learn


def process(inputs: Floats, wanted: Floats, asked: Floats) -> Floats:
    """Fit a Gaussian process with one smooth kernel and noise, its scales by likelihood."""
    everybody = np.concatenate([inputs, asked])
    centre, scale = everybody.mean(axis=0), float(everybody.std(axis=0).mean())
    mean, unit = wanted.mean(axis=0), float(wanted.std())
    kernel = ConstantKernel(1.0) * RBF(3.0, (0.3, 1e3)) + WhiteKernel(0.1, (1e-6, 10.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = GaussianProcessRegressor(kernel).fit(
            (inputs - centre) / scale, (wanted - mean) / unit
        )
    values = np.asarray(fitted.predict((asked - centre) / scale)).reshape(len(asked), -1)
    return np.asarray(values * unit + mean)


def staged_people(name: str, seed: int, targets: int) -> Stage:
    """Train on a set; the adversary knows as many people as are ever asked for."""
    return stage_for(
        Scenario(
            name,
            data=Settings(SETS[name]),
            share=0.5,
            threat="white-box-known",
            known=max(PEOPLE),
            targets=targets,
            seed=seed,
        )
    )


def grid_fits(stage: Stage, records: int = 100) -> str:
    """Say how many bits the unknown columns hold, and how many wrong points fit a record's scores."""
    view = stage.view(stage.rows.targets[:records])
    grids = view.schema.grids
    seen = seen_precision(view.scores)
    read = LatticeDecoding().readings(view.own, view.scores, view.model, grids, seen)
    luck = float(np.median(decode(read, grids, LatticeSettings()).luck))
    bits = sum(float(np.log2(1.0 / column.step)) for column in grids.columns if column.step)
    return f"{bits:.0f} bits in its columns, about 2^{luck:.1f} wrong points fit (median record)"


def measured(stage: Stage, seed: int) -> dict[str, float]:
    """Return the errors of one set and seed."""
    view, others = stage.view(stage.rows.targets), stage.view(stage.rows.others)
    truth, other_truth = stage.truth, stage.holdings.joined(stage.victims, stage.rows.others)
    known = view.auxiliary
    system = equations(view.own, log_ratios(view.scores), view.model)
    pieces, null = parts(system.matrix), null_space(system.matrix)

    def inputs(own: Floats, scores: Floats) -> Floats:
        right = equations(own, log_ratios(scores), view.model).right
        return np.concatenate([own, right @ pieces.inverse.T @ pieces.rows.T], axis=1)

    asked = inputs(view.own, view.scores)
    solved = asked[:, view.own.shape[1] :] @ pieces.rows
    told = inputs(known.own, known.released)

    def error(learn: Learner, seen: Floats, values: Floats) -> float:
        rest = learn(seen, values @ null, asked)
        found = nearest(system.matrix, system.right, solved + rest @ null.T)
        return float(((np.clip(found, 0.0, 1.0) - truth) ** 2).mean())

    rng = np.random.default_rng(seed)
    some = learnt_from(np.arange(len(other_truth)), rng)
    seen = others.evidence()[some]
    best = predict_from_evidence(view.evidence(), truth, seen, other_truth[some], rng)
    found = {"limit": float(((np.clip(best, 0.0, 1.0) - truth) ** 2).mean())}
    for count in PEOPLE:
        found[f"{count} people"] = error(own_rule, told[:count], known.passive[:count])
    everybody = inputs(others.own, others.scores)
    for label, learn in (("linear", ridge), ("forest", forest)):
        found[f"{label}, {len(everybody)} others"] = error(learn, everybody, other_truth)
    for shrinkage in SHRINKAGE:
        found[f"EM {shrinkage}, {FEW} people"] = error(
            normal(shrinkage), told[:FEW], known.passive[:FEW]
        )
    found[f"Gaussian process, {FEW} people"] = error(process, told[:FEW], known.passive[:FEW])
    return found


def main() -> None:
    """Print one line for each set: means over seeds, and how many times the limit that is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--targets", type=int, default=300)
    asked = parser.parse_args()
    for name in SETS:
        found: dict[str, list[float]] = defaultdict(list)
        for seed in asked.seeds:
            stage = staged_people(name, seed, asked.targets)
            print(f"{name}, seed {seed}: {grid_fits(stage)}", flush=True)
            for label, value in measured(stage, seed).items():
                found[label].append(value)
        print(f"{name}, {len(asked.seeds)} seeds", flush=True)
        limit = np.mean(found["limit"])
        for label, errors in found.items():
            each = " ".join(f"{e:.4f}" for e in errors)
            mean = np.mean(errors)
            print(f"  {label}: {mean:.4f} ({each}), {mean / limit:.2f} limits", flush=True)


if __name__ == "__main__":
    main()
