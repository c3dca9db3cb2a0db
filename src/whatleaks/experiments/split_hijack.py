"""The task behind the claims on split training: one role, one detector or none, one seed."""

from __future__ import annotations

from whatleaks.errors import SpecError
from whatleaks.experiments.outcome import Outcome, Quantity
from whatleaks.experiments.settings import Value
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import task
from whatleaks.seeds import Streams

OPTIONS: dict[str, Value] = {"steps": 1500, "rows": 0, "limit": False}
ROLES = ("honest", "fsha")


def check(spec: Spec) -> None:
    """Refuse unknown roles, detectors and data sets."""
    from whatleaks.data.registry import card
    from whatleaks.detectors.registry import detector_card

    card(spec.dataset)
    if spec.attack not in ROLES:
        raise SpecError(
            f"task 'split-hijack' knows the roles {', '.join(ROLES)}, got {spec.attack!r}"
        )
    if not spec.share:
        raise SpecError("give share: how much of the columns is passive (the paper: 0.5)")
    if spec.detector:
        detector_card(spec.detector)


@task(
    "split-hijack",
    version=1,
    options=OPTIONS,
    uses=("dataset", "attack", "detector", "share", "targets"),
    check=check,
)
def split_hijack(spec: Spec, streams: Streams) -> Outcome:
    """Train with the named role; report errors or accuracy, and whether the detector halted it."""
    from whatleaks.auditor.split_world import stage
    from whatleaks.auditor.stage import choose_rows
    from whatleaks.data.loading import load
    from whatleaks.data.partition import random_passive
    from whatleaks.data.preparation import prepare
    from whatleaks.detectors.registry import detector_card
    from whatleaks.federation.split import SplitSettings
    from whatleaks.metrics.intervals import mean_over_records, wilson
    from whatleaks.threat.split import SPLIT_HIJACK

    dataset = load(spec.dataset)
    frame = dataset.frame
    if spec.options.whole("rows"):
        chosen = streams.rng("rows").permutation(len(frame))[: spec.options.whole("rows")]
        frame = frame.iloc[chosen].reset_index(drop=True)
    features = [str(c) for c in frame.columns if c != dataset.label]
    prepared = prepare(
        frame,
        dataset.label,
        random_passive(features, spec.share, streams.rng("columns")),
        rng=streams.rng("split"),
        constant="drop",
        training_fraction=0.7,
    )
    rows = choose_rows(prepared, spec.targets or len(prepared.targets), streams.rng("targets"))
    settings = SplitSettings(steps=spec.options.whole("steps"))
    world = stage(prepared, rows.targets, rows.others, streams, settings)
    detector = detector_card(spec.detector).build(len(prepared.classes)) if spec.detector else None
    measured: dict[str, Quantity] = {}
    baselines: dict[str, Quantity] = {}
    if spec.attack == "honest":
        honest = world.honest(detector)
        run = honest.run
        measured["accuracy"] = wilson(int(honest.correct.sum()), len(honest.correct), "accuracy")
    else:
        hijacked = world.hijack(detector, limits=spec.options.flag("limit"))
        run = hijacked.run
        for scored in hijacked.scored:
            into = measured if scored.role == "attack" else baselines
            into[scored.name] = mean_over_records(
                scored.squared.mean(axis=1), "mse", streams.rng(f"interval/{scored.name}")
            )
    measured["steps"] = run.steps
    measured["halted"] = run.halted is not None
    measured["detector scores"] = [score for _, score in run.scores]
    return Outcome(
        measured,
        baselines,
        tuple(sorted(grant.value for grant in SPLIT_HIJACK.grants))
        if spec.attack != "honest"
        else (),
        stop=None if run.halted is None else f"step {run.halted.step}: {run.halted.reason}",
    )
