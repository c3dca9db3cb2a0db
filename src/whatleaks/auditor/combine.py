"""From trials to findings: the guesses of every threat over all seeds, each with its rivals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.auditor.notes import notes_of, recovered_of
from whatleaks.auditor.plan import looks_at, watched
from whatleaks.auditor.pool import LEARNER, TITLES, Parts, combine_guess, mean_of, pooled
from whatleaks.auditor.result import GuessFinding, ThreatFinding
from whatleaks.catalog import card, guesser
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.metrics.measurement import Measurement
from whatleaks.seeds import Streams
from whatleaks.threat.grants import sentences
from whatleaks.threat.model import ThreatModel
from whatleaks.trial.control import SUFFIX
from whatleaks.trial.evaluator import CONSTANT
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.plan import fits
from whatleaks.trial.records import PerRecord
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.scorers.values import Scored

Made = dict[tuple[str, str, str], GuessFinding]  # by threat, defense and guess
REGRESSORS = ("limit", "alone")  # roles of what the evaluator learns from other people's truth


@dataclass(frozen=True)
class Entry:
    """A finished trial of an audit."""

    scenario: Scenario
    outcome: Outcome
    records: PerRecord

    @property
    def plain(self) -> bool:
        """Whether neither a defense nor a detector was in place."""
        return not self.scenario.defense and not self.scenario.detector

    @property
    def guessed(self) -> bool:
        """Whether anybody guessed values: honest trainings have none."""
        return bool(self.records.scored)


def most_frequent(kept: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the columns that a defense kept most often; of equally frequent ones the first."""
    return Counter(kept).most_common(1)[0][0]


def sees_nothing(name: str) -> bool:
    """Say whether a baseline looks at nothing: what it follows is luck."""
    return bool(getattr(guesser(name).view, "blind", False))


def with_shared(entries: Sequence[Entry]) -> list[Entry]:
    """Give every undefended trial the guesses of others that hold for it as well.

    Threats that read the same messages of the same training show a regressor the same
    numbers, so it is trained under one of them only; and an attack runs under the weakest
    threat that shows what it needs.
    """
    tried = [entry for entry in entries if entry.plain and entry.guessed]
    made = []
    for entry in entries:
        scored = entry.records.scored
        mates = [other for other in tried if _same_evidence(entry, other)] if scored else []
        for other in mates:
            held = {one.name for one in scored}
            covered = _covers(entry, other)
            scored += tuple(
                one
                for one in other.records.scored
                if one.name not in held and (covered or one.role in REGRESSORS)
            )
        made.append(replace(entry, records=replace(entry.records, scored=scored)))
    return made


def _same_evidence(one: Entry, other: Entry) -> bool:
    """Say whether both attack the same people with the same messages about them."""
    a, b = one.scenario, other.scenario
    if not one.plain or one is other or (a.seed, a.branch) != (b.seed, b.branch):
        return False
    seen, shown = watched(a.model, a.threat), watched(b.model, b.threat)
    return (
        seen is not None
        and shown is not None
        and seen.same_evidence(shown)
        and np.array_equal(one.records.apart, other.records.apart)
    )


def _covers(one: Entry, other: Entry) -> bool:
    names = (one.scenario.threat, other.scenario.threat)
    mine, theirs = (card("threat", name).part for name in names)
    return mine is not theirs and bool(mine.covers(theirs))


def guesses_of(runs: Sequence[Entry]) -> dict[str, dict[int, tuple[Scored, Floats]]]:
    """Group the scores of all seeds by guess; of a seed with several hijacks each counts once."""
    groups: dict[str, dict[int, tuple[Scored, Floats]]] = {}
    for run in runs:
        for scored in run.records.scored:
            per_seed = groups.setdefault(scored.name, {})
            per_seed.setdefault(run.scenario.seed, (scored, run.records.apart))
    return groups


def rivals_of(name: str, groups: Mapping[str, Parts], plain: Mapping[str, Parts]) -> list[Parts]:
    """Return what an attack is held against: its control, and baselines that see something."""
    found = [groups[name + SUFFIX]] if name + SUFFIX in groups else []
    baselines = [p for p in plain.values() if next(iter(p.values()))[0].role == "baseline"]
    return found + [p for p in baselines if not sees_nothing(next(iter(p.values()))[0].name)]


def beside_of(groups: Mapping[str, Parts], plain: Mapping[str, Parts]) -> list[Parts]:
    """Return who else counts people without joining: who learnt from others' records, and one value for all."""
    found = [plain.get("alone"), groups.get(CONSTANT) or plain.get(CONSTANT)]
    return [parts for parts in found if parts]


def alone_of(groups: Mapping[str, Parts], columns: Sequence[str]) -> dict[str, Measurement]:
    """Return what the own columns tell of every column, where that was learnt."""
    if "alone" not in groups:
        return {}
    pool = pooled(groups["alone"])
    return dict(zip(columns, pool.leakage, strict=True))


