"""Generative regression on a random forest: squared error and branches (Luo et al., Figs 7 and 8)."""

from __future__ import annotations

from whatleaks.errors import UsageError
from whatleaks.experiments.outcome import Outcome, Quantity
from whatleaks.experiments.partitioned import OPTIONS, check_data, partitioned
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import task
from whatleaks.seeds import Streams

THREAT = "white-box-forest"


@task(
    "forest-attack",
    version=1,
    options={**OPTIONS, "steps": 1000, "whole_space": False, "limit": False},
    uses=("dataset", "share", "targets"),
    check=check_data,
)
def forest_attack(spec: Spec, streams: Streams) -> Outcome:
    """Grow the forest, release vote fractions, attack; the baselines' values are branched too.

    ``steps``: the generator's least number of steps. ``whole_space``: the stand-in's records
    are made up as in the paper, own columns included. ``limit``: learn that too.
    """
    from whatleaks.attacks.baselines import BASELINES
    from whatleaks.attacks.forest_generative_regression import ForestGenerativeRegression
    from whatleaks.attacks.generative_regression import GenerativeRegression
    from whatleaks.auditor.spec import AuditSpec
    from whatleaks.auditor.stage import choose_rows
    from whatleaks.auditor.tree_unit import TreeWorld, grow
    from whatleaks.metrics.branching import branching_rate, pooled_branching_rate
    from whatleaks.metrics.intervals import mean_over_records, wilson
    from whatleaks.threat.registry import threat_model

    prepared = partitioned(spec, streams)
    rows = choose_rows(prepared, spec.targets or len(prepared.targets), streams.rng("targets"))
    settings = AuditSpec("label", prepared.passive_columns, model="forest")
    federation = grow(prepared, prepared.passive, rows, settings, streams)
    world = TreeWorld(prepared, streams, rows, federation, settings, spec.seed)
    attack = ForestGenerativeRegression(
        regression=GenerativeRegression(least_steps=spec.options.whole("steps")),
        whole_space=spec.options.flag("whole_space"),
    )
    correct = world.correct()
    measured: dict[str, Quantity] = {
        "unknown": prepared.passive.shape[1],
        "classes": len(prepared.classes),
        "records": len(rows.targets),
        "accuracy": wilson(int(correct.sum()), len(correct), "accuracy"),
    }
    baselines: dict[str, Quantity] = {}
    notes = []
    for scored, branched in world.values_and_branches(THREAT, (attack, *BASELINES)):
        name = "generative-regression" if scored.name == attack.name else scored.name
        into = measured if scored.name == attack.name else baselines
        into[name] = mean_over_records(
            scored.squared.mean(axis=1), "mse", streams.rng(f"interval/{name}")
        )
        try:
            into[f"{name} branches"] = branching_rate(
                branched.nodes, branched.right, streams.rng(f"interval/{name} branches")
            )
            into[f"{name} branches pooled"] = pooled_branching_rate(
                branched.nodes, branched.right, streams.rng(f"interval/{name} pooled")
            )
        except UsageError as nothing:
            notes.append(f"{name}: {nothing}")
    if spec.options.flag("limit"):
        view = world.view(THREAT, rows.targets)
        for scored in world.limits(world.evaluator(), THREAT, view, alone=True):
            baselines[scored.name] = mean_over_records(
                scored.squared.mean(axis=1), "mse", streams.rng(f"interval/{scored.name}")
            )
    grants = tuple(sorted(g.value for g in threat_model(THREAT).grants))
    return Outcome(measured, baselines, grants, notes=tuple(notes))
