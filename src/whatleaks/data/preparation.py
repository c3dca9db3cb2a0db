"""From a table to what two parties train on: numbers, labels and a split.

The choices that change numbers are arguments, and each refusal names the column and the flag.
Scaling: min-max to [0, 1], fitted on the training rows. A target row beyond that range keeps
its value, so it may lie outside [0, 1]: clipping would change what is to be protected. The
papers scale on the whole set; that is ``scale_on="all"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, seal, sealed, sealed_ints
from whatleaks.data.bins import quantile_bins
from whatleaks.data.column_grids import table_grids
from whatleaks.data.naming import listed
from whatleaks.data.problems import (
    Choices,
    about_columns,
    about_gaps,
    about_names,
    about_rows,
    holes,
    raise_first,
)
from whatleaks.data.schema import Values, read
from whatleaks.errors import TableError, UsageError, argument, choice
from whatleaks.models.grids import Grids

if TYPE_CHECKING:
    import pandas as pd

LEAVES = "the table without rows that have gaps"
FAR = 1e6  # training ranges: no value of a column is that far off but by mistake
REGRESSION_BINS = 4  # classes that a regression target is cut into
MOST_CLASSES = 100  # a number with more values is a regression target however many rows there are


@dataclass(frozen=True)
class PreparedColumn:
    """A column of the table: its kind, who holds it, and under which names it was encoded."""

    name: str
    kind: str
    owner: str  # "active", "passive" or "label"
    encoded_as: tuple[str, ...]
    spans: tuple[float, ...] = ()  # what 0 to 1 stands for in each, in the table's own units


@dataclass(frozen=True)
class Prepared:
    """A table ready for a vertical federation.

    ``training`` and ``targets`` index the rows of the arrays and share none; ``rows`` are the
    positions of these rows in the user's table (``missing="drop-rows"`` leaves some out).
    ``sources`` maps each encoded column to the table's own.
    """

    active: Floats
    passive: Floats
    labels: Ints
    classes: tuple[str, ...]
    active_columns: tuple[str, ...]
    passive_columns: tuple[str, ...]
    sources: dict[str, str]
    columns: tuple[PreparedColumn, ...]
    training: Ints
    targets: Ints
    rows: Ints
    notes: tuple[str, ...] = ()
    grids: Grids = field(default_factory=lambda: Grids(()))  # of the passive columns
    scales: dict[str, tuple[float, float]] = field(default_factory=dict)  # what became 0 and 1
    # A numeric label that was cut into classes, scaled to [0, 1], and what 0 and 1 are.
    target: Floats | None = None
    target_range: tuple[float, float] = (0.0, 1.0)


def prepare(
    frame: pd.DataFrame,
    label: str,
    passive: Sequence[str],
    *,
    rng: np.random.Generator,
    missing: Literal["refuse", "median", "drop-rows"] = "refuse",
    categories: Literal["ordinal", "one-hot", "target-mean"] = "ordinal",
    drop: Sequence[str] = (),
    encode_text: bool = False,
    constant: Literal["refuse", "drop"] = "refuse",
    scale_on: Literal["training", "all"] = "training",
    training_fraction: float = 0.8,
    bins: int | None = None,
    trained: Bools | None = None,
) -> Prepared:
    """Encode, split and scale a table whose ``passive`` columns another party holds.

    - ``missing``: "median" fills numbers with the training rows' median and words with their
      most frequent value, and leaves out rows without a label. Infinite numbers count as missing there.
    - ``categories``: "ordinal" numbers the words in sorted order; "one-hot" makes a column of
      each; "target-mean" gives the mean class number within the category over the training
      rows, which the active party would have to share. The vocabulary is the whole table's:
      the parties agree on it beforehand.
    - ``encode_text``: free text is numbered like an ordinal category, never one-hot.
    - ``bins``: cuts a numeric label into quantile classes. A label with too many values for
      classes is cut into quarters without being asked; a note says so.
    - ``trained``: which rows train, where that is no longer to be chosen.
    """
    choices = Choices(missing, categories, encode_text, constant, scale_on)
    if not 0.0 < training_fraction < 1.0:
        raise UsageError(f"a training fraction of {training_fraction} is not between 0 and 1.")
    names = [str(name) for name in frame.columns]
    raise_first(about_names(names, label, passive, drop))
    theirs, gone = frozenset(passive), frozenset(drop)
    features = [name for name in names if name != label and name not in gone]
    raise_first(about_rows(len(frame)))
    notes: list[str] = []

    values = read_columns(frame, [*features, label])
    raise_first(about_columns(values, features, theirs, choices))
    raise_first(about_gaps(values, features, label, choices))
    kept = kept_rows(values, features, label, choices, notes)
    if kept.size < len(frame):
        raise_first(about_rows(kept.size, LEAVES))
        values = read_columns(frame.iloc[kept], [*features, label])

    target = read_label(values[label], bins)
    notes += target.notes
    labels, classes = target.codes, target.classes
    raise_first(about_columns(values, features, theirs, choices))
    used = [name for name in features if values[name].column.kind != "constant"]
    constants = [name for name in features if name not in used]
    if constants:
        notes.append(f"constant columns left out: {listed(constants, at_most=len(constants))}")
    if trained is None:
        training, targets = split(labels, training_fraction, rng)
    else:
        training, targets = np.flatnonzero(trained[kept]), np.flatnonzero(~trained[kept])

    encoded: dict[str, dict[str, Floats]] = {}
    for name in used:
        filled = _filled(values[name], training, choices)
        encoded[name] = _encoded(filled, labels, training, choices)
    sources = _sources(encoded)
    sides, spans = {}, dict[str, float]()
    scales: dict[str, tuple[float, float]] = {}
    for owner in ("active", "passive"):
        mine = [name for name in used if (name in theirs) == (owner == "passive")]
        columns = {column: vector for name in mine for column, vector in encoded[name].items()}
        scaled, low, high = _scaled(columns, sources, training, choices, notes)
        sides[owner] = (scaled, tuple(columns))
        scales.update(zip(columns, zip(low.tolist(), high.tolist(), strict=True), strict=True))
        with np.errstate(over="ignore"):
            spans |= dict(zip(columns, (high - low).tolist(), strict=True))
    means = [n for n in used if choices.categories == "target-mean" and values[n].numbers is None]
    grids = table_grids(columns, sources, low, high, means)  # of the passive side, the last one
    return Prepared(
        active=sides["active"][0],
        passive=sides["passive"][0],
        labels=sealed_ints(labels),
        classes=classes,
        active_columns=sides["active"][1],
        passive_columns=sides["passive"][1],
        sources=sources,
        columns=(
            *(
                PreparedColumn(
                    name,
                    values[name].column.kind,
                    "passive" if name in theirs else "active",
                    tuple(encoded.get(name, {})),
                    tuple(spans[column] for column in encoded.get(name, {})),
                )
                for name in features
            ),
            PreparedColumn(label, values[label].column.kind, "label", ()),
        ),
        training=sealed_ints(training),
        targets=sealed_ints(targets),
        rows=sealed_ints(kept),
        notes=tuple(notes),
        grids=grids,
        scales=scales,
        target=target.values,
        target_range=target.span,
    )


def split(labels: Ints, fraction: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Split the rows by class: ``fraction`` of each class trains, the rest are the targets.

    Every class has at least one row on each side; both sides are in the order of the table.
    """
    chosen = np.zeros(labels.size, dtype=np.bool_)
    shuffled = rng.permutation(labels.size)
    grouped = shuffled[np.argsort(labels[shuffled], kind="stable")]
    start = 0
    for size in np.bincount(labels):
        share = min(max(round(fraction * int(size)), 1), int(size) - 1)
        chosen[grouped[start : start + share]] = True
        start += int(size)
    return np.flatnonzero(chosen).astype(np.int64), np.flatnonzero(~chosen).astype(np.int64)


