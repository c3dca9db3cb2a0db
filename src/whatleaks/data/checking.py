"""One look at a table before anything runs: how it is read, all problems, arguments that would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.data.preparation import LEAVES, kept_rows, prepare, read_columns, read_label
from whatleaks.data.problems import (
    Choices,
    Problem,
    TableProblems,
    about_columns,
    about_gaps,
    about_names,
    about_rows,
    diagnose,
)
from whatleaks.data.schema import Column
from whatleaks.data.suspects import about_missing_codes
from whatleaks.data.written import read_written
from whatleaks.errors import TableError, WhatleaksError

if TYPE_CHECKING:
    import pandas as pd

FEWER_CLASSES = 2  # what a numeric label with rare values is cut into, as a remedy


@dataclass(frozen=True)
class Checked:
    """A table as it will be audited, what was done to read it, and what is wrong with it.

    ``doubts`` are values that may not be what they look like: only the user knows.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...]
    doubts: tuple[str, ...]
    columns: tuple[Column, ...]
    problems: tuple[Problem, ...]
    ready: dict[str, Any] | None

    def refuse(self) -> None:
        """Raise if anything is wrong: one problem as itself, several as a list."""
        if self.problems:
            raise TableProblems(self.problems, self.ready)


def check_table(frame: pd.DataFrame, chosen: Mapping[str, Any], thorough: bool = False) -> Checked:
    """Check a table against the arguments of an audit: names as in ``whatleaks.audit``.

    ``as_is`` among them are columns whose words a given model's encoder reads. ``thorough`` also
    encodes, splits and scales it, as every trial will.
    """
    read, notes, _ = read_written(frame, **_reading(chosen))

    def find(table: pd.DataFrame, arguments: Mapping[str, Any]) -> list[Problem]:
        return _find(table, arguments, thorough or arguments is not chosen)

    problems, ready = diagnose(frame, chosen, find)
    columns: tuple[Column, ...] = ()
    if thorough:
        names = [str(name) for name in read.columns]
        columns = tuple(v.column for v in read_columns(read, names).values())
        notes = (*notes, *_about_label(read, chosen))
    doubts = tuple(about_missing_codes(read, chosen["label"], chosen["drop"]))
    return Checked(read, notes, doubts, columns, problems, ready)


def flat(passive: Any) -> tuple[str, ...]:
    """Return all passive columns, whichever party has them."""
    if isinstance(passive, Mapping):
        passive = list(passive.values())
    if isinstance(passive, str):
        return (passive,)
    return tuple(
        name for entry in passive for name in ((entry,) if isinstance(entry, str) else tuple(entry))
    )


def _about_label(frame: pd.DataFrame, chosen: Mapping[str, Any]) -> tuple[str, ...]:
    """Say what becomes of a label that is a number; whatever is wrong with it is said elsewhere."""
    label = chosen["label"]
    if list(frame.columns).count(label) != 1:
        return ()
    known = frame[frame[label].notna()]
    with suppress(WhatleaksError, ValueError):
        return read_label(read_columns(known, [label])[label], chosen["bins"]).notes
    return ()


def _reading(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return what decides how words are read as numbers."""
    reading = {key: chosen[key] for key in ("decimal", "thousands", "na", "encode_text")}
    return {**reading, "as_is": chosen.get("as_is", ())}


def _find(frame: pd.DataFrame, chosen: Mapping[str, Any], thorough: bool) -> list[Problem]:
    frame, _, found = read_written(frame, **_reading(chosen))
    label, passive, drop = chosen["label"], flat(chosen["passive"]), chosen["drop"]
    names = [str(name) for name in frame.columns]
    problems = [p for p in found if p.column not in drop]
    problems += about_names(names, label, passive, drop)
    choices = Choices(
        chosen["missing"],
        chosen["categories"],
        chosen["encode_text"],
        "drop" if chosen["drop_constant"] else "refuse",
        chosen["scale_on"],
    )
    rows = list(about_rows(len(frame)))
    features = [name for name in names if name != label and name not in set(drop)]
    if rows or label not in names or len(set(names)) < len(names) or not features:
        return problems + rows
    problems += _about_values(frame, label, features, set(passive), choices, chosen, problems)
    if thorough and not problems:
        problems += _prepared(frame, label, passive, drop, choices, chosen["bins"])
    return problems


def _about_values(
    frame: pd.DataFrame,
    label: str,
    features: Sequence[str],
    passive: set[str],
    choices: Choices,
    chosen: Mapping[str, Any],
    before: Sequence[Problem],
) -> list[Problem]:
    """Find what is wrong with single columns, and with the rows that gaps leave."""
    values = read_columns(frame, [*features, label])
    reported = {problem.column for problem in before}
    problems = list(about_columns(values, features, passive, choices, reported))
    gapless = [name for name in features if name not in reported]
    problems += about_gaps(values, gapless, label, choices)
    if choices.missing != "refuse":
        kept = kept_rows(values, gapless, label, choices, [])
        if kept.size < len(frame):
            few = list(about_rows(kept.size, LEAVES))
            if few:
                return problems + few
            values = read_columns(frame.iloc[kept], [*features, label])
    if label in reported or any("missing" in problem.remedy for problem in problems):
        return problems  # a label with gaps or words of its own is looked at without them
    try:
        read_label(values[label], chosen["bins"])
    except WhatleaksError as refused:
        numeric = values[label].numbers is not None and chosen["bins"] is None
        remedy = {"bins": FEWER_CLASSES} if numeric and "bins" in str(refused) else {}
        problems.append(Problem(str(refused), remedy, type(refused)))
    return problems


def _prepared(
    frame: pd.DataFrame,
    label: str,
    passive: Sequence[str],
    drop: Sequence[str],
    choices: Choices,
    bins: int | None,
) -> list[Problem]:
    """Prepare it as a trial would; what only shows there is a problem too."""
    try:
        prepare(
            frame,
            label,
            passive,
            rng=np.random.default_rng(0),
            missing=choices.missing,  # type: ignore[arg-type]  # checked above
            categories=choices.categories,  # type: ignore[arg-type]
            drop=drop,
            encode_text=choices.encode_text,
            constant=choices.constant,  # type: ignore[arg-type]
            scale_on=choices.scale_on,  # type: ignore[arg-type]
            bins=bins,
        )
    except TableError as refused:
        return [Problem(str(refused))]
    return []
