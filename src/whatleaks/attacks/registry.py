"""All attacks, one card each: the paper, the threat models they run under, what they need to see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from whatleaks.attacks.agnostic import AgnosticInference
from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.attacks.forest_generative_regression import ForestGenerativeRegression
from whatleaks.attacks.generative_regression import GenerativeRegression
from whatleaks.attacks.gradient_inversion import GradientInversion
from whatleaks.attacks.gram_inversion import GramInversion
from whatleaks.attacks.half_star import HalfStar
from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack
from whatleaks.attacks.intermediate_recovery import IntermediateRecovery
from whatleaks.attacks.path_restriction import PathRestriction, PathRestrictionValues
from whatleaks.attacks.protocol import Attack
from whatleaks.cards import card_of
from whatleaks.threat.grants import Grant

LUO = "Luo, Wu, Xiao, Ooi 2021 (ICDE)"
JIANG = "Jiang, Zhou, Grossklags 2022 (PoPETs)"
LI = "Li, Bao, Xiang, Liu, Chen, Wang, Wang (secure FL)"
YAO = "Yao, Li, Gong, Hou, Pan 2025 (NDSS)"
VARASTEH = "Varasteh (agnostic inference)"


@dataclass(frozen=True)
class AttackCard:
    """How an attack is listed and built. ``models``: the kinds of joint model it works on."""

    name: str
    title: str
    paper: str
    threats: tuple[str, ...]
    models: tuple[str, ...]
    needs: str
    grants: frozenset[Grant]
    build: Callable[..., Attack[Any]]


_NONE: frozenset[Grant] = frozenset()
_MODEL = frozenset({Grant.MODEL})
_MODEL_AND_RANGES = frozenset({Grant.MODEL, Grant.RANGES})
_TREES = frozenset({Grant.TREES})
_QUERIES = frozenset({Grant.QUERIES})

ATTACKS: tuple[AttackCard, ...] = (
    AttackCard(
        "equality-solving",
        "Equality solving",
        LUO,
        ("white-box",),
        ("lr",),
        "exact scores and the whole linear model; 2 or more classes",
        _MODEL,
        EqualitySolving,
    ),
    AttackCard(
        "equality-solving-clipped",
        "Equality solving, clipped to the range",
        LUO,
        ("white-box",),
        ("lr",),
        "exact scores, the whole linear model and the columns' ranges",
        _MODEL_AND_RANGES,
        lambda **settings: EqualitySolving(**{"clip": True, **settings}),
    ),
    AttackCard(
        "path-restriction",
        "Path restriction: which way a record goes at your tests",
        LUO,
        ("white-box-tree",),
        ("tree",),
        "the released class and the whole tree",
        _TREES,
        PathRestriction,
    ),
    AttackCard(
        "path-restriction-values",
        "Path restriction, middles of the remaining intervals",
        f"whatleaks, after {LUO}",
        ("white-box-tree",),
        ("tree",),
        "the released class, the whole tree and the columns' ranges",
        _TREES,
        PathRestrictionValues,
    ),
    AttackCard(
        "half-star",
        "half*: the solution nearest to one half",
        VARASTEH,
        ("white-box",),
        ("lr",),
        "exact scores, the whole linear model and the columns' ranges",
        _MODEL_AND_RANGES,
        HalfStar,
    ),
    AttackCard(
        "gradient-inversion-mse",
        "Gradient inversion, squared distance",
        JIANG,
        ("white-box",),
        ("lr", "network"),
        "scores and the whole differentiable model",
        _MODEL,
        GradientInversion,
    ),
    AttackCard(
        "gradient-inversion-kl",
        "Gradient inversion, Kullback-Leibler distance",
        JIANG,
        ("white-box",),
        ("lr", "network"),
        "scores and the whole differentiable model",
        _MODEL,
        lambda **settings: GradientInversion(**{"distance": "kl", **settings}),
    ),
    AttackCard(
        "generative-regression",
        "Generative regression network",
        LUO,
        ("white-box",),
        ("lr", "network", "joint-network"),
        "scores of many records and the whole differentiable model",
        _MODEL,
        GenerativeRegression,
    ),
    AttackCard(
        "forest-generative-regression",
        "Generative regression network through a stand-in for the forest",
        LUO,
        ("white-box-forest",),
        ("forest",),
        "vote fractions of many records and the whole forest",
        _TREES,
        # A third of the usual steps: an audit runs it again under every release defense.
        lambda **settings: ForestGenerativeRegression(
            **{"regression": GenerativeRegression(least_steps=300), **settings}
        ),
    ),
    AttackCard(
        "agnostic",
        "Agnostic inference: adversary model and half*",
        VARASTEH,
        ("agnostic",),
        ("lr",),
        "its own training columns and labels, the whole linear model; no score",
        _MODEL_AND_RANGES,
        AgnosticInference,
    ),
    AttackCard(
        "intermediate-recovery",
        "The partner's intermediate values from own gradients",
        LI,
        ("encrypted",),
        ("linear",),
        "its own decrypted gradients; as many own columns (fakes allowed) as records in a batch",
        _NONE,
        IntermediateRecovery,
    ),
    AttackCard(
        "gram-inversion",
        "The partner's table from its Gram matrix",
        LI,
        ("encrypted",),
        ("linear",),
        "the intermediate values of two or more steps on one batch; answers to made-up records",
        _QUERIES,
        GramInversion,
    ),
    AttackCard(
        "fsha",
        "Feature-space hijacking of split training",
        f"Pasquini et al. 2021, adapted to VFL as in {YAO}",
        ("split-hijack",),
        ("split",),
        "auxiliary records, the embeddings it is sent; it answers with gradients of its own making",
        frozenset({Grant.AUXILIARY}),
        FeatureSpaceHijack,
    ),
)


def attack_card(name: str) -> AttackCard:
    """Return the card of an attack; an unknown name is refused with the nearest one."""
    return card_of("attack", ATTACKS, name)
