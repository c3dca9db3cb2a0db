"""All defenses, one card each: what it acts on and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whatleaks.defenses.label_only import LabelOnly
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.defenses.rounding import Rounding
from whatleaks.defenses.score_noise import ScoreNoise
from whatleaks.errors import UsageError, nearest


@dataclass(frozen=True)
class DefenseCard:
    """How a defense is listed and built."""

    name: str
    title: str
    paper: str
    acts_on: str
    needs: str
    build: Callable[[], ReleaseDefense]


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
)


def defense_card(name: str) -> DefenseCard:
    """Return the card of a defense; an unknown name is refused with the nearest one."""
    for card in DEFENSES:
        if card.name == name:
            return card
    known = [card.name for card in DEFENSES]
    raise UsageError(
        f"unknown defense {name!r}.{nearest(name, known)} `whatleaks defenses` lists them"
    )


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
    return defense_card(name).build()
