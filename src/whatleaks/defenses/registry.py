"""All defenses, one card each: what it acts on and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from whatleaks.cards import card_of
from whatleaks.defenses.collaboration_check import CorrelationFilter
from whatleaks.defenses.dropout import Dropout
from whatleaks.defenses.label_only import LabelOnly
from whatleaks.defenses.protocol import Defense, ReleaseDefense, TrainingDefense
from whatleaks.defenses.release_gate import ReleaseGate, Simulate
from whatleaks.defenses.rounding import Rounding
from whatleaks.defenses.score_noise import ScoreNoise
from whatleaks.errors import UsageError


@dataclass(frozen=True)
class DefenseCard:
    """How a defense is listed and built.

    ``acts_on``: release, gate, training or data. A gate is built with the attack to simulate;
    the others need nothing.
    """

    name: str
    title: str
    paper: str
    acts_on: str
    needs: str
    build: Callable[..., Defense]


DEFENSES: tuple[DefenseCard, ...] = (
    DefenseCard(
        "rounding-3",
        "Scores rounded down to 3 digits",
        "Luo et al. 2021",
        "release",
        "a coordinator who rounds before it sends",
        lambda: Rounding(3),
    ),
    DefenseCard(
        "rounding-1",
        "Scores rounded down to 1 digit",
        "Luo et al. 2021",
        "release",
        "a coordinator who rounds before it sends",
        lambda: Rounding(1),
    ),
    DefenseCard(
        "noise-0.1",
        "Gaussian noise of 0.1 on scores",
        "Jiang et al. 2022",
        "release",
        "a coordinator who adds noise before it sends",
        lambda: ScoreNoise(0.1),
    ),
    DefenseCard(
        "label-only",
        "Only the predicted class is released",
        "Jiang et al. 2022",
        "release",
        "an active party that can work without scores",
        LabelOnly,
    ),
    DefenseCard(
        "gate-0.01",
        "Scores withheld where a simulated attack comes within 0.01",
        "Luo et al. 2021",
        "gate",
        "an enclave that sees both parties' columns",
        ReleaseGate,
    ),
    DefenseCard(
        "dropout-0.5",
        "Half of the hidden values left out in training",
        "Luo et al. 2021",
        "training",
        "a network whose training can be repeated",
        Dropout,
    ),
    DefenseCard(
        "correlation-max-0.5",
        "Columns left out that correlate above 0.5 with a column of the partner",
        "Luo et al. 2021",
        "data",
        "a way to compare both parties' columns before joining",
        CorrelationFilter,
    ),
)


def release_defenses() -> tuple[ReleaseDefense, ...]:
    """Build every defense that changes scores on their way out, in the order of the list."""
    built = (card.build() for card in DEFENSES if card.acts_on == "release")
    return tuple(cast(ReleaseDefense, defense) for defense in built)


def training_defenses() -> tuple[TrainingDefense, ...]:
    """Build every defense that changes how the joint model is trained, in the order of the list."""
    built = (card.build() for card in DEFENSES if card.acts_on == "training")
    return tuple(cast(TrainingDefense, defense) for defense in built)


def data_defenses() -> tuple[CorrelationFilter, ...]:
    """Build every defense that leaves out columns before anything is joined."""
    built = (card.build() for card in DEFENSES if card.acts_on == "data")
    return tuple(cast(CorrelationFilter, defense) for defense in built)


def gates(simulate: Simulate) -> tuple[ReleaseGate, ...]:
    """Build every gate with the attack that it simulates."""
    built = (card.build(simulate) for card in DEFENSES if card.acts_on == "gate")
    return tuple(cast(ReleaseGate, defense) for defense in built)


def defense_card(name: str) -> DefenseCard:
    """Return the card of a defense; an unknown name is refused with the nearest one."""
    return card_of("defense", DEFENSES, name)


def release_defense(name: str) -> ReleaseDefense:
    """Build a release defense from its name with any setting: rounding-2, noise-0.05, label-only."""
    kind, _, setting = name.rpartition("-")
    try:
        if kind == "rounding":
            return Rounding(int(setting))
        if kind == "noise":
            return ScoreNoise(float(setting))
    except ValueError:
        raise UsageError(f"defense {name!r}: {setting!r} is not a number") from None
    card = defense_card(name)
    if card.acts_on != "release":
        raise UsageError(f"defense {name!r} acts on {card.acts_on}, not on released scores")
    return cast(ReleaseDefense, card.build())
