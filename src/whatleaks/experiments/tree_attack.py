"""Path restriction on a joint decision tree, beside a random path (Luo et al., Fig 6)."""

from __future__ import annotations

from whatleaks.errors import UsageError
from whatleaks.experiments.outcome import Outcome, Quantity
from whatleaks.experiments.partitioned import OPTIONS, check_data, partitioned
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import task
from whatleaks.seeds import Streams

THREAT = "white-box-tree"


@task(
    "tree-attack",
    version=1,
    options=OPTIONS,
    uses=("dataset", "share", "targets"),
    check=check_data,
)
def tree_attack(spec: Spec, streams: Streams) -> Outcome:
    """Grow the tree, release classes, count branches; without a passive node there is no rate."""
    from whatleaks.attacks.path_restriction import PathRestriction
    from whatleaks.attacks.random_path import RandomPath
    from whatleaks.auditor.spec import AuditSpec
    from whatleaks.auditor.stage import choose_rows
    from whatleaks.auditor.tree_unit import TreeWorld, grow
    from whatleaks.metrics.branching import (
        branching_advantage,
        branching_rate,
        pooled_branching_rate,
    )
    from whatleaks.metrics.intervals import wilson
    from whatleaks.threat.registry import threat_model

    prepared = partitioned(spec, streams)
    rows = choose_rows(prepared, spec.targets or len(prepared.targets), streams.rng("targets"))
    settings = AuditSpec("label", prepared.passive_columns, model="tree")
    federation = grow(prepared, prepared.passive, rows, settings, streams)
    world = TreeWorld(prepared, streams, rows, federation, settings, spec.seed)
    attacks = (PathRestriction(), RandomPath(), PathRestriction(use_release=False))
    found = world.branches(THREAT, attacks)
    correct = world.correct()
    measured: dict[str, Quantity] = {
        "unknown": prepared.passive.shape[1],
        "classes": len(prepared.classes),
        "records": len(rows.targets),
        "accuracy": wilson(int(correct.sum()), len(correct), "accuracy"),
        "passive tests": int(federation.model().passive.sum()),  # type: ignore[union-attr]
        "candidates": float(found[0].candidates.mean()),
    }
    baselines: dict[str, Quantity] = {}
    notes = []
    for scored, into in zip(found, (measured, baselines, measured), strict=True):
        try:
            into[scored.name] = branching_rate(
                scored.nodes, scored.right, streams.rng(f"interval/{scored.name}")
            )
            into[f"{scored.name} pooled"] = pooled_branching_rate(
                scored.nodes, scored.right, streams.rng(f"interval/{scored.name} pooled")
            )
        except UsageError as nothing:
            notes.append(f"{scored.name}: {nothing}")
    try:
        measured["advantage"] = branching_advantage(
            found[0].nodes,
            found[0].right,
            found[1].nodes,
            found[1].right,
            streams.rng("interval/advantage"),
        )
    except UsageError as nothing:
        notes.append(f"advantage: {nothing}")
    grants = tuple(sorted(g.value for g in threat_model(THREAT).grants))
    return Outcome(measured, baselines, grants, notes=tuple(notes))
