"""Ask what a protocol gives away at some sizes: no data, no training, an answer at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any

from whatleaks.auditor.precheck.boost import Boost
from whatleaks.auditor.precheck.finding import Precheck
from whatleaks.auditor.precheck.horizontal import Horizontal
from whatleaks.auditor.precheck.regression import Regression
from whatleaks.auditor.precheck.scores import Scores
from whatleaks.auditor.precheck.sshe import Sshe
from whatleaks.errors import UsageError, argument, nearest

# Linear and logistic regression differ by the slope of their residual alone.
PROTOCOLS: Mapping[str, type[Any]] = {
    "linear": Regression,
    "logistic": Regression,
    "sshe": Sshe,
    "horizontal": Horizontal,
    "boost": Boost,
    "scores": Scores,
}


def precheck(protocol: str, **setting: Any) -> Precheck:
    """Return what ``protocol`` gives away at this setting; sizes that it does not have are refused."""
    if protocol not in PROTOCOLS:
        raise UsageError(
            f"protocol {protocol!r} is unknown: use one of {', '.join(PROTOCOLS)}."
            f"{nearest(protocol, PROTOCOLS)}"
        )
    kind = PROTOCOLS[protocol]
    known = {f.name: f for f in fields(kind)}
    for name in setting:
        if name not in known:
            raise UsageError(
                f"{argument(name)} says nothing about {protocol}: leave it out "
                f"(it takes {', '.join(argument(n) for n in known)})"
            )
    lacking = [n for n, f in known.items() if f.default is MISSING and n not in setting]
    if lacking:
        raise UsageError(
            f"{protocol} needs {' and '.join(argument(name) for name in lacking)}: give a number"
        )
    asked = kind(**setting)
    return Precheck(protocol, asdict(asked), asked.lines(), asked.assumes())
