"""Why candidate search stays below the limit: the same search with other priors.

    python benchmarks/study_candidate_prior.py [--keep FILE] [--models ...] [--sets ...] [--unknown ...]

The search holds all records that a view allows to be alike. Here it is run again with columns as they
are spread among (a) the known people whom a threat grants and (b) all records that are not attacked,
which only the evaluator has: no adversary reaches (b). Only how often a value occurs changes, column by
column: the next person falls into each gap between the n values seen with chance 1 / (n + 1). What (b)
leaves of the distance to the limit is due to something else, such as what the own columns tell.
(c) are the attacks that use known people already (a regression on them), the bar of a variant (a).
"closed" is the share of the distance from flat to limit, of means over seeds and sets; its interval
is the jackknife's, over seeds. Trials are kept in FILE and not run again.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.stats import t as student
from study_candidates import (
    ERROR,
    LEAK,
    OPTIONS,
    ROWS,
    Case,
    Kept,
    Numbers,
    asked_for,
    attacks_on,
    bars,
    interval,
    leak,
    verdict,
)

from whatleaks.arrays import Floats
from whatleaks.attacks.candidate_search import possible
from whatleaks.attacks.candidate_search_trees import parts_between
from whatleaks.auditor.plan import QUICK_LEARNING, looks_at
from whatleaks.catalog import card
from whatleaks.models.candidate_search import MOST, Candidates, candidate_mean, first_candidates
from whatleaks.models.leaf_products import ScoredByTrees
from whatleaks.models.likely_records import likely_records
from whatleaks.models.reproduced import Reproduced
from whatleaks.models.scored_candidates import ScoredByNetwork
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import attack, stage_of, train

MODELS = ("forest", "network", "joint-network")
SETS = ("bank-marketing", "adult", "statlog-vehicle", "grid-stability", "credit-card-default")
SEEDS = (100, 101, 102, 103, 104)
KNOWN = 25
OURS = ("candidate-search", "candidate-search-forest")
KNOWN_OURS = "candidate-search-known"  # the variant (a) for networks: not its own bar


def searched(view: Any, people: Floats | None, rng: np.random.Generator) -> Floats:
    """Return what candidate search answers with a flat prior, or with columns spread as in people."""
    records = possible(view)
    trees = hasattr(view, "released")
    if trees:
        scoring: Any = ScoredByTrees(view.model, view.own, soft=view.model.soft)
        told = Reproduced(view.released, False)
    else:
        scoring = ScoredByNetwork(view.model, view.own)
        told = Reproduced(view.scores, True)
    parts = parts_between(records, scoring.borders()) if trees else None
    first = parts or first_candidates(records, len(view.own), scoring.cost, rng)
    if people is None:
        return candidate_mean(scoring, told, records, first, rng)
    likely = likely_records(records, people)
    if parts is not None:  # one free column of a tree model: even quantiles in place of parts
        places = ((np.arange(MOST) + 0.5) / MOST)[:, None]
        first = Candidates(places, likely.values(places), np.ones(MOST), complete=True)
    else:
        first = likely.first(first)
    return candidate_mean(scoring, told, likely, first, rng)


def measured(guess: Floats, truth: Floats) -> list[float]:
    """Return the squared error, and the mean over columns of the squared correlation."""
    mine, theirs = guess - guess.mean(axis=0), truth - truth.mean(axis=0)
    size = np.sqrt((mine**2).sum(axis=0) * (theirs**2).sum(axis=0))
    found = (mine * theirs).sum(axis=0) / np.where(size > 1e-12, size, np.inf)
    return [float(((guess - truth) ** 2).mean()), float((np.maximum(found, 0.0) ** 2).mean())]


def one(case: Case, seed: int, targets: int) -> Numbers:
    """Return error and leak of every search, of the attacks with known people, and of the limit."""
    dataset, model, unknown = case
    threat = "white-box-forest-known" if model == "forest" else "white-box-known"
    without = set(attacks_on(model, looks_at(model, threat.removesuffix("-known")).view))
    names = attacks_on(model, looks_at(model, threat).view)
    names = tuple(n for n in names if n in OURS or n not in {*without, KNOWN_OURS})
    known = {f for name in names for f in card("attack", name).part.__dataclass_fields__}
    brief = {"steps": 500, **QUICK_LEARNING}
    scenario = Scenario(
        dataset,
        unknown=unknown,
        model=model,
        model_options=Settings(OPTIONS.get(model, {})),
        data=Settings({"rows": ROWS[dataset]} if ROWS.get(dataset) else {}),
        threat=threat,
        known=KNOWN,
        attacks=names,
        attack_options=Settings({key: value for key, value in brief.items() if key in known}),
        references=("baselines", "limit"),
        targets=targets,
        seed=seed,
    )
    parts = plan(scenario)
    training = train(scenario, parts, None)
    assert not isinstance(training, str), training
    done = attack(scenario, parts, training).records
    found: Numbers = {
        s.role if s.role == "limit" else s.name: [
            float(s.squared.mean()),
            leak(s, done.apart),
        ]
        for s in done.scored
    }
    stage = stage_of(scenario, parts, training)
    view = stage.view(stage.rows.targets)
    others = np.setdiff1d(np.arange(len(stage.holdings.labels)), stage.rows.targets)
    everybody = stage.holdings.joined(stage.victims, others)
    for name, people in (("flat", None), ("known", view.auxiliary.passive), ("true", everybody)):
        guess = searched(view, people, stage.streams.rng("prior"))
        found[name] = measured(guess, stage.truth)
    return found


def closed(flat: Floats, other: Floats, limit: Floats, measure: int) -> str:
    """Write which share of the distance from flat to limit another prior closes (jackknife)."""
    count = len(flat)
    if (flat.mean() >= limit.mean()) == (measure == LEAK):
        return "none left"

    def share(keep: Any) -> float:
        gap = flat[keep].mean() - limit[keep].mean()
        return float((flat[keep].mean() - other[keep].mean()) / gap)

    left = np.array([share(np.arange(count) != i) for i in range(count)])
    error = np.sqrt((count - 1) / count * ((left - left.mean()) ** 2).sum())
    half = student.ppf(0.975, count - 1) * error
    return f"{share(np.arange(count) >= 0):.0%} ± {half:.0%}"


def line(label: str, cells: list[list[Numbers]]) -> None:
    """Print one model and number of columns, averaged over ``cells`` (sets) seed by seed."""
    for measure, word in ((LEAK, "leak"), (ERROR, "error")):
        mean = {
            name: np.mean([[run[name][measure] for run in runs] for runs in cells], axis=0)
            for name in ("flat", "known", "true", "limit")
        }
        others = np.mean([bars(runs, measure, (KNOWN_OURS,)) for runs in cells], axis=0)
        told = [f"{np.mean(mean[name]):.3f}" for name in ("flat", "known", "true", "limit")]
        rivals = (mean["known"], mean["true"], others)
        shares = [closed(mean["flat"], rival, mean["limit"], measure) for rival in rivals]
        gain, half = interval((mean["known"] - others).tolist())
        beside = f"{others.mean():.3f}: {gain:+.3f} ± {half:.3f} {verdict(gain, half, measure)}"
        print(f"| {label} | {word} | {' | '.join([*told, *shares, beside])} |", flush=True)


def main() -> None:
    """Run what is not kept yet, then print a line for each model and number of columns."""
    asked = asked_for(__doc__, MODELS, SETS, SEEDS)
    kept = Kept(asked.keep)
    print(
        "| model | unknown | measure | flat | 25 known | true | limit | closed by known | by true | by the best attack "
        "| best attack: 25 known minus it |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for model, unknown in itertools.product(asked.models, asked.unknown):
        cells = [kept.trials((name, model, unknown), asked, one) for name in asked.sets]
        line(f"{model} | {unknown}", cells)


if __name__ == "__main__":
    main()
