"""What no number says: sentences about a threat, made from what its trials recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.auditor.result import Recovered, ThreatFinding
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import card, guesser
from whatleaks.errors import UsageError, argument
from whatleaks.metrics.branching import branching_advantage, branching_rate
from whatleaks.metrics.measurement import Measurement
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Auxiliary, KnownPeople
from whatleaks.trial.scorers.branches import BranchScored
from whatleaks.trial.scorers.values import Scored
from whatleaks.trial.trial import MEAN_ERROR, MOST_FREQUENT, VALUE_ERROR

if TYPE_CHECKING:
    import pandas as pd

    from whatleaks.auditor.combine import Entry

_TITLES = {
    "control": "the same with the messages of other people",
    "alone": "a learner with the own columns and other people's labels",
}
COPIES = 0.1  # of the records: so many may be alike by chance
LOOKED_AT = 20_000  # records in which copies are looked for
FEW = 100  # records below which a regressor learns little


def notes_of(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return the notes on one threat, in the order of its trials; each is said once."""
    notes: list[str] = []
    for entry in entries:
        seed = entry.scenario.seed
        # Of a defended trial only that there was nothing to do: the rest was said without it.
        said = list(entry.outcome.notes) if entry.plain or not entry.records.columns else []
        if entry.plain and any(s.role == "attack" for s in entry.records.branches):
            said.append(_paths(entry))
        notes += [f"Seed {seed}: {sentence}" for sentence in said]
        if entry.plain:
            notes += _labels(entry)
            notes += _recovered(entry)
            notes += [f"Seed {seed}: {sentence}" for sentence in _otherwise(entry)]
    for entry in entries:
        if entry.scenario.detector and entry.guessed:
            notes.append(_halts(entry, entries))
    return tuple(dict.fromkeys(notes))


def recovered_of(entries: Sequence[Entry]) -> tuple[Recovered, ...]:
    """Return how well the passive party's sums were recovered: the worst over the seeds, by attack."""
    found: dict[str, Recovered] = {}
    for entry in entries:
        for name in entry.scenario.attacks:
            error = entry.outcome.measurements.get(name)
            if isinstance(error, float):  # no error per record: a guess of intermediate values
                before = found.get(name)
                worst = error if before is None else max(error, before.error)
                found[name] = Recovered(name, entry.records.asked, worst)
    return tuple(found.values())


def value_notes(entries: Sequence[Entry], label: str, span: tuple[float, float]) -> list[str]:
    """Say how far a numeric label is missed, in its own units, by each federation that was trained."""
    notes = []
    width = span[1] - span[0]
    for branch in dict.fromkeys(e.scenario.branch for e in entries):
        errors = [
            tuple(e.outcome.measurements.get(name) for name in (VALUE_ERROR, MEAN_ERROR))
            for e in entries
            if e.plain and e.scenario.branch == branch
        ]
        found = [
            (model.value, mean.value)
            for model, mean in errors
            if isinstance(model, Measurement) and isinstance(mean, Measurement)
        ]
        if found:
            model, mean = (sum(part) / len(found) * width for part in zip(*found, strict=True))
            notes.append(
                f"The value of {label!r}: the {branch} model misses it by {_units(model)} on average, "
                f"its mean by {_units(mean)}."
            )
    return notes


def known_notes(known: int, threats: Sequence[ThreatFinding]) -> list[str]:
    """Say where fewer people are known than was asked for, and where the number has no meaning."""
    fewer: dict[int, list[str]] = {}
    other: list[str] = []
    for threat in threats:
        grants = card("threat", threat.name).part.grants
        if KnownPeople in grants:
            if threat.of("attack") and threat.granted < known:
                fewer.setdefault(threat.granted, []).append(threat.name)
        elif known != AuditSpec.known and any(issubclass(kind, Auxiliary) for kind in grants):
            other.append(
                f"{threat.name} ({threat.granted} records)" if threat.granted else threat.name
            )
    said = [
        f"{argument('known')} {known}: only {count} people can be known under {' and '.join(names)}, "
        "as no one may be known and attacked"
        for count, names in fewer.items()
    ]
    if other:
        said.append(
            f"{argument('known')} does not change {' and '.join(other)}: its adversary holds complete "
            "records of other people, a share of the table"
        )
    said += _instead(threats)
    used = fewer or any(KnownPeople in card("threat", t.name).part.grants for t in threats)
    if not said and not used and known != AuditSpec.known:
        said.append(f"{argument('known')} {known} changes nothing: no threat tried knows people")
    return [f"{'; '.join(said)}."] if said else []


