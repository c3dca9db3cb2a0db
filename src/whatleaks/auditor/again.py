"""Slow attacks, tried with the defenses after all: where they lead, a defense is judged by them.

Every defense is first tried with the quick attacks. What the undefended trials then show decides
which of the others are worth their time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whatleaks.auditor.combine import Entry, base_name
from whatleaks.auditor.plan import covers, once_more
from whatleaks.auditor.result import GuessFinding, Headline, ThreatFinding
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
    spec: AuditSpec, entries: Sequence[Entry], threats: Sequence[ThreatFinding], head: Headline
) -> list[Scenario]:
    """Return defended trials of the headline's attack, and of all that lead in some column."""
    found = {threat.name: threat.findings for threat in threats}
    places: dict[Place, list[Scenario]] = {}
    for entry in entries:
        if entry.scenario.defense and entry.guessed:
            places.setdefault(_place(entry.scenario), []).append(entry.scenario)
    plain = [entry.scenario for entry in entries if entry.plain]
    wanted = []
    for (threat, _, _), defended in places.items():
        tried = {attack for scenario in defended for attack in scenario.attacks}
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
