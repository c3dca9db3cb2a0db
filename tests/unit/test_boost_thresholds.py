"""Thresholds of SecureBoost over the live protocol: found, counted, and what they tell of records."""

from __future__ import annotations

import pytest

from whatleaks.errors import SpecError
from whatleaks.federation.boost.settings import BoostModelSettings
from whatleaks.models.threshold_queries import queries_per_node
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial


def outcome(threat: str, attacks: tuple[str, ...], parties: int = 1, **options: object) -> Outcome:
    quick = {"records": 90, "rounds": 2, "key_bits": 512, "insecure_test_key": True}
    scenario = Scenario(
        "wine", unknown=7, parties=parties, model="boost", threat=threat, attacks=attacks, known=30,
        references=("baselines", "control"), model_options=Settings({**quick, **options}),
    )  # fmt: skip
    return run_trial(scenario).outcome


@pytest.mark.parametrize("parties", [1, 2])
def test_every_threshold_is_found_and_every_interval_holds_its_value(parties: int) -> None:
    done = outcome("boost-queries", ("threshold-intervals", "threshold-search"), parties)
    told = done.measurements
    assert told["nodes"] > 3
    assert told["nodes found"] == told["nodes"]
    assert told["queries"] < told["queries by the formula"]
    assert told["threshold-intervals held"].value == 1.0
    assert told["threshold-intervals width"].value < 0.9
    assert told["threshold-search"].value < done.baselines["half"].value
    assert told["threshold-search"].value < done.baselines["threshold-search control"].value


def test_algorithm_1_asks_as_often_as_its_formula_says() -> None:
    done = outcome(
        "boost-queries", ("threshold-search",), together=False, epsilon=1e-4, per_query=51
    )
    told = done.measurements
    each = queries_per_node(1.0, 1e-4, 51)
    assert told["queries"] == told["queries by the formula"] == told["nodes"] * each
    assert told["nodes found"] == told["nodes"]


def test_known_people_tell_less_than_made_up_records_and_more_than_none() -> None:
    known = outcome("boost-known", ("threshold-known",))
    attack = known.measurements["threshold-known"].value
    assert attack < known.baselines["threshold-known control"].value
    assert attack < known.baselines["half"].value


def test_settings_that_cannot_search_are_refused() -> None:
    with pytest.raises(SpecError, match="at least 3 records in a query"):
        BoostModelSettings(per_query=2)
    with pytest.raises(SpecError, match="at least 10"):
        BoostModelSettings(records=5)
