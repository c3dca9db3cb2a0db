"""What each defense changes: the same attacks on the same columns and seeds, without it and with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_bools
from whatleaks.auditor.again import attacks_of, leaders, missed
from whatleaks.auditor.combine import (
    Entry,
    alone_of,
    base_name,
    beside_of,
    guesses_of,
    most_frequent,
    rivals_of,
    with_limit,
)
from whatleaks.auditor.pool import LEARNER, Parts, combine_guess, mean_of, over_seeds
from whatleaks.auditor.result import (
    FOLLOWED,
    ColumnDefense,
    ColumnFinding,
    DefenseFinding,
    GuessFinding,
    Headline,
    ThreatFinding,
    Unmeasured,
)
from whatleaks.auditor.worth import accuracy
from whatleaks.catalog import Card, card, cards
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.metrics.intervals import wilson
from whatleaks.metrics.measurement import Measurement
from whatleaks.trial.scorers.values import Scored

FEWEST_RELEASED = 20  # records of all seeds: on fewer a leak cannot be measured
MOST_NAMED = 6  # columns in a remark
NO_DETECTOR = (-1, -1)
WITHOUT_MESSAGES = "auxiliary-regression"


@dataclass(frozen=True)
class Tried:
    """One seed of a defense: the trial with it, and those without it that it is compared with.

    ``classed`` is the trial whose predictions count: where the training is hijacked, the honest
    one.
    """

    plain: Entry
    defended: Entry
    classed: Entry
    before: Ints
    halts: tuple[int, int] = NO_DETECTOR  # of the hijacker, of honest training


Runs = Sequence[Tried]
Key = tuple[str, str]  # a threat, and the defense or detector that was tried under it
# Guesses that were pooled before. Keys name scores by identity, so what they name is held beside.
Kept = dict[tuple[object, ...], tuple[GuessFinding, object]]


def combine_defenses(
    entries: Sequence[Entry],
    head: Headline,
    threats: Sequence[ThreatFinding],
    kept: Kept | None = None,
) -> tuple[tuple[DefenseFinding, ...], tuple[Unmeasured, ...]]:
    """Return a finding per defense, and those that leave too little to measure.

    Without and with the defense every column is judged by the strongest attack on it. With a
    release defense that includes the attacks on whatever coarser release can be made of it.
    ``kept`` is what was pooled: with more trials beside the same others, only these are pooled anew.
    """
    kept = {} if kept is None else kept
    findings, unmeasured = [], []
    everything = tried_defenses(entries)
    for key, tried in everything.items():
        _, name = key
        found = _card(name)
        runs = _alike(tried)
        threat = runs[0].defended.scenario.threat
        asked, released = _counts(runs)
        if released < min(FEWEST_RELEASED, asked):
            whose = f"all but {released} of" if released else "all"
            why = f"it withheld the scores of {whose} {asked} records, too few to measure what they leak"
            unmeasured.append(Unmeasured(name, found.title, threat, why))
            continue
        columns = runs[0].defended.records.columns
        if not any(s.role == "attack" for run in runs for s in run.defended.records.scored):
            why = f"no attack that guesses values ran with it in place under {threat}"
            unmeasured.append(Unmeasured(name, found.title, threat, why, silent=True))
            continue
        seeds = {run.plain.scenario.seed for run in runs}
        weaker = _weaker(threat, [e for e in entries if e.scenario.seed in seeds])
        before = attacks_of(_before(key, everything, runs, weaker, threats, kept))
        after = _after(key, everything, runs, weaker, kept)
        unseen = _unseen(runs, before)
        after += unseen
        tried_with = attacks_of(after)
        strongest = leaders(tried_with)
        pairs = tuple(
            _pair(before[i].columns[j], tried_with[k].columns[j])
            for j, (i, k) in enumerate(
                zip(leaders(before).tolist(), strongest.tolist(), strict=True)
            )
        )
        own = next((pair for pair in pairs if pair.column == head.column), None)
        at = (
            columns.index(own.column)
            if own
            else max(range(len(pairs)), key=lambda j: pairs[j].after.value)
        )
        acts_on = getattr(found.part, "socket", "training")
        findings.append(
            DefenseFinding(
                name=name,
                title=found.title,
                acts_on=acts_on,
                threat=threat,
                attack=tried_with[strongest[at]].name,
                columns=pairs,
                column=own,
                worst=max(pairs, key=lambda pair: pair.after.value),
                adds_before=mean_of([pair.before for pair in pairs]),
                adds=mean_of([pair.after for pair in pairs]),
                limit=next(g for g in with_limit(after) if g.role == "limit").leakage,
                accuracy_before=accuracy(np.concatenate([run.before for run in _by_seed(runs)])),
                accuracy=accuracy(
                    np.concatenate([run.classed.records.correct for run in _by_seed(runs)])
                ),
                remark=" ".join(
                    filter(
                        None,
                        (
                            _halts(runs) or _withheld(runs, acts_on, _seeds(key, entries)),
                            _not_seen(unseen),
                            _left_out(before, after, runs),
                        ),
                    )
                ),
                against=tuple(
                    other.name
                    for other in threats
                    if other.name == threat or _covered(threat, other.name)
                ),
            )
        )
    return tuple(findings), tuple(unmeasured)


def _covered(one: str, other: str) -> bool:
    """Say whether the adversary of one threat holds all that the other's holds."""
    return bool(card("threat", one).part.covers(card("threat", other).part))