def combine_threats(
    entries: Sequence[Entry], model: str, streams: Streams, made: Made | None = None
) -> tuple[ThreatFinding, ...]:
    """Pool every threat over the seeds in which it ran.

    An adversary may throw knowledge away. So a threat is also judged by what is tried under
    defenses that its adversary could apply to its own scores, and by the attacks of weaker
    threats on the same federation. ``made`` keeps what was pooled: with more trials of defenses
    beside the same others, only these are pooled anew.
    """
    made = {} if made is None else made
    findings = _plain(entries, model, streams, made)
    # What was tried on some seeds only is held against what was read on the same ones.
    defended = {e.scenario.seed for e in entries if e.guessed and releases(e.scenario.defense)}
    there = [e for e in entries if e.scenario.seed in defended]
    views = {t.name: looks_at(model, t.name).view for t in findings}
    # Which of them add anything is asked first: the others need no intervals of their own.
    coarser = {t.name: _coarser(t.name, there, views[t.name], None, made) for t in findings}
    some = any(coarser.values()) and len(there) < len(entries)
    held = {t.name: t.findings for t in (_plain(there, model, None, {}) if some else findings)}
    adding = {t.name: that_add(coarser[t.name], held[t.name]) for t in findings}
    findings = [
        replace(
            t,
            findings=(
                *t.findings,
                *_coarser(
                    t.name, there, views[t.name], streams.under(t.name), made, adding[t.name]
                ),
            ),
        )
        for t in findings
    ]
    findings = [with_weaker(threat, findings) for threat in findings]
    return tuple(replace(t, findings=with_limit(t.findings)) for t in findings)


def _plain(
    entries: Sequence[Entry], model: str, streams: Streams | None, made: Made
) -> list[ThreatFinding]:
    """Pool the undefended trials of every threat, and add what weaker threats' attacks add.

    ``streams`` None: only what joining adds is asked for, so no luck and no resamples are drawn.
    """
    findings: list[ThreatFinding] = []
    for name in dict.fromkeys(entry.scenario.threat for entry in entries):
        runs = _undefended(name, entries)
        threat: ThreatModel[Any] = card("threat", name).part
        own = None if streams is None else streams.under(name)
        findings.append(
            ThreatFinding(
                name=name,
                sentence=threat.sentence(runs[0].scenario.coalition if runs else ()),
                conduct=threat.conduct.value,
                malicious=threat.malicious,
                grants=sentences(threat.grants),
                federation=looks_at(model, name).stream,
                findings=_findings(runs, own, made) if runs else (),
                notes=()
                if streams is None
                else notes_of([e for e in entries if e.scenario.threat == name]),
                granted=max((e.records.granted for e in runs), default=0),
                recovered=recovered_of(runs),
            )
        )
    return [with_weaker(threat, findings) for threat in findings]


def _undefended(threat: str, entries: Sequence[Entry]) -> list[Entry]:
    return [e for e in entries if e.scenario.threat == threat and e.plain and e.guessed]


def _findings(
    runs: Sequence[Entry], streams: Streams | None, kept: Made
) -> tuple[GuessFinding, ...]:
    """Pool every guess of the undefended trials of one threat."""
    threat, columns = runs[0].scenario.threat, runs[0].records.columns
    spans = [run.records.spans for run in runs]
    plain = guesses_of(runs)
    alone = alone_of(plain, columns)
    told = {name: parts for name, parts in plain.items() if name != CONSTANT}
    for name, parts in told.items():
        if (threat, "", name) in kept:
            continue
        role = next(iter(parts.values()))[0].role
        rivals = rivals_of(name, plain, plain) if role == "attack" else []
        if (
            role == "limit" and "alone" in plain
        ):  # both have learnt: the messages are the difference
            rivals = [plain["alone"]]
        beside = beside_of(plain, plain) if role == "attack" else []
        made = combine_guess(parts, columns, streams, rivals, alone, spans, beside=beside)
        if role == "limit":
            made = replace(made, name=LEARNER, role=LEARNER, title=TITLES[LEARNER])
        kept[threat, "", name] = made
    return tuple(kept[threat, "", name] for name in told)


def _coarser(
    name: str,
    entries: Sequence[Entry],
    view: type[Any],
    streams: Streams | None,
    kept: Made,
    only: Sequence[GuessFinding] | None = None,
) -> list[GuessFinding]:
    """Return the attacks on scores that the adversary of a threat could make coarser itself.

    Defenses are tried under the strongest threat only; of its attacks those count that need no
    more than this adversary's ``view`` shows. ``streams`` None: what they add alone is asked for.
    ``only``: those of them that are wanted, in this order.
    """
    runs = _undefended(name, entries)
    if not runs or (only is not None and not only):
        return []
    columns = runs[0].records.columns
    spans = {run.scenario.seed: run.records.spans for run in runs}
    attacked = {run.scenario.seed: run.records.apart for run in runs}
    plain = guesses_of(runs)
    alone = alone_of(plain, columns)
    threat: ThreatModel[Any] = card("threat", runs[0].scenario.threat).part
    tried: dict[str, list[Entry]] = {}
    for entry in entries:
        other: ThreatModel[Any] = card("threat", entry.scenario.threat).part
        same = entry.scenario.branch == runs[0].scenario.branch and (
            other.name == threat.name or other.covers(threat)
        )
        alike = np.array_equal(attacked.get(entry.scenario.seed, ()), entry.records.apart)
        if same and alike and entry.guessed and releases(entry.scenario.defense):
            tried.setdefault(entry.scenario.defense, []).append(entry)
    found = {}
    wanted = None if only is None else {guess.name for guess in only}
    for defense, defended in tried.items():
        guesses = guesses_of(defended)
        for name, parts in guesses.items():
            told = coarser_name(name, defense)
            if wanted is not None and told not in wanted:
                continue
            if next(iter(parts.values()))[0].role != "attack" or not fits(guesser(name), view):
                continue
            key = threat.name, defense if streams is None else f"{defense} in full", name
            if key not in kept:
                known = [spans[seed] for seed in parts]
                kept[key] = coarsened(name, defense, guesses, plain, columns, streams, alone, known)
            found[told] = kept[key]
    return list(found.values()) if only is None else [found[guess.name] for guess in only]


