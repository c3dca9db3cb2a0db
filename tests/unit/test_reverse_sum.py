"""Chosen numbers in an audit of SecureBoost: bounds that hold, a control, and what spot checks end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whatleaks.models.shuffled_candidates import (
    bounds_of_candidates,
    named_columns,
    possible_columns,
)
from whatleaks.trial.plan import plan
from whatleaks.trial.records import Trial
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial, stage_of, train

SMALL = {
    "key_bits": 512, "insecure_test_key": True, "records": 80, "rounds": 2, "max_bin": 16,
    "max_depth": 2,
}  # fmt: skip
ASKED = Scenario(
    "breast-cancer",
    unknown=5,
    data=Settings({"rows": 200, "training_fraction": 0.6}),
    model="boost-chosen",
    threat="boost-chosen",
    attacks=("reverse-sum",),
    known=25,
    references=("baselines", "control"),
    model_options=Settings(SMALL),
    seed=3,
)


def test_candidates_are_named_rightly_and_crossing_ones_name_each_other() -> None:
    rng = np.random.default_rng(2)
    table = rng.uniform(size=(40, 6))
    cuts = np.quantile(table, np.linspace(0.1, 0.9, 9), axis=0)  # cuts x columns
    left = (table.T[:, None, :] <= cuts.T[:, :, None]).reshape(54, 40)
    owner = np.repeat(np.arange(6), 9)
    people = np.arange(8)
    zeros, ones = np.zeros(6), np.ones(6)
    possible, _, _ = possible_columns(left[:, people].T, table[people], zeros, ones)
    assert possible[np.arange(54), owner].all()
    found = named_columns(possible, left)
    assert found[np.arange(54), owner].all()  # the right column is never struck out
    alone, together = (int((one.sum(axis=1) == 1).sum()) for one in (possible, found))
    assert together > alone
    low, high = bounds_of_candidates(left, people, table[people], zeros, ones)
    assert ((low <= table) & (table <= high)).all()
    order = rng.permutation(54)  # names are not looked at
    same = bounds_of_candidates(left[order], people, table[people], zeros, ones)
    assert (same[0] == low).all()
    assert (same[1] == high).all()


def follows(done: Trial, name: str) -> float:
    scored = next(s for s in done.records.scored if s.name == name)
    return float(scored.followed(done.records.apart).value.mean())


def test_it_follows_more_than_the_known_people_tell_and_others_sides_tell_nothing() -> None:
    done = run_trial(ASKED)
    assert done.outcome.measurements["records spelled"] == 80
    mine, bar = follows(done, "reverse-sum"), follows(done, "auxiliary-regression")
    assert mine > bar + 0.05
    assert follows(done, "reverse-sum control") < bar


@pytest.mark.parametrize("parties", [1, 2])
def test_every_interval_holds_its_value_whoever_owns_the_column(parties: int) -> None:
    asked = replace(ASKED, parties=parties)
    parts = plan(asked)
    training = train(asked, parts, None)
    assert not isinstance(training, str)
    stage = stage_of(asked, parts, training)
    view = stage.view(stage.rows.targets)
    low, high = view.bounds()
    assert (low <= stage.truth + 1e-12).all()
    assert (stage.truth <= high + 1e-12).all()
    assert (high - low).mean() < 0.6
    # Nobody known: no column is named, so nothing is bounded.
    nobody = replace(
        view.auxiliary, places=view.auxiliary.places[:0], passive=view.auxiliary.passive[:0]
    )
    low, high = replace(view, auxiliary=nobody).bounds()
    assert (low == 0.0).all()
    assert (high == 1.0).all()


@pytest.mark.parametrize(("rounds", "spelled"), [(1, 8), (2, 80)])
def test_spot_checks_stop_the_greedy_and_not_who_waits(rounds: int, spelled: int) -> None:
    # Chance lets the greedy one pass less often than once in 2**100.
    options = ASKED.model_options.merged({"rounds": rounds})
    done = run_trial(replace(ASKED, defense="spot-checks", model_options=options))
    assert done.outcome.measurements["greedy noticed"] is True
    assert done.outcome.measurements["records spelled"] == spelled
    assert any("5 spot checks stopped" in note for note in done.outcome.notes)