def read_columns(frame: pd.DataFrame, wanted: Sequence[str]) -> dict[str, Values]:
    """Read some columns of a table whose names are words."""
    place = {str(name): i for i, name in enumerate(frame.columns)}
    return {name: read(name, frame.iloc[:, place[name]]) for name in wanted}


def kept_rows(
    values: Mapping[str, Values],
    features: Sequence[str],
    label: str,
    choices: Choices,
    notes: list[str],
) -> Ints:
    """Return the rows to keep: those with a label, or without any gap; infinite numbers are said."""
    rows = holes(values[label])[0].size
    gone = np.zeros(rows, dtype=np.bool_)
    for name in [*features, label]:
        gaps, infinite = holes(values[name])
        if name != label and values[name].column.kind == "constant":
            continue
        if infinite.any():
            notes.append(
                f"{int(infinite.sum())} infinite values in {name!r} were treated as missing"
            )
        if choices.missing == "drop-rows" or name == label:
            gone |= gaps | infinite
    if gone.any():
        what = "missing values" if choices.missing == "drop-rows" else "a missing label"
        notes.append(f"{int(gone.sum())} of {rows} rows with {what} were left out")
    return np.flatnonzero(~gone).astype(np.int64)


@dataclass(frozen=True)
class Label:
    """The classes of a label; of a number that was cut into them also its values in [0, 1]."""

    codes: Ints
    classes: tuple[str, ...]
    values: Floats | None = None
    span: tuple[float, float] = (0.0, 1.0)
    notes: tuple[str, ...] = ()


