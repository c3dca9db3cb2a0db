"""Numbers in ways of writing that are rare: read where they are clear, and never words without a line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from whatleaks.data.problems import Problem
from whatleaks.data.written import read_written

TRUTH = np.round(np.random.default_rng(0).uniform(1.0, 3e6, 40), 2)
AGAIN = np.random.default_rng(1).integers(0, len(TRUTH), 400)  # values repeat: no identifier


def read(words: list[str]) -> tuple[pd.Series, tuple[str, ...], tuple[Problem, ...]]:
    """Read a column of these words, each of which occurs about ten times."""
    table = pd.DataFrame({"v": [words[i] for i in AGAIN], "own": AGAIN % 7})
    frame, notes, problems = read_written(table)
    return frame["v"], notes, problems


def lakhs(value: float) -> str:
    """Write a number as in India: 12,34,567.89."""
    whole, _, part = f"{value:.2f}".partition(".")
    head, last = whole[:-3], whole[-3:]
    while head:
        last, head = f"{head[-2:]},{last}", head[:-2]
    return f"{last}.{part}"


def german(value: float) -> str:
    """Write 1.234,50."""
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


@pytest.mark.parametrize(
    "words",
    [
        [lakhs(x) for x in TRUTH],
        [f"₹ {lakhs(x)}" for x in TRUTH],
        [f"Rs. {lakhs(x)}" for x in TRUTH],
        [german(x).replace(".", "\u2009") for x in TRUTH],
        [f"R$ {german(x)}" for x in TRUTH],
        [f"US${x:,.2f}" for x in TRUTH],
        [f"SEK {x:.2f}" for x in TRUTH],
    ],
    ids=lambda words: words[0],
)
def test_ways_of_writing_that_are_clear_are_read(words: list[str]) -> None:
    column, (note,), problems = read(words)
    assert problems == ()
    np.testing.assert_array_equal(column.to_numpy(float), TRUTH[AGAIN])
    assert "'v'" in note


def test_a_dash_of_typesetters_is_a_minus() -> None:
    signed = TRUTH - 1.5e6
    column, _, problems = read([f"{x:.2f}".replace("-", "\u2013") for x in signed])
    assert problems == ()
    np.testing.assert_allclose(column.to_numpy(float), signed[AGAIN], rtol=1e-12)


@pytest.mark.parametrize(
    "words",
    [
        [f"({x})" if i % 3 else f"{x}" for i, x in enumerate(TRUTH[:32])] + ["5.25"] * 8,
        [f"({x})" if i % 2 else f"{x}" for i, x in enumerate([*TRUTH, *TRUTH + 0.25])],
        [f"{x}-" if i % 2 else f"{x}" for i, x in enumerate([*TRUTH, *TRUTH + 0.25])],
    ],
)
def test_brackets_are_no_category_and_no_identifier(words: list[str]) -> None:
    table = pd.DataFrame({"v": words * 5, "own": range(5 * len(words))})
    _, notes, problems = read_written(table)
    said = [*notes, *(problem.text for problem in problems)]
    assert len(said) == 1
    assert "'v'" in said[0]
    assert "99" in said[0]


@pytest.mark.parametrize("every", [2, 39])
def test_two_ways_of_writing_in_one_column_are_asked_about(every: int) -> None:
    words = [f"{x:.2f}".replace(".", "," if i % every == 1 else ".") for i, x in enumerate(TRUTH)]
    _, _, (problem,) = read(words)
    assert "two ways of writing" in problem.text
    assert problem.remedy == {"drop": ("v",)}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([f"({x % 12})" if x % 2 else f"{x % 12}" for x in range(40)], "(9)', which were read as words"),
        ([f"~{x}" for x in range(40)], "'~99', which were read as words"),
        ([f"{x % 12 + 1}:30 AM" for x in range(40)], "which were read as words"),
        ([f"{1 + x % 9}.5{'kM'[x % 2]}" for x in range(40)], "different units or letters"),
        ([f"{x % 12}" if x % 5 else "unknown" for x in range(40)], "words among them"),
    ],
)  # fmt: skip
def test_what_stays_words_is_said_without_a_value(words: list[str], said: str) -> None:
    _, (note,), problems = read(words)
    assert problems == ()
    assert said in note
    assert "unknown" not in note


@pytest.mark.parametrize(
    "words", [["red", "blue"], ["A12", "B7"], ["E11.9", "I10.0"], ["1", "2"], ["a b", "1 c"]]
)
def test_other_words_need_no_note(words: list[str]) -> None:
    column, notes, problems = read(words * 20)
    assert (notes, problems) == ((), ())
    assert set(column) == set(words)
