"""A user's own table is prepared once for all trainings of a seed, and let go afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from whatleaks.data.table import pack_table
from whatleaks.seeds import Streams
from whatleaks.trial import prepared_before
from whatleaks.trial.prepared_before import forget, ready_once, trained_once
from whatleaks.trial.preparing import ready
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import perform, run_trial

FRAME = pd.DataFrame(np.random.default_rng(0).random((40, 3)), columns=["a", "b", "c"]).assign(
    y=np.arange(40) % 2
)
PACKED = pack_table(FRAME)
MINE = Scenario(
    "table", table="a hash", data=Settings({"label": "y"}), passive=(("a", "b"),), seed=3
)


@pytest.fixture(autouse=True)
def nothing_held() -> Iterator[None]:
    forget()
    yield
    forget()


def test_other_threats_and_defenses_share_what_was_prepared() -> None:
    first = ready_once(MINE, FRAME, None, PACKED)
    other = replace(MINE, threat="black-box", defense="rounding-1", targets=10, branch="lr")
    assert ready_once(other, FRAME, None, PACKED) is first
    plain = ready(MINE, FRAME, Streams(3))
    assert np.array_equal(plain.training, first.training)
    assert all(
        np.array_equal(plain.holdings.columns[p], c) for p, c in first.holdings.columns.items()
    )


@pytest.mark.parametrize(
    "changed",
    [{"seed": 4}, {"table": "another"}, {"passive": (("a",),)}, {"shown": 2},
     {"data": Settings({"label": "y", "scale_on": "training"})}],
)  # fmt: skip
def test_what_decides_the_preparation_is_prepared_anew(changed: dict[str, object]) -> None:
    first = ready_once(MINE, FRAME, None, PACKED)
    assert ready_once(replace(MINE, **changed), FRAME, None, PACKED) is not first
    assert len(prepared_before._held) == 1


def test_a_word_for_two_tables_gives_two_answers() -> None:
    """A scenario's word need be no hash: the bytes decide, and without bytes nothing is held."""
    other = FRAME.assign(a=FRAME.a[::-1].to_numpy())
    packed = pack_table(other)
    scenario = replace(MINE, threat="white-box", attacks=("half-star",), targets=10)
    for first, second in (
        [run_trial(scenario, frame).outcome for frame in (FRAME, other)],
        [next(perform([scenario], bytes_))[0] for bytes_ in (PACKED, packed)],
    ):
        assert first != second
    assert ready_once(MINE, FRAME, None, PACKED) is not ready_once(MINE, other, None, packed)


def test_nothing_of_a_public_set_is_held() -> None:
    scenario = Scenario("wine", share=0.3)
    first = ready_once(scenario, None, None, PACKED)
    assert ready_once(scenario, None, None, PACKED) is not first
    assert not prepared_before._held


def test_the_last_training_is_shared_only_with_its_own_key_and_bytes() -> None:
    made: list[str] = []

    def train(name: str, packed: bytes | None) -> str:
        def new() -> str:
            made.append(name)
            return f"{name} {len(made)}"

        return trained_once(name, packed, new)

    again = bytes(bytearray(PACKED))
    assert again == PACKED  # equal, and not the same: nobody knows where it comes from
    assert train("a", PACKED) == train("a", PACKED) == "a 1"
    assert train("a", again) == "a 2"
    assert train("b", again) == "b 3"
    assert train("a", again) == "a 4"  # one is held at most
    assert train("a", None) == "a 5"
    assert train("a", None) == "a 6"  # without bytes nothing is held
    assert train("a", again) == "a 7"
    forget()
    assert train("a", again) == "a 8"


def test_jobs_that_share_a_training_give_the_numbers_of_one_job() -> None:
    asked = [
        replace(MINE, threat="white-box", attacks=(name,), references=("baselines",), targets=10)
        for name in ("half-star", "equality-solving")
    ]
    apart = []
    for one in asked:
        forget()
        apart += [outcome.measurements for outcome, _ in perform([one], PACKED)]
    forget()
    after = [outcome.measurements for one in asked for outcome, _ in perform([one], PACKED)]
    assert after == apart
    assert len(prepared_before._trained) == 1
