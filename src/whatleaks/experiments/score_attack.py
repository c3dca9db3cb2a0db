"""The task behind most claims on released scores: train an additive federation, attack it once.

One run is one data set, one share of columns, one model, one seed; every attack that the
spec names works on the same view, so that runs can be compared record by record.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from whatleaks.errors import SpecError, nearest
from whatleaks.experiments.outcome import Outcome, Quantity
from whatleaks.experiments.settings import Value
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import require_grants, task
from whatleaks.seeds import Streams

OPTIONS: dict[str, Value] = {
    "unknown": 0,  # this many passive columns instead of a share
    "categories": "ordinal",
    "scale_on": "all",  # the papers scale on the whole set
    "training_fraction": 0.8,
    "drop": "",
    "limit": False,  # the limit costs a forest: only where it is asked for
    "data": "",  # named options of the data set's parser, such as "drop_duration,classes=5"
}
MODEL_OPTIONS: dict[str, Value] = {
    "hidden": "",
    "activation": "sigmoid",
    "steps": 2000,
    "learning_rate": 0.05,
}
THREATS = ("white-box", "black-box", "agnostic")


def names(spec: Spec) -> list[str]:
    """Return the attacks that the spec names, separated by +."""
    return [name for name in spec.attack.split("+") if name]


def check(spec: Spec) -> None:
    """Refuse unknown parts and attacks whose needs the threat does not grant, before anything runs."""
    from whatleaks.attacks.registry import attack_card
    from whatleaks.data.registry import card
    from whatleaks.defenses.registry import release_defense
    from whatleaks.threat.registry import threat_model

    card(spec.dataset)
    if spec.model not in ("lr", "network"):
        raise SpecError(f"task 'score-attack' trains lr or network, got model {spec.model!r}")
    if spec.threat not in THREATS:
        raise SpecError(
            f"task 'score-attack' knows the threats {', '.join(THREATS)}, got {spec.threat!r}"
        )
    if bool(spec.share) == bool(spec.options.whole("unknown")):
        raise SpecError("give share or options.unknown: how many columns are passive")
    if spec.columns:
        raise SpecError("task 'score-attack' draws the passive columns: give share, not columns")
    spec.model_options.filled(MODEL_OPTIONS, "model_options")
    threat = threat_model(spec.threat)
    for name in names(spec):
        found = attack_card(name)
        require_grants(name, found.grants, threat)
        if spec.threat not in found.threats:
            raise SpecError(
                f"{name} does not run under threat {spec.threat!r}: use {', '.join(found.threats)}"
            )
        if spec.model not in found.models:
            raise SpecError(
                f"{name} does not work on model {spec.model!r}: use {', '.join(found.models)}"
            )
    if spec.defense:
        release_defense(spec.defense)
    known = {f.name for attack in build_attacks(spec) for f in fields(attack)}
    for key in spec.attack_options:
        if key not in known:
            raise SpecError(f"attack_options: no attack here has {key!r}.{nearest(key, known)}")


def parser_options(text: str) -> dict[str, Any]:
    """Read ``name`` as true and ``name=value`` as a number or a word."""
    options: dict[str, Any] = {}
    for word in filter(None, text.split(",")):
        name, _, told = word.partition("=")
        options[name] = True if not told else int(told) if told.isdigit() else told
    return options


def build_attacks(spec: Spec) -> list[Any]:
    """Build the named attacks; each takes from ``attack_options`` what it has a field for."""
    from whatleaks.attacks.registry import attack_card

    built = []
    for name in names(spec):
        attack: Any = attack_card(name).build()
        own = {f.name for f in fields(attack)}
        built.append(replace(attack, **{k: v for k, v in spec.attack_options.items() if k in own}))
    return built


@task(
    "score-attack",
    version=2,
    options=OPTIONS,
    uses=(
        "dataset",
        "model",
        "threat",
        "attack",
        "defense",
        "share",
        "targets",
        "model_options",
        "attack_options",
    ),
    check=check,
)
def score_attack(spec: Spec, streams: Streams) -> Outcome:
    """Train, predict, attack, score."""
    from whatleaks.auditor.prediction_unit import PredictionWorld
    from whatleaks.auditor.stage import choose_rows
    from whatleaks.data.loading import load
    from whatleaks.data.partition import random_passive
    from whatleaks.data.preparation import prepare
    from whatleaks.defenses.registry import release_defense
    from whatleaks.federation.additive import ACTIVE, AdditiveFederation, AdditiveSettings
    from whatleaks.metrics.intervals import mean_over_records, wilson
    from whatleaks.metrics.reconstruction import squared_bound
    from whatleaks.threat.registry import threat_model
    from whatleaks.wire.channel import Channel
    from whatleaks.wire.transcript import Transcript

    dataset = load(spec.dataset, **parser_options(spec.options.text("data")))
    dropped = [word for word in spec.options.text("drop").split(",") if word]
    features = [str(c) for c in dataset.frame.columns if c != dataset.label and c not in dropped]
    count = spec.options.whole("unknown")
    rng = streams.rng("columns")
    passive = (
        tuple(rng.permutation(features)[:count])
        if count
        else random_passive(features, spec.share, rng)
    )
    prepared = prepare(
        dataset.frame,
        dataset.label,
        [str(name) for name in passive],
        rng=streams.rng("split"),
        categories=spec.options.text("categories"),  # type: ignore[arg-type]
        drop=dropped,
        constant="drop",
        scale_on=spec.options.text("scale_on"),  # type: ignore[arg-type]
        training_fraction=spec.options.number("training_fraction"),
    )
    model = spec.model_options.filled(MODEL_OPTIONS, "model_options")
    hidden = tuple(int(n) for n in model.text("hidden").split(",") if n)
    if spec.model == "network" and not hidden:
        hidden = (8, 8)  # J 5.1.1: two hidden layers of eight neurons
    federation = AdditiveFederation(
        prepared.active,
        prepared.passive,
        prepared.labels,
        len(prepared.classes),
        AdditiveSettings(
            hidden=hidden if spec.model == "network" else (),
            activation=model.text("activation"),
            steps=model.whole("steps"),
            learning_rate=model.number("learning_rate"),
        ),
        streams,
        Channel(Transcript([ACTIVE])),
        [release_defense(spec.defense)] if spec.defense else [],
    )
    federation.train(prepared.training)
    rows = choose_rows(prepared, spec.targets or len(prepared.targets), streams.rng("targets"))
    world = PredictionWorld(prepared, streams, rows, federation)
    attacks = build_attacks(spec)
    scores = world.attack(spec.threat, attacks, baselines=True, limits=spec.options.flag("limit"))
    measured: dict[str, Quantity] = {}
    baselines: dict[str, Quantity] = {}
    for scored in scores.scored:
        into = measured if scored.role == "attack" else baselines
        into[scored.name] = mean_over_records(
            scored.squared.mean(axis=1), "mse", streams.rng(f"interval/{scored.name}")
        )
    correct = world.correct()
    measured["unknown"] = prepared.passive.shape[1]
    measured["classes"] = len(prepared.classes)
    measured["records"] = len(rows.targets)
    measured["accuracy"] = wilson(int(correct.sum()), len(correct), "accuracy")
    measured["bound"] = mean_over_records(
        squared_bound(world.truth), "mse", streams.rng("interval/bound")
    )
    measured["bound of all columns"] = float(
        2 * np.mean(np.concatenate([prepared.active, prepared.passive], axis=1) ** 2)
    )
    return Outcome(
        measured, baselines, tuple(sorted(g.value for g in threat_model(spec.threat).grants))
    )
