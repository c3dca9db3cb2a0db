"""Hijack against detector: who was halted when, and what had been told by then, from what is stored.

SplitGuard and Gradient Scrutinizer come from the runs of Y06, the comparison of lengths and the echo from
the gallery; all are trainings of 400 steps, of the same three seeds. So is the bar: the regression of the
gallery's unwatched trainings, whose records are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whatleaks.runs.grouping import scenario_of, value
from whatleaks.runs.record import Record
from whatleaks_lab.papers.yao_detectors import HONEST, SCRUTINIZER, SPLITGUARD, role_of
from whatleaks_lab.papers.yao_gallery import GAME, GAME_SEEDS, MORE_DETECTORS, WATCHED
from whatleaks_lab.papers.yao_setup import BREAKING, SHORT

DETECTORS = (SPLITGUARD, SCRUTINIZER, *MORE_DETECTORS)


@dataclass(frozen=True)
class Match:
    """One role under one detector: seed by seed, whether it was halted, after how many steps, the errors then.

    ``bars`` are errors of the regression without messages; an honest party has no errors.
    """

    halted: tuple[bool, ...]
    steps: tuple[int, ...]
    errors: tuple[float, ...] = ()
    bars: tuple[float, ...] = ()

    @property
    def ended(self) -> list[int]:
        """The seeds that were halted, by their places."""
        return [place for place, halted in enumerate(self.halted) if halted]

    def over_bar(self) -> list[float]:
        """Return the error over the regression's when the halts came, seed by seed."""
        return [self.errors[i] / self.bars[i] for i in self.ended]


def matches(
    gallery: Mapping[str, Any], watched: Sequence[Record]
) -> dict[tuple[str, str, str], Match]:
    """Return every match by set, detector and role."""
    bars = {
        dataset: tuple(courses[BREAKING[0]][str(WATCHED)]["bar"])
        for dataset, courses in gallery["courses"].items()
    }
    found = {
        (dataset, detector, role): Match(
            tuple(at["halted"]), tuple(at["steps"]), tuple(at["error"]), bars[dataset]
        )
        for dataset, detectors in gallery["halts"].items()
        for detector, roles in detectors.items()
        for role, at in roles.items()
    }
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in sorted(watched, key=lambda one: scenario_of(one).seed):
        scenario = scenario_of(record)
        if scenario.seed in GAME_SEEDS:
            key = (scenario.dataset, scenario.detector, role_of(record))
            groups.setdefault(key, []).append(record)
    for (dataset, detector, role), records in groups.items():
        errors = () if role == HONEST else (value(r, f"{role} standardised") for r in records)
        found[dataset, detector, role] = Match(
            tuple(bool(record.measurements["halted"]) for record in records),
            tuple(int(value(record, "steps")) for record in records),
            tuple(errors),
            bars[dataset],
        )
    return found


def game_table(gallery: Mapping[str, Any], watched: Sequence[Record]) -> str:
    """Write all matches as a table: halts, mean steps, least and most error over the regression's by then."""
    found = matches(gallery, watched)
    rows = []
    for dataset in GAME:
        roles = (HONEST, *BREAKING)
        head = " | ".join(roles)
        rows += [f"| {SHORT[dataset]} | {head} |", "|---" * (1 + len(roles)) + "|"]
        for detector in DETECTORS:
            cells = [_cell(found[dataset, detector, role]) for role in roles]
            rows.append(f"| {detector} | {' | '.join(cells)} |")
        rows.append("")
    return "\n".join(rows)


def _cell(match: Match) -> str:
    ended = match.ended
    said = f"{len(ended)} of {len(match.halted)}"
    if ended:
        said += f" at {np.mean([match.steps[i] for i in ended]):.0f}"
    if not ended or not match.errors:
        return said
    over = match.over_bar()
    return f"{said}: {min(over):.1f} to {max(over):.1f}"
