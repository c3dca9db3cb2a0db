"""An audit in this process, as tests want it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whatleaks.auditor.audit import run_audit
from whatleaks.auditor.result import AuditResult
from whatleaks.auditor.spec import AuditSpec
from whatleaks.runs.executors import InlineExecutor


def audited(frame: Any, spec: AuditSpec, out: Path | None = None) -> AuditResult:
    """Audit a frame and return the result."""
    return run_audit(frame, spec, InlineExecutor(), out=out)
