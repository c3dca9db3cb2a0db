"""What a scenario names, looked up and checked before anything runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from typing import Any

from whatleaks.catalog import Card, card, cards, guesser
from whatleaks.defenses.protocol import Defense
from whatleaks.errors import GrantError, SpecError, nearest
from whatleaks.extras import require
from whatleaks.federation.protocol import Federation
from whatleaks.threat.grants import Auxiliary, ChosenParts, KnownPeople
from whatleaks.threat.model import ThreatModel
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import like
from whatleaks.wire.parties import HELPERS

RETRAINS = ("data", "training", "message")  # sockets that change what is trained


@dataclass(frozen=True)
class Plan:
    """The parts of a scenario, built. ``view`` is what the adversary will see."""

    federation: Federation
    settings: Any
    threat: ThreatModel[Any]
    view: type[Any]
    attacks: tuple[Any, ...]
    hijacker: Any | None
    defense: Defense | None
    detector: Card | None


@cache
def models() -> Mapping[str, tuple[Card, Any]]:
    """Return every model that can be asked for: its federation's card and its settings."""
    found: dict[str, tuple[Card, Any]] = {}
    for entry in cards("federation"):
        for name, settings in entry.part.models.items():
            if name in found:
                raise SpecError(f"two federations train a model named {name!r}")
            found[name] = (entry, settings)
    return found


@cache
def forms() -> Mapping[str, tuple[Card, Any]]:
    """Return every form of a model that is not asked for but handed over."""
    return {
        name: (entry, settings)
        for entry in cards("federation")
        for name, settings in entry.part.forms.items()
    }


def model_named(name: str) -> tuple[Card, Any]:
    """Return a model's federation and settings; an unknown name is refused with the nearest."""
    known, given = models(), forms()
    if name not in known and name not in given:
        raise SpecError(
            f"model {name!r} is unknown: use one of {', '.join(known)}.{nearest(name, known)}"
        )
    return known[name] if name in known else given[name]


def plan(scenario: Scenario) -> Plan:
    """Look up and build every part; refuse what does not exist or does not fit."""
    _check_data(scenario)
    entry, settings = model_named(scenario.model)
    federation: Federation = entry.part()
    if bool(scenario.given) != (scenario.model in forms()):
        raise SpecError(
            f"model {scenario.model!r} is "
            + ("trained here, so none can be given" if scenario.given else "one that must be given")
        )
    settings = with_options(settings, scenario.model_options, f"model {scenario.model!r}")
    require(settings, f"model {scenario.model!r}")
    threat: ThreatModel[Any] = card("threat", scenario.threat).part
    settings = federation.against(settings, threat.adversary)
    view = threat.view_for(federation.shows, federation.offers(settings))
    if view is None:
        raise SpecError(
            f"threat {threat.name!r} does not look at model {scenario.model!r}: "
            f"use {_alternatives(threat)}"
        )
    attacks, hijacker = _guessers(scenario, threat, view)
    if hijacker is not None and not federation.hijackable:
        raise SpecError(
            f"{hijacker.name} hijacks a training, model {scenario.model!r} has no seat for it"
        )
    defense = _defense(scenario, federation, settings)
    if ChosenParts in threat.grants and defense is not None and defense.socket == "gate":
        raise SpecError(
            f"defense {scenario.defense!r} checks columns, which threat {threat.name!r} makes up: "
            "use another defense or threat"
        )
    watch = None
    if scenario.detector:
        watch = card("detector", scenario.detector)
        require(watch, f"detector {scenario.detector!r}")
        if not federation.watchable:
            raise SpecError(f"no detector can watch the training of model {scenario.model!r}")
    return Plan(federation, settings, threat, view, attacks, hijacker, defense, watch)


def with_options(settings: Any, options: Mapping[str, Any], where: str) -> Any:
    """Set some fields of a federation's settings; names and types are checked."""
    known = {f.name: getattr(settings, f.name) for f in fields(settings)}
    for key, value in options.items():
        if key not in known:
            raise SpecError(f"{where} has no setting {key!r}.{nearest(key, known)}")
        if isinstance(known[key], str | bool | int | float | tuple):
            like(value, known[key], f"{where}: {key}")
    return replace(settings, **dict(options)) if options else settings


