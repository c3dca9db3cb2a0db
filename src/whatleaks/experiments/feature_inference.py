"""Attacks on scores with what Luo et al. vary besides columns: dropout, the number of predictions.

Beside each column's error stand its correlations with what the adversary sees (Eqs 16, 17).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from whatleaks.errors import SpecError
from whatleaks.experiments.outcome import Outcome, Quantity
from whatleaks.experiments.partitioned import OPTIONS, check_data, partitioned
from whatleaks.experiments.score_attack import build_attacks, names
from whatleaks.experiments.settings import Settings, Value
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import require_grants, task
from whatleaks.seeds import Streams

if TYPE_CHECKING:
    from whatleaks.arrays import Ints
    from whatleaks.auditor.prediction_unit import PredictionWorld
    from whatleaks.data.preparation import Prepared
    from whatleaks.federation.additive import AdditiveFederation
    from whatleaks.federation.joint_network import JointNetworkFederation

THREAT = "white-box"
MODELS = ("lr", "joint-network")
MODEL_OPTIONS: dict[str, Value] = {"hidden": "600,300,100", "steps": 0, "dropout": 0.0}


def check_model(spec: Spec) -> None:
    """Refuse unknown parts and attacks that do not fit the model, before anything runs."""
    from whatleaks.attacks.registry import attack_card
    from whatleaks.threat.registry import threat_model

    check_data(spec)
    if spec.model not in MODELS:
        raise SpecError(f"task {spec.task!r} trains {' or '.join(MODELS)}, got {spec.model!r}")
    settings = spec.model_options.filled(MODEL_OPTIONS, "model_options")
    if settings.number("dropout") and spec.model != "joint-network":
        raise SpecError("dropout is for model 'joint-network'")
    if not names(spec):
        raise SpecError("name at least one attack")
    for name in names(spec):
        found = attack_card(name)
        require_grants(name, found.grants, threat_model(THREAT))
        if THREAT not in found.threats or spec.model not in found.models:
            raise SpecError(f"{name} does not work on model {spec.model!r} in the white box")


def trained(
    prepared: Prepared, options: Settings, model: str, streams: Streams
) -> AdditiveFederation | JointNetworkFederation:
    """Train logistic regression or the joint network; ``steps`` 0 is the model's own default."""
    from whatleaks.federation.additive import ACTIVE, AdditiveFederation, AdditiveSettings
    from whatleaks.federation.joint_network import JointNetworkFederation, JointNetworkSettings
    from whatleaks.wire.channel import Channel
    from whatleaks.wire.transcript import Transcript

    settings = options.filled(MODEL_OPTIONS, "model_options")
    steps = settings.whole("steps")
    data = (prepared.active, prepared.passive, prepared.labels, len(prepared.classes))
    channel = Channel(Transcript([ACTIVE]))
    federation: AdditiveFederation | JointNetworkFederation
    if model == "lr":
        plain = AdditiveSettings()
        plain = replace(plain, steps=steps) if steps else plain
        federation = AdditiveFederation(*data, plain, streams, channel)
    else:
        hidden = tuple(int(n) for n in settings.text("hidden").split(",") if n)
        joint = JointNetworkSettings(hidden=hidden, dropout=settings.number("dropout"))
        joint = replace(joint, steps=steps) if steps else joint
        federation = JointNetworkFederation(*data, joint, streams, channel)
    federation.train(prepared.training)
    return federation


def fractions(text: str) -> tuple[float, ...]:
    """Read ``0.1,0.3`` as numbers."""
    try:
        return tuple(float(word) for word in text.split(",") if word)
    except ValueError:
        raise SpecError(f"options.predictions must list fractions, got {text!r}") from None


def check(spec: Spec) -> None:
    """Refuse more predictions than records are left after training, and a limit from none."""
    check_model(spec)
    left = 1.0 - spec.options.number("training_fraction")
    if spec.options.flag("limit") and spec.options.text("predictions"):
        raise SpecError(
            "options.limit is learnt from records that are not attacked: leave out predictions"
        )
    for part in fractions(spec.options.text("predictions")):
        if not 0.0 < part <= left + 1e-9:
            raise SpecError(
                f"options.predictions: {part:g} of the records is more than the {left:g} that training leaves"
            )


@task(
    "feature-inference",
    version=1,
    # predictions: attack these fractions of all records, one by one. limit: costs a forest.
    options={**OPTIONS, "predictions": "", "limit": False},
    uses=("dataset", "model", "attack", "share", "targets", "model_options", "attack_options"),
    check=check,
)
def feature_inference(spec: Spec, streams: Streams) -> Outcome:
    """Train, release, attack; with ``predictions`` again for each number of records, nested."""
    from whatleaks.auditor.prediction_unit import PredictionWorld
    from whatleaks.auditor.stage import Rows, choose_rows
    from whatleaks.metrics.correlation import own_correlation, score_correlation
    from whatleaks.metrics.intervals import wilson
    from whatleaks.threat.registry import threat_model

    prepared = partitioned(spec, streams)
    federation = trained(prepared, spec.model_options, spec.model, streams)
    measured: dict[str, Quantity] = {
        "unknown": prepared.passive.shape[1],
        "classes": len(prepared.classes),
    }
    baselines: dict[str, Quantity] = {}
    parts = fractions(spec.options.text("predictions"))
    order: Ints = streams.rng("targets").permutation(prepared.targets)
    for part in parts:
        chosen = order[: round(part * len(prepared.labels))]
        world = PredictionWorld(
            prepared, streams, Rows(prepared.training, chosen, chosen[:0]), federation
        )
        _measure(world, spec, streams, measured, baselines, f" at {part:g}")
    if not parts:
        rows = choose_rows(prepared, spec.targets or len(prepared.targets), streams.rng("targets"))
        world = PredictionWorld(prepared, streams, rows, federation)
        _measure(world, spec, streams, measured, baselines, "")
        view = world.view(THREAT, rows.targets)
        measured["own correlation by column"] = own_correlation(view.own, world.truth).tolist()
        measured["score correlation by column"] = score_correlation(
            view.scores, world.truth
        ).tolist()
        measured["variance by column"] = world.truth.var(axis=0).tolist()
        measured["records"] = len(rows.targets)
    correct = world.correct()
    measured["accuracy"] = wilson(int(correct.sum()), len(correct), "accuracy")
    grants = tuple(sorted(g.value for g in threat_model(THREAT).grants))
    return Outcome(measured, baselines, grants)


def _measure(
    world: PredictionWorld,
    spec: Spec,
    streams: Streams,
    measured: dict[str, Quantity],
    baselines: dict[str, Quantity],
    suffix: str,
) -> None:
    """Add every attack's and baseline's error; of attacks also the error of each column."""
    from whatleaks.metrics.intervals import mean_over_records

    scores = world.attack(
        THREAT, build_attacks(spec), baselines=True, limits=spec.options.flag("limit")
    )
    for scored in scores.scored:
        into = measured if scored.role == "attack" else baselines
        into[scored.name + suffix] = mean_over_records(
            scored.squared.mean(axis=1), "mse", streams.rng(f"interval/{scored.name}")
        )
        if scored.role == "attack" and not suffix:
            into[f"{scored.name} by column"] = scored.squared.mean(axis=0).tolist()
