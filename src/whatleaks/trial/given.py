"""A model that was trained elsewhere meets the table: its words, its columns, its classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Bools
from whatleaks.data.holdings import Holdings
from whatleaks.data.naming import listed
from whatleaks.data.preparation import Prepared
from whatleaks.data.schema import read
from whatleaks.errors import TableError, UsageError, argument, choice, nearest
from whatleaks.models.adapters.folding import EncodedColumn, Target, folded, reordered
from whatleaks.models.adapters.given import Coding, Core, GivenModel, word_of
from whatleaks.wire.parties import ACTIVE

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 10  # rows on either side of the line between trained on and not


def training_rows(frame: pd.DataFrame, column: str) -> tuple[pd.DataFrame, Bools]:
    """Take the column that says which rows trained out of the table; 1, true or yes: trained."""
    said, names = argument("trained_on"), [str(name) for name in frame.columns]
    if column not in names:
        raise UsageError(f"{said} {column!r} is no column of the table.{nearest(column, names)}")
    words = frame[column].map(lambda value: word_of(value).strip().lower()).to_numpy(dtype=object)
    yes = np.isin(words, ("1", "true", "yes"))
    if not (yes | np.isin(words, ("0", "false", "no"))).all():
        raise TableError(
            f"{said} {column!r} must say 0 or 1 (true or false, yes or no) in every row."
        )
    if min(yes.sum(), (~yes).sum()) < FEWEST:
        raise TableError(
            f"{said} {column!r} marks {int(yes.sum())} of {len(yes)} rows: an audit needs at least "
            f"{FEWEST} that trained and {FEWEST} that did not."
        )
    return frame.drop(columns=column), np.asarray(yes, dtype=np.bool_)


def as_the_model_reads(
    frame: pd.DataFrame, given: GivenModel, missing: str = "refuse"
) -> pd.DataFrame:
    """Return the table with the words that the model's encoders read as its encoders read them.

    A column that they number holds these numbers then; one that they make one-hot holds
    categories, even if it was written in numbers. All other columns must hold numbers. Where gaps
    are to be filled (``missing``), the model's own imputer does it.
    """
    lacking = [name for name in given.columns if name not in frame.columns]
    if lacking:
        raise UsageError(
            f"the model takes column {listed(lacking)}, which the table does not have."
        )
    coded = {coding.column: coding for coding in given.codings}
    seen = frame.copy(deep=False)
    if missing == "median":
        for name, value in given.fills:
            seen[name] = _without_gaps(seen[name], value)
    for name in given.columns:
        if name in coded:
            seen[name] = _coded(seen[name], coded[name])
        elif read(name, seen[name]).numbers is None:
            if all(feature.column != name for feature in given.features):
                raise _not_taken([name])
            raise TableError(
                f"column {name!r} holds words, where the model takes numbers: give the table as the "
                "model reads it, or the pipeline with its encoder."
            )
    return seen


def _without_gaps(series: pd.Series[Any], value: float | str) -> pd.Series[Any]:
    """Put the imputer's value where a cell is empty."""
    if not series.isna().any():
        return series
    return series.astype(object if isinstance(value, str) else np.float64).fillna(value)


def gap_notes(frame: pd.DataFrame, given: GivenModel) -> tuple[str, ...]:
    """Say in which columns of a table, as the model reads it, the audit itself fills gaps."""
    left = [name for name in given.columns if frame[name].isna().any()]
    if not left:
        return ()
    return (
        f"Gaps in {listed(left, at_most=len(left))} were filled here by the median or the most "
        "frequent value: what the model says of these people with its own way to treat a gap was "
        "not audited.",
    )


def _coded(series: pd.Series[Any], coding: Coding) -> Any:
    import pandas as pd

    words = series.map(word_of, na_action="ignore").astype(object)
    known = words.dropna().unique().tolist()
    others = sorted(set(known) - set(coding.words))
    if others and coding.other is None:
        raise TableError(
            f"column {coding.column!r} holds {len(others)} words that the model's encoder does not "
            "know: leave those rows out."
        )
    if known and len(others) == len(known):
        raise TableError(
            f"column {coding.column!r} holds no word that the model's encoder knows: write its words as "
            "the table has them that trained the model."
        )
    if coding.one_hot:
        return pd.Categorical(words, categories=[*coding.words, *others], ordered=True)
    codes = dict(zip(coding.words, coding.codes, strict=True)) | dict.fromkeys(others, coding.other)
    return words.map(codes).astype(np.float64)


def over_columns(
    given: GivenModel, prepared: Prepared, holdings: Holdings, frame: pd.DataFrame
) -> Core:
    """Return the model over the joined encoded columns, its classes in the label's order."""
    one_hot = {coding.column for coding in given.codings if coding.one_hot}
    _same_columns(given, prepared)
    columns = []
    for party, values in holdings.columns.items():
        bounded = (values.min(axis=0) >= 0.0) & (values.max(axis=0) <= 1.0)
        for name, within in zip(holdings.names[party], bounded, strict=True):
            source = prepared.sources[name]
            if source in one_hot and not name.startswith(f"{source}="):
                raise TableError(
                    f"column {source!r} has too many categories to tell them apart: leave the "
                    "model's one-hot encoder a column with fewer."
                )
            word = name.removeprefix(f"{source}=") if source in one_hot else None
            low, high = prepared.scales[name]
            columns.append(EncodedColumn(source, word, low, high, bool(within)))
    fixed = {
        column.name: _only_value(frame, column.name, column.name in one_hot)
        for column in prepared.columns
        if column.owner != "label" and not column.encoded_as
    }
    target = Target(tuple(columns), fixed, holdings.columns[ACTIVE].shape[1])
    order = class_order(given, prepared.classes)
    return reordered(folded(given.core, given.features, target), order)


def _only_value(frame: pd.DataFrame, column: str, word: bool) -> float | str:
    value = frame[column].dropna().iloc[0]
    return word_of(value) if word else float(value)


def _same_columns(given: GivenModel, prepared: Prepared) -> None:
    held = [column.name for column in prepared.columns if column.owner != "label"]
    lacking = [name for name in given.columns if name not in held]
    if lacking:
        raise UsageError(
            f"the model takes column {listed(lacking)}, which {argument('drop')} leaves out."
        )
    unused = [name for name in held if name not in given.columns]
    if unused:
        raise _not_taken(unused)


def _not_taken(columns: Sequence[str]) -> UsageError:
    names = list(columns)
    return UsageError(
        f"the model does not take column {listed(names)}: use {choice('drop', names)}."
    )


def class_order(given: GivenModel, classes: Sequence[str]) -> list[int]:
    """Return the model's class number of every class of the label."""
    if given.core.classes != len(classes):
        raise UsageError(
            f"the model knows {given.core.classes} classes, the label has {len(classes)} "
            f"({listed(list(classes))})."
        )
    numbers = tuple(str(number) for number in range(len(classes)))
    if not given.classes and set(classes) == set(numbers):
        return [numbers.index(name) for name in classes]  # words may be sorted: 0, 1, 10, 2
    if not given.classes or (given.classes == numbers and set(classes) != set(numbers)):
        return list(range(len(classes)))  # numbered, in the sorted order of the label's values
    if set(given.classes) != set(classes):
        raise UsageError(
            f"the model's classes are {listed(list(given.classes))}, the label's "
            f"{listed(list(classes))}: name the label that it was trained on."
        )
    return [given.classes.index(name) for name in classes]
