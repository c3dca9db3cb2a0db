"""From a table to what two parties train on: numbers, labels and a split.

The choices that change numbers are arguments, and each refusal names the column and the flag.
Scaling: min-max to [0, 1], fitted on the training rows. A target row beyond that range keeps
its value, so it may lie outside [0, 1]: clipping would change what is to be protected. The
papers scale on the whole set; that is ``scale_on="all"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed, sealed_ints
from whatleaks.data.bins import quantile_bins
from whatleaks.data.naming import listed, refuse_repeated, repeated, shell
from whatleaks.data.schema import Values, read
from whatleaks.errors import TableError, UsageError, nearest

if TYPE_CHECKING:
    import pandas as pd

MINIMUM_ROWS = 20


@dataclass(frozen=True)
class PreparedColumn:
    """A column of the table: its kind, who holds it, and under which names it was encoded."""

    name: str
    kind: str
    owner: str  # "active", "passive" or "label"
    encoded_as: tuple[str, ...]


@dataclass(frozen=True)
class Prepared:
    """A table ready for a vertical federation.

    ``training`` and ``targets`` index the rows of the arrays and share none; ``rows`` are the
    positions of these rows in the user's table (``--missing drop-rows`` leaves some out).
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


@dataclass(frozen=True)
class _Choices:
    """The named choices of ``prepare``, checked."""

    missing: str
    categories: str
    encode_text: bool
    constant: str
    scale_on: str

    def __post_init__(self) -> None:
        for flag, value, known in (
            ("--missing", self.missing, ("refuse", "median", "drop-rows")),
            ("--categories", self.categories, ("ordinal", "one-hot", "target-mean")),
            ("constant", self.constant, ("refuse", "drop")),
            ("--scale-on", self.scale_on, ("training", "all")),
        ):
            if value not in known:
                raise UsageError(
                    f"{flag} {value!r} is unknown: use one of {', '.join(known)}."
                    f"{nearest(str(value), known)}"
                )


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
) -> Prepared:
    """Encode, split and scale a table whose ``passive`` columns another party holds.

    - ``missing``: "median" fills numbers with the training rows' median and words with their
      most frequent value. Infinite numbers count as missing there.
    - ``categories``: "ordinal" numbers the words in sorted order; "one-hot" makes a column of
      each; "target-mean" gives the mean class number within the category over the training
      rows, which the active party would have to share. The vocabulary is the whole table's:
      the parties agree on it beforehand.
    - ``encode_text``: free text is numbered like an ordinal category, never one-hot.
    - ``bins``: cuts a numeric label into quantile classes.
    """
    choices = _Choices(missing, categories, encode_text, constant, scale_on)
    if not 0.0 < training_fraction < 1.0:
        raise UsageError(f"a training fraction of {training_fraction} is not between 0 and 1.")
    names = [str(name) for name in frame.columns]
    features = _features(names, label, passive, drop)
    _enough(len(frame), "the table")
    notes: list[str] = []

    values = {name: read(name, frame.iloc[:, names.index(name)]) for name in [*features, label]}
    _usable(values, features, set(passive), choices, [])  # before gaps: a column may go anyway
    kept = _kept_rows(values, features, label, choices, notes)
    if kept.size < len(frame):
        _enough(kept.size, "--missing drop-rows leaves too little: the table")
        left = frame.iloc[kept]
        values = {name: read(name, left.iloc[:, names.index(name)]) for name in [*features, label]}

    labels, classes = _labels(values[label], label, bins)
    used = _usable(values, features, set(passive), choices, notes)
    training, targets = split(labels, training_fraction, rng)

    encoded: dict[str, dict[str, Floats]] = {}
    for name in used:
        filled = _filled(values[name], training, choices)
        encoded[name] = _encoded(filled, labels, training, choices)
    sources = _sources(encoded)
    sides = {}
    for owner in ("active", "passive"):
        mine = [name for name in used if (name in set(passive)) == (owner == "passive")]
        columns = {column: vector for name in mine for column, vector in encoded[name].items()}
        sides[owner] = (
            _scaled(columns, sources, training, choices, notes),
            tuple(columns),
        )
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
                    "passive" if name in set(passive) else "active",
                    tuple(encoded.get(name, {})),
                )
                for name in features
            ),
            PreparedColumn(label, values[label].column.kind, "label", ()),
        ),
        training=sealed_ints(training),
        targets=sealed_ints(targets),
        rows=sealed_ints(kept),
        notes=tuple(notes),
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


