"""All that is wrong with a table, at once: a line each, and the arguments that would put it right.

``prepare`` refuses by the first of these; ``whatleaks check`` and an audit list them all and
end with a call that would run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Bools
from whatleaks.data.naming import listed, repeated
from whatleaks.data.schema import Values
from whatleaks.errors import (
    TableError,
    UsageError,
    WhatleaksError,
    argument,
    choice,
    nearest,
    printable,
    speaks_of_flags,
)

if TYPE_CHECKING:
    import pandas as pd

MINIMUM_ROWS = 20
MOST_NAMED = 8  # lines about one kind of problem; the others are counted in one more
ROUNDS = 5  # a remedy may uncover the next problem: a filled column may then be constant
ADDED = ("drop", "na")  # remedies that add to what was given


@dataclass(frozen=True)
class Problem:
    """What is wrong, on one line that names the column and says what to do.

    ``remedy`` holds arguments of an audit: ``drop`` and ``na`` add to what is there, others
    are set. Without one only a person can help. ``words`` is the kind of error it is alone.
    """

    text: str
    remedy: Mapping[str, Any] = field(default_factory=dict)
    words: type[WhatleaksError] = TableError
    column: str = ""

    def error(self) -> WhatleaksError:
        """Return the error that says this alone."""
        return self.words(self.text)


class TableProblems(TableError):
    """Several problems of one table, a line each; ``ready`` are arguments that would run."""

    def __init__(self, problems: Sequence[Problem], ready: Mapping[str, Any] | None) -> None:
        lines = [problem.text for problem in problems]
        if ready is not None and not speaks_of_flags():
            lines.append(f"This would run: {python_call(ready)}")
        super().__init__("\n".join(lines))
        self.problems = tuple(problems)
        self.ready = ready


@dataclass(frozen=True)
class Choices:
    """The named choices of a preparation, checked."""

    missing: str = "refuse"
    categories: str = "ordinal"
    encode_text: bool = False
    constant: str = "refuse"
    scale_on: str = "training"

    def __post_init__(self) -> None:
        """Refuse words that name no choice."""
        for name, value, known in (
            (argument("missing"), self.missing, ("refuse", "median", "drop-rows")),
            (argument("categories"), self.categories, ("ordinal", "one-hot", "target-mean")),
            ("constant", self.constant, ("refuse", "drop")),
            (argument("scale_on"), self.scale_on, ("training", "all")),
        ):
            if value not in known:
                raise UsageError(
                    f"{name} {value!r} is unknown: use one of {', '.join(known)}."
                    f"{nearest(str(value), known)}"
                )


def about_names(
    names: Sequence[str], label: str, passive: Sequence[str], drop: Sequence[str]
) -> Iterator[Problem]:
    """Check who holds which column, by name alone."""
    twice = repeated(names)
    if twice:
        yield Problem(f"the table has more than one column {listed(twice)}: rename them.")
    for name in names:
        if not _spelled(name):
            yield Problem(f"column {name!r} has a name that is not Unicode text: rename it.")
    if len(names) == 1:
        yield Problem(
            f"the table has one column only, {printable(names[0])!r}: cells are separated by a comma, "
            "a semicolon, a tab or |."
        )
    theirs, without = argument("passive"), argument("drop")
    if isinstance(passive, str) or isinstance(drop, str):
        yield _usage(f"{theirs} and {without} take a list of column names, not one word.")
        return
    if label not in names:
        yield _usage(
            f"{argument('label')} {label!r} is no column of the table.{nearest(label, names)}"
        )
    for said, chosen in ((theirs, passive), (without, drop)):
        for name in chosen:
            if name not in names:
                yield _usage(f"{said} {name!r} is no column of the table.{nearest(name, names)}")
            if name == label:
                yield _usage(f"{said} names the label {label!r}, which the active party holds.")
    if not passive:
        yield _usage(f"{theirs} is empty: name the columns that the other party holds.")
    if repeated(passive):
        yield _usage(f"{theirs} lists {listed(repeated(passive))} more than once.")
    both = [name for name in passive if name in set(drop)]
    if both:
        yield _usage(f"{listed(both)} is listed with {theirs} and with {without}: choose one.")
    features = [name for name in names if name != label and name not in set(drop)]
    if features and set(passive) >= set(features):
        yield _usage(
            f"{theirs} covers every feature column ({len(features)}): leave at least one to the "
            "active party."
        )


def about_rows(rows: int, what: str = "the table") -> Iterator[Problem]:
    """An audit needs some records."""
    if rows < MINIMUM_ROWS:
        counted = f"{rows} {'row' if rows == 1 else 'rows'}"
        yield Problem(f"{what} has {counted}: an audit needs at least {MINIMUM_ROWS}.")


def about_columns(
    values: Mapping[str, Values],
    features: Sequence[str],
    passive: Collection[str],
    choices: Choices,
    reported: Collection[str] = (),
) -> Iterator[Problem]:
    """Find what cannot be encoded: nested values, identifiers, free text, constants.

    Of a column that was ``reported`` before nothing more is said.
    """
    kinds = {name: values[name].column.kind for name in features}
    for kind, say, remedy in (
        ("nested", _nested, None),
        ("id", _identifier, None),
        ("text", _text, None if not choices.encode_text else {}),
        ("constant", _constant, {"drop_constant": True} if choices.constant == "refuse" else {}),
    ):
        if remedy == {}:  # the user has said what to do
            continue
        found = [n for n in features if kinds[n] == kind and n not in reported]
        yield from _capped([(name, say(name, values[name])) for name in found], remedy)
    used = [name for name in features if kinds[name] not in ("constant", "nested")]
    for owner, mine in (
        (f"passive ({argument('passive')})", [name for name in used if name in passive]),
        ("active", [name for name in used if name not in passive]),
    ):
        held = [name for name in features if (name in passive) == (owner != "active")]
        if held and not mine and any(kinds[name] == "constant" for name in held):
            yield Problem(f"every column of the {owner} party is constant: nothing to audit.")


def _capped(said: Sequence[tuple[str, str]], remedy: Mapping[str, Any] | None) -> Iterator[Problem]:
    """Name the first columns with the same problem, count the others; None: leave them out."""
    for name, text in said[:MOST_NAMED]:
        yield Problem(text, {"drop": (name,)} if remedy is None else remedy)
    rest = [name for name, _ in said[MOST_NAMED:]]
    if rest:
        yield Problem(
            f"the same holds for {len(rest)} more columns, {listed(rest)}.",
            {"drop": tuple(rest)} if remedy is None else remedy,
        )


def _nested(name: str, values: Values) -> str:
    del values
    return (
        f"column {name!r} holds lists or records (or complex numbers), not one value in each row: "
        f"leave it out with {choice('drop', [name])}."
    )


def _identifier(name: str, values: Values) -> str:
    del values
    return (
        f"column {name!r} looks like an identifier (another value in every row): "
        f"leave it out with {choice('drop', [name])}."
    )


def _text(name: str, values: Values) -> str:
    return (
        f"column {name!r} holds free text ({values.column.distinct} distinct values): "
        f"use {choice('drop', [name])} or {choice('encode_text', True)}."
    )


def _constant(name: str, values: Values) -> str:
    what = "no value at all" if values.column.distinct == 0 else "one value only"
    return f"column {name!r} holds {what}: use {choice('drop_constant', True)}."


def about_gaps(
    values: Mapping[str, Values], features: Sequence[str], label: str, choices: Choices
) -> Iterator[Problem]:
    """Find missing and infinite values that nobody has said what to do with."""
    if choices.missing != "refuse":
        return
    found = []
    for name in [*features, label]:
        gaps, infinite = holes(values[name])
        # A constant column is refused or dropped as a whole, with its gaps.
        if (gaps.any() or infinite.any()) and (
            name == label or values[name].column.kind not in ("constant", "nested")
        ):
            found.append(name)
    said = [(name, _gaps(name, values[name], name == label)) for name in found]
    yield from _capped(said, {"missing": "drop-rows" if found == [label] else "median"})


def _gaps(name: str, values: Values, is_label: bool) -> str:
    gaps, infinite = holes(values)
    number, word = (int(gaps.sum()), "missing") if gaps.any() else (int(infinite.sum()), "infinite")
    remedy = f"{choice('missing', 'median')} or {choice('missing', 'drop-rows')}"
    if is_label:
        remedy = f"{choice('missing', 'drop-rows')}, which leaves those rows out (as {choice('missing', 'median')} does)"
    what = "the label column" if is_label else "column"
    treats = ", which treats them as missing" if word == "infinite" else ""
    values_ = "value" if number == 1 else "values"
    return f"{what} {name!r} has {number} {word} {values_} of {gaps.size}: use {remedy}{treats}."


def holes(values: Values) -> tuple[Bools, Bools]:
    """Return where a column is missing and where it is infinite."""
    if values.numbers is None:
        return values.codes < 0, np.zeros(values.codes.size, dtype=np.bool_)
    return np.isnan(values.numbers), np.isinf(values.numbers)


def raise_first(problems: Iterator[Problem]) -> None:
    """Refuse by the first problem, if there is one."""
    for problem in problems:
        raise problem.error()


def with_remedies(problems: Sequence[Problem], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with every remedy applied."""
    changed = dict(chosen)
    for problem in problems:
        for name, value in problem.remedy.items():
            if name in ADDED:
                value = tuple(dict.fromkeys((*changed.get(name, ()), *value)))
            elif name == "missing" and changed.get(name) == "drop-rows":
                continue  # leaving rows out settles whatever filling would
            changed[name] = value
    gone = set(changed.get("drop", ()))
    if gone and changed.get("passive"):
        changed["passive"] = without(changed["passive"], gone)
    return changed


