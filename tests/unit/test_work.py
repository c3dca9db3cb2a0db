"""Works: a name that is what they are, and a way back from plain JSON."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import pytest

from run_doubles import Double
from whatleaks.errors import SpecError
from whatleaks.runs.work import name_of, work, work_from_dict, work_to_dict

OTHER: dict[str, Any] = {
    "does": "raises",
    "seed": 1,
    "group": "g",
    "log": "l",
    "pause": 1.0,
    "sigma": 2.0,
    "columns": 2,
    "lives": 1,
    "behind": "b",
}


@pytest.mark.parametrize("name", OTHER)
def test_identity_changes_the_name(name: str) -> None:
    assert set(OTHER) | {"label"} == {f.name for f in fields(Double)}
    assert name_of(replace(Double(), **{name: OTHER[name]})) != name_of(Double())


def test_the_label_does_not() -> None:
    assert name_of(Double(label="figure 5")) == name_of(Double())


def test_the_name_is_stable() -> None:
    """Pinned: if this fails, every stored result has lost its name."""
    assert name_of(Double("raises", seed=1, sigma=0.1)) == PINNED


PINNED = "2e5dcd8795a88be5a4264e7353ea8dac7673f56c39774cfe87a0cfd78d36146d"


def test_the_kind_is_part_of_the_name() -> None:
    class Twin(Double):
        kind = "twin"

    assert name_of(Twin()) != name_of(Double())


def test_a_work_survives_its_own_plain_form() -> None:
    one = Double("raises", seed=3, sigma=0.1, label="x")
    assert work_to_dict(one)["kind"] == "double"
    assert work_from_dict(work_to_dict(one)) == one


def test_an_unknown_kind_is_refused_with_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"unknown kind of run 'duoble'\. Did you mean 'double'\?"):
        work_from_dict({"kind": "duoble"})


def test_two_classes_cannot_share_a_kind() -> None:
    with pytest.raises(ValueError, match="two classes of works are named 'double'"):

        @work
        @dataclass(frozen=True)
        class Other(Double):
            pass

    assert work(Double) is Double  # the same one again, as when a module is reloaded
