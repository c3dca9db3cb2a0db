"""Claims of the papers and our verdicts on them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from whatleaks.errors import UsageError, nearest
from whatleaks.metrics.measurement import Measurement


class Verdict(StrEnum):
    """What the results say about a claim. Without results it is not-run, never holds."""

    HOLDS = "holds"
    FAILS = "fails"
    PARTLY = "partly"
    NOT_RUN = "not-run"


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, in our words, with the paper's own numbers where it gives them."""

    id: str
    where: str
    claim: str
    reported: Any = None
    setup: str = ""

    @property
    def paper(self) -> str:
        """The paper's letter."""
        return self.id[0]


@dataclass(frozen=True)
class Paper:
    """One of the five papers."""

    letter: str
    short: str
    about: str


@dataclass(frozen=True)
class Judgement:
    """A verdict with its evidence: ``measured`` in words, ``value`` the central number with its interval."""

    verdict: Verdict
    measured: str
    value: Measurement | None = None
    note: str = ""


@cache
def _tree() -> dict[str, Any]:
    return tomllib.loads(files("whatleaks_lab.papers").joinpath("claims.toml").read_text("utf-8"))


def papers() -> dict[str, Paper]:
    """Return the five papers by letter."""
    return {letter: Paper(letter, **entry) for letter, entry in _tree()["papers"].items()}


def claims() -> dict[str, Claim]:
    """Return all claims by id, in the papers' order."""
    return {entry["id"]: Claim(**entry) for entry in _tree()["claims"]}


def claim(name: str) -> Claim:
    """Return one claim; an unknown id is refused with the nearest one."""
    known = claims()
    if name not in known:
        raise UsageError(
            f"there is no claim {name!r}.{nearest(name, known)} `whatleaks claims` lists them"
        )
    return known[name]
