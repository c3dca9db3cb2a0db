"""Tiny trials of every model under every threat that looks at it, and the views they show.

Nothing here names a part: what fits is found as the audit finds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.baselines import ShapeView
from whatleaks.auditor.plan import Watched, watched
from whatleaks.catalog import Card, adopted, cards
from whatleaks.codec import travels
from whatleaks.threat.guess import ValueGuess
from whatleaks.trial.plan import fits, models
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

# Whatever has one of these settings gets it, unless it is quicker already.
BRIEF: dict[str, int] = {
    "steps": 30,
    "least_steps": 20,
    "made_up": 200,
    "shadow_steps": 30,
    "pretraining": 30,
    "decoding": 30,
    "epochs": 3,
    "rounds": 2,
    "trees": 3,
    "key_bits": 512,
}
UNKNOWN = 2
TARGETS = 30


def brief(part: Any) -> dict[str, Any]:
    """Return the settings that make a part quick, of those that it has."""
    held = {f.name: getattr(part, f.name, None) for f in fields(part)}
    found: dict[str, Any] = {
        name: value for name, value in BRIEF.items() if (held.get(name) or 0) > value
    }
    if "insecure_test_key" in held:
        found["insecure_test_key"] = True  # a short key must be asked for by name
    return found


def build(card: Card) -> Any:
    """Build an attack, a baseline or a hijack that is quick."""
    return card.build(**brief(card.part))


@cache
def looks() -> tuple[Watched, ...]:
    """Return every model with every threat that looks at it."""
    found = [watched(model, threat.name) for model in models() for threat in cards("threat")]
    return tuple(one for one in found if one is not None)


def scenario(look: Watched, attacks: Iterable[str] = (), **more: Any) -> Scenario:
    """Declare a tiny trial on scikit-learn's wines."""
    return Scenario(
        "wine",
        unknown=UNKNOWN,
        model=look.model,
        model_options=Settings(brief(look.settings)),
        threat=look.threat.name,
        attacks=tuple(attacks),
        targets=TARGETS,
        **more,
    )


@travels
@dataclass(frozen=True)
class Onlooker:
    """An attack on any view that only keeps what it is shown."""

    name: str = "onlooker"

    def infer(self, view: object, rng: np.random.Generator) -> ValueGuess:
        """Keep the view and answer one half."""
        del rng
        SHOWN.append(view)
        seen: Any = view
        return ValueGuess(sealed(np.full((len(seen.own), seen.unknown), 0.5)))


SHOWN: list[object] = []


@cache
def view_of(look: Watched) -> Any:
    """Train once and return what the adversary is shown."""
    with adopted([Onlooker()]):
        run_trial(scenario(look, ["onlooker"]))
    return SHOWN.pop()


def views_for(card: Card) -> Mapping[str, Any]:
    """Return all views that an attack or baseline may be let loose on, by model and threat."""
    if getattr(card.view, "blind", False):
        return {"any": ShapeView(TARGETS, UNKNOWN)}
    return {
        f"{look.model}, {look.threat.name}": view_of(look)
        for look in looks()
        if fits(card, look.view)
    }