def _weaker(threat: str, entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Return the undefended trials of every weaker threat: its bars are lower, and count too."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        other = entry.scenario.threat
        if entry.plain and entry.guessed and other != threat and _covered(threat, other):
            found.setdefault(other, []).append(entry)
    return found


def tried_defenses(entries: Sequence[Entry]) -> dict[Key, list[Tried]]:
    """Pair every defended trial with the undefended ones of its seed and threat."""
    found: dict[Key, list[Tried]] = {}
    for entry in entries:
        scenario = entry.scenario
        mates = [
            e
            for e in entries
            if (e.scenario.seed, e.scenario.threat) == (scenario.seed, scenario.threat)
        ]
        # Where the training is hijacked an honest one, in which nobody guesses, stands beside.
        beside = any(e.plain and not e.guessed for e in mates)
        if scenario.defense and not beside and (entry.guessed or len(entry.records.correct)):
            plain = next(e for e in mates if e.plain and e.guessed)
            run = Tried(plain, entry, entry, plain.records.correct)
            found.setdefault((scenario.threat, scenario.defense), []).append(run)
        elif beside and entry.guessed and not entry.plain:
            plain = next(e for e in mates if e.plain and e.scenario.attacks == scenario.attacks)
            honest = next(e for e in mates if e.plain and not e.guessed)
            fair = next(
                e
                for e in mates
                if not e.guessed
                and (e.scenario.detector, e.scenario.defense)
                == (scenario.detector, scenario.defense)
            )
            halts = (int(entry.outcome.stop is not None), int(fair.outcome.stop is not None))
            run = Tried(
                plain,
                entry,
                fair,
                honest.records.correct,
                halts if scenario.detector else NO_DETECTOR,
            )
            name = scenario.detector or scenario.defense
            found.setdefault((scenario.threat, name), []).append(run)
    return found


def _by_seed(runs: Runs) -> list[Tried]:
    """Return one run of every seed: several hijacks share its honest training."""
    return list({run.defended.scenario.seed: run for run in reversed(runs)}.values())[::-1]


def _card(name: str) -> Card:
    from whatleaks.errors import UsageError

    try:
        return card("defense", name)
    except UsageError:
        return card("detector", name)


def _pair(before: ColumnFinding, after: ColumnFinding) -> ColumnDefense:
    worse = after.worse
    more = after.leakage.value - after.control.value
    bounded = worse.scale == FOLLOWED and more > after.adds.value
    return ColumnDefense(
        after.column, before.worse.measured, worse.measured, after.differs, bounded
    )


def _unseen(runs: Runs, before: Sequence[GuessFinding]) -> list[GuessFinding]:
    """Return the attacks that a detector cannot see: whoever only watches is never halted.

    They tell with it what they tell without it.
    """
    if runs[0].halts == NO_DETECTOR:
        return []
    active = {entry.name for entry in cards("hijack") if not entry.obeys}
    return [guess for guess in before if base_name(guess.name) not in active]


def _not_seen(unseen: Sequence[GuessFinding]) -> str:
    """Name the attacks that go on under a detector."""
    names = ", ".join(dict.fromkeys(base_name(guess.name) for guess in unseen))
    return f"It cannot see who only watches ({names}): what that reads stays." if names else ""


def _left_out(before: Sequence[GuessFinding], after: Sequence[GuessFinding], runs: Runs) -> str:
    """Name the attacks that lead in some column and gave no answer with the defense, or on fewer people.

    One that is level with others without a defense may be ahead of them with it.
    """
    gone = missed(before, {base_name(guess.name) for guess in after}, ahead=0.0)
    asked = {name for run in runs for name in run.defended.scenario.attacks}
    lost = [name for name in gone if name in asked]
    said = [f"No answer of {', '.join(lost)} fits what is seen with it."] if lost else []
    slow = [name for name in gone if name not in asked]
    said += [f"Not tried again with it, as too slow: {', '.join(slow)}."] if slow else []
    most = max(guess.error.n for guess in after)
    few = {base_name(g.name): g.error.n for g in after if g.role == "attack" and g.error.n < most}
    said += [f"{name} was tried with it on {n} of {most} records." for name, n in few.items()]
    return " ".join(said)


def _before(
    key: Key,
    everything: Mapping[Key, list[Tried]],
    runs: Runs,
    weaker: Mapping[str, Sequence[Entry]],
    threats: Sequence[ThreatFinding],
    kept: Kept,
) -> list[GuessFinding]:
    """Return all attacks of the threat without the defense, on the columns that stay with it.

    Over the same seeds as with it: where these are all, the threat's own findings serve. Else they
    are pooled as those are: whoever holds plain scores can make any release of them, and what an
    attack adds under a weaker threat stands.
    """
    stay = runs[0].defended.records.columns
    threat = next(t for t in threats if t.name == runs[0].defended.scenario.threat)
    full = threat.of("attack")
    # Of several hijacks of a seed the strongest counts, whichever were tried with the defense.
    asked = sum(run.plain.records.targets for run in _by_seed(runs))
    if all(guess.error.n == asked for guess in full):
        if stay == runs[0].plain.records.columns:
            return list(full)
        return [
            replace(guess, columns=tuple(c for c in guess.columns if c.column in stay))
            for guess in full
        ]
    found = _at_all_bars(guesses_of([run.plain for run in runs]), runs, weaker, kept)
    return found + _made_coarser(key, everything, runs, weaker, kept, _released)


def _after(
    key: Key,
    everything: Mapping[Key, list[Tried]],
    runs: Runs,
    weaker: Mapping[str, Sequence[Entry]],
    kept: Kept,
) -> list[GuessFinding]:
    """Return all attacks with the defense in place, and those on what can be made of its release.

    As without it, an attack that a weaker threat allows is also held against that threat's bars.
    """
    defended = guesses_of([run.defended for run in runs if run.defended.guessed])
    found = _at_all_bars(defended, runs, weaker, kept)
    others = (other for _, other in everything if other != key[1])
    follow = {other for other in others if _follows(other, key[1])}
    return found + _made_coarser(key, everything, runs, weaker, kept, follow.__contains__)


def _made_coarser(
    key: Key,
    everything: Mapping[Key, list[Tried]],
    runs: Runs,
    weaker: Mapping[str, Sequence[Entry]],
    kept: Kept,
    made: Callable[[str], bool],
) -> list[GuessFinding]:
    """Return the attacks on releases that the adversary can make itself; ``made`` says which."""
    found = []
    for (under, other), tried in everything.items():
        if under == key[0] and made(other):
            coarser = guesses_of([run.defended for run in tried if run.defended.guessed])
            found += [
                replace(guess, name=f"{guess.name} after {other}")
                for guess in _at_all_bars(coarser, runs, weaker, kept)
                if guess.role == "attack"
            ]
    return found


def _at_all_bars(
    guesses: Mapping[str, Parts],
    runs: Runs,
    weaker: Mapping[str, Sequence[Entry]],
    kept: Kept,
) -> list[GuessFinding]:
    """Hold every guess against its own threat's bars, and against those of weaker ones it fits."""
    own = guesses_of([run.plain for run in runs])
    others = {name: guesses_of(entries) for name, entries in weaker.items()}
    found: dict[str, list[GuessFinding]] = {name: [] for name in ("", *others)}
    for name in guesses:  # guess by guess: its pool serves all bars
        made = _pooled(name, guesses, own, runs, kept)
        if made is None:
            continue
        found[""].append(made)
        for other, plain in others.items():
            if made.role == "attack" and name in plain:
                again = _pooled(name, guesses, plain, runs, kept, made)
                assert again is not None
                found[other].append(replace(again, name=f"{name} as under {other}"))
    return [guess for held in found.values() for guess in held]


def _released(name: str) -> bool:
    """Say whether a defense changes scores only: then whoever holds plain ones can do so itself."""
    return issubclass(_card(name).part, ReleaseDefense)


def _follows(coarser: str, finer: str) -> bool:
    """Say whether whoever holds the one defense's release can make the other's."""
    if not (_released(coarser) and _released(finer)):
        return False
    one, other = (_card(name).build() for name in (coarser, finer))
    return bool(one.follows(other))


def _pooled(
    name: str,
    guesses: Mapping[str, Parts],
    plain: Mapping[str, Parts],
    runs: Runs,
    kept: Kept,
    told: GuessFinding | None = None,
) -> GuessFinding | None:
    """Pool an attack or the regressor over the seeds that have one; None: it is neither.

    ``told``: the same guess as held against other bars. What it adds is compared, and nothing
    of its errors is reported, so no resamples are drawn for it.
    """
    parts = guesses[name]
    role = next(iter(parts.values()))[0].role
    if role not in ("attack", "limit"):
        return None
    whole, stay = runs[0].plain.records.columns, runs[0].defended.records.columns
    rivals = rivals_of(name, guesses, {} if whole != stay else plain)
    alone, beside = plain.get("alone", {}), beside_of(guesses, plain)
    met = (parts, *rivals, alone, *beside)
    key = (stay, whole, told is None, *(_identity(one) for one in met))
    if key not in kept:
        if next(iter(parts.values()))[1].shape[1] != len(stay):
            places = np.array([whole.index(column) for column in stay])
            parts, rivals = narrowed(parts, places), [narrowed(r, places) for r in rivals]
        if whole != stay:
            places = np.array([whole.index(column) for column in stay])
            beside = [
                narrowed(b, places) if next(iter(b.values()))[1].shape[1] == len(whole) else b
                for b in beside
            ]
        rivals, beside = ([r for r in some if _same_records(r, parts)] for some in (rivals, beside))
        made = combine_guess(
            parts, stay, None, rivals, alone_of(plain, whole), told=told, beside=beside
        )
        made = replace(made, role=LEARNER) if role == "limit" else made
        kept[key] = made, met
    return kept[key][0]


def _identity(parts: Parts) -> tuple[tuple[int, int], ...]:
    """Name the scores of every seed; two of them are the same only if they are one object."""
    return tuple((seed, id(scored)) for seed, (scored, _) in parts.items())


def _same_records(one: Parts, other: Parts) -> bool:
    """Say whether two guesses are of the same records: a gate may have let out only some."""
    shared = other.keys() & one.keys()
    return all(one[seed][1].shape == other[seed][1].shape for seed in shared)


def narrowed(parts: Parts, places: Ints) -> dict[int, tuple[Scored, Floats]]:
    """Return a guess on some columns only."""
    return {
        seed: (_narrowed(scored, places), sealed(apart[:, places]))
        for seed, (scored, apart) in parts.items()
    }


def _narrowed(scored: Scored, places: Ints) -> Scored:
    """Return the scores of some columns."""
    return replace(
        scored,
        off=sealed(scored.off[:, places]),
        named=sealed_bools(scored.named[:, places] if scored.named.size else scored.named),
    )


def _alike(tried: Runs) -> Runs:
    """Return the seeds in which the defense kept the same columns, the most frequent set of them.

    Encodings are learnt on each seed's training records, and a column may be close to the
    partner's with one of them only.
    """
    columns = most_frequent([run.defended.records.columns for run in tried])
    return [run for run in tried if run.defended.records.columns == columns]


def _seeds(key: Key, entries: Sequence[Entry]) -> int:
    """Count the seeds in which a defense was tried under a threat, whatever it did there."""
    return len(
        {
            e.scenario.seed
            for e in entries
            if (e.scenario.threat, e.scenario.defense or e.scenario.detector) == key
        }
    )


def _counts(runs: Runs) -> tuple[int, int]:
    """Count the records that were asked about, and those whose scores were released."""
    held = [run.defended.records for run in runs]
    asked = sum(records.asked for records in held)
    return asked, sum(records.targets for records in held)


def _halts(runs: Runs) -> str:
    """Say how often a detector halted each hijacker, when, what was told by then, and its false halts."""
    if runs[0].halts == NO_DETECTOR:
        return ""
    by_attack: dict[str, list[Tried]] = {}
    for run in runs:
        by_attack.setdefault("+".join(run.defended.scenario.attacks), []).append(run)
    told = []
    for name, mine in by_attack.items():
        stops = [run.defended.outcome.stop for run in mine if run.halts[0]]
        first = ", ".join(dict.fromkeys(str(stop).partition(":")[0] for stop in stops))
        when = f" ({first})" if stops else ""
        told.append(f"{name} in {len(stops)} of {len(mine)} trainings{when}{_by_then(name, mine)}")
    honest = _by_seed(runs)
    false = wilson(sum(run.halts[1] for run in honest), len(honest), "rate", "seeds")
    return (
        f"It halted the hijacker {'; '.join(told)}; honest training by mistake in {round(false.value * false.n)} of "
        f"{false.n} ({100 * false.low:.0f} % to {100 * false.high:.0f} %). After a halt the model stays as it is, and "
        "embeddings of the targets are still sent."
    )


def _by_then(name: str, runs: Runs) -> str:
    """Say what a hijack's error was when its trainings ended, beside what needed no message."""
    errors = [run.defended.outcome.measurements.get(name) for run in runs]
    bars = [run.plain.outcome.baselines.get(WITHOUT_MESSAGES) for run in runs]
    found = [one for one in errors if isinstance(one, Measurement)]
    if not found:
        return ""
    error = over_seeds(found)
    said = f", error by then {error.value:.2g} ({max(error.low, 0.0):.2g} to {error.high:.2g})"
    known = [one for one in bars if isinstance(one, Measurement)]
    return said + (f", without any message {over_seeds(known).value:.2g}" if known else "")


def _withheld(runs: Runs, acts_on: str, seeds: int) -> str:
    """Say what a gate or a filter kept back: its leakage is that of what was released."""
    asked, released = _counts(runs)
    if acts_on == "gate":
        if released == asked:
            return "It withheld no score: the simulated attack came that close to nobody's record."
        return (
            f"It withheld the scores of {100 * (1 - released / asked):.0f} % of the records, which count as not "
            "classed. The leakage is that of the others."
        )
    stay = runs[0].defended.records.columns
    out = [column for column in runs[0].plain.records.columns if column not in stay]
    if not out:
        return ""
    more = f" and {len(out) - MOST_NAMED} more" if len(out) > MOST_NAMED else ""
    rest = (
        ""
        if len(runs) == seeds
        else f" So in {len(runs)} of {seeds} seeds; in the others it leaves out other columns, or none."
    )
    return (
        f"It leaves out {', '.join(out[:MOST_NAMED])}{more}. The leakage, before and after, is that of "
        f"the columns that stay.{rest}"
    )