def without(passive: Any, gone: set[str]) -> Any:
    """Take dropped columns from the passive parties' lists; a party with none left goes."""
    if isinstance(passive, Mapping):
        left = {party: without(columns, gone) for party, columns in passive.items()}
        return {party: columns for party, columns in left.items() if columns}
    if any(not isinstance(entry, str) for entry in passive):
        return tuple(filter(None, (without(entry, gone) for entry in passive)))
    return tuple(name for name in passive if name not in gone)


# What an audit takes where nothing else is said: a ready call leaves these out.
DEFAULTS: dict[str, Any] = {
    "missing": "refuse",
    "categories": "ordinal",
    "scale_on": "training",
    "drop": (),
    "drop_constant": False,
    "encode_text": False,
    "bins": None,
    "decimal": None,
    "thousands": None,
    "na": (),
}


def changed_from_default(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that say something else than the defaults."""
    return {name: chosen[name] for name, usual in DEFAULTS.items() if chosen[name] != usual}


def python_call(ready: Mapping[str, Any]) -> str:
    """Write an audit with these arguments as a call; a given model says how it encodes and scales."""
    given = "as_is" in ready
    said = {"label": ready["label"], "passive": ready["passive"], **changed_from_default(ready)}
    lists = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in said.items()
        if not (given and name in ("categories", "scale_on"))
    }
    told = ", ".join(f"{name}={value!r}" for name, value in lists.items())
    return f"whatleaks.audit(frame, {told}{', model=model' if given else ''})"


Find = Callable[["pd.DataFrame", Mapping[str, Any]], list[Problem]]


def diagnose(
    frame: pd.DataFrame, chosen: Mapping[str, Any], find: Find
) -> tuple[tuple[Problem, ...], dict[str, Any] | None]:
    """Return all problems, and arguments without any: the remedies applied and found to help.

    None in place of the arguments: only a person can help.
    """
    first = found = find(frame, chosen)
    ready = dict(chosen)
    for _ in range(ROUNDS):
        if not found:
            return tuple(first), ready
        if not all(problem.remedy for problem in found):
            return tuple(first), None
        ready = with_remedies(found, ready)
        found = find(frame, ready)
    return tuple(first), ready if not found else None


def _usage(text: str) -> Problem:
    return Problem(text, words=UsageError)


def _spelled(name: str) -> bool:
    """Say whether a name can be written as UTF-8: a lone surrogate cannot."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
