"""Scenarios: identity, refusals, reading back, what shares a training."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatleaks.errors import GrantError, SpecError, UsageError
from whatleaks.runs.work import name_of
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import DATA, Scenario, from_dict, parts, replace_fields
from whatleaks.trial.settings import Settings

BASE = Scenario("wine", share=0.3, attacks=("half-star",))


def test_every_field_is_identity_or_runtime() -> None:
    assert {*parts("identity"), *parts("runtime")} == {f.name for f in fields(Scenario)}


@pytest.mark.parametrize("name", ["label", "profile"])
def test_runtime_fields_do_not_change_the_name(name: str) -> None:
    assert name_of(replace(BASE, **{name: "word"})) == name_of(BASE)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"share": 0.4},
        {"model": "network"},
        {"attacks": ("equality-solving",)},
        {"defense": "rounding-1"},
        {"targets": 50},
        {"branch": "x"},
        {"data": Settings({"scale_on": "training"})},
        {"references": ("baselines", "limit")},
        {"coalition": ("passive-2",)},
    ],
)
def test_identity_fields_change_the_name(change: dict[str, object]) -> None:
    assert name_of(replace(BASE, **change)) != name_of(BASE)  # type: ignore[arg-type]


def test_a_setting_at_its_default_says_nothing() -> None:
    said = Scenario("wine", share=0.3, data=Settings({"scale_on": DATA["scale_on"], "rows": 0}))
    assert said == Scenario("wine", share=0.3)


@given(
    seed=st.integers(0, 2**31),
    share=st.floats(0.01, 0.99),
    targets=st.integers(0, 1000),
    attacks=st.lists(st.sampled_from(["half-star", "equality-solving"]), unique=True),
    steps=st.integers(1, 10**6),
)
def test_what_is_written_reads_back(
    seed: int, share: float, targets: int, attacks: list[str], steps: int
) -> None:
    made = Scenario(
        "wine",
        share=share,
        seed=seed,
        targets=targets,
        attacks=tuple(attacks),
        model_options=Settings({"steps": steps}),
    )
    assert from_dict(made.to_dict()) == made
    assert name_of(from_dict(made.to_dict())) == name_of(made)


def test_dotted_keys_merge_into_settings() -> None:
    made = replace_fields(BASE, {"model_options.steps": 5, "data.rows": 40}, "test")
    made = replace_fields(made, {"model_options.batch": 9}, "test")
    assert dict(made.model_options) == {"batch": 9, "steps": 5}
    assert made.prepared("rows") == 40


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"dataset": "wine"}, "give one of passive, share or unknown"),
        ({"dataset": "wine", "share": 0.2, "unknown": 3}, "got share and unknown"),
        ({"dataset": "wine", "share": 1.5}, "between 0 and 1"),
        ({"dataset": "wine", "share": 0.2, "treat": "white-box"}, "Did you mean 'threat'"),
        ({"dataset": "wine", "share": 0.2, "data": {"scale": "all"}}, "no setting 'scale'"),
        ({"dataset": "wine", "share": 0.2, "seed": -1}, "seed must be at least 0"),
        ({"dataset": "wine", "share": 0.2, "seed": "1"}, "must be a whole number"),
        ({"dataset": "wine", "share": 0.2, "references": ["limits"]}, "Did you mean 'limit'"),
        ({"dataset": "wine", "share": 0.2, "passive": [["a"], "b"]}, "list of column names"),
    ],
)
def test_bad_declarations_are_one_line(values: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        from_dict(values)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"model": "lrr"}, SpecError, "Did you mean 'lr'"),
        ({"threat": "white-box-tree"}, SpecError, "use model tree"),
        ({"attacks": ("half-start",)}, UsageError, "Did you mean 'half-star'"),
        ({"model": "network"}, GrantError, "half-star needs WhiteBoxLinearView"),
        ({"threat": "black-box"}, GrantError, "half-star needs"),
        ({"attack_options": Settings({"stepps": 3})}, SpecError, "no attack here has 'stepps'"),
        ({"model_options": Settings({"batchh": 3})}, SpecError, "Did you mean 'batch'"),
        ({"model_options": Settings({"batch": "x"})}, SpecError, "must be a whole number"),
        ({"defense": "roundin-1"}, UsageError, "Did you mean 'rounding-1'"),
        ({"defense": "dropout-0.5"}, SpecError, "acts on training"),
        ({"detector": "splitguard"}, SpecError, "no detector can watch"),
        ({"measures": ("by-colum",)}, SpecError, "Did you mean 'by-column'"),
        ({"dataset": "wime"}, Exception, "Did you mean 'wine'"),
    ],
)
def test_parts_that_do_not_fit_are_refused_before_anything_runs(
    change: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        plan(replace(BASE, **change))  # type: ignore[arg-type]
    assert words in str(caught.value)


def test_a_hijack_needs_a_malicious_threat_and_a_seat() -> None:
    hijack = replace(BASE, attacks=("fsha",))
    with pytest.raises(SpecError, match="breaks the protocol"):
        plan(hijack)
    fitting = replace(hijack, model="split", threat="split-hijack")
    assert plan(fitting).hijacker is not None


def test_any_setting_of_a_family_of_defenses_can_be_named() -> None:
    built = plan(replace(BASE, defense="rounding-4")).defense
    assert built is not None
    assert built.name == "rounding-4"
    with pytest.raises(UsageError, match="not a number"):
        plan(replace(BASE, defense="rounding-many"))


@pytest.mark.parametrize(
    "change",
    [
        {"defense": "rounding-1"},
        {"defense": "gate-0.01"},
        {"threat": "black-box", "attacks": ()},
        {"targets": 20},
        {"attacks": ("equality-solving",)},
        {"references": ("limit",)},
    ],
)
def test_what_does_not_touch_the_training_shares_it(change: dict[str, object]) -> None:
    other = replace(BASE, **change)  # type: ignore[arg-type]
    assert other.training_key() == BASE.training_key()


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"share": 0.5},
        {"model_options": Settings({"steps": 3})},
        {"defense": "correlation-max-0.5"},
        {"branch": "other"},
    ],
)
def test_what_changes_the_training_does_not(change: dict[str, object]) -> None:
    other = replace(BASE, **change)  # type: ignore[arg-type]
    assert other.training_key() != BASE.training_key()
