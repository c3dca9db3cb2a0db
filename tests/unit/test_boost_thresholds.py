"""Thresholds of SecureBoost over the live protocol: found, counted, and what they tell of records."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.defenses.query_limit import QueryLimit
from whatleaks.errors import SpecError, UsageError
from whatleaks.federation.boost.settings import BoostModelSettings
from whatleaks.federation.boost.walking import UNANSWERED, SplitOwner
from whatleaks.models.shared_trees import NodesOfOthers, OwnedSplits, SharedTree, splits_above
from whatleaks.models.threshold_queries import queries_per_node
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial
from whatleaks.wire.message import Payload, Plain


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


@pytest.mark.parametrize("parties", [1, 2])
def test_made_up_records_walk_real_paths_too(parties: int) -> None:
    attacks, quick = ("threshold-intervals",), {"rounds": 1, "epsilon": 1e-4}
    free = outcome("boost-queries", attacks, parties, **quick).measurements
    told = outcome("boost-queries", attacks, parties, real_paths=True, **quick).measurements
    assert told["nodes found"] == told["nodes"] == free["nodes"]
    assert told["queries"] > free["queries"]  # a query serves one node
    assert told["threshold-intervals held"].value == 1.0
    # What owners no longer answer is what real records never came to.
    assert told["threshold-intervals width"].value >= free["threshold-intervals width"].value


def test_a_limit_on_queries_leaves_thresholds_coarse() -> None:
    told = outcome("boost-queries", ("threshold-intervals",), most_queries=2, per_query=20)
    assert told.measurements["queries"] == 2
    assert told.measurements["nodes found"] == 0
    # A single query is used for columns and thresholds at once.
    once = outcome("boost-queries", ("threshold-intervals",), most_queries=1, rounds=1)
    assert once.measurements["queries"] == 1
    assert once.measurements["threshold-intervals held"].value == 1.0
    assert once.measurements["threshold-intervals width"].value < 0.95
    assert told.measurements["threshold-intervals held"].value == 1.0
    with pytest.raises(SpecError, match="most_queries is -1"):
        BoostModelSettings(most_queries=-1)
    with pytest.raises(UsageError, match="limit of 0 queries"):
        QueryLimit(0)


def test_whoever_only_watches_real_paths_gets_less() -> None:
    known, watched = (
        outcome(threat, ("threshold-known",)) for threat in ("boost-known", "boost-paths")
    )
    assert (
        watched.measurements["threshold-known"].value >= known.measurements["threshold-known"].value
    )


# A tree by hand: the active party's root, below it two nodes of the passive one, the second under
# the first's left side.
TREE = SharedTree(
    np.array([1, 3, -1, 5, -1, -1, -1]),
    np.array([0, 1, -1, 1, -1, -1, -1]),
    np.array([0, 0, -1, 1, -1, -1, -1]),
    np.zeros(7),
)
HALF = OwnedSplits(np.array([0]), np.array([0]), np.array([0.5]), np.array([False]))
THEIRS = OwnedSplits(np.array([0, 1]), np.zeros(2), np.array([0.5, 0.5]), np.zeros(2, dtype=bool))


def test_a_path_follows_every_split_above() -> None:
    assert splits_above([TREE], 1, 2) == (((0, 0, True),), ((0, 0, True), (1, 0, True)))
    nodes = NodesOfOthers((2,), (TREE,), HALF)
    own = np.array([[0.1], [0.1], [0.9]])  # the last one turns right at the root
    bits = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    assert nodes.on_path(own, bits).tolist() == [[True, True], [True, False], [False, False]]


def test_an_owner_answers_only_what_its_own_nodes_allow() -> None:
    heard: list[Payload] = []

    class Post:
        def send(self, step: int, sender: str, receiver: str, kind: str, payload: Payload) -> None:
            heard.append(payload)

    x = np.array([[0.2, 0.3], [0.8, 0.3]])
    above = ((), ((1, 0, True),))
    asked = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    SplitOwner("passive", x, THEIRS, Post(), above).answer(0, asked)
    SplitOwner("passive", x, THEIRS, Post()).answer(0, asked)
    answers = [payload.values.tolist() for payload in heard if isinstance(payload, Plain)]
    assert answers == [[1.0, 1.0, 0.0, UNANSWERED], [1.0, 1.0, 0.0, 1.0]]


def test_settings_that_cannot_search_are_refused() -> None:
    with pytest.raises(SpecError, match="at least 3 records in a query"):
        BoostModelSettings(per_query=2)
    with pytest.raises(SpecError, match="at least 10"):
        BoostModelSettings(records=5)


def test_adversaries_who_hold_the_same_leave_no_attack_to_each_other() -> None:
    from whatleaks.auditor.plan import scenarios
    from whatleaks.auditor.spec import AuditSpec

    planned = scenarios(AuditSpec("y", ("a",), "boost", seeds=1), "t", "0" * 64)
    tried = {attack for scenario in planned for attack in scenario.attacks}
    alone = scenarios(AuditSpec("y", ("a",), "boost", ("boost-known",), seeds=1), "t", "0" * 64)
    assert "threshold-known" in alone[0].attacks
    assert "threshold-known" in tried
