"""The audit in three lines of Python: ``report = whatleaks.audit(frame, label=..., passive=[...])``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whatleaks.auditor.result import AuditResult
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.workshop import write_atomically
from whatleaks.errors import UsageError, nearest


@dataclass(frozen=True)
class AuditReport:
    """What an audit found, ready to be read, drawn or stored."""

    result: AuditResult

    def summary(self) -> str:
        """Return the findings as plain text."""
        from whatleaks.report.terminal import summary

        return summary(self.result)

    def to_html(self, path: str | Path) -> Path:
        """Write the self-contained report page and return its path."""
        from whatleaks.report.html import write

        return write(self.result, path)

    def to_json(self, path: str | Path) -> Path:
        """Write audit.json: spec, hashes, versions, seeds, grants, measurements."""
        path = Path(path)
        text = json.dumps(self.result.to_dict(), indent=1, allow_nan=False, ensure_ascii=False)
        write_atomically(path, text.encode(), mode=0o600 if self.result.samples else 0o644)
        return path


def audit(
    frame: Any,
    label: str,
    passive: Sequence[str],
    *,
    name: str = "table",
    out: str | Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    notes: Sequence[str] = (),
    command: str = "",
    **choices: Any,
) -> AuditReport:
    """Audit a pandas or polars frame: what can the holder of the label learn of ``passive``?

    ``choices`` are the fields of ``whatleaks.auditor.spec.AuditSpec``: ``model``, ``threats``,
    ``seeds``, ``targets``, ``missing``, ``categories``, ``drop`` and so on. With ``out``,
    finished work is kept below that folder, so that an interrupted audit resumes.
    """
    from whatleaks.auditor.table_audit import run_audit
    from whatleaks.data.table import from_frame

    if isinstance(passive, str):
        raise UsageError(f"passive must be a list of column names, got the word {passive!r}")
    known = set(AuditSpec.__dataclass_fields__) - {"label", "passive"}
    for key in choices:
        if key not in known:
            raise UsageError(f"unknown choice {key!r}.{nearest(key, known)}")
    for key in ("threats", "drop", "hidden"):
        if key in choices:
            choices[key] = tuple(choices[key])
    spec = AuditSpec(label=label, passive=tuple(passive), **choices)
    folder = Path(out) / "unfinished" if out is not None else None
    return AuditReport(run_audit(from_frame(frame), spec, name, folder, progress, notes, command))
