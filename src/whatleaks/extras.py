"""Extras: what is installed only where somebody needs it, and the words for one that is not here.

Whatever cannot do without one names it in an attribute ``extra``: a part of the catalog, a model's
settings; a property where that depends on other settings. Plans leave out what is not here; a command
that cannot do without says so in one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec

from whatleaks.errors import ExtraError

# By extra, as pyproject.toml names it: the modules that it brings and whatleaks imports.
MODULES: Mapping[str, tuple[str, ...]] = {
    "networks": ("torch",),
    "figures": ("matplotlib",),
    "psi": ("cryptography",),
    "models": ("skops", "onnx"),
    "excel": ("openpyxl",),
    "polars": ("polars",),
    "ray": ("ray",),
}


def lacking(what: str, extra: str) -> ExtraError:
    """Return the error of what needs an extra that is not installed."""
    return ExtraError(f'{what} needs {named(extra)}: pip install "{named(extra)}"')


def named(extra: str) -> str:
    """Return an extra as pip knows it."""
    return f"whatleaks[{extra}]"


@cache
def absent(extra: str) -> bool:
    """Say whether an extra is not installed; none at all is always here."""
    return bool(extra) and any(find_spec(module) is None for module in MODULES[extra])


def require(part: object, what: str) -> None:
    """Refuse a part, called ``what``, where the extra that it needs is not installed."""
    extra = str(getattr(part, "extra", ""))
    if absent(extra):
        raise lacking(what, extra)


def behind(error: ModuleNotFoundError) -> str:
    """Return the extra that brings the module which was not found; empty if none does."""
    module = (error.name or "").partition(".")[0]
    return next((extra for extra, brought in MODULES.items() if module in brought), "")
