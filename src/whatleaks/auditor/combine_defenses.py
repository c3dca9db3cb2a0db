"""What each defense changes: the same attacks on the same columns and seeds, without it and with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.auditor.combine import accuracy, combine_guess
from whatleaks.auditor.evaluator import Scored
from whatleaks.auditor.result import DefenseFinding, GuessFinding
from whatleaks.auditor.units import DefenseScores, UnitResult
from whatleaks.defenses.registry import DEFENSES
from whatleaks.detectors.registry import DETECTORS
from whatleaks.seeds import Streams

FEWEST_RELEASED = 20  # records of all seeds: on fewer a leak cannot be measured
MOST_NAMED = 6  # columns in a remark

Tried = Sequence[tuple[UnitResult, DefenseScores]]
Parts = Sequence[tuple[Sequence[Scored], Floats]]


def combine_defenses(
    units: Sequence[UnitResult], streams: Streams
) -> tuple[tuple[DefenseFinding, ...], tuple[str, ...]]:
    """Return a finding per defense, and a note for each that leaves too little to measure."""
    cards: dict[str, Any] = {card.name: card for card in DEFENSES}
    cards |= {card.name: card for card in DETECTORS}
    findings, notes = [], []
    for name in dict.fromkeys(d.defense for unit in units for d in unit.defenses):
        tried = [(u, d) for u in units for d in u.defenses if d.defense == name]
        runs = _alike(tried)
        asked, released = _counts(runs)
        if released < min(FEWEST_RELEASED, asked):
            notes.append(
                f"{name}: it withheld the scores of all but {released} of {asked} records, too few to "
                "measure what they leak."
            )
            continue
        before = _pooled(_without(runs), runs, streams.under(f"before/{name}"))
        after = _pooled(_with(runs), runs, streams.under(f"defense/{name}"))
        findings.append(
            DefenseFinding(
                name=name,
                title=cards[name].title,
                acts_on=cards[name].acts_on,
                threat=runs[0][1].threat,
                attack=_strongest(after).name,
                leakage_before=_strongest(before).leakage,
                leakage=_strongest(after).leakage,
                limit=next(g for g in after if g.role == "limit").leakage,
                accuracy_before=accuracy(np.concatenate([u.correct for u, _ in runs])),
                accuracy=accuracy(np.concatenate([d.correct for _, d in runs])),
                remark=_halts([d.halts for _, d in runs])
                or _withheld(runs, cards[name].acts_on, len({u.seed for u in units})),
            )
        )
    return tuple(findings), tuple(notes)


def _pooled(parts: Parts, runs: Tried, streams: Streams) -> list[GuessFinding]:
    """Pool every guess over the seeds that have one."""
    names = dict.fromkeys(scored.name for group, _ in parts for scored in group)
    return [
        combine_guess(
            [(s, spread) for group, spread in parts for s in group if s.name == name],
            runs[0][1].columns,
            streams,
        )
        for name in names
    ]


def _strongest(found: Sequence[GuessFinding]) -> GuessFinding:
    return max((g for g in found if g.role == "attack"), key=lambda g: g.leakage.value)


def _with(runs: Tried) -> Parts:
    """Return the scores with the defense in place; a seed in which nothing was released has none."""
    return [(d.scored, d.spread) for _, d in runs if d.scored]


def _without(runs: Tried) -> Parts:
    """Return the scores of the same attacks without the defense, on the columns that stay with it."""
    names = {s.name for _, d in runs for s in d.scored if s.role == "attack"}
    parts: list[tuple[Sequence[Scored], Floats]] = []
    for unit, defended in runs:
        places = np.array([unit.columns.index(column) for column in defended.columns])
        threat = next(t for t in unit.threats if t.threat == defended.threat)
        group = [_narrowed(s, places) for s in threat.scored if s.name in names]
        parts.append((group, sealed(threat.spread[:, places])))
    return parts


def _narrowed(scored: Scored, places: Ints) -> Scored:
    """Return the scores of some columns."""
    return replace(
        scored,
        squared=sealed(scored.squared[:, places]),
        together=sealed(scored.together[:, places]),
        moved=sealed(scored.moved[:, places]),
    )


def _alike(tried: Tried) -> Tried:
    """Return the seeds in which the defense kept the same columns, the most frequent set of them.

    Encodings are learnt on each seed's training records, and a column may be close to the
    partner's with one of them only.
    """
    columns, _ = Counter(d.columns for _, d in tried).most_common(1)[0]
    return [(u, d) for u, d in tried if d.columns == columns]


def _counts(runs: Tried) -> tuple[int, int]:
    """Count the records that were asked about, and those whose scores were released."""
    asked = sum(len(d.correct) for _, d in runs)
    return asked, sum(len(d.scored[0].squared) for _, d in runs if d.scored)


def _halts(halts: Sequence[tuple[int, int]]) -> str:
    """Say how often a detector halted the hijacker, and honest training by mistake."""
    if not halts or halts[0][0] < 0:
        return ""
    caught, false = (sum(pair[i] for pair in halts) for i in (0, 1))
    return (
        f"It halted the hijacker in {caught} of {len(halts)} trainings and honest training by mistake "
        f"in {false} of {len(halts)}. After a halt the model stays as it is, and embeddings of the "
        "targets are still sent."
    )


def _withheld(runs: Tried, acts_on: str, seeds: int) -> str:
    """Say what a gate or a filter kept back: its leakage is that of what was released."""
    asked, released = _counts(runs)
    if acts_on == "gate":
        if released == asked:
            return "It withheld no score: the simulated attack came that close to nobody's record."
        return (
            f"It withheld the scores of {1 - released / asked:.0%} of the records, which count as not "
            "classed. The leakage is that of the others."
        )
    unit, defended = runs[0]
    out = [column for column in unit.columns if column not in defended.columns]
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
