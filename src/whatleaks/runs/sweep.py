"""A file of runs: shared fields, a table of values to sweep, and blocks that differ.

The runs are the cartesian product of ``[sweep]``, once for each ``[[run]]`` block (or once,
without blocks). A run that comes out twice is kept once.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from whatleaks.data.table import file_hash, is_file_name
from whatleaks.errors import SpecError, TableError
from whatleaks.runs.work import Work, name_of, work_from_dict

Read = Callable[[Mapping[str, Any], str], Work]  # plain fields, and where they stand


@dataclass(frozen=True)
class Sweep:
    """The runs of one file, in the order in which they are declared."""

    title: str
    works: tuple[Work, ...]


def scenario(values: Mapping[str, Any], where: str) -> Work:
    """Read a scenario: what the files of ``whatleaks run`` hold. ``kind`` names another work.

    A dataset that is a path names a table of the user's own; its hash becomes part of the run.
    """
    if "kind" in values:
        try:
            return work_from_dict(values)
        except (SpecError, TableError) as error:
            raise SpecError(f"{where}: {error}") from None
    named = values.get("dataset")
    if isinstance(named, str) and is_file_name(named) and not values.get("table"):
        try:
            values = {**values, "table": file_hash(named)}
        except TableError as error:
            raise SpecError(f"{where}: {error}") from None
    made: Work = importlib.import_module("whatleaks.trial.scenario").from_dict(values, where)
    return made


def load(path: Path, read: Read = scenario) -> Sweep:
    """Read a sweep from a TOML file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"{path}: no such file: give the path of a TOML file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path} cannot be read: {error}") from None
    return parse(text, str(path), read)


def parse(text: str, where: str = "sweep", read: Read = scenario) -> Sweep:
    """Read a sweep from TOML text; ``where`` stands in front of every error."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{where} is not TOML: {error}") from None
    title = tree.pop("title", "")
    if not isinstance(title, str):
        raise SpecError(f"{where}: title must be a text in quotes, got {title!r}")
    return Sweep(title, expand(tree, read, where))


def expand(tree: Mapping[str, Any], read: Read, where: str = "sweep") -> tuple[Work, ...]:
    """Turn shared fields, ``sweep`` and ``run`` blocks into single runs.

    A block's fields are laid over the shared ones and a point of the sweep over both: tables
    key by key, anything else as a whole.
    """
    shared = {key: value for key, value in tree.items() if key not in ("sweep", "run")}
    axes = _axes(tree.get("sweep", {}), f"{where}: [sweep]")
    blocks = tree.get("run", [{}])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise SpecError(f"{where}: write runs as [[run]] blocks, with two brackets")
    found: dict[str, Work] = {}
    for number, block in enumerate(blocks, start=1):
        here = f"{where}: [[run]] {number}" if "run" in tree else where
        own = {key: value for key, value in block.items() if key != "sweep"}
        every = {**axes, **_axes(block.get("sweep", {}), f"{here}: [run.sweep]")}
        for key in _leaves(own):
            every.pop(key, None)  # a block's own value stands over the shared sweep
        fields = _laid_over(shared, own, here)
        for values in product(*every.values()):
            point = fields
            for key, value in zip(every, values, strict=True):
                point = _laid_over(point, _nested(key, value), here)
            work = read(point, here)
            found.setdefault(name_of(work), work)
    return tuple(found.values())


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Merge two trees of fields; the second one's values stand."""
    merged = dict(below)
    for key, value in above.items():
        held = merged.get(key)
        if isinstance(value, dict) and held is not None:
            if not isinstance(held, dict):
                raise SpecError(
                    f"{where}: {key} is no table, so {key}.{next(iter(value), '')} cannot be set"
                )
            value = _laid_over(held, value, where)
        merged[key] = value
    return merged


def _nested(key: str, value: Any) -> dict[str, Any]:
    """Turn ``a.b`` into a table in a table."""
    for part in reversed(key.split(".")):
        value = {part: value}
    tree: dict[str, Any] = value
    return tree


def _leaves(tree: Mapping[str, Any], above: str = "") -> list[str]:
    """Name every value of a tree, as ``a.b``."""
    names = []
    for key, value in tree.items():
        names += _leaves(value, f"{above}{key}.") if isinstance(value, dict) else [above + key]
    return names


def _axes(table: Any, where: str) -> dict[str, list[Any]]:
    if not isinstance(table, dict):
        raise SpecError(f"{where} must be a table of lists")
    axes: dict[str, list[Any]] = {}
    for key, items in table.items():
        # TOML reads `options.digits = [..]` in a table as a table of its own.
        if isinstance(items, dict):
            axes |= {f"{key}.{name}": values for name, values in _axes(items, where).items()}
        elif not isinstance(items, list) or not items:
            raise SpecError(f"{where}: {key} must be a list of at least one value, got {items!r}")
        else:
            axes[key] = items
    return axes
