"""Weights to disclose for a chosen distance, with what attacks then gain: for a passive party."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from whatleaks.arrays import Floats
from whatleaks.defenses.blurred_weights import BlurredWeights
from whatleaks.errors import UsageError, argument
from whatleaks.metrics.intervals import clipped
from whatleaks.metrics.measurement import Measurement
from whatleaks.models.additive import adjacent_differences
from whatleaks.models.blurring import case_of, distance
from whatleaks.models.closed_errors import misled, moments
from whatleaks.models.linear import Linear
from whatleaks.threat.grants import LinearModel, ModelGrant, hand_out
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import attack, stage_of, train
from whatleaks.wire.parties import ACTIVE

ATTACKS = ("half-star", "null-space-regression")
KNOWN = 25


@dataclass(frozen=True)
class Errors:
    """What half* is predicted to miss by, unclamped, and what attacks miss by on held-out records."""

    predicted: float
    half_star: Measurement
    adaptive: Measurement | None  # half* of whoever knows the scheme and its distance
    knowing: Measurement | None  # the attack of whoever knows some people
    half: Measurement
    known: int  # how many people that attack knew


@dataclass(frozen=True)
class Protection:
    """True and disclosed weights, columns x outputs, and errors before and after."""

    columns: tuple[str, ...]
    case: str
    distance: float
    weights: Floats
    disclosed: Floats
    before: Errors
    after: Errors


def protect(
    frame: pd.DataFrame,
    label: str,
    passive: Sequence[str],
    defense: BlurredWeights,
    *,
    name: str = "table",
    seed: int = 0,
    targets: int = 300,
    data: Settings = Settings(),  # noqa: B008 - frozen
) -> Protection:
    """Train the linear model once, blur its passive weights, and measure both disclosures."""
    if defense.secret == "sign":
        # Remark 10 tosses a coin between the weights and their negative: half of the time the true
        # weights go out, at no distance, and the scores tell which (docs/papers/varasteh.md).
        raise UsageError(
            f"{argument('secret')} sign protects nothing: by the toss of a coin it hands out the true "
            "weights or their negative, and the partner sees which; leave it out, or use epsilon"
        )
    plain = Scenario(
        name,
        table="own",
        data=Settings({**dict(data), "label": label}),
        passive=(tuple(passive),),
        threat="white-box-known",
        attacks=ATTACKS,
        known=KNOWN,
        targets=targets,
        seed=seed,
    )
    options = {"percent": defense.percent, "epsilon": defense.epsilon, "secret": defense.secret}
    blurry = replace(plain, defense="blurred-weights-25", defense_options=Settings(options))
    training = train(plain, plan(plain), frame)
    if isinstance(training, str):
        raise UsageError(training)
    models, errors = [], []
    for scenario in (plain, blurry):
        parts = plan(scenario)
        done = attack(scenario, parts, training)
        stage = stage_of(scenario, parts, training)
        offered = hand_out(frozenset({ModelGrant}), stage.disclosed)
        part = offered[LinearModel].model.passive
        assert isinstance(part, Linear)
        models.append(part.weights)
        found, bars = done.outcome.measurements, done.outcome.baselines
        held = training.data.holdings
        known = moments(held.joined(held.victims((ACTIVE,)), training.rows.training))
        true, shown = (adjacent_differences(w).T for w in (models[0], models[-1]))
        half_star, half = found["half-star"], bars["half"]
        told = None
        if scenario is not plain:
            aware = replace(scenario, attacks=ATTACKS[:1], attack_options=Settings(defense.told()))
            again = attack(aware, plan(aware), training).outcome.measurements["half-star"]
            told = again if isinstance(again, Measurement) else None
        knowing = found.get("null-space-regression")
        assert isinstance(half_star, Measurement)
        assert isinstance(half, Measurement)
        errors.append(
            Errors(
                misled(true, shown, known),
                _error(half_star),
                None if told is None else _error(told),
                _error(knowing) if isinstance(knowing, Measurement) else None,
                _error(half),
                done.records.granted,
            )
        )
    held = training.data.holdings
    names = tuple(name for party in held.victims((ACTIVE,)) for name in held.names[party])
    return Protection(
        names,
        case_of(*models[0].shape),
        distance(models[0], models[1]),
        models[0],
        models[1],
        errors[0],
        errors[1],
    )


def _error(found: Measurement) -> Measurement:
    """Return a squared error with an interval that does not reach below zero, where none can be."""
    return clipped(found, 0.0, math.inf)
