"""How a claim is checked: which works, which rule, which verdict follows from which numbers.

The rule is a sentence written before anything ran. It is stored with every verdict, and a
test fails when a committed verdict was reached under another rule.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whatleaks.errors import UsageError, argument, nearest
from whatleaks.runs.record import Record
from whatleaks.runs.work import Work
from whatleaks_lab.papers.claim import Judgement, claim
from whatleaks_lab.papers.plot import Plot

PROFILES = ("fast", "standard", "full")
_MODULES = ("luo", "jiang", "li", "varasteh", "yao")
_CHECKS: dict[str, Check] = {}

Runs = Callable[[str], Sequence[Work]]
Judge = Callable[[Sequence[Record]], Judgement]
Draw = Callable[[Sequence[Record]], Plot | None]


@dataclass(frozen=True)
class Check:
    """The check of one claim. ``sizes`` says per profile what was reduced against the paper.

    ``awaits``: why no verdict of the standard profile is committed yet; empty: there is one.
    """

    claim: str
    rule: str
    sizes: dict[str, str]
    runs: Runs
    judge: Judge
    draw: Draw | None = None
    awaits: str = ""


def check(
    claim_id: str,
    *,
    rule: str,
    sizes: dict[str, str],
    runs: Runs,
    draw: Draw | None = None,
    awaits: str = "",
) -> Callable[[Judge], Judge]:
    """Register the decorated function as the judge of a claim."""
    claim(claim_id)
    if set(sizes) != set(PROFILES):
        raise ValueError(f"{claim_id}: say the sizes of every profile")

    def register(judge: Judge) -> Judge:
        if claim_id in _CHECKS and _CHECKS[claim_id].judge.__module__ != judge.__module__:
            raise ValueError(f"two checks of {claim_id}")
        _CHECKS[claim_id] = Check(claim_id, rule, sizes, runs, judge, draw, awaits)
        return judge

    return register


def checks() -> dict[str, Check]:
    """Return every check that exists, by claim id."""
    for module in _MODULES:
        importlib.import_module(f"whatleaks_lab.papers.{module}")
    return dict(sorted(_CHECKS.items()))


def profile_named(name: str) -> str:
    """Refuse an unknown profile with the nearest one."""
    if name not in PROFILES:
        raise UsageError(
            f"{argument('profile')} {name!r} is unknown: use one of {', '.join(PROFILES)}.{nearest(name, PROFILES)}"
        )
    return name
