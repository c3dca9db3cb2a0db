"""The table that was prepared a moment ago: trainings of one seed share it.

A large table takes longer to prepare than to train on. One is held at most, until ``forget``, with
the very bytes it was read from: a scenario's word for a table may stand for another one next time.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

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


def forget() -> None:
    """Let the prepared table go."""
    _held.clear()
