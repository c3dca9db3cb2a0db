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

from whatleaks.auditor.advice import effective, leaves_out
from whatleaks.auditor.combine import Entry, base_name, most_frequent
from whatleaks.auditor.plan import covers, once_more
from whatleaks.auditor.result import DefenseFinding, GuessFinding, Headline, ThreatFinding
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import card
from whatleaks.trial.scenario import Scenario

TOLD = 0.1  # what joining must add in a column for its strongest attack to be missed
AHEAD = 0.02  # and by how much that must be more than every attack that was tried adds

Place = tuple[str, str, int]


def missed(found: Sequence[GuessFinding], tried: set[str], ahead: float = AHEAD) -> list[str]:
    """Return the attacks that lead in some column, so far ahead of all that were tried."""
    attacks = [guess for guess in found if guess.role == "attack"]
    leading = []
    for j in range(len(attacks[0].columns) if attacks else 0):
        best = max(attacks, key=lambda guess: guess.columns[j].strength)
        adds = best.columns[j].adds.value
        again = [g.columns[j].adds.value for g in attacks if base_name(g.name) in tried]
        name = base_name(best.name)
        if name not in tried and adds >= TOLD and adds >= max(again, default=0.0) + ahead:
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
        names = [base_name(head.attack)]
        if not card("threat", threat).part.malicious:  # two hijackers cannot train one model
            names += missed(found[threat], tried)
        left = [
            name
            for name in dict.fromkeys(names)
            if name not in tried
            and any(name in one.attacks and covers(defended[0], one) for one in plain)
        ]
        if left:
            wanted.append(once_more(spec, defended[0], left))
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
    return good or [defense.name for defense in closest]


def _place(scenario: Scenario) -> Place:
    """Return where a defended trial stands: several hijacks may be tried with one defense."""
    return scenario.threat, scenario.defense, scenario.seed


def joined(entries: Sequence[Entry], more: Sequence[Entry]) -> list[Entry]:
    """Put the guesses of a second trial of the same defense beside those of the first."""
    again = {_place(e.scenario): e for e in more}
    made = []
    for entry in entries:
        scenario = entry.scenario
        other = again.get(_place(scenario))
        if other is not None and entry.guessed and not scenario.detector:
            held = {scored.name for scored in entry.records.scored}
            new = tuple(s for s in other.records.scored if s.name not in held)
            spent = (*entry.records.phases, *other.records.phases)
            records = replace(entry.records, scored=(*entry.records.scored, *new), phases=spent)
            entry = replace(entry, records=records)
        made.append(entry)
    return made
