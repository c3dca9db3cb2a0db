"""A stored audit, read back: ``audit.json`` as it was written, checked for what is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from whatleaks.errors import StoreError

NEEDED = ("headline", "threats", "defenses", "worth", "table", "code", "spec")


def load_audit(path: Path) -> dict[str, Any]:
    """Read an audit from its file, or from the folder that holds it."""
    file = path / "audit.json" if path.is_dir() else path
    try:
        tree = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise StoreError(f"there is no file {file}: name an audit's folder or audit.json") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"{file} cannot be read as an audit: {error}") from None
    lacking = [name for name in NEEDED if not isinstance(tree, dict) or name not in tree]
    if lacking:
        raise StoreError(f"{file} is no audit: it has no {', '.join(lacking)}")
    audit: dict[str, Any] = tree
    return audit


def worst_by_column(audit: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return for every passive column the most that joining adds by any attack, the worst first."""
    found: dict[str, dict[str, Any]] = {}
    for threat in audit["threats"]:
        for guess in threat["findings"]:
            if guess["role"] != "attack":
                continue
            for column in guess["columns"]:
                name, adds = column["column"], worse_scale(column)
                if name not in found or adds["value"] > found[name]["value"]:
                    found[name] = adds
    return dict(sorted(found.items(), key=lambda item: -item[1]["value"]))


def worse_scale(column: dict[str, Any]) -> dict[str, Any]:
    """Return what joining adds to a column on the scale on which it adds more.

    Audits of before counted no people named.
    """
    named = (column.get("people") or {}).get("named_more")
    both: list[dict[str, Any]] = [column["adds"], *([named] if named else [])]
    return max(both, key=lambda adds: float(adds["value"]))
