"""From an audit's choices to its scenarios: every threat, every attack that fits, every defense.

Nothing here names an attack, a defense or a detector: what is in the catalog and fits is
tried; ``installed`` then leaves out what is not. Defenses are tried under the first threat of a federation that reads its messages,
with the attacks that are made for exactly its view. Where the training is hijacked, attacks that
only read are let loose on the honest one; detectors watch every hijack that breaks the protocol,
and honest training for their false alarms; defenses are tried with hijacks, and with honest
training for what they cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from whatleaks.auditor.result import NotTried
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import Card, card, cards, fingerprint, guesser
from whatleaks.errors import UsageError, argument, nearest
from whatleaks.extras import require
from whatleaks.federation.protocol import Federation
from whatleaks.threat.grants import ChosenParts, ModelGrant, TreesGrant
from whatleaks.threat.model import COLUMNS, LABEL, ThreatModel
from whatleaks.threat.views.prediction import WhiteBoxLinearView
from whatleaks.trial.plan import defense_fits, fits, model_named, models, worth_trying
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.wire.parties import HELPERS

TRAINING_FRACTION = 0.6
SHOWN = 10  # records shown with their values, if the user asks for it
ALL = ("baselines", "limit", "alone", "joining", "control")
SAME = ("baselines", "control")  # beside one with the same evidence, whose limits serve both
AGAIN = ("limit", "control")  # beside the attacks that are tried under a defense
HIJACK = ("baselines", "limit", "alone", "control")
QUICK_LEARNING = {"epochs": 10, "least_steps": 150}  # of attacks that train a network
QUICK_HIJACK = {"pretraining": 200, "decoding": 200}  # steps that a hijacker trains alone
QUICK_TRAINING = {"steps": 250}  # of a training that is hijacked
DEFAULT_MODEL = "lr"
RELEASES = frozenset({"scores", "votes"})


@dataclass(frozen=True)
class Watched:
    """A threat, the model that it looks at, and what the adversary sees of it."""

    threat: ThreatModel[Any]
    model: str
    federation: Federation
    settings: Any
    view: type[Any]
    name: str  # the federation's

    @property
    def stream(self) -> str:
        """Where its random streams branch off."""
        return self.federation.stream or self.name

    def covers(self, other: Watched) -> bool:
        """Say whether this adversary sees all of the same training that another one sees."""
        return self.model == other.model and self.threat.covers(other.threat)

    def same_evidence(self, other: Watched) -> bool:
        """Say whether both are sent the same about every record."""
        return (
            self.model == other.model
            and self.threat.reads == other.threat.reads
            and not (self.threat.malicious or other.threat.malicious)
            and getattr(self.view, "evidence", None) is getattr(other.view, "evidence", None)
        )


def watched(model: str, threat: str) -> Watched | None:
    """Return a threat's view of a model, or None if it does not look at it."""
    entry, settings = model_named(model)
    federation: Federation = entry.part()
    found: ThreatModel[Any] = card("threat", threat).part
    view = found.view_for(federation.shows, federation.offers(settings))
    if view is None:
        return None
    return Watched(found, model, federation, settings, view, entry.name)


def threats_of(model: str, wants: str = COLUMNS) -> tuple[str, ...]:
    """Return the threats that look at a model, follow the protocol and are after this.

    An arbiter or coordinator is trusted, unless a threat with it is asked for by name.
    """
    known = [
        entry
        for entry in cards("threat")
        if entry.part.wants == wants
        and not entry.part.malicious
        and not set(HELPERS) & set(entry.part.adversary)
    ]
    return tuple(entry.name for entry in known if watched(model, entry.name) is not None)