def read_label(values: Values, bins: int | None) -> Label:
    """Return the classes of a label column; refuse what cannot be classified."""
    label = values.column.name
    if values.column.kind == "nested":
        raise TableError(
            f"{argument('label')} {label!r} holds lists or records (or complex numbers): name a column with one value a row."
        )
    dated = values.column.kind == "date"
    if bins is not None and (values.numbers is None or dated):
        raise UsageError(
            f"{argument('bins')} needs a numeric label; column {label!r} holds words or dates."
        )
    if values.numbers is None:
        found = Label(values.codes, values.vocabulary)
    elif bins is not None:
        found = _binned(values.numbers, label, bins)
    else:
        levels, codes = np.unique(values.numbers, return_inverse=True)
        if not dated and _is_regression(levels.size, codes.size):
            found = _binned_by_itself(values.numbers, label)
        else:
            found = Label(codes.astype(np.int64), tuple(_number_name(value) for value in levels))
    rows, count = found.codes.size, len(found.classes)
    if count < 2:
        raise TableError(
            f"{argument('label')} {label!r} has one class only: name a column with at least 2 classes."
        )
    if _is_regression(count, rows):
        raise TableError(
            f"the label {label!r} has {count} classes in {rows} rows: choose another "
            f"{argument('label')}."
        )
    sizes = np.bincount(found.codes, minlength=count)
    if sizes.min() < 2:
        rare = [found.classes[i] for i in np.flatnonzero(sizes < 2)]
        numeric = values.numbers is not None and not dated
        raise TableError(
            f"the label {label!r} has a class with fewer than 2 rows ({listed(rare)}): "
            "leave those rows out" + (f" or use {argument('bins')}." if numeric else ".")
        )
    return found