def _features(
    names: list[str], label: str, passive: Sequence[str], drop: Sequence[str]
) -> list[str]:
    """Check who holds which column, by name alone; return the feature columns."""
    refuse_repeated("the table", names)
    if label not in names:
        raise UsageError(f"--label {label!r} is no column of the table.{nearest(label, names)}")
    if isinstance(passive, str) or isinstance(drop, str):
        raise UsageError("--passive and --drop take a list of column names, not one word.")
    for flag, chosen in (("--passive", passive), ("--drop", drop)):
        for name in chosen:
            if name not in names:
                raise UsageError(
                    f"{flag} {name!r} is no column of the table.{nearest(name, names)}"
                )
            if name == label:
                raise UsageError(f"{flag} names the label {label!r}, which the active party holds.")
    if not passive:
        raise UsageError("--passive is empty: name the columns that the other party holds.")
    if repeated(passive):
        raise UsageError(f"--passive lists {listed(repeated(passive))} more than once.")
    both = [name for name in passive if name in set(drop)]
    if both:
        raise UsageError(f"{listed(both)} is listed with --passive and with --drop: choose one.")
    features = [name for name in names if name != label and name not in set(drop)]
    if len(passive) == len(features):
        raise UsageError(
            f"--passive covers every feature column ({len(features)}): leave at least one to the "
            "active party."
        )
    return features


def _kept_rows(
    values: dict[str, Values],
    features: list[str],
    label: str,
    choices: _Choices,
    notes: list[str],
) -> Ints:
    """Refuse missing and infinite values, or return the rows to keep."""
    rows = _gaps(values[label]).size
    gone = np.zeros(rows, dtype=np.bool_)
    for name in [*features, label]:
        gaps, infinite = _gaps(values[name]), _infinities(values[name])
        counts = int(gaps.sum()), int(infinite.sum())
        # A constant column is refused or dropped as a whole, with its gaps.
        if not any(counts) or (name != label and values[name].column.kind == "constant"):
            continue
        remedy = "--missing drop-rows" if name == label else "--missing median or drop-rows"
        if choices.missing == "refuse" or (name == label and choices.missing == "median"):
            number, word = (counts[0], "missing") if counts[0] else (counts[1], "infinite")
            what = "the label column" if name == label else "column"
            raise TableError(
                f"{what} {name!r} has {number} {word} values of {rows}: use {remedy}"
                f"{', which treats them as missing' if word == 'infinite' else ''}."
            )
        if counts[1]:
            notes.append(f"{counts[1]} infinite values in {name!r} were treated as missing")
        gone |= gaps | infinite
    if choices.missing != "drop-rows":
        return np.arange(rows, dtype=np.int64)
    if gone.any():
        notes.append(f"{int(gone.sum())} of {rows} rows with missing values were left out")
    return np.flatnonzero(~gone).astype(np.int64)


