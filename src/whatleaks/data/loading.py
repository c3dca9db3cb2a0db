"""``load`` a named set as a table, ``load_images`` one as pictures."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whatleaks.data.images import Images
from whatleaks.data.location import locate
from whatleaks.data.registry import Card, card, names, reader
from whatleaks.errors import DataError, UsageError, nearest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Dataset:
    """A named table; ``card`` describes what was read, ``verified`` that a checksum matched."""

    name: str
    frame: pd.DataFrame
    label: str
    task: str
    card: Card
    verified: bool = True


def load(name: str, home: Path | None = None, **options: Any) -> Dataset:
    """Load a tabular set by name, with the named options of its parser."""
    entry = card(name)
    if entry.task == "images":
        raise DataError(f"{name!r} holds pictures, not a table; tables: {_tables()}.")
    _refuse_unknown(name, options)
    if entry.embedded:
        return Dataset(name, reader(name)(), entry.target, entry.task, entry)
    located = locate(entry, home)
    frame = reader(name)(located, **options)
    label = str(frame.columns[-1]) if "target" in options else entry.target
    described = replace(
        entry,
        rows=len(frame),
        features=frame.shape[1] - 1,
        target=label,
        task=_task(entry, options),
    )
    if located.official and not entry.complete:
        described = replace(described, complete=True, difference="")
    verified = not located.official or all(file.sha256 for file in entry.official)
    return Dataset(name, frame, label, described.task, described, verified)


def load_images(name: str, home: Path | None = None) -> Images:
    """Load a picture set by name."""
    entry = card(name)
    if entry.task != "images":
        raise DataError(
            f"{name!r} holds a table, not pictures; pictures: {', '.join(names('images'))}."
        )
    images: Images = reader(name)(locate(entry, home))
    return images


def parser_options(text: str) -> dict[str, Any]:
    """Read ``name`` as true and ``name=value`` as a number or a word."""
    options: dict[str, Any] = {}
    for word in filter(None, text.split(",")):
        name, _, told = word.partition("=")
        options[name] = True if not told else int(told) if told.isdigit() else told
    return options


def options_of(name: str) -> dict[str, Any]:
    """Return the named options of a set's reader with their defaults."""
    parameters = inspect.signature(reader(name)).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


def _refuse_unknown(name: str, options: dict[str, Any]) -> None:
    known = options_of(name)
    for option in options:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise UsageError(
                f"data set {name!r} has no option {option!r}: {has}.{nearest(option, known)}"
            )


def _task(entry: Card, options: dict[str, Any]) -> str:
    """Say what the chosen options make of the set."""
    if options.get("classes"):
        return "classification"
    if options.get("target") in entry.regression_targets:
        return "regression"
    return entry.task


def _tables() -> str:
    return ", ".join(name for name in names() if card(name).task != "images")
