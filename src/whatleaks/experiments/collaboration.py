"""The check before collaboration, then the attack without and with it (Luo et al., section VII)."""

from __future__ import annotations

from dataclasses import replace

from whatleaks.errors import SpecError
from whatleaks.experiments.feature_inference import THREAT, check_model, trained
from whatleaks.experiments.outcome import Outcome, Quantity
from whatleaks.experiments.partitioned import OPTIONS, partitioned
from whatleaks.experiments.score_attack import build_attacks
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import task
from whatleaks.seeds import Streams


def check(spec: Spec) -> None:
    """Refuse a threshold that no correlation can be compared with."""
    check_model(spec)
    if not 0.0 < spec.options.number("threshold") <= 1.0:
        raise SpecError("options.threshold must lie between 0 and 1")


@task(
    "collaboration-check",
    version=2,
    options={**OPTIONS, "threshold": 0.7},
    uses=("dataset", "model", "attack", "share", "targets", "model_options", "attack_options"),
    check=check,
)
def collaboration_check(spec: Spec, streams: Streams) -> Outcome:
    """Attack all passive columns; leave out the closely correlated ones; train and attack again.

    ``<attack>``: all columns. ``<attack>, kept columns``: the same attack's error on those that
    the check keeps. ``<attack> after``: the attack on a federation that has only these.
    """
    from whatleaks.arrays import sealed
    from whatleaks.auditor.prediction_unit import PredictionWorld
    from whatleaks.auditor.stage import choose_rows
    from whatleaks.defenses.collaboration_check import CorrelationFilter, check_collaboration
    from whatleaks.metrics.intervals import mean_over_records, wilson
    from whatleaks.threat.registry import threat_model

    prepared = partitioned(spec, streams)
    rows = choose_rows(prepared, spec.targets or len(prepared.targets), streams.rng("targets"))
    rule = CorrelationFilter(spec.options.number("threshold"), "max")
    found = check_collaboration(prepared.active, prepared.passive, len(prepared.classes), rule)
    measured: dict[str, Quantity] = {
        "unknown": found.columns,
        "classes": found.classes,
        "kept": int(found.kept.sum()),
        "solvable": found.solvable,
        "solvable after": found.solvable_after,
        "records": len(rows.targets),
    }
    baselines: dict[str, Quantity] = {}

    def attack(named: str, filtered: bool) -> None:
        data = prepared
        if filtered:
            data = replace(prepared, passive=sealed(prepared.passive[:, found.kept]))
        federation = trained(data, spec.model_options, spec.model, streams)
        world = PredictionWorld(data, streams, rows, federation)
        scores = world.attack(THREAT, build_attacks(spec), baselines=True)
        for scored in scores.scored:
            into = measured if scored.role == "attack" else baselines
            into[scored.name + named] = mean_over_records(
                scored.squared.mean(axis=1), "mse", streams.rng(f"interval/{scored.name}{named}")
            )
            if not filtered and found.kept.any():
                into[f"{scored.name}, kept columns"] = float(scored.squared[:, found.kept].mean())
        correct = world.correct()
        measured["accuracy" + named] = wilson(int(correct.sum()), len(correct), "accuracy")

    attack("", filtered=False)
    if 0 < found.kept.sum() < found.columns:
        attack(" after", filtered=True)
    grants = tuple(sorted(g.value for g in threat_model(THREAT).grants))
    return Outcome(measured, baselines, grants)