def _labels(values: Values, label: str, bins: int | None) -> tuple[Ints, tuple[str, ...]]:
    """Return the class numbers and names; refuse what cannot be classified."""
    numeric = values.numbers is not None
    if bins is not None:
        if values.numbers is None or values.column.kind == "date":
            raise UsageError(
                f"--bins needs a numeric label; column {label!r} holds words or dates."
            )
        codes, classes = quantile_bins(values.numbers, bins, label)
    elif values.numbers is not None:
        found, codes = np.unique(values.numbers, return_inverse=True)
        codes = codes.astype(np.int64)
        classes = tuple(_number_name(value) for value in found)
    else:
        codes, classes = values.codes, values.vocabulary
    rows, count = codes.size, len(classes)
    if count < 2:
        raise TableError(
            f"--label {label!r} has one class only: name a column with at least 2 classes."
        )
    # Few rows for each of many classes: a regression target, or no label at all.
    if count > max(2, min(20, rows // 4)) and rows < 20 * count:
        remedy = (
            "it looks like a regression target: use --bins N"
            if numeric
            else "choose another --label"
        )
        raise TableError(f"the label {label!r} has {count} classes in {rows} rows: {remedy}.")
    sizes = np.bincount(codes, minlength=count)
    if sizes.min() < 2:
        rare = [classes[i] for i in np.flatnonzero(sizes < 2)]
        raise TableError(
            f"the label {label!r} has a class with fewer than 2 rows ({listed(rare)}): "
            "leave those rows out" + (" or use --bins N." if numeric else ".")
        )
    return codes, classes


def _usable(
    values: dict[str, Values],
    features: list[str],
    passive: set[str],
    choices: _Choices,
    notes: list[str],
) -> list[str]:
    """Refuse identifiers, free text and constants; return the columns to encode."""
    kinds = {name: values[name].column.kind for name in features}
    ids = [name for name in features if kinds[name] == "id"]
    if ids:
        raise TableError(
            f"column {listed(ids)} looks like an identifier (another value in every row): "
            f"leave it out with --drop {shell(ids[0])}."
        )
    texts = [name for name in features if kinds[name] == "text"]
    if texts and not choices.encode_text:
        raise TableError(
            f"column {listed(texts)} holds free text ({values[texts[0]].column.distinct} distinct "
            f"values): use --drop {shell(texts[0])} or --encode-text."
        )
    constants = [name for name in features if kinds[name] == "constant"]
    if constants and choices.constant == "refuse":
        raise TableError(f"column {listed(constants)} holds one value only: use --drop-constant.")
    if constants:
        notes.append(f"constant columns left out: {listed(constants, at_most=len(constants))}")
    used = [name for name in features if kinds[name] != "constant"]
    for owner, mine in (
        ("passive (--passive)", [name for name in used if name in passive]),
        ("active", [name for name in used if name not in passive]),
    ):
        if not mine:
            raise TableError(f"every column of the {owner} party is constant: nothing to audit.")
    return used


def _filled(values: Values, training: Ints, choices: _Choices) -> Values:
    """Fill what is missing: numbers by their median, words and booleans by the most frequent."""
    holes = _gaps(values) | _infinities(values)
    if choices.missing != "median" or not holes.any():
        return values
    known = training[~holes[training]]
    known = known if known.size else np.flatnonzero(~holes)  # missing in all training rows
    if values.numbers is None:
        codes = values.codes.copy()
        codes[holes] = np.bincount(values.codes[known]).argmax()
        return Values(values.column, None, codes, values.vocabulary)
    numbers = values.numbers.copy()
    middle = np.median(numbers[known] / 2.0) * 2.0  # halves: the mean of two huge ones stays finite
    numbers[holes] = np.round(middle) if values.column.kind == "boolean" else middle
    return Values(values.column, numbers, values.codes, ())


def _encoded(values: Values, labels: Ints, training: Ints, choices: _Choices) -> dict[str, Floats]:
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
    choices: _Choices,
    notes: list[str],
) -> Floats:
    """Scale to [0, 1] by the minimum and maximum of the training rows, or of all rows."""
    table = np.column_stack(list(columns.values()))
    low, high = table.min(axis=0), table.max(axis=0)
    if choices.scale_on == "training":
        fitted_low, fitted_high = table[training].min(axis=0), table[training].max(axis=0)
        flat = (fitted_low == fitted_high) & (low < high)
        if flat.any():
            alike = sorted(
                {sources[name] for name, is_flat in zip(columns, flat, strict=True) if is_flat}
            )
            notes.append(
                f"{listed(alike)}: the same value in every training row, scaled on all rows"
            )
        low, high = np.where(flat, low, fitted_low), np.where(flat, high, fitted_high)
    # Quarters keep the difference of two huge numbers finite; powers of two round nothing.
    factor = np.where(np.maximum(np.abs(low), np.abs(high)) > 1e300, 0.25, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        span = high * factor - low * factor
        span[span == 0.0] = 1.0  # constant: becomes 0
        scaled = (table * factor - low * factor) / span
    wild = ~np.isfinite(scaled).all(axis=0)
    if wild.any():
        name = sources[list(columns)[int(np.flatnonzero(wild)[0])]]
        raise TableError(
            f"column {name!r} spans too little in the training rows to scale its other values: "
            f"correct it or use --drop {shell(name)}."
        )
    return sealed(scaled)


def _gaps(values: Values) -> Bools:
    gaps: Bools = values.codes < 0 if values.numbers is None else np.isnan(values.numbers)
    return gaps


def _infinities(values: Values) -> Bools:
    if values.numbers is None:
        return np.zeros(values.codes.size, dtype=np.bool_)
    infinite: Bools = np.isinf(values.numbers)
    return infinite


def _enough(rows: int, what: str) -> None:
    if rows < MINIMUM_ROWS:
        raise TableError(f"{what} has {rows} rows: an audit needs at least {MINIMUM_ROWS}.")


def _number_name(value: Any) -> str:
    """Write 3.0 as 3: the class names of a numeric label."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