def copy_notes(frame: pd.DataFrame) -> list[str]:
    """Say that records are repeated: who learns from copies of the people attacked seems to know them."""
    first = frame.head(LOOKED_AT)
    copies = int(first.duplicated().sum())
    if copies <= COPIES * len(first):
        return []
    return [
        f"{copies:,} of {len(first):,} records are copies of others. So copies of people who are attacked may "
        "be among those that what own columns tell is learnt from, and what joining adds may be more "
        "than is said here: keep one record of each person."
    ]


def counted_again(threats: Sequence[ThreatFinding], rows: int) -> list[str]:
    """Say why more people may be counted than the table has."""
    counts = [guess.columns[0].adds.n for t in threats for guess in t.of("attack") if guess.columns]
    if max(counts, default=0) <= rows:
        return []
    return [
        f"Whoever is attacked in several seeds is counted once in each: {max(counts):,} people are counted, "
        f"the table has {rows:,}."
    ]


def _instead(threats: Sequence[ThreatFinding]) -> list[str]:
    """Say where fewer people are attacked, as some of them are known instead."""
    counts = {t.name: t.of("attack")[0].columns[0].adds.n for t in threats if t.of("attack")}
    some = {name: n for name, n in counts.items() if card("threat", name).part.knows_people}
    most = max((n for name, n in counts.items() if name not in some), default=0)
    fewer: dict[int, list[str]] = {}
    for name, n in some.items():
        if n < most:
            fewer.setdefault(n, []).append(name)
    return [
        f"Under {' and '.join(names)} {n} people are attacked in all seeds together, elsewhere {most}: "
        "the others are known there, as the table has too few people whom nobody attacks"
        for n, names in fewer.items()
    ]


def _units(value: float) -> str:
    """Write a number without an exponent where it has a usual size, in full from 1,000 on as the tables do."""
    return f"{value:,.0f}" if 999.5 <= value < 1e6 else f"{float(f'{value:.4g}'):.12g}"


def _otherwise(entry: Entry) -> list[str]:
    """Say what an attack that guesses neither values nor paths got: it has no column to stand in."""
    known = {s.name for s in entry.records.scored} | {s.name for s in entry.records.branches}
    told = []
    for name in entry.scenario.attacks:
        numbers = [
            f"{key.removeprefix(name).strip()} {value}"
            for key, value in entry.outcome.measurements.items()
            if key.startswith(f"{name} ") and isinstance(value, Measurement)
        ]
        if name not in known and numbers:
            told.append(f"{guesser(name).title}: {'; '.join(numbers)}.")
    return told


def _labels(entry: Entry) -> list[str]:
    """Say how many labels are named, and how many whoever says the most frequent one names."""
    most = entry.outcome.measurements.get(MOST_FREQUENT)
    if not isinstance(most, Measurement):
        return []
    told = [
        f"{_TITLES.get(scored.role) or guesser(scored.name).title}: "
        f"{int(scored.named.sum())} of {len(scored.named)} labels"
        for scored in entry.records.scored
        if scored.role in ("attack", *_TITLES)
    ]
    return [
        f"Seed {entry.scenario.seed}: {'; '.join(told)}; the most frequent label {_share(most)}."
    ]


def _recovered(entry: Entry) -> list[str]:
    """Say how well intermediate values were recovered, and where several tables fit."""
    notes = []
    for name in entry.scenario.attacks:
        value = entry.outcome.measurements.get(name)
        found = next((s for s in entry.records.scored if s.name == name), None)
        if isinstance(value, float):  # no error per record: a guess of intermediate values
            notes.append(
                f"Seed {entry.scenario.seed}: {guesser(name).title}, of {entry.records.asked} "
                f"records: relative error {value:.0e}."
            )
        elif found is not None and found.mirrored:
            notes.append(_up_to_the_end(entry, found))
        elif found is not None and found.alternatives:
            notes.append(
                f"{1 + found.alternatives} tables fit the transcript equally well (a mirror "
                "image remains); the attack commits to one of them."
            )
    few = entry.records.asked
    if entry.guessed and entry.records.training_rows == few < FEW:
        notes.append(f"The limit is learnt from {few} records only, so it is a weak one here.")
    return notes


