"""Files of runs: products, blocks, and every mistake on one line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from run_doubles import Double
from whatleaks.errors import SpecError
from whatleaks.runs.sweep import expand, load, parse


def works(text: str, where: str = "sweep") -> list[Double]:
    found = parse(text, where, Double.from_dict).works
    assert all(isinstance(work, Double) for work in found)
    return found  # type: ignore[return-value]


def fields(tree: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Expand a tree and return what the reader was given."""
    given: list[dict[str, Any]] = []

    def read(values: Mapping[str, Any], where: str) -> Double:
        given.append(dict(values))
        return Double(seed=len(given))

    expand(tree, read)
    return given


def test_a_sweep_is_a_product_over_any_field() -> None:
    found = works(
        """
        title = "noise"
        pause = 0.5
        [sweep]
        seed = [0, 1, 2]
        columns = [1, 2]
        sigma = [1.0, 2.0]
        """
    )
    assert len(found) == 12
    assert {(w.seed, w.columns, w.sigma) for w in found} == {
        (seed, columns, sigma) for seed in (0, 1, 2) for columns in (1, 2) for sigma in (1.0, 2.0)
    }
    assert all(w.pause == 0.5 for w in found)


def test_tables_are_merged_key_by_key() -> None:
    tree = {
        "federation": {"name": "additive", "settings": {"rounds": 3, "rate": 0.1}},
        "sweep": {"federation.settings.rate": [0.2, 0.3]},
        "run": [{"federation": {"settings": {"rounds": 5}}}, {"federation": {"name": "trees"}}],
    }
    assert fields(tree) == [
        {"federation": {"name": name, "settings": {"rounds": rounds, "rate": rate}}}
        for name, rounds in (("additive", 5), ("trees", 3))
        for rate in (0.2, 0.3)
    ]
    assert tree["federation"] == {  # what was given stays as it was
        "name": "additive",
        "settings": {"rounds": 3, "rate": 0.1},
    }


def test_quoted_dotted_keys_are_the_same() -> None:
    dotted = {"sweep": {"options.a.b": [1, 2]}}
    assert fields(dotted) == fields({"sweep": {"options": {"a": {"b": [1, 2]}}}})
    assert fields(dotted) == [{"options": {"a": {"b": 1}}}, {"options": {"a": {"b": 2}}}]


def test_blocks_share_the_sweep_and_override_it() -> None:
    found = works(
        """
        sigma = 2.0
        [sweep]
        seed = [0, 1]
        [[run]]
        group = "a"
        [[run]]
        group = "b"
        seed = 7
        [run.sweep]
        columns = [1, 2]
        """
    )
    assert [(w.group, w.seed, w.columns) for w in found] == [
        ("a", 0, 5),
        ("a", 1, 5),
        ("b", 7, 1),
        ("b", 7, 2),
    ]
    assert all(w.sigma == 2.0 for w in found)


def test_a_block_overrides_a_setting_that_is_swept() -> None:
    tree = {"sweep": {"o.a": [1, 2]}, "run": [{"o": {"a": 7}}, {}]}
    assert fields(tree) == [{"o": {"a": 7}}, {"o": {"a": 1}}, {"o": {"a": 2}}]


def test_the_same_run_twice_is_one_run() -> None:
    assert len(works('[sweep]\nseed = [1, 1]\nlabel = ["a", "b"]')) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sede = 1", "unknown key 'sede'. Did you mean 'seed'?"),
        ("[sweep]\nsede = [1]", "unknown key 'sede'. Did you mean 'seed'?"),
        ("[[run]]\nsede = 1", "[[run]] 1: unknown key 'sede'"),
        ("seed = 1\n[sweep]\nseed.a = [1]", "seed is no table, so seed.a cannot be set"),
        ("[sweep]\nseed = []", "seed must be a list of at least one value"),
        ("[sweep]\nseed = 3", "seed must be a list of at least one value"),
        ("sweep = 3", "must be a table of lists"),
        ("[run]\nseed = 3", "two brackets"),
        ("title = 3", "title must be a text in quotes"),
        ("seed = x", "is not TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_a_remedy(text: str, words: str) -> None:
    with pytest.raises(SpecError) as refused:
        works(text, "my.toml")
    assert words in str(refused.value)
    assert str(refused.value).startswith("my.toml")
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no such file"):
        load(tmp_path / "none.toml")
