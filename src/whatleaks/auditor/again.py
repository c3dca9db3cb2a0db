"""Slow attacks, tried with the defenses after all: where they lead, a defense is judged by them.

Every defense is first tried with the quick attacks. What the undefended trials then show decides
which of the others are worth their time.

With more than ``WIDE`` columns that would cost most of an audit. More attacks never make a defense
look better, so one that the quick attacks undo stays undone: there the others are tried on one
seed, and only with defenses that could still be recommended or named as the closest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from whatleaks.arrays import Ints
from whatleaks.auditor.advice import cheapest, effective, in_between, leaves_out
from whatleaks.auditor.combine import Entry, base_name, most_frequent
from whatleaks.auditor.plan import covers, once_more
from whatleaks.auditor.result import DefenseFinding, GuessFinding, Headline, ThreatFinding
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import card
from whatleaks.trial.records import PerRecord
from whatleaks.trial.scenario import Scenario

TOLD = 0.1  # what joining must add in a column for its strongest attack to be missed
AHEAD = 0.02  # and by how much that must be more than every attack that was tried adds

Place = tuple[str, str, int]


def attacks_of(found: Sequence[GuessFinding]) -> list[GuessFinding]:
    """Return the attacks among guesses."""
    return [guess for guess in found if guess.role == "attack"]


def leaders(attacks: Sequence[GuessFinding]) -> Ints:
    """Return for every column which of the attacks is strongest there; of equal ones the first."""
    strengths = np.array([guess.strengths for guess in attacks])  # attacks x columns x three
    first = -np.arange(len(attacks))[:, None].repeat(strengths.shape[1], axis=1)
    adds, named, leakage = np.moveaxis(strengths, 2, 0)
    return np.asarray(np.lexsort((first, leakage, named, adds), axis=0)[-1], dtype=np.int64)


def missed(found: Sequence[GuessFinding], tried: set[str], ahead: float = AHEAD) -> list[str]:
    """Return the attacks that lead in some column, so far ahead of all that were tried."""
    attacks = attacks_of(found)
    if not attacks:
        return []
    adds = np.array([guess.strengths[:, 0] for guess in attacks])
    again = np.array([base_name(guess.name) in tried for guess in attacks])
    told = adds[again].max(axis=0) if again.any() else np.zeros(adds.shape[1])
    leading = []
    for j, k in enumerate(leaders(attacks).tolist()):
        name = base_name(attacks[k].name)
        if name not in tried and adds[k, j] >= TOLD and adds[k, j] >= told[j] + ahead:
            leading.append(name)
    return list(dict.fromkeys(leading))


def strongest_again(
    spec: AuditSpec,
    entries: Sequence[Entry],
    threats: Sequence[ThreatFinding],
    head: Headline,
    only: Collection[str] | None = None,
) -> list[Scenario]:
    """Return defended trials of the headline's attack, and of all that lead in some column.

    ``only``: with these defenses, on one seed each; else with all of them, on every seed.
    """
    found = {threat.name: threat.findings for threat in threats}
    places: dict[Place, list[Entry]] = {}
    for entry in entries:
        if entry.scenario.defense and entry.guessed:
            places.setdefault(_place(entry.scenario), []).append(entry)
    if only is not None:
        places = {place: places[place] for place in _on_one_seed(places, only)}
    plain = [entry.scenario for entry in entries if entry.plain]
    wanted = []
    for (threat, _, _), held in places.items():
        defended = [entry.scenario for entry in held]
        tried = {attack for scenario in defended for attack in scenario.attacks}
        tried |= {scored.name for entry in held for scored in entry.records.scored}
        names = [base_name(head.attack), *missed(found[threat], tried)]
        left = [
            name
            for name in dict.fromkeys(names)
            if name not in tried
            and any(name in one.attacks and covers(defended[0], one) for one in plain)
        ]
        # On one seed there are few trials: those of one defense run beside each other. And two hijackers
        # cannot train one model.
        apart = only is not None or card("threat", threat).part.malicious
        for names in [[name] for name in left] if apart else [left] * bool(left):
            wanted.append(once_more(spec, defended[0], names))
    return wanted


def _on_one_seed(places: Mapping[Place, Sequence[Entry]], only: Collection[str]) -> list[Place]:
    """Choose one seed of every threat and defense: the first of those that the defense is judged by."""
    seeds: dict[tuple[str, str], list[Place]] = {}
    for threat, defense, seed in places:
        if defense in only:
            seeds.setdefault((threat, defense), []).append((threat, defense, seed))
    chosen = []
    for held in seeds.values():
        kept = most_frequent([places[place][0].records.columns for place in held])
        chosen.append(next(p for p in held if places[p][0].records.columns == kept))
    return chosen


def contenders(head: Headline, defenses: Sequence[DefenseFinding]) -> list[str]:
    """Return the defenses that stop the headline's leak by all that was tried; else the closest.

    One that leaves the headline's column out stops it too.
    """
    against = [defense for defense in defenses if head.threat in defense.against]
    good = [defense.name for defense in against if effective(defense) or leaves_out(defense)]
    closest = sorted(against, key=lambda defense: defense.worst.after.value)[:1]
    named = cheapest(head.threat, against) or next(iter(closest), None)
    # The advice names it beside one that costs too much.
    beside = None if named is None else in_between(head.threat, named, against)
    found = [*(good or [defense.name for defense in closest]), *([beside.name] if beside else [])]
    return list(dict.fromkeys(found))


def _place(scenario: Scenario) -> Place:
    """Return where a defended trial stands: several hijacks may be tried with one defense."""
    return scenario.threat, scenario.defense, scenario.seed


def joined(entries: Sequence[Entry], more: Sequence[Entry]) -> list[Entry]:
    """Put the guesses of further trials of the same defense beside those of the first."""
    again: dict[Place, list[Entry]] = {}
    for entry in more:
        again.setdefault(_place(entry.scenario), []).append(entry)
    made = []
    for entry in entries:
        if entry.guessed and not entry.scenario.detector:
            for other in again.get(_place(entry.scenario), ()):
                entry = replace(entry, records=_beside(entry.records, other.records))
        made.append(entry)
    return made


def _beside(one: PerRecord, other: PerRecord) -> PerRecord:
    """Add what only the other trial guessed, and the time it took."""
    held = {scored.name for scored in one.scored}
    new = tuple(scored for scored in other.scored if scored.name not in held)
    return replace(one, scored=(*one.scored, *new), phases=(*one.phases, *other.phases))