def training_key(scenario: Scenario) -> str:
    """Hash all that decides what is trained, and nothing else."""
    kept = dict(scenario.identity())
    for name in (
        "targets",
        "part",
        "references",
        "measures",
        "shown",
        "asks",
        "questions",
        "earlier",
    ):
        kept.pop(name, None)
    threat: ThreatModel[Any] = card("threat", scenario.threat).part
    if not scenario.known_from or KnownPeople not in threat.grants:
        kept.pop("known", None)  # people who are made up stand in the tables
        kept.pop("known_from", None)
    if Auxiliary not in threat.grants:
        kept.pop("auxiliary", None)
    kept["threat"] = Auxiliary in threat.grants  # records set apart do not train
    # Who pads its table, and whose messages are kept; a helper holds no table.
    kept["adversary"] = [party for party in threat.adversary if party not in HELPERS]
    kept["attacks"] = [n for n in scenario.attacks if guesser(n).kind == "hijack"]
    if not kept["attacks"]:
        kept.pop("attack_options", None)
    if scenario.defense and card("defense", scenario.defense).part.socket not in RETRAINS:
        kept.pop("defense")
        kept.pop("defense_options", None)
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def modules(scenario: Scenario) -> tuple[str, ...]:
    """Name the modules of all parts and of the data set: their packages' sources make the numbers."""
    from whatleaks.data.registry import home

    entry, _ = model_named(scenario.model)
    named = [entry.module, card("threat", scenario.threat).module]
    named += [] if scenario.table else [home(scenario.dataset)]
    named += [guesser(name).module for name in scenario.attacks]
    if "baselines" in scenario.references:
        named += [one.module for one in cards("baseline")]
    if scenario.defense:
        found = card("defense", scenario.defense)
        named.append(found.module)
        simulated = getattr(found.build(**dict(scenario.defense_options)), "attack", "")
        named += [guesser(simulated).module] if simulated else []
    named += [
        card("defense", name.removeprefix("kept-")).module
        for name in scenario.measures
        if name.startswith("kept-")
    ]
    if scenario.detector:
        named.append(card("detector", scenario.detector).module)
    return tuple(dict.fromkeys(["whatleaks.trial.trial", *named]))


def build_guesser(name: str, options: Mapping[str, Any]) -> Any:
    """Build an attack or baseline; it takes from ``options`` what it has a field for."""
    found = guesser(name)
    if found.handed:
        return found.build()
    own = {f.name for f in fields(found.part)}
    return found.build(**{key: value for key, value in options.items() if key in own})


def _guessers(
    scenario: Scenario, threat: ThreatModel[Any], view: type[Any]
) -> tuple[tuple[Any, ...], Any | None]:
    attacks, hijackers, known = [], [], set[str]()
    for name in scenario.attacks:
        found = guesser(name)
        known |= {f.name for f in fields(found.part)}
        built = build_guesser(name, scenario.attack_options)
        require(built, f"{found.kind} {name!r}")
        if found.kind == "hijack":
            if not threat.malicious:
                raise SpecError(f"{name} breaks the protocol, threat {threat.name!r} does not")
            hijackers.append(built)
            continue
        if not fits(found, view):
            raise GrantError(
                f"{name} needs {_what(found.view)}, which threat {threat.name!r} on model "
                f"{scenario.model!r} does not show"
            )
        attacks.append(built)
    if len(hijackers) > 1:
        raise SpecError(f"one hijacker plays in a training, got {', '.join(scenario.attacks)}")
    for key in scenario.attack_options:
        if key not in known:
            raise SpecError(f"attack_options: no attack here has {key!r}.{nearest(key, known)}")
    return tuple(attacks), hijackers[0] if hijackers else None


def fits(found: Card, view: type[Any]) -> bool:
    """Say whether an attack or baseline may be let loose on a view, or sees nothing at all."""
    return issubclass(view, found.view) or not _shows_something(found.view)


def worth_trying(found: Card, view: type[Any]) -> bool:
    """Say whether an audit lets an attack loose on a view: it fits, and no others do better there.

    ``leaves_out`` of its class names the views where others do; asked for by name it runs there too.
    """
    return fits(found, view) and not issubclass(view, getattr(found.part, "leaves_out", ()))


def _shows_something(view: type[Any]) -> bool:
    return not getattr(view, "blind", False)


def _what(view: type[Any]) -> str:
    """Say what a view holds, in the words of its first line."""
    return f"{view.__name__} ({(view.__doc__ or '').strip().splitlines()[0].rstrip('.')})"


def _defense(scenario: Scenario, federation: Federation, settings: Any) -> Defense | None:
    if not scenario.defense:
        return None
    found = card("defense", scenario.defense)
    require(found, f"defense {scenario.defense!r}")
    built: Defense = found.build(**dict(scenario.defense_options))
    if not defense_fits(built, federation, settings):
        raise SpecError(
            f"defense {scenario.defense!r} acts on {built.socket}, which model "
            f"{scenario.model!r} does not have"
        )
    return built


def defense_fits(defense: Any, federation: Federation, settings: Any) -> bool:
    """Say whether a federation has the socket that a defense needs."""
    socket = defense.socket
    if socket in ("data", "training") and not federation.trains:
        return False
    if socket == "release":
        return bool(federation.shows & {"scores", "votes"})
    if socket == "gate":
        return federation.gated
    if socket == "training":
        return defense.adapt(settings) is not None
    if socket == "parameters":
        return any(defense.fits(kind) for kind in federation.offers(settings))
    if socket == "message":
        return not defense.kinds or bool(defense.kinds & (federation.shows | federation.carries))
    return True


def _alternatives(threat: ThreatModel[Any]) -> str:
    fitting = [
        name
        for name, (entry, settings) in models().items()
        if threat.view_for(entry.part.shows, entry.part().offers(settings)) is not None
    ]
    return f"model {' or '.join(fitting)}" if fitting else "another threat"


def _check_data(scenario: Scenario) -> None:
    from whatleaks.data.registry import card as dataset

    if not scenario.table:
        dataset(scenario.dataset)
    from whatleaks.trial.measures import check_measures

    check_measures(scenario.measures)


def required(part: type[Any]) -> set[str]:
    """Name the fields of a part that have no default: what only the trial can give it."""
    return {f.name for f in fields(part) if f.default is MISSING and f.default_factory is MISSING}
