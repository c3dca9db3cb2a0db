"""Ask what a protocol gives away at some sizes: no data, no training, an answer at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any

from whatleaks.auditor.precheck.boost import Boost
from whatleaks.auditor.precheck.finding import Precheck
from whatleaks.auditor.precheck.horizontal import Horizontal
from whatleaks.auditor.precheck.regression import Regression
from whatleaks.auditor.precheck.scores import Scores
from whatleaks.auditor.precheck.sshe import Sshe
from whatleaks.errors import UsageError, argument, nearest, positive, whole

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
            f"{nearest(str(protocol), PROTOCOLS)}"
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
    asked = kind(**{name: _checked(known[name], value) for name, value in setting.items()})
    assumes = asked.assumes()
    taken = {name: getattr(asked, name) for name in known if name not in setting}
    if taken:
        said = ", ".join(f"{argument(n)} {_word(kind, n, v)}" for n, v in taken.items())
        assumes = (f"what was not given: {said}", *assumes)
    return Precheck(protocol, asdict(asked), asked.lines(), assumes)


def _checked(field: Any, value: Any) -> Any:
    """Refuse what is no value of a field's kind."""
    name = field.name
    if field.type == "int":
        return whole(name, value)
    if field.type == "float":
        return positive(name, value)
    if field.type == "bool" and not isinstance(value, bool):
        raise UsageError(f"{argument(name)} must be True or False, got {value!r}")
    if field.type == "str" and not isinstance(value, str):
        raise UsageError(f"{argument(name)} must be a word, got {value!r}")
    if field.type.startswith("tuple"):
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise UsageError(f"{argument(name)} must be a list of whole numbers, got {value!r}")
        return tuple(whole(name, one) for one in value)
    return value


def _word(kind: type[Any], name: str, value: Any) -> str:
    """Write a value that stands where none was given."""
    if not value and name in kind.UNSAID:
        return f"({kind.UNSAID[name]})"
    return ("no", "yes")[value] if isinstance(value, bool) else f"{value}"
