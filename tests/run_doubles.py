"""Works for testing the runner: real ones that log, sleep, raise, die, share or count threads."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from whatleaks.errors import SpecError, nearest
from whatleaks.metrics.intervals import mean_over_records
from whatleaks.runs.work import work
from whatleaks.seeds import Streams
from whatleaks.trial.outcome import Outcome


def note(path: str, text: str) -> None:
    """Append one line in one write, so that several processes may log."""
    if path:
        with open(path, "ab", buffering=0) as log:
            log.write(f"{text}\n".encode())


@work
@dataclass(frozen=True)
class Double:
    """A work whose ``does`` names one of the functions below.

    Works of one ``group`` share a training, which is logged; without a group each has its own.
    """

    kind: ClassVar[str] = "double"

    does: str = "measure"
    seed: int = 0
    group: str = ""
    log: str = ""
    pause: float = 0.0
    sigma: float = 1.0
    columns: int = 5
    lives: int = 0
    behind: str = ""
    label: str = ""

    def identity(self) -> dict[str, Any]:
        """All but the label, the defaults left out."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name != "label" and getattr(self, f.name) != f.default
        }

    def to_dict(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], where: str = "double") -> Double:
        """Read ``to_dict`` or a sweep's fields back."""
        known = {f.name: f for f in fields(cls)}
        for key in tree:
            if key not in known:
                raise SpecError(f"{where}: unknown key {key!r}.{nearest(key, known)}")
        return cls(**tree)

    def title(self) -> str:
        """The label, or all that was set."""
        told = [f"{key}={value}" for key, value in self.identity().items() if key != "does"]
        return self.label or " ".join([self.does, *told])

    def training_key(self) -> str:
        """The group, or the work itself."""
        return self.group or repr(self)

    def modules(self) -> tuple[str, ...]:
        """This file, and what the test says stands behind it."""
        return (__name__, *([self.behind] if self.behind else []))

    def check(self) -> None:
        """Refuse what does not exist."""
        if self.does not in DOES:
            raise SpecError(f"unknown double {self.does!r}.{nearest(self.does, DOES)}")

    @classmethod
    def perform_group(
        cls, works: Sequence[Double], table: bytes | None
    ) -> Iterator[tuple[Outcome, bytes]]:
        """Train once, then do what each work says."""
        note(works[0].log, f"train {works[0].seed} {os.getpid()}")
        for one in works:
            note(one.log, f"begin {one.seed} {os.getpid()}")
            time.sleep(one.pause)
            if one.seed >= int(os.environ.get("DOUBLES_HANG_FROM", 1 << 31)):
                time.sleep(600)  # whoever wants to interrupt a sweep cannot come too late
            outcome, private = DOES[one.does](one, table)
            note(one.log, f"end {one.seed} {os.getpid()}")
            yield outcome, private


def measure(one: Double, table: bytes | None) -> tuple[Outcome, bytes]:
    """Draw uniform data, guess a half, and keep the errors of the records private."""
    streams = Streams(one.seed)
    data = streams.rng("data").uniform(0.0, 1.0, (50, one.columns))
    noise = streams.rng("noise").exponential(one.sigma, 50)
    errors = np.square(data - 0.5).mean(axis=1) + noise
    measured = mean_over_records(errors, "mse", streams.rng("interval"))
    outcome = Outcome({"error": measured, "seed": one.seed}, {"half": 1 / 12}, ("nothing",))
    return outcome, b"private " + errors.tobytes()


def read_table(one: Double, table: bytes | None) -> tuple[Outcome, bytes]:
    """Say how long the table is."""
    return Outcome({"bytes": len(table) if table is not None else -1}), b""


def raises(one: Double, table: bytes | None) -> tuple[Outcome, bytes]:
    """Fail for odd seeds."""
    if one.seed % 2:
        raise ZeroDivisionError(f"seed {one.seed} is odd")
    return Outcome({"seed": one.seed}), b"even"


def dies(one: Double, table: bytes | None) -> tuple[Outcome, bytes]:
    """Kill the own process with signal 9, ``lives`` times for each seed."""
    marks = Path(one.log).parent
    deaths = len(list(marks.glob(f"{one.seed}-*")))
    if deaths < one.lives:
        (marks / f"{one.seed}-{deaths}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome({"deaths": deaths}), b""


def lose_ctrl_c(one: Double, table: bytes | None) -> tuple[Outcome, bytes]:
    """Press Ctrl-C for seed 2 and lose it, as native code may."""
    if one.seed == 2:
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5.0)  # never slept: the signal comes first
    return Outcome({"seed": one.seed}), b""


def mistake_ctrl_c(one: Double, table: bytes | None) -> tuple[Outcome, bytes]:
    """Press Ctrl-C for seed 2 and call it something else, as numpy may."""
    lose_ctrl_c(one, table)
    if one.seed == 2:
        raise TypeError("cannot compare")
    return Outcome({"seed": one.seed}), b""


def process(one: Double, table: bytes | None) -> tuple[Outcome, bytes]:
    """Report which process this is."""
    return Outcome({"process": os.getpid()}), b""


def threads(one: Double, table: bytes | None) -> tuple[Outcome, bytes]:
    """Report how many threads torch and the BLAS libraries would use."""
    import torch
    from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

    np.ones((4, 4)) @ np.ones((4, 4))
    pools = max(pool["num_threads"] for pool in threadpool_info())
    return Outcome({"torch": torch.get_num_threads(), "pools": pools}), b""


def not_finite(one: Double, table: bytes | None) -> tuple[Outcome, bytes]:
    """Return what cannot be stored."""
    return Outcome({"error": float("nan")}), b""


def nothing(one: Double, table: bytes | None) -> tuple[Any, bytes]:
    """Return no outcome."""
    return None, b""


def borrowed(one: Double, table: bytes | None) -> tuple[Outcome, bytes]:
    """Take the number from the module behind the work, as an attack from its file."""
    import importlib

    return Outcome({"value": importlib.import_module(one.behind).VALUE}), b""


DOES = {
    "measure": measure,
    "read-table": read_table,
    "raises": raises,
    "dies": dies,
    "lose-ctrl-c": lose_ctrl_c,
    "mistake-ctrl-c": mistake_ctrl_c,
    "process": process,
    "threads": threads,
    "not-finite": not_finite,
    "nothing": nothing,
    "borrowed": borrowed,
}
