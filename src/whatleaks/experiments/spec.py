"""One run, declared: a frozen record whose hash is the name of its result.

Fields are identity (they change the numbers and enter the hash) or runtime (they do not).
Every field says which it is; a new field without a class is an error, not a silent choice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from whatleaks.errors import SpecError, nearest
from whatleaks.experiments.settings import Settings, Value

_IDENTITY = {"part": "identity"}
_RUNTIME = {"part": "runtime"}


@dataclass(frozen=True)
class Spec:
    """What to run. An empty name means that the task has no such component."""

    task: str = field(metadata=_IDENTITY)
    dataset: str = field(default="", metadata=_IDENTITY)
    model: str = field(default="", metadata=_IDENTITY)
    threat: str = field(default="", metadata=_IDENTITY)
    attack: str = field(default="", metadata=_IDENTITY)
    defense: str = field(default="", metadata=_IDENTITY)
    detector: str = field(default="", metadata=_IDENTITY)
    # The passive party's columns: a share of them (0: not given), or their names.
    share: float = field(default=0.0, metadata=_IDENTITY)
    columns: tuple[str, ...] = field(default=(), metadata=_IDENTITY)
    # How many records are attacked (0: all that the data set leaves for it).
    targets: int = field(default=0, metadata=_IDENTITY)
    seed: int = field(default=0, metadata=_IDENTITY)
    trials: int = field(default=1, metadata=_IDENTITY)
    model_options: Settings = field(default=Settings(), metadata=_IDENTITY)
    attack_options: Settings = field(default=Settings(), metadata=_IDENTITY)
    defense_options: Settings = field(default=Settings(), metadata=_IDENTITY)
    detector_options: Settings = field(default=Settings(), metadata=_IDENTITY)
    options: Settings = field(default=Settings(), metadata=_IDENTITY)
    # Runtime: shown to people, never part of the result's name.
    label: str = field(default="", metadata=_RUNTIME)
    profile: str = field(default="", metadata=_RUNTIME)

    def __post_init__(self) -> None:
        """Refuse values that no task could mean."""
        if not self.task:
            raise SpecError('a run needs a task: add task = "..."')
        if not 0.0 <= self.share < 1.0:
            raise SpecError(f"share must lie between 0 and 1, got {self.share}: 0.3 is 30 %")
        if self.share and self.columns:
            raise SpecError("give share or columns, not both: each names the passive party's part")
        for name, least in (("targets", 0), ("seed", 0), ("trials", 1)):
            if getattr(self, name) < least:
                raise SpecError(f"{name} must be at least {least}, got {getattr(self, name)}")

    def identity(self) -> dict[str, Any]:
        """Return the identity fields that were set, as plain JSON values.

        A field at its empty default is left out, so a new field leaves old names as they are.
        """
        return {
            name: _json(getattr(self, name))
            for name in parts("identity")
            if getattr(self, name) != _DEFAULTS[name]
        }

    def to_dict(self) -> dict[str, Any]:
        """Return every field as plain JSON values; ``from_dict`` reads them back."""
        return {f.name: _json(getattr(self, f.name)) for f in fields(self)}

    def hash(self, versions: Mapping[str, str]) -> str:
        """Name the result: sha256 over the identity fields and the component versions."""
        return digest({"spec": self.identity(), "versions": dict(versions)})

    def title(self) -> str:
        """Say on one line which run this is: the label, or all that was set."""
        if self.label:
            return self.label
        told = []
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "task" or f.metadata["part"] == "runtime" or value == f.default:
                continue
            if isinstance(value, Settings):
                told += [f"{key}={_json(item)}" for key, item in value.items()]
            else:
                told.append(f"{f.name}={_json(value)}")
        return " ".join([self.task, *told])


def parts(part: str) -> tuple[str, ...]:
    """Name the fields of one class, ``identity`` or ``runtime``; refuse an unclassified field."""
    for f in fields(Spec):
        if f.metadata.get("part") not in ("identity", "runtime"):
            raise TypeError(f"Spec.{f.name} is neither identity nor runtime: say which")
    return tuple(f.name for f in fields(Spec) if f.metadata["part"] == part)


def digest(tree: Any) -> str:
    """Hash a tree of plain values through canonical JSON."""
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def from_dict(values: Mapping[str, Any], where: str = "spec") -> Spec:
    """Make a spec from plain values; unknown keys are refused with the nearest name."""
    if "task" not in values:
        raise SpecError(f'{where}: task is missing: name what to run, such as task = "..."')
    return replace_fields(Spec(task=_checked("task", values["task"], where)), values, where)


def replace_fields(spec: Spec, values: Mapping[str, Any], where: str) -> Spec:
    """Return ``spec`` with some fields set; tables of settings are merged, key by key.

    A dotted key such as ``attack_options.steps`` sets one setting.
    """
    changed: dict[str, Any] = {}
    for key, value in values.items():
        name, _, setting = key.partition(".")
        checked = _checked(name, {setting: value} if setting else value, where)
        if isinstance(checked, Settings):
            checked = changed.get(name, getattr(spec, name)).merged(checked)
        changed[name] = checked
    try:
        return replace(spec, **changed)
    except SpecError as error:
        raise SpecError(f"{where}: {error}") from None


_DEFAULTS: dict[str, Any] = {"task": "", **{f.name: f.default for f in fields(Spec)[1:]}}


def _checked(name: str, value: Any, where: str) -> Any:
    """Check one field's name and type."""
    if name not in _DEFAULTS:
        raise SpecError(f"{where}: unknown key {name!r}.{nearest(name, _DEFAULTS)}")
    default = _DEFAULTS[name]
    if isinstance(default, Settings):
        if not isinstance(value, Mapping):
            raise SpecError(f"{where}: {name} must be a table of settings, got {value!r}")
        return Settings(value, f"{where}: {name}")
    if isinstance(default, tuple):
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            raise SpecError(f"{where}: {name} must be a list of column names, got {value!r}")
        return tuple(value)
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if type(value) is not type(default):
        kind = {str: "a text in quotes", int: "a whole number", float: "a number"}[type(default)]
        raise SpecError(f"{where}: {name} must be {kind}, got {value!r}")
    return value


def _json(value: Value | Settings) -> Any:
    if isinstance(value, Settings):
        return {key: _json(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value
