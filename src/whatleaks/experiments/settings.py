"""Settings of one component: a frozen, ordered, hashable mapping of scalars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar

from whatleaks.errors import SpecError, nearest

Scalar = str | bool | int | float
Value = Scalar | tuple[Scalar, ...]

T = TypeVar("T")


class Settings(Mapping[str, Value]):
    """Names with scalars or lists of scalars, sorted by name; equal settings hash equally."""

    __slots__ = ("_items",)

    def __init__(self, values: Mapping[str, Any] | None = None, where: str = "settings") -> None:
        items = dict(values or {})
        self._items: dict[str, Value] = {
            key: _plain(items[key], f"{where}.{key}") for key in sorted(items)
        }

    def __getitem__(self, key: str) -> Value:
        """Return one value."""
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the names in order."""
        return iter(self._items)

    def __len__(self) -> int:
        """Count the names."""
        return len(self._items)

    def __hash__(self) -> int:
        """Hash names and values, so that a spec is hashable."""
        return hash(tuple(self._items.items()))

    def __repr__(self) -> str:
        """Show the names and values."""
        return f"Settings({self._items!r})"

    def whole(self, key: str) -> int:
        """Return a setting that is a whole number."""
        value = self[key]
        if type(value) is not int:
            raise SpecError(f"{key} must be a whole number, got {value!r}")
        return value

    def number(self, key: str) -> float:
        """Return a setting that is a number."""
        value = self[key]
        if type(value) is not float and type(value) is not int:
            raise SpecError(f"{key} must be a number, got {value!r}")
        return float(value)

    def text(self, key: str) -> str:
        """Return a setting that is a text."""
        value = self[key]
        if not isinstance(value, str):
            raise SpecError(f"{key} must be a text in quotes, got {value!r}")
        return value

    def flag(self, key: str) -> bool:
        """Return a setting that is true or false."""
        value = self[key]
        if not isinstance(value, bool):
            raise SpecError(f"{key} must be true or false, got {value!r}")
        return value

    def merged(self, other: Mapping[str, Value]) -> Settings:
        """Return these settings with the other's on top."""
        return Settings({**self._items, **other})

    def filled(self, defaults: Mapping[str, Value], where: str) -> Settings:
        """Check every name and type against ``defaults`` and add what is missing.

        A whole number is taken where the default is a float, so 1 and 1.0 mean the same run.
        """
        for key in self:
            if key not in defaults:
                known = ", ".join(sorted(defaults)) or "none"
                raise SpecError(
                    f"{where} has no setting {key!r}.{nearest(key, defaults)} Known: {known}."
                )
        return Settings(
            {
                key: like(self[key], default, f"{where}.{key}") if key in self else default
                for key, default in defaults.items()
            }
        )

    def into(self, cls: type[T], where: str) -> T:
        """Make a frozen settings dataclass (an attack, a defense) out of these settings."""
        if not is_dataclass(cls):
            raise TypeError(f"{cls.__name__} must be a dataclass to be made from settings")
        defaults: dict[str, Value] = {}
        for f in fields(cls):
            if f.init and f.default is not MISSING and isinstance(f.default, Value):
                defaults[f.name] = f.default
        made: T = cls(**self.filled(defaults, where))
        return made


def like(value: Value, default: Value, where: str) -> Value:
    """Return ``value`` if it has the type of ``default``; whole numbers pass for floats."""
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if type(value) is not type(default):
        raise SpecError(f"{where} must be {_KIND[type(default)]}, got {value!r}")
    return value


_KIND: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text in quotes",
    tuple: "a list",
}


def _plain(value: Any, where: str) -> Value:
    if isinstance(value, list | tuple):
        items = tuple(_plain(item, where) for item in value)
        if any(isinstance(item, tuple) for item in items):
            raise SpecError(f"{where} must be a scalar or a flat list, got a nested list")
        return items  # type: ignore[return-value]  # no tuple is left inside
    if not isinstance(value, str | bool | int | float):
        raise SpecError(f"{where} must be a text, a number or true/false, got {value!r}")
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise SpecError(f"{where} must be a finite number, got {value!r}")
    return value
