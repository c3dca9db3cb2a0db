"""A file of runs: shared fields, a table of values to sweep, and blocks that differ.

The runs are the cartesian product of ``[sweep]``, once for each ``[[run]]`` block (or once,
without blocks). A run that comes out twice is kept once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from whatleaks.errors import SpecError
from whatleaks.experiments.spec import Spec, digest, from_dict, replace_fields


@dataclass(frozen=True)
class Sweep:
    """The runs of one file, in the order in which they are declared."""

    title: str
    specs: tuple[Spec, ...]


def load(path: Path) -> Sweep:
    """Read a sweep from a TOML file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"{path}: no such file: give the path of a TOML file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path} cannot be read: {error}") from None
    return parse(text, str(path))


def parse(text: str, where: str = "sweep") -> Sweep:
    """Read a sweep from TOML text; ``where`` stands in front of every error."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{where} is not TOML: {error}") from None
    title = tree.pop("title", "")
    if not isinstance(title, str):
        raise SpecError(f"{where}: title must be a text in quotes, got {title!r}")
    return Sweep(title, expand(tree, where))


def expand(tree: Mapping[str, Any], where: str = "sweep") -> tuple[Spec, ...]:
    """Turn shared fields, ``sweep`` and ``run`` blocks into single runs."""
    shared = {key: value for key, value in tree.items() if key not in ("sweep", "run")}
    axes = _axes(tree.get("sweep", {}), f"{where}: [sweep]")
    blocks = tree.get("run", [{}])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise SpecError(f"{where}: write runs as [[run]] blocks, with two brackets")
    found: dict[str, Spec] = {}
    for number, block in enumerate(blocks, start=1):
        here = f"{where}: [[run]] {number}" if "run" in tree else where
        own = {key: value for key, value in block.items() if key != "sweep"}
        every = {**axes, **_axes(block.get("sweep", {}), f"{here}: [run.sweep]")}
        for key in own:
            every.pop(key, None)  # a block's own value stands over the shared sweep
        for values in product(*every.values()):
            point = dict(zip(every, values, strict=True))
            task = {"task": point.get("task", own.get("task", shared.get("task")))}
            first = {**shared, **{k: v for k, v in task.items() if v is not None}}
            spec = replace_fields(from_dict(first, here), own, here)
            spec = replace_fields(spec, point, f"{here}: sweep")
            found.setdefault(digest(spec.identity()), spec)
    return tuple(found.values())


def _axes(table: Any, where: str) -> dict[str, list[Any]]:
    if not isinstance(table, dict):
        raise SpecError(f"{where} must be a table of lists")
    axes: dict[str, list[Any]] = {}
    for key, values in table.items():
        # TOML reads `options.digits = [..]` in a table as a table of its own.
        inner = {f"{key}.{k}": v for k, v in values.items()} if isinstance(values, dict) else None
        for name, items in (inner or {key: values}).items():
            if not isinstance(items, list) or not items:
                raise SpecError(
                    f"{where}: {name} must be a list of at least one value, got {items!r}"
                )
            axes[name] = items
    return axes
