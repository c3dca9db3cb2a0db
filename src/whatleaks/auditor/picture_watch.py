"""Detectors and defenses in an audit of pictures: halts, what was told by then, what honesty pays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.auditor.combine import Entry
from whatleaks.auditor.picture_result import DetectorFinding, PictureDefense, WatchFinding
from whatleaks.auditor.pool import over_seeds
from whatleaks.auditor.worth import accuracy
from whatleaks.catalog import Card, card
from whatleaks.metrics.intervals import clipped, wilson
from whatleaks.metrics.measurement import Measurement

MOST = 4.0  # of a squared difference of pixels from -1 to 1


def detector_findings(entries: Sequence[Entry]) -> tuple[DetectorFinding, ...]:
    """Return what each detector halted: every hijack that it watched, and honest training."""
    found = []
    for name in dict.fromkeys(e.scenario.detector for e in entries if e.scenario.detector):
        mine = [e for e in entries if e.scenario.detector == name]
        honest = [e for e in mine if not e.scenario.attacks]
        watched = []
        for hijack in dict.fromkeys(a for e in mine for a in e.scenario.attacks):
            runs = [e for e in mine if hijack in e.scenario.attacks]
            watched.append(
                WatchFinding(
                    hijack,
                    name,
                    sum(map(halted, runs)),
                    len(runs),
                    tuple(_steps(run) for run in runs),
                    error_of(runs, hijack),
                    over_seeds([number(run, f"{hijack} adds") for run in runs]),
                )
            )
        part = card("detector", name)
        false = wilson(sum(map(halted, honest)), len(honest), "rate", "seeds")
        grants = tuple(grant.value for grant in getattr(part.part, "grants", ()))
        found.append(
            DetectorFinding(name, part.title, grants, false, tuple(watched), _silent(part, mine))
        )
    return tuple(found)


def _silent(part: Card, entries: Sequence[Entry]) -> str:
    """Say that trainings were too short for a detector to judge any, by the scores that it gave."""
    built = part.build(**({"classes": 2} if part.takes("classes") else {}))
    least = getattr(built, "least_scores", 1)
    given = max(len(_scores(entry)) for entry in entries)
    if given >= least:
        return ""
    steps = max(map(_steps, entries))
    return (
        f"It judges once it has {least} scores and gave at most {given} in {steps} steps: so short a training it "
        "cannot halt, whoever plays."
    )


def _scores(entry: Entry) -> list[float]:
    scores = entry.outcome.measurements.get("detector scores", [])
    assert isinstance(scores, list)
    return scores


def halted(entry: Entry) -> bool:
    """Say whether a training was halted."""
    return bool(entry.outcome.measurements["halted"])


def _steps(entry: Entry) -> int:
    steps = entry.outcome.measurements["steps"]
    assert isinstance(steps, int)
    return steps


def number(entry: Entry, name: str) -> Measurement:
    """Return a number of a trial, of an attack or of a baseline."""
    value = entry.outcome.measurements.get(name, entry.outcome.baselines.get(name))
    assert isinstance(value, Measurement), name
    return value


def error_of(runs: Sequence[Entry], guess: str) -> Measurement:
    """Return a guess's error of pixels over seeds, within what is possible."""
    return clipped(over_seeds([number(run, f"{guess} pixels") for run in runs]), 0.0, MOST)


def defense_findings(entries: Sequence[Entry]) -> tuple[PictureDefense, ...]:
    """Return every hijack with every defense that was tried, and accuracy without and with it."""
    found = []
    plain = [e for e in entries if e.plain]
    before = _accuracy([e for e in plain if not e.scenario.attacks])
    for name in dict.fromkeys(e.scenario.defense for e in entries if e.scenario.defense):
        mine = [e for e in entries if e.scenario.defense == name]
        after = _accuracy([e for e in mine if not e.scenario.attacks])
        for hijack in dict.fromkeys(a for e in mine for a in e.scenario.attacks):
            runs = [e for e in mine if hijack in e.scenario.attacks]
            free = [e for e in plain if hijack in e.scenario.attacks]
            found.append(
                PictureDefense(
                    name,
                    card("defense", name).title,
                    hijack,
                    error_of(free, hijack),
                    error_of(runs, hijack),
                    over_seeds([number(run, f"{hijack} adds") for run in runs]),
                    before,
                    after,
                )
            )
    return tuple(found)


def _accuracy(honest: Sequence[Entry]) -> Measurement:
    return accuracy(np.concatenate([e.records.correct for e in honest]))
