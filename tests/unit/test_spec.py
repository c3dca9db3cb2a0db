"""The declaration: every field is identity or runtime, typos are refused, sweeps expand."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import experiment_doubles  # noqa: F401  (registers the doubles)
from whatleaks.errors import GrantError, SpecError
from whatleaks.experiments.runner import plan
from whatleaks.experiments.settings import Settings
from whatleaks.experiments.spec import Spec, from_dict, parts
from whatleaks.experiments.sweep import load, parse
from whatleaks.experiments.tasks import prepare, task

# Every field with another value than its default. A new field must be added to one of these.
IDENTITY: dict[str, Any] = {
    "task": "other",
    "dataset": "bank",
    "model": "lr",
    "threat": "white-box",
    "attack": "half-star",
    "defense": "rounding",
    "detector": "split-guard",
    "share": 0.3,
    "columns": ("age",),
    "targets": 100,
    "seed": 1,
    "trials": 2,
    "model_options": Settings({"hidden": [100, 50]}),
    "attack_options": Settings({"steps": 10}),
    "defense_options": Settings({"digits": 1}),
    "detector_options": Settings({"window": 5}),
    "options": Settings({"a": 1}),
}
RUNTIME: dict[str, Any] = {"label": "figure 5", "profile": "fast"}


def test_every_field_is_classified() -> None:
    names = {f.name for f in fields(Spec)}
    assert set(IDENTITY) | set(RUNTIME) == names
    assert not set(IDENTITY) & set(RUNTIME)
    assert set(parts("identity")) == set(IDENTITY)
    assert set(parts("runtime")) == set(RUNTIME)


def test_an_unclassified_field_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Grown(Spec):
        new: int = 0

    monkeypatch.setattr("whatleaks.experiments.spec.Spec", Grown)
    with pytest.raises(TypeError, match=r"Spec\.new is neither identity nor runtime"):
        parts("identity")


@pytest.mark.parametrize("name", IDENTITY)
def test_identity_changes_the_hash(name: str) -> None:
    base = Spec(task="double")
    assert replace(base, **{name: IDENTITY[name]}).hash({}) != base.hash({})


@pytest.mark.parametrize("name", RUNTIME)
def test_runtime_does_not(name: str) -> None:
    base = Spec(task="double")
    assert replace(base, **{name: RUNTIME[name]}).hash({}) == base.hash({})


def test_versions_change_the_hash() -> None:
    spec = Spec(task="double")
    assert spec.hash({"task double": "1"}) != spec.hash({"task double": "2"})


def test_the_hash_is_stable() -> None:
    """Pinned: if this fails, every stored result has lost its name."""
    spec = Spec(task="t", share=0.3, seed=1, options=Settings({"b": 2, "a": 0.1}))
    assert spec.hash({"task t": "1"}) == PINNED


PINNED = "c25b3bd8a320c39e31ab64c468fa7a5d841b59d5b85cf7943e12d8c1cb48f926"

_scalars = st.one_of(
    st.text('ab é"\n', max_size=5),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
_names = st.text("abcdef", min_size=1, max_size=4)


@given(st.dictionaries(_names, st.one_of(_scalars, st.lists(_scalars, max_size=3)), max_size=4))
def test_a_spec_survives_its_own_plain_form(options: dict[str, Any]) -> None:
    spec = Spec(task="t", share=0.25, columns=(), options=Settings(options), label="x")
    again = from_dict(spec.to_dict())
    assert again == spec
    assert again.hash({}) == spec.hash({})
    assert hash(again) == hash(spec)


@given(st.permutations(["a", "b", "c"]))
def test_the_order_of_settings_does_not_matter(order: list[str]) -> None:
    settings = Settings({name: ord(name) for name in order})
    assert settings == Settings({"a": 97, "b": 98, "c": 99})
    assert Spec("t", options=settings).hash({}) == Spec(
        "t", options=Settings({"a": 97, "b": 98, "c": 99})
    ).hash({})


def test_a_sweep_is_a_product_over_any_field() -> None:
    specs = parse(
        """
        title = "shares"
        task = "double"
        [options]
        pause = 0.5
        [sweep]
        seed = [0, 1, 2]
        share = [0.1, 0.2]
        options.sigma = [1.0, 2.0]
        """
    ).specs
    assert len(specs) == 12
    assert {(s.seed, s.share, s.options["sigma"]) for s in specs} == {
        (seed, share, sigma) for seed in (0, 1, 2) for share in (0.1, 0.2) for sigma in (1.0, 2.0)
    }
    assert all(s.options["pause"] == 0.5 for s in specs)


def test_quoted_dotted_keys_are_the_same() -> None:
    dotted = parse('task = "t"\n[sweep]\n"options.a" = [1, 2]').specs
    assert dotted == parse('task = "t"\n[sweep]\noptions.a = [1, 2]').specs


def test_blocks_share_the_sweep_and_override_it() -> None:
    specs = parse(
        """
        dataset = "bank"
        [sweep]
        seed = [0, 1]
        [[run]]
        task = "a"
        options = {x = 1}
        [[run]]
        task = "b"
        seed = 7
        [run.sweep]
        share = [0.1, 0.2]
        """
    ).specs
    assert [(s.task, s.seed, s.share, dict(s.options)) for s in specs] == [
        ("a", 0, 0.0, {"x": 1}),
        ("a", 1, 0.0, {"x": 1}),
        ("b", 7, 0.1, {}),
        ("b", 7, 0.2, {}),
    ]
    assert all(s.dataset == "bank" for s in specs)


def test_the_same_run_twice_is_one_run() -> None:
    assert len(parse('task = "t"\n[sweep]\nseed = [1, 1]\nlabel = ["a", "b"]').specs) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('tsk = "double"', "task is missing"),
        ('task = "double"\natack = "x"', "unknown key 'atack'. Did you mean 'attack'?"),
        ('task = "double"\n[sweep]\nsede = [1]', "unknown key 'sede'. Did you mean 'seed'?"),
        ('task = "double"\nseed = "1"', "seed must be a whole number, got '1'"),
        ('task = "double"\nseed = true', "seed must be a whole number, got True"),
        ('task = "double"\nseed = -1', "seed must be at least 0"),
        ('task = "double"\nshare = 30', "share must lie between 0 and 1"),
        ('task = "double"\nshare = 0.3\ncolumns = ["a"]', "share or columns, not both"),
        ('task = "double"\ncolumns = "a"', "columns must be a list of column names"),
        ('task = "double"\noptions = 3', "options must be a table"),
        ('task = "double"\n[options]\na = {b = 1}', "options.a must be a text, a number"),
        ('task = "double"\n[options]\na = nan', "options.a must be a finite number"),
        ('task = "double"\n[sweep]\nseed = []', "seed must be a list of at least one value"),
        ('task = "double"\n[sweep]\nseed = 3', "seed must be a list of at least one value"),
        ('task = "double"\nsweep = 3', "must be a table of lists"),
        ('task = "double"\n[run]\nseed = 3', "two brackets"),
        ("task = double", "is not TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_a_remedy(text: str, words: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse(text, "my.toml")
    assert words in str(refused.value)
    assert str(refused.value).startswith("my.toml")
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no such file"):
        load(tmp_path / "none.toml")


def test_the_task_checks_its_options() -> None:
    assert (
        prepare(Spec("double")).hash == prepare(Spec("double", options=Settings({"sigma": 1}))).hash
    )
    with pytest.raises(SpecError, match=r"no setting 'sigm'\. Did you mean 'sigma'\?"):
        prepare(Spec("double", options=Settings({"sigm": 1})))
    with pytest.raises(SpecError, match="sigma must be a number, got 'x'"):
        prepare(Spec("double", options=Settings({"sigma": "x"})))


def test_a_field_that_the_task_ignores_is_refused() -> None:
    with pytest.raises(SpecError, match="does not use dataset: leave it out"):
        prepare(Spec("double", dataset="bank"))


def test_an_unknown_task_is_refused_with_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"unknown task 'doubel'\. Did you mean 'double'\?"):
        prepare(Spec("doubel"))


def test_a_missing_grant_is_refused_before_anything_runs() -> None:
    good = Spec("double-threat", threat="white-box", attack="equality-solving")
    bad = replace(good, threat="black-box")
    with pytest.raises(GrantError) as refused:
        plan([good, bad])
    assert str(refused.value).startswith("run 2 (double-threat threat=black-box")
    assert str(refused.value).endswith(
        "equality-solving needs the whole trained model, the passive party's part included, "
        "which threat 'black-box' does not grant"
    )


def test_settings_become_a_component() -> None:
    @dataclass(frozen=True)
    class Rounding:
        digits: int = 2
        noise: float = 0.0

    made = Settings({"digits": 1, "noise": 1}).into(Rounding, "defense_options")
    assert made == Rounding(1, 1.0)
    assert isinstance(made.noise, float)
    with pytest.raises(SpecError, match=r"defense_options has no setting 'digit'\. Did you mean"):
        Settings({"digit": 1}).into(Rounding, "defense_options")


def test_two_tasks_cannot_share_a_name() -> None:
    with pytest.raises(ValueError, match="two tasks are named 'double'"):
        task("double", version=1)(lambda spec, streams: None)  # type: ignore[arg-type,return-value]
