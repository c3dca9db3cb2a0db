"""Hijack against detector: who was halted when, and what had been told by then, from what is stored.

SplitGuard and Gradient Scrutinizer come from the runs of Y06 (four seeds), the comparison of lengths and
the echo from the gallery (three seeds); all are trainings of 400 steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whatleaks.metrics.measurement import Measurement
from whatleaks.papers.comparison import ratio_of, told
from whatleaks.papers.grouping import scenario_of, value
from whatleaks.papers.yao_detectors import HONEST, SCRUTINIZER, SPLITGUARD, role_of
from whatleaks.papers.yao_gallery import GAME, MORE_DETECTORS
from whatleaks.papers.yao_setup import BAR, BREAKING, SHORT
from whatleaks.runs.record import Record

DETECTORS = (SPLITGUARD, SCRUTINIZER, *MORE_DETECTORS)


@dataclass(frozen=True)
class Match:
    """One role under one detector: seed by seed, whether it was halted, after how many steps, the errors then.

    ``bars`` are errors of the regression without messages; an honest party has neither.
    """

    halted: tuple[bool, ...]
    steps: tuple[int, ...]
    errors: tuple[float, ...] = ()
    bars: tuple[float, ...] = ()

    @property
    def ended(self) -> list[int]:
        """The seeds that were halted, by their places."""
        return [place for place, halted in enumerate(self.halted) if halted]

    def over_bar(self) -> Measurement | None:
        """Return the error over the regression's when the halts came, if there are any."""
        pairs = [(self.errors[i], self.bars[i]) for i in self.ended]
        return ratio_of(pairs) if pairs else None


def matches(
    gallery: Mapping[str, Any], watched: Sequence[Record]
) -> dict[tuple[str, str, str], Match]:
    """Return every match by set, detector and role."""
    found = {
        (dataset, detector, role): Match(
            *(tuple(at[key]) for key in ("halted", "steps", "error", "bar"))
        )
        for dataset, detectors in gallery["halts"].items()
        for detector, roles in detectors.items()
        for role, at in roles.items()
    }
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in watched:
        scenario = scenario_of(record)
        key = (scenario.dataset, scenario.detector, role_of(record))
        groups.setdefault(key, []).append(record)
    for (dataset, detector, role), records in groups.items():
        names = () if role == HONEST else (f"{role} standardised", f"{BAR} standardised")
        found[dataset, detector, role] = Match(
            tuple(bool(record.measurements["halted"]) for record in records),
            tuple(int(value(record, "steps")) for record in records),
            *(tuple(value(record, name) for record in records) for name in names),
        )
    return found


def game_table(gallery: Mapping[str, Any], watched: Sequence[Record]) -> str:
    """Write all matches as a table: halts, mean steps, error over the regression's by then."""
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
    ended, over = match.ended, match.over_bar() if match.errors else None
    said = f"{len(ended)} of {len(match.halted)}"
    if ended:
        said += f" at {np.mean([match.steps[i] for i in ended]):.0f}"
    return (
        said
        if over is None
        else f"{said}: {told(over, 1) if len(ended) > 1 else f'{over.value:.1f}'}"
    )
