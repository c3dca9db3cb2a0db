"""The table that was prepared a moment ago, and what was trained on it: who comes next may share them.

A large table takes longer to prepare than to train on, and a wide one longer to train on than an
attack takes. One of each is held at most, until ``forget``, with the very bytes that the table was read
from: a scenario's word for a table may stand for another one next time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from whatleaks.models.adapters.given import GivenModel
from whatleaks.seeds import Streams
from whatleaks.trial.preparing import ready
from whatleaks.trial.ready import Ready
from whatleaks.trial.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

# What of a scenario decides how its table is prepared.
READ = (
    "dataset", "table", "data", "passive", "share", "unknown", "parties", "model", "given", "seed", "shown",
)  # fmt: skip

_held: dict[str, tuple[bytes, Ready]] = {}
_trained: dict[str, tuple[bytes, object]] = {}
T = TypeVar("T")


def ready_once(
    scenario: Scenario, table: pd.DataFrame | None, given: GivenModel | None, packed: bytes | None
) -> Ready:
    """Prepare a scenario's table with its seed; one from the same ``packed`` bytes not twice in a row."""
    lacking = bool(scenario.given) and given is None  # refused below
    if (
        packed is None
        or not scenario.table
        or lacking
        or scenario.prepared("prepare") == "pictures"
    ):
        return ready(scenario, table, Streams(scenario.seed), given)
    said = {name: value for name, value in scenario.identity().items() if name in READ}
    key = json.dumps(said, sort_keys=True)
    if key not in _held or _held[key][0] is not packed:
        _held.clear()  # first: two might not fit
        _held[key] = packed, ready(scenario, table, Streams(scenario.seed), given)
    return _held[key][1]


def trained_once(key: str, packed: bytes | None, train: Callable[[], T]) -> T:
    """Train, unless the last training had this very key and the table of these very bytes."""
    before = _trained.get(key)
    if before is not None and before[0] is packed:
        return before[1]  # type: ignore[return-value]  # a key names trainings of one kind
    _trained.clear()  # first: two might not fit
    made = train()
    if packed is not None:
        _trained[key] = packed, made
    return made


def forget() -> None:
    """Let the prepared table go, and what was trained."""
    _held.clear()
    _trained.clear()