def _up_to_the_end(entry: Entry, found: Scored) -> str:
    """Say what an order of people tells whoever is also told, by one bit, which end of it is which.

    The mirror image of a guess follows a column as far as the guess runs against it. The control
    is given the same bit: the better of two signs is above zero by luck alone.
    """
    apart = entry.records.apart

    def best(scored: Scored, sign: float) -> tuple[float, str]:
        made = scored.followed(apart, sign)
        at = int(np.argmax(made.value))
        told = f"{made.value[at]:.0%} ({made.low[at]:.0%} to {made.high[at]:.0%})"
        return float(made.value[at]), f"{told} in {entry.records.columns[at]}"

    plain, given = best(found, 1.0), max(best(found, 1.0), best(found, -1.0))
    other = next((s for s in entry.records.scored if s.name == f"{found.name} control"), None)
    luck = (
        ""
        if other is None
        else (
            f" (with the messages of other people {max(best(other, s)[0] for s in (1.0, -1.0)):.0%})"
        )
    )
    return (
        f"Seed {entry.scenario.seed}: {guesser(found.name).title}: which end is which stays open. High "
        f"scores are taken for high values: that follows {plain[1]}. Up to which end is which, so with "
        f"one bit more for the whole table: {given[1]}{luck}."
    )


def _halts(entry: Entry, entries: Sequence[Entry]) -> str:
    """Say what a detector did about a hijacker and about honest training of the same seed."""
    scenario = entry.scenario
    fair = next(
        e
        for e in entries
        if not e.guessed
        and (e.scenario.seed, e.scenario.detector) == (scenario.seed, scenario.detector)
    )
    return (
        f"Seed {scenario.seed}: {scenario.detector} {_verdict(entry)} {'+'.join(scenario.attacks)} and "
        f"{_verdict(fair)} honest training."
    )


def _verdict(entry: Entry) -> str:
    stop = entry.outcome.stop
    return f"halts ({stop.partition(':')[0]})" if stop is not None else "does not halt"


def _paths(entry: Entry) -> str:
    """Put the branching rates of an attack and its baselines into one sentence."""
    streams = Streams(entry.scenario.seed).under(entry.scenario.branch)
    found = next(s for s in entry.records.branches if s.role == "attack")
    others = [s for s in entry.records.branches if s.role != "attack"]
    try:
        told = [f"{_title(s)} {_share(_rate(s, streams))}" for s in (found, *others)]
        gains = [
            branching_advantage(
                found.nodes, found.right, s.nodes, s.right, streams.rng("branching/gain")
            )
            for s in others
        ]
    except UsageError as nothing:
        return f"{nothing}."
    empty = int((found.nodes == 0).sum())
    more = "; ".join(
        f"{100 * gain.value:.1f} points (95 % interval {100 * gain.low:.1f} to {100 * gain.high:.1f}) "
        f"more per record than: {_title(s)}"
        for s, gain in zip(others, gains, strict=True)
    )
    return (
        f"tests on your columns answered right: {'; '.join(told)}. {more}. {empty} of "
        f"{len(found.nodes)} records are left out: their guessed path tests none of your columns."
    )


def _title(scored: BranchScored) -> str:
    return (
        f"\N{LEFT DOUBLE QUOTATION MARK}{guesser(scored.name).title}\N{RIGHT DOUBLE QUOTATION MARK}"
    )


def _rate(scored: BranchScored, streams: Streams) -> Measurement:
    return branching_rate(scored.nodes, scored.right, streams.rng(f"branching/{scored.name}"))


def _share(rate: Measurement) -> str:
    value, low, high = (f"{100 * part:.1f} %" for part in (rate.value, rate.low, rate.high))
    return f"{value} (95 % interval {low} to {high})"
