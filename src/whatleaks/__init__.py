"""whatleaks: what can my partners learn about my columns, and what stops them?

``audit`` is the three-line entry point; everything heavy loads on first use, so that
importing the package (and ``whatleaks --help``) stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from whatleaks.report.audit_report import AuditReport, audit

__all__ = ["AuditReport", "__version__", "audit"]

_LAZY = {"audit": "whatleaks.report.audit_report", "AuditReport": "whatleaks.report.audit_report"}


def __getattr__(name: str) -> Any:
    """Load a public name from its room on first use (PEP 562)."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'whatleaks' has no attribute {name!r}")
