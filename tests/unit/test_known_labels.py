"""Who holds the label knows it without joining: a column that follows from it adds nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from whatleaks.arrays import sealed
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.spec import AuditSpec
from whatleaks.threat.grants import Ranges
from whatleaks.threat.views.routing import RoutingView
from whatleaks.trial import trial
from whatleaks.trial.control import exchanged_view, within
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_group

ROWS = 60
SMALL = {"rounds": 1, "max_depth": 1, "key_bits": 512, "insecure_test_key": True}


def table() -> pd.DataFrame:
    """Return a table whose passive columns are the label itself and a number of its own."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "b", "income"])
    drive = frame["a"] + frame["income"] + 0.5 * rng.normal(size=ROWS)
    frame["y"] = (drive > drive.median()).astype(int)
    frame["copy"] = 7 - 3 * frame["y"]
    return frame


def followed_alone(
    model: str, threat: str, attack: str, options: dict[str, int]
) -> tuple[float, float]:
    """Return how far the label's copy is followed alone, and by an attack's control."""
    spec = AuditSpec(
        "y", ("copy", "income"), model=model, threats=(threat,), seeds=1, known=10, targets=20,
        defenses=False,
    )  # fmt: skip
    planned = [
        replace(
            one,
            attacks=(attack,),
            attack_options=Settings({}),
            references=("alone", "control"),
            model_options=one.model_options.merged(options),
            measures=(),
        )
        for one in scenarios(spec, "table", "hash")
    ][:1]
    (done,) = run_group(planned, table())
    place = done.records.columns.index("copy")
    found = {one.name: one.followed(done.records.apart).value[place] for one in done.records.scored}
    return float(found["alone"]), float(found.get(f"{attack} control", 0.0))


def test_who_trained_with_the_labels_knows_them() -> None:
    alone, _ = followed_alone("boost", "boost-known", "threshold-known", SMALL)
    assert alone > 0.99


def test_who_predicts_people_has_no_label_of_theirs() -> None:
    alone, control = followed_alone("lr", "white-box", "equality-solving", {"steps": 50})
    assert alone < 0.9
    assert control < 0.5


def test_a_trial_tells_its_control_the_labels_only_where_they_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[Any] = []

    def exchanged(view: Any, records: int, rng: Any, alike: Any, replayed: Any) -> Any:
        told.append(alike)
        return exchanged_view(view, records, rng, alike, replayed)

    monkeypatch.setattr(trial, "exchanged_view", exchanged)
    followed_alone("boost", "boost-known", "threshold-known", SMALL)
    followed_alone("lr", "white-box", "equality-solving", {"steps": 5})
    trained, predicted = told
    assert set(trained.tolist()) == {0, 1}
    assert predicted is None


def test_messages_are_exchanged_between_people_of_the_same_label() -> None:
    alike = np.array([0, 1, 0, 2, 1, 0, 1, 3])
    order = within(alike, np.random.default_rng(0))
    assert sorted(order.tolist()) == list(range(8))
    assert not (order == np.arange(8)).any()
    joined = np.where(np.isin(alike, (2, 3)), 0, alike)  # loners join the first of the largest
    assert (joined[order] == joined).all()
    alone = within(np.arange(4), np.random.default_rng(1))
    assert sorted(alone.tolist()) == [0, 1, 2, 3]
    assert not (alone == np.arange(4)).any()


def test_what_a_message_says_of_the_label_alone_stays_in_the_control() -> None:
    labels = np.array([0, 1, 0, 1, 1, 0])
    sides = sealed(labels[:, None].astype(float))  # a node that splits by the label
    ranges = Ranges(sealed(np.zeros(1)), sealed(np.ones(1)))
    view = RoutingView(sealed(np.zeros((6, 1))), 1, sides, ranges)
    told = exchanged_view(view, 6, np.random.default_rng(0), labels)
    assert told is not None
    assert np.array_equal(told.bits, sides)
    plain = exchanged_view(view, 6, np.random.default_rng(0))
    assert plain is not None
    assert not np.array_equal(plain.bits, sides)
