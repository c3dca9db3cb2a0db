"""One self-contained record per run: what was asked, what came out, what made it and where."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whatleaks.runs.work import Work, work_from_dict, work_to_dict
from whatleaks.trial.outcome import Outcome, Quantity

FORMAT = 2


@dataclass(frozen=True)
class Record:
    """A finished run. ``outcome`` is present when it is ok, ``traceback`` when it failed.

    ``sources`` is one hash of the sources behind it.
    """

    hash: str
    work: Work
    sources: str
    status: str  # "ok" or "failed"
    outcome: Outcome | None
    traceback: str
    environment: Mapping[str, Any]
    seconds: float
    attempts: int
    created: str

    @property
    def ok(self) -> bool:
        """Say whether the run has numbers."""
        return self.status == "ok"

    @property
    def measurements(self) -> Mapping[str, Quantity]:
        """The run's numbers; empty if it failed."""
        return self.outcome.measurements if self.outcome else {}

    @property
    def baselines(self) -> Mapping[str, Quantity]:
        """The baselines' numbers; empty if it failed."""
        return self.outcome.baselines if self.outcome else {}

    @property
    def error(self) -> str:
        """The last line of the traceback: what went wrong."""
        lines = self.traceback.strip().splitlines()
        return lines[-1] if lines else ""

    def to_json(self) -> bytes:
        """Write the record as canonical JSON."""
        tree = {
            "format": FORMAT,
            "hash": self.hash,
            "work": work_to_dict(self.work),
            "sources": self.sources,
            "status": self.status,
            "outcome": self.outcome.to_dict() if self.outcome else None,
            "traceback": self.traceback,
            "environment": dict(self.environment),
            "seconds": self.seconds,
            "attempts": self.attempts,
            "created": self.created,
        }
        text = json.dumps(tree, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return text.encode()

    @staticmethod
    def from_json(data: bytes) -> Record:
        """Read back what ``to_json`` wrote."""
        tree: dict[str, Any] = json.loads(data)
        if tree.pop("format") != FORMAT:
            raise ValueError("this record has another format")
        outcome = tree["outcome"]
        tree["work"] = work_from_dict(tree["work"])
        tree["outcome"] = Outcome.from_dict(outcome) if outcome is not None else None
        return Record(**tree)
