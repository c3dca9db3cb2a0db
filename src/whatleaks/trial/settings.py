"""Settings of one component: a frozen, ordered, hashable mapping of scalars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whatleaks.errors import SpecError, nearest

Scalar = str | bool | int | float
Value = Scalar | tuple[Scalar, ...]


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
