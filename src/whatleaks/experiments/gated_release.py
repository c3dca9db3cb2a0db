"""The release gate: what the simulated attack, and others, get from the scores it lets through."""

from __future__ import annotations

import numpy as np

from whatleaks.errors import SpecError
from whatleaks.experiments.feature_inference import THREAT, check_model, trained
from whatleaks.experiments.outcome import Outcome, Quantity
from whatleaks.experiments.partitioned import OPTIONS, partitioned
from whatleaks.experiments.score_attack import build_attacks
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import task
from whatleaks.seeds import Streams


def check(spec: Spec) -> None:
    """Refuse a threshold that means nothing."""
    check_model(spec)
    if not spec.options.number("threshold") > 0.0:
        raise SpecError("options.threshold must be above 0")


@task(
    "gated-release",
    version=1,
    options={**OPTIONS, "threshold": 0.05},
    uses=("dataset", "model", "attack", "share", "targets", "model_options", "attack_options"),
    check=check,
)
def gated_release(spec: Spec, streams: Streams) -> Outcome:
    """Gate the release by the first attack of the spec, then let every attack at what is released.

    ``<attack> below``: the share of released records whose error is under the threshold.
    """
    from whatleaks.auditor.gated import released, simulation
    from whatleaks.auditor.prediction_unit import PredictionWorld
    from whatleaks.auditor.stage import Rows, choose_rows
    from whatleaks.defenses.release_gate import ReleaseGate
    from whatleaks.metrics.intervals import mean_over_records, wilson
    from whatleaks.threat.registry import threat_model

    prepared = partitioned(spec, streams)
    rows = choose_rows(prepared, spec.targets or len(prepared.targets), streams.rng("targets"))
    federation = trained(prepared, spec.model_options, spec.model, streams)
    attacks = build_attacks(spec)
    threshold = spec.options.number("threshold")
    simulate = simulation(federation, prepared.passive.shape[1], attacks[0], streams)
    mask = released(federation, rows.targets, ReleaseGate(simulate, threshold))
    count = len(rows.targets)
    measured: dict[str, Quantity] = {
        "unknown": prepared.passive.shape[1],
        "classes": len(prepared.classes),
        "records": count,
        "withheld": wilson(int(count - mask.sum()), count, "share"),
    }
    baselines: dict[str, Quantity] = {}

    def attack(targets: np.ndarray[tuple[int], np.dtype[np.int64]], named: str) -> None:
        chosen = Rows(rows.training, targets, rows.others)
        world = PredictionWorld(prepared, streams, chosen, federation)
        scores = world.attack(THREAT, attacks, baselines=True, limits=False)
        for scored in scores.scored:
            errors = scored.squared.mean(axis=1)
            into = measured if scored.role == "attack" else baselines
            into[f"{scored.name}{named}"] = mean_over_records(
                errors, "mse", streams.rng(f"interval/{scored.name}{named}")
            )
            into[f"{scored.name}{named} below"] = float((errors < threshold).mean())

    attack(rows.targets, " before")
    if mask.sum() > 1:
        attack(rows.targets[mask], "")
    grants = tuple(sorted(g.value for g in threat_model(THREAT).grants))
    return Outcome(measured, baselines, grants)
