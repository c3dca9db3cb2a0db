"""whatleaks: what can my partners learn about my columns, and what stops them?

``audit`` is the three-line entry point, ``evaluate`` lets an attack of one's own loose on a
``Scenario``. Everything heavy loads on first use, so that importing the package (and
``whatleaks --help``) stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from whatleaks.api import AuditReport, audit, evaluate, model_names, parts
    from whatleaks.auditor.precheck import precheck
    from whatleaks.errors import (
        AttackError,
        AuditError,
        DataError,
        GrantError,
        SpecError,
        TableError,
        UsageError,
        WhatleaksError,
    )
    from whatleaks.trial.outcome import Outcome
    from whatleaks.trial.scenario import Scenario

_LAZY = {
    "AuditReport": "api",
    "audit": "api",
    "parts": "api",
    "evaluate": "api",
    "model_names": "api",
    "precheck": "auditor.precheck",
    "Scenario": "trial.scenario",
    "Outcome": "trial.outcome",
    "AttackError": "errors",
    "AuditError": "errors",
    "DataError": "errors",
    "GrantError": "errors",
    "SpecError": "errors",
    "TableError": "errors",
    "UsageError": "errors",
    "WhatleaksError": "errors",
}

__all__ = [
    "AttackError",
    "AuditError",
    "AuditReport",
    "DataError",
    "GrantError",
    "Outcome",
    "Scenario",
    "SpecError",
    "TableError",
    "UsageError",
    "WhatleaksError",
    "__version__",
    "audit",
    "evaluate",
    "model_names",
    "parts",
    "precheck",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its room on first use (PEP 562)."""
    if name in _LAZY:
        return getattr(import_module(f"whatleaks.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'whatleaks' has no attribute {name!r}")