def _is_regression(levels: int, rows: int) -> bool:
    """Say whether a label has few rows for each of many values: a number, or no label at all."""
    return levels > MOST_CLASSES or (levels > max(2, min(20, rows // 4)) and rows < 20 * levels)


def _binned(numbers: Floats, label: str, bins: int) -> Label:
    codes, classes = quantile_bins(numbers, bins, label)
    low, high = float(numbers.min()), float(numbers.max())
    half = high / 2 - low / 2  # halves: the difference of two huge numbers stays finite
    scaled = (numbers / 2 - low / 2) / half if half > 0 else np.zeros_like(numbers)
    return Label(codes, classes, sealed(scaled), (low, high))


def _binned_by_itself(numbers: Floats, label: str) -> Label:
    """Cut a regression target into quarters; ties may leave room for fewer classes only."""
    for count in range(REGRESSION_BINS, 1, -1):
        try:
            found = _binned(numbers, label, count)
        except TableError:
            continue
        return replace(
            found,
            notes=(
                f"the label {label!r} is a number with {np.unique(numbers).size} values: for the "
                f"attacks it is cut at its quantiles into {len(found.classes)} classes "
                f"({argument('bins')} sets how many)",
            ),
        )
    return _binned(numbers, label, REGRESSION_BINS)  # says why it cannot be cut


def _filled(values: Values, training: Ints, choices: Choices) -> Values:
    """Fill what is missing: numbers by their median, words and booleans by the most frequent."""
    gaps, infinite = holes(values)
    unknown = gaps | infinite
    if choices.missing != "median" or not unknown.any():
        return values
    known = training[~unknown[training]]
    known = known if known.size else np.flatnonzero(~unknown)  # missing in all training rows
    if values.numbers is None:
        codes = values.codes.copy()
        codes[unknown] = np.bincount(values.codes[known]).argmax()
        return Values(values.column, None, codes, values.vocabulary)
    numbers = values.numbers.copy()
    middle = np.median(numbers[known] / 2.0) * 2.0  # halves: the mean of two huge ones stays finite
    numbers[unknown] = np.round(middle) if values.column.kind == "boolean" else middle
    return Values(values.column, numbers, values.codes, ())


def _encoded(values: Values, labels: Ints, training: Ints, choices: Choices) -> dict[str, Floats]:
    """Return the encoded columns of one column by name."""
    name, kind = values.column.name, values.column.kind
    if values.numbers is not None:
        return {name: values.numbers}
    if kind == "text" or choices.categories == "ordinal":
        return {name: values.codes.astype(np.float64)}
    if choices.categories == "one-hot":
        return {
            f"{name}={word}": (values.codes == code).astype(np.float64)
            for code, word in enumerate(values.vocabulary)
            if (values.codes == code).any()
        }
    size = len(values.vocabulary)
    known, truth = values.codes[training], labels[training].astype(np.float64)
    counts = np.bincount(known, minlength=size)
    sums = np.bincount(known, weights=truth, minlength=size)
    # A category that no training row has gets the mean of them all.
    means = np.where(counts > 0, sums / np.maximum(counts, 1), truth.mean())
    return {name: means[values.codes]}


def _sources(encoded: dict[str, dict[str, Floats]]) -> dict[str, str]:
    """Map encoded names to the table's; one-hot names must not meet another column's."""
    sources: dict[str, str] = {}
    for name, columns in encoded.items():
        for column in columns:
            if column in sources:
                raise TableError(
                    f"columns {sources[column]!r} and {name!r} are both encoded as {column!r}: "
                    "rename one of them."
                )
            sources[column] = name
    return sources


def _scaled(
    columns: dict[str, Floats],
    sources: dict[str, str],
    training: Ints,
    choices: Choices,
    notes: list[str],
) -> tuple[Floats, Floats, Floats]:
    """Scale to [0, 1] by the minimum and maximum of the training rows, or of all rows.

    Return the scaled table, and what became 0 and 1 of every column.
    """
    table = np.column_stack(list(columns.values()))
    low, high = table.min(axis=0), table.max(axis=0)
    if choices.scale_on == "training":
        fitted = [
            (column.min(), column.max()) for column in (table[training, j] for j in range(len(low)))
        ]
        fitted_low, fitted_high = np.array(fitted).reshape(-1, 2).T
        flat = (fitted_low == fitted_high) & (low < high)
        # Quarters: the difference of two huge numbers stays finite.
        beyond = np.maximum(fitted_low / 4 - low / 4, high / 4 - fitted_high / 4)
        far = ~flat & (beyond / FAR > fitted_high / 4 - fitted_low / 4) & (low < high)
        for odd, why in (
            (flat, "the same value in every training row"),
            (far, "a value a million times the training rows' range away from them"),
        ):
            named = sorted({sources[n] for n, is_odd in zip(columns, odd, strict=True) if is_odd})
            if named:
                notes.append(f"{listed(named)}: {why}, scaled on all rows")
        low = np.where(flat | far, low, fitted_low)
        high = np.where(flat | far, high, fitted_high)
    # Quarters keep the difference of two huge numbers finite; powers of two round nothing.
    factor = np.where(np.maximum(np.abs(low), np.abs(high)) > 1e300, 0.25, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        span = high * factor - low * factor
        span[span == 0.0] = 1.0  # constant: becomes 0
        if (factor != 1.0).any():
            table *= factor
        table -= low * factor  # in place: a large table is not held twice
        table /= span
    wild = ~np.isfinite(table).all(axis=0)
    if wild.any():
        name = sources[list(columns)[int(np.flatnonzero(wild)[0])]]
        raise TableError(
            f"column {name!r} spans too little in the training rows to scale its other values: "
            f"correct it or use {choice('drop', [name])}."
        )
    return seal(table), low, high


def _number_name(value: Any) -> str:
    """Write 3.0 as 3: the class names of a numeric label."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
