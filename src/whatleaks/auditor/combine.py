"""From units to findings: pool the records of all seeds, put intervals on every number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.attacks.registry import ATTACKS
from whatleaks.auditor.evaluator import Scored
from whatleaks.auditor.result import (
    ColumnFinding,
    GuessFinding,
    ThreatFinding,
)
from whatleaks.auditor.units import UnitResult
from whatleaks.metrics.association import followed
from whatleaks.metrics.intervals import (
    clipped,
    leakage_over_records,
    mean_over_records,
    mean_over_seeds,
    wilson,
)
from whatleaks.metrics.measurement import Measurement
from whatleaks.seeds import Streams
from whatleaks.threat.registry import threat_model

ERROR_UNIT = "mean squared error"
TITLES = {
    "uniform": ("A random number between 0 and 1", "Luo et al. 2021"),
    "gaussian": ("A random number around one half", "Luo et al. 2021"),
    "half": ("Always one half", "Varasteh"),
    "auxiliary-mean": ("The average of the auxiliary records", ""),
    "auxiliary-regression": ("A regression on the auxiliary records, without any message", ""),
    "limit": ("The limit: a regressor that has learnt from other people's truth", ""),
    "alone": ("The same regressor without the federation: the partner's own columns only", ""),
} | {card.name: (card.title, card.paper) for card in ATTACKS}


def recovered(squared: Floats, deviations: Floats, rng: np.random.Generator) -> Measurement:
    """Return 1 - error / variance within [0, 1]; a column that does not vary has nothing to recover."""
    if float(deviations.sum()) <= 0.0:
        return Measurement(0.0, 0.0, 0.0, len(squared), "recovered", "records")
    return clipped(leakage_over_records(squared, deviations, rng), 0.0, 1.0)


def widened(pooled: Measurement, per_seed: Sequence[float]) -> Measurement:
    """Widen an interval over pooled records so that it also covers the t interval over seeds.

    Seeds share records and train different models, so records alone would say too much.
    """
    if len(per_seed) < 2:
        return pooled
    seeds = clipped(mean_over_seeds(per_seed, pooled.unit), 0.0, 1.0)
    return Measurement(
        pooled.value,
        min(pooled.low, seeds.low),
        max(pooled.high, seeds.high),
        pooled.n,
        pooled.unit,
        "records and seeds",
    )


def mean_of(parts: Sequence[Measurement]) -> Measurement:
    """Average columns; the interval's ends are averaged too, which is cautious: columns move together."""
    first = parts[0]
    value, low, high = (
        float(np.mean([getattr(part, end) for part in parts])) for end in ("value", "low", "high")
    )
    return Measurement(value, low, high, first.n, first.unit, first.over)


def combine_guess(
    parts: Sequence[tuple[Scored, Floats]], columns: Sequence[str], streams: Streams
) -> GuessFinding:
    """Pool one guess over seeds. ``parts`` holds its scores and the targets' spread per seed."""
    first = parts[0][0]
    squared, together, moved = (
        np.concatenate([getattr(scored, name) for scored, _ in parts])
        for name in ("squared", "together", "moved")
    )
    deviations = np.concatenate([spread for _, spread in parts])
    rng = streams.rng(f"interval/{first.name}")
    title, paper = TITLES.get(first.name, (first.name, ""))
    per_seed = [float(scored.squared.mean()) for scored, _ in parts]
    by_column = tuple(
        ColumnFinding(
            column,
            clipped(mean_over_records(squared[:, j], ERROR_UNIT, rng), 0.0, np.inf),
            widened(
                followed(together[:, j], moved[:, j], deviations[:, j]),
                [
                    followed(s.together[:, j], s.moved[:, j], spread[:, j]).value
                    for s, spread in parts
                ],
            ),
            recovered(squared[:, j], deviations[:, j], rng),
        )
        for j, column in enumerate(columns)
    )
    return GuessFinding(
        name=first.name,
        title=title,
        role=first.role,
        paper=paper,
        error=clipped(mean_over_records(squared.mean(axis=1), ERROR_UNIT, rng), 0.0, np.inf),
        leakage=mean_of([found.leakage for found in by_column]),
        recovered=mean_of([found.recovered for found in by_column]),
        columns=by_column,
        over_seeds=mean_over_seeds(per_seed, ERROR_UNIT) if len(per_seed) > 1 else None,
        alternatives=max(scored.alternatives for scored, _ in parts),
        isolated=all(scored.isolated for scored, _ in parts),
        seconds=float(sum(scored.seconds for scored, _ in parts)),
        settings=dict(first.settings),
    )


def combine_threats(units: Sequence[UnitResult], streams: Streams) -> tuple[ThreatFinding, ...]:
    """Pool every threat over the seeds in which it ran."""
    names = list(dict.fromkeys(t.threat for unit in units for t in unit.threats))
    findings = []
    for name in names:
        runs = [(u, t) for u in units for t in u.threats if t.threat == name]
        guesses = list(dict.fromkeys(s.name for _, t in runs for s in t.scored))
        threat = threat_model(name)
        findings.append(
            ThreatFinding(
                name=name,
                sentence=repr(threat),
                conduct=threat.conduct.value,
                grants=tuple(sorted(grant.value for grant in threat.grants)),
                federation=runs[0][0].federation,
                findings=tuple(
                    combine_guess(
                        [(s, t.spread) for _, t in runs for s in t.scored if s.name == guess],
                        runs[0][0].columns,
                        streams.under(name),
                    )
                    for guess in guesses
                ),
                notes=tuple(dict.fromkeys(note for _, t in runs for note in t.notes)),
            )
        )
    return tuple(findings)


def accuracy(hits: Sequence[int] | np.ndarray[Any, Any]) -> Measurement:
    """Return the share of records classed right, with Wilson's interval."""
    array = np.asarray(hits)
    return wilson(int(array.sum()), len(array), "accuracy")