def coarser_name(name: str, defense: str) -> str:
    """Return what an attack on scores that the adversary made coarser is called."""
    return f"{name} after {defense}"


def releases(defense: str) -> bool:
    """Say whether a defense changes scores only: then its adversary could do so itself."""
    return bool(defense) and issubclass(card("defense", defense).part, ReleaseDefense)


def coarsened(
    name: str,
    defense: str,
    guesses: Mapping[str, Parts],
    plain: Mapping[str, Parts],
    columns: Sequence[str],
    streams: Streams | None,
    alone: Mapping[str, Measurement],
    spans: Sequence[Sequence[float]],
) -> GuessFinding:
    """Return an attack as tried on scores that the adversary made coarser itself."""
    rivals = rivals_of(name, guesses, plain)
    luck = None if streams is None else streams.under(defense)
    made = combine_guess(
        guesses[name], columns, luck, rivals, alone, spans, beside=beside_of(guesses, plain)
    )
    said = card("defense", defense).title
    title = f"{made.title}, on scores made coarser by itself ({said[:1].lower()}{said[1:]})"
    return replace(made, name=coarser_name(name, defense), title=title)


def that_add(more: Sequence[GuessFinding], held: Sequence[GuessFinding]) -> list[GuessFinding]:
    """Return those attacks that add more in some column than all attacks before them."""
    kept: list[GuessFinding] = []
    best: dict[tuple[str, ...], Floats] = {}  # by the columns that were guessed

    def better(guess: GuessFinding) -> bool:
        names, adds = tuple(found.column for found in guess.columns), guess.strengths[:, 0]
        before = best.get(names, np.full(len(names), -1.0))
        best[names] = np.maximum(before, adds)
        return bool((adds > before).any())

    for guess in held:
        if guess.role == "attack":
            better(guess)
    for guess in sorted(more, key=lambda g: -g.adds.value):
        if better(guess):
            kept.append(guess)
    return kept


def base_name(name: str) -> str:
    """Return the attack behind a guess that is told under another threat or on a coarser release."""
    return name.split(" after ")[0].split(" as under ")[0]


def with_weaker(threat: ThreatFinding, findings: Sequence[ThreatFinding]) -> ThreatFinding:
    """Add the attacks of weaker threats that add more than the threat's own."""
    held = {guess.name for guess in threat.findings}
    # Who knows more has stronger rivals too; what an attack adds for the weaker stands all the same.
    weaker = [
        replace(
            guess,
            name=f"{guess.name} as under {other.name}" if guess.name in held else guess.name,
            title=f"{guess.title}, as under {other.name}",
        )
        for other in findings
        if stronger(threat, other)
        for guess in other.findings
        if guess.role == "attack"
    ]
    return replace(threat, findings=(*threat.findings, *that_add(weaker, threat.findings)))


def stronger(one: ThreatFinding, other: ThreatFinding) -> bool:
    """Say whether an adversary holds all that another one holds, of the same federation."""
    if one.name == other.name or one.federation != other.federation:
        return False
    return bool(card("threat", one.name).part.covers(card("threat", other.name).part))


def with_limit(found: Sequence[GuessFinding]) -> tuple[GuessFinding, ...]:
    """Add the limit: by column the best of all attacks and of the regressor; it says which."""
    tried = [guess for guess in found if guess.role in ("attack", LEARNER)]
    learner = next((guess for guess in tried if guess.role == LEARNER), None)
    if learner is None:
        return tuple(found)
    best = []
    for j in range(len(learner.columns)):
        guess = max(tried, key=lambda guess: guess.columns[j].leakage.value)
        best.append(replace(guess.columns[j], by=guess.name))
    limit = replace(
        learner,
        name="limit",
        title=TITLES["limit"],
        role="limit",
        error=mean_of([column.error for column in best]),
        leakage=mean_of([column.leakage for column in best]),
        adds=mean_of([column.adds for column in best]),
        recovered=mean_of([column.recovered for column in best]),
        columns=tuple(best),
        over_seeds=None,
        people=None,
    )
    return (*found, limit)