def protected(model: str, protect: str, threats: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return what an audit protects and under which threats; refuse threats that are after else.

    Without any threat named, those that look at the model; if none of these is after what is to
    be protected, all that are.
    """
    if protect not in ("", COLUMNS, LABEL):
        raise UsageError(
            f"{argument('protect')} is {COLUMNS} or {LABEL}, got {protect!r}."
            f"{nearest(protect, (COLUMNS, LABEL))}"
        )
    wanted = dict.fromkeys(card("threat", name).part.wants for name in threats)
    protect = protect or next(iter(wanted), COLUMNS)
    fitting = threats_of(model, protect) or tuple(
        entry.name
        for entry in cards("threat")
        if entry.part.wants == protect and not entry.part.malicious
    )
    if protect == LABEL and model != DEFAULT_MODEL and not threats_of(model, protect):
        looked = dict.fromkeys(looks_at(model, name).model for name in threats or fitting)
        raise UsageError(
            f"no threat known here is after the {LABEL} in {argument('model')} {model}: use "
            f"{argument('model')} {' or '.join(looked)}"
        )
    for name in threats:
        after = card("threat", name).part.wants
        if after != protect:
            raise UsageError(
                f"{argument('threats')} {name} is after the {after}, the audit protects the "
                f"{protect}: use {argument('threats')} {','.join(fitting)}, or "
                f"{argument('protect')} {after}"
            )
    return protect, tuple(dict.fromkeys(threats or fitting))


def looks_at(model: str, threat: str) -> Watched:
    """Return what a threat looks at: the model, else the first one that it fits."""
    for name in (model, *models()):
        found = watched(name, threat)
        if found is not None:
            return found
    raise UsageError(f"{argument('threats')} {threat} looks at no model that is known here")


def check_threats(model: str, threats: Sequence[str]) -> None:
    """Refuse a threat on another model of the same releases, or on one whose extra is not here."""
    for name in threats:
        found = looks_at(model, name)
        asked = "" if found.model == model else f"{argument('threats')} {name} on "
        require(found.settings, f"{asked}{argument('model')} {found.model}")
        own = model_named(model)[0].part
        rival = found.federation.shows & RELEASES and own.shows & RELEASES
        if found.model == model or (own.trains and not rival):
            continue
        fitting = ", ".join(m for m in models() if watched(m, name) is not None)
        instead = ", ".join(threats_of(model))
        if not own.trains:
            raise UsageError(
                f"{argument('threats')} {name} does not look at the model that is given: "
                f"use {argument('threats')} {instead}"
            )
        raise UsageError(
            f"{argument('threats')} {name} looks at {argument('model')} {fitting}: "
            f"with {argument('model')} {model} use {argument('threats')} {instead}"
        )


def scenarios(
    spec: AuditSpec,
    name: str,
    table: str,
    extra: Sequence[str] = (),
    defended_seeds: int | None = None,
) -> list[Scenario]:
    """Return all trials of an audit, seed by seed; ``extra`` names attacks of the user's own.

    ``defended_seeds``: defenses are tried on so many of the seeds; None: on all.
    """
    found: list[Scenario] = []
    looks = [looks_at(spec.model, threat) for threat in spec.threats]
    for seed in spec.every_seed:
        more = seed >= spec.seed + spec.seeds
        for i, seen in enumerate(looks):
            base = _base(spec, name, table, seed, seen)
            if seen.threat.malicious and seen.federation.hijackable:
                found += [] if more else _hijacked(spec, base, seen)
                continue
            # What runs under a weaker threat counts here too: it need not run again.
            weaker = [one for j, one in enumerate(looks) if _above(seen, one, i < j)]
            attacks = [
                entry.name
                for entry in cards("attack")
                if worth_trying(entry, seen.view)
                and not any(worth_trying(entry, one.view) for one in weaker)
            ]
            full = _with_attacks(base, spec, attacks)
            same = any(seen.same_evidence(one) for one in looks[:i])
            measures = () if any(_measures(one) for one in weaker) else _measures(seen)
            found.append(replace(full, references=SAME if same else ALL, measures=measures))
            again = _again(seen, extra)
            strongest = not any(_above(one, seen, j < i) for j, one in enumerate(looks))
            defended = defended_seeds is None or seed < spec.seed + defended_seeds
            if (
                spec.defenses
                and defended
                and not more
                and seen.threat.reads
                and again
                and strongest
            ):
                for entry in _defenses(spec):
                    if not _tried(entry, seen, spec.compare_defenses):
                        continue
                    known = [*again, *(a for a in _adaptive(entry, seen) if a not in again)]
                    quick = replace(_with_attacks(base, spec, known), references=AGAIN)
                    label = f"{base.label}, {entry.name}"
                    found.append(replace(_knowing(quick, entry), label=label))
    for one in extra:
        if not any(one in scenario.attacks for scenario in found):
            raise UsageError(
                f"{one} takes {guesser(one).view.__name__}, which none of these threats shows: "
                f"{', '.join(spec.threats)}"
            )
    own = fingerprint(extra)
    return [replace(scenario, own=own) for scenario in found] if own else found


def installed(planned: Sequence[Scenario]) -> tuple[list[Scenario], tuple[NotTried, ...]]:
    """Return the trials without what needs an extra that is not installed, and what that is.

    An attack is left out of its trial, a trial of any other part is left out whole.
    """
    kept: list[Scenario] = []
    left: dict[tuple[str, str], NotTried] = {}
    for scenario in planned:
        parts = [guesser(name) for name in scenario.attacks]
        parts += [card("defense", scenario.defense)] if scenario.defense else []
        parts += [card("detector", scenario.detector)] if scenario.detector else []
        gone = [one for one in parts if not one.here]
        left |= {(o.kind, o.name): NotTried(o.kind, o.name, o.title, o.extra) for o in gone}
        stay = [one for one in parts if one.here and one.name in scenario.attacks]
        if not gone:
            kept.append(scenario)
        elif all(one.kind == "attack" for one in gone) and (stay or not scenario.defense):
            known = {f.name for one in stay for f in fields(one.part)}
            options = {k: v for k, v in scenario.attack_options.items() if k in known}
            names = tuple(one.name for one in stay)
            kept.append(replace(scenario, attacks=names, attack_options=Settings(options)))
    return kept, tuple(left.values())


def untried_threats(
    spec: AuditSpec, planned: Sequence[Scenario], left: Sequence[NotTried]
) -> tuple[str, ...]:
    """Return the threats that attacks among those left out fit, and none of those planned does."""
    names = dict.fromkeys(name for scenario in planned for name in scenario.attacks)
    here = [guesser(name) for name in names if guesser(name).kind == "attack"]
    gone = [guesser(one.name) for one in left if one.kind == "attack"]
    views = {threat: looks_at(spec.model, threat).view for threat in spec.threats}
    return tuple(
        threat
        for threat, view in views.items()
        if any(fits(one, view) for one in gone) and not any(fits(one, view) for one in here)
    )


def _above(one: Watched, other: Watched, first: bool) -> bool:
    """Say whether one adversary holds more than another; of two that hold the same, the later does."""
    return one is not other and one.covers(other) and not (first and other.covers(one))


def _defenses(spec: AuditSpec) -> list[Card]:
    """Return the catalog's defenses, and where they are compared the other settings of each."""
    found = {entry.name: entry for entry in cards("defense")}
    if spec.compare_defenses:
        more = [name for entry in found.values() for name in entry.part.compared]
        found |= {name: card("defense", name) for name in more if name not in found}
    return list(found.values())


def _measures(seen: Watched) -> tuple[str, ...]:
    """Return what is measured beside the attacks: where scores are equations, how many digits tell."""
    return ("digits",) if issubclass(seen.view, WhiteBoxLinearView) else ()


def _base(spec: AuditSpec, name: str, table: str, seed: int, seen: Watched) -> Scenario:
    own = seen.model == spec.model
    return Scenario(
        dataset=name or "table",
        table=table,
        data=Settings(
            {
                "label": spec.label,
                "missing": spec.missing,
                "categories": spec.categories,
                "scale_on": spec.scale_on,
                "drop": spec.drop,
                "constant": "drop" if spec.drop_constant else "refuse",
                "encode_text": spec.encode_text,
                "bins": spec.bins or 0,
                "by": spec.by,
                "training_fraction": TRAINING_FRACTION,
                "trained_on": spec.trained_on,
            }
        ),
        passive=spec.by_party,
        model=seen.model,
        model_options=Settings(
            ({"hidden": spec.hidden} if own and spec.hidden else {})
            # A real training has all records in it, not one batch that suits an attack.
            | ({"whole": True} if hasattr(seen.settings, "whole") else {})
        ),
        given=spec.given,
        threat=seen.threat.name,
        known=spec.known,
        targets=spec.targets,
        seed=seed,
        branch=seen.stream,
        isolated=spec.isolated,
        shown=SHOWN if spec.show_values else 0,
        label=f"seed {seed}, {seen.threat.name}",
    )


def _with_attacks(base: Scenario, spec: AuditSpec, attacks: Sequence[str]) -> Scenario:
    """Name the attacks; those that search step by step get the steps that the audit allows."""
    known = {f.name for name in attacks for f in fields(guesser(name).part)}
    allowed = {"steps": spec.inversion_steps} | (QUICK_LEARNING if spec.quick else {})
    options = Settings({name: value for name, value in allowed.items() if name in known})
    return replace(base, attacks=tuple(attacks), attack_options=options)


def _adaptive(entry: Card, seen: Watched) -> list[str]:
    """Return the quick attacks that can use what a defense is: they are tried though others fit."""
    told = set(getattr(entry.build(), "told", dict)())
    return [
        one.name
        for one in cards("attack")
        if one.again and worth_trying(one, seen.view) and told & {f.name for f in fields(one.part)}
    ]


def _knowing(scenario: Scenario, entry: Card) -> Scenario:
    """Put a defense in place and tell it to the attacks that can use what it is."""
    built = entry.build()
    told: dict[str, Any] = dict(getattr(built, "told", dict)())
    known = {f.name for name in scenario.attacks for f in fields(guesser(name).part)}
    options = scenario.attack_options.merged({k: v for k, v in told.items() if k in known})
    return replace(
        scenario,
        defense=entry.name,
        attack_options=options,
        asks=getattr(built, "asked", 1),
    )


def once_more(spec: AuditSpec, defended: Scenario, attacks: Sequence[str]) -> Scenario:
    """Return a defended trial with other attacks: the strongest must be tried there too."""
    entry = card("defense", defended.defense)
    again = _knowing(_with_attacks(defended, spec, attacks), entry)
    references = tuple(name for name in AGAIN if name != "limit")
    return replace(again, references=references, label=f"{defended.label}, {', '.join(attacks)}")


def _again(seen: Watched, extra: Sequence[str]) -> list[str]:
    """Return the attacks to try again under defenses: quick ones, made for what is seen.

    Every threat that this one covers adds those that need what only it shows: if there are
    some for exactly its view, these alone. Where that leaves none, all are tried again: whoever keeps
    the model at home wants to know what helps as well.
    """
    every = [watched(seen.model, entry.name) for entry in cards("threat")]
    covered = [one for one in every if one is not None and seen.covers(one)]
    chosen: list[str] = []
    for look in covered:
        weaker = [one for one in covered if one is not look and look.covers(one)]
        new = [
            one
            for one in cards("attack")
            if one.again
            and worth_trying(one, look.view)
            and worth_trying(one, seen.view)
            and not any(worth_trying(one, other.view) for other in weaker)
        ]
        exact = [one for one in new if one.view is look.view or one.name in extra]
        chosen += [one.name for one in exact or new]
    fitting = [one.name for one in cards("attack") if worth_trying(one, seen.view)]
    return list(dict.fromkeys(chosen)) or fitting


def covers(defended: Scenario, plain: Scenario) -> bool:
    """Say whether a defended trial shows its adversary at least what an undefended one shows."""
    one, other = (watched(s.model, s.threat) for s in (defended, plain))
    if one is None or other is None:
        return False
    return one.covers(other)


def _tried(entry: Card, seen: Watched, compared: bool = True) -> bool:
    """Say whether a defense can show anything against what a threat sees.

    One that has ciphertexts trained on again is tried only where defenses are compared.
    """
    defense = entry.build()
    if seen.federation.costly and defense.socket == "training" and not compared:
        return False
    if not defense_fits(defense, seen.federation, seen.settings):
        return False
    asked_again = ChosenParts in seen.threat.grants
    if defense.socket == "gate" and asked_again:  # it checks columns, and these are made up
        return False
    # Behind an autoencoder classes flip elsewhere than at even odds. Who asks again does not look for the
    # place yet, so the defense would seem to hold.
    if getattr(defense, "learns", False) and asked_again:
        return False
    if getattr(defense, "answers_once", False) and not asked_again:  # nobody asks twice
        return False
    if defense.socket == "data":  # elsewhere the training leaks, and columns are all there is
        return bool(seen.federation.shows & RELEASES)
    if defense.socket == "training":  # what it closes altogether leaves nothing to measure
        adapted = seen.federation.offers(defense.adapt(seen.settings))
        return seen.threat.view_for(seen.federation.shows, adapted) is seen.view
    if defense.socket == "parameters":
        return any(issubclass(kind, ModelGrant | TreesGrant) for kind in seen.threat.grants)
    simulated = getattr(defense, "attack", "")
    return not simulated or fits(guesser(simulated), seen.view)


def _hijacked(spec: AuditSpec, base: Scenario, seen: Watched) -> list[Scenario]:
    """Train with every hijacker and honestly: as it is, watched by each detector, defended.

    Attacks that only read are let loose on the honest training.
    """
    if spec.quick:
        base = replace(base, model_options=base.model_options.merged(QUICK_TRAINING))
    alone = QUICK_HIJACK if spec.quick else {}
    honest = replace(base, references=("joining",), label=f"{base.label}, honest")
    found = [honest]
    readers = [entry.name for entry in cards("attack") if fits(entry, seen.view)]
    if readers:
        reading = replace(_with_attacks(base, spec, readers), references=HIJACK)
        found.append(replace(reading, label=f"{base.label}, nobody hijacks"))
    detectors = cards("detector") if spec.defenses and seen.federation.watchable else ()
    guards = [entry for entry in cards("defense") if spec.defenses and _tried(entry, seen)]
    for hijack in cards("hijack"):
        free = _with_hijack(base, hijack, alone)
        found.append(free)
        again = replace(free, references=AGAIN)
        # Who answers honestly gives a detector nothing to see.
        if not hijack.obeys and (hijack.again or not spec.quick):
            found += [_watched_by(again, entry) for entry in detectors]
        if hijack.again:
            found += [_defended_by(again, entry) for entry in guards]
    found += [_watched_by(honest, entry) for entry in detectors]
    found += [_defended_by(honest, entry) for entry in guards]
    return found


def _with_hijack(base: Scenario, hijack: Card, alone: Mapping[str, int]) -> Scenario:
    """Put a hijacker in place; ``alone``: steps that it takes by itself, where it has such a setting."""
    own = {f.name for f in fields(hijack.part)}
    # One that trains along (0 steps alone) keeps to that.
    built = hijack.build()
    brief = {name: value for name, value in alone.items() if name in own and getattr(built, name)}
    label = f"{base.label}, {hijack.name}"
    return replace(
        base,
        attacks=(hijack.name,),
        attack_options=Settings(brief),
        references=HIJACK,
        label=label,
    )


def _watched_by(scenario: Scenario, entry: Card) -> Scenario:
    return replace(scenario, detector=entry.name, label=f"{scenario.label}, {entry.name} watching")


def _defended_by(scenario: Scenario, entry: Card) -> Scenario:
    known = _knowing(scenario, entry) if scenario.attacks else scenario
    return replace(known, defense=entry.name, label=f"{scenario.label}, {entry.name}")
