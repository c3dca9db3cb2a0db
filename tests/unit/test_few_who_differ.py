"""Where few people differ, few are attacked or little is left to add, words and intervals say so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sample_audit import low_case
from test_levels import a_threat

from whatleaks.arrays import sealed, sealed_bools
from whatleaks.auditor.advice import advice, headline
from whatleaks.auditor.combine_defenses import _pair
from whatleaks.auditor.notes import copy_notes, known_notes
from whatleaks.auditor.pool import combine_guess
from whatleaks.auditor.result import ColumnDefense, ColumnFinding
from whatleaks.metrics.measurement import Measurement
from whatleaks.trial.scorers.values import Scored


def share(value: float, low: float, high: float, n: int = 50) -> Measurement:
    return Measurement(value, low, high, n, "leakage", "records")


def one_ill(seed: int, ill: int, off: float) -> tuple[Scored, np.ndarray]:
    """Score a guess of 40 people, ``ill`` of whom are ill; wrong by ``off`` at random."""
    truth = (np.arange(40) < ill).astype(np.float64)[:, None]
    wrong = off * np.random.default_rng(seed).normal(size=(40, 1))
    nowhere = sealed_bools(np.zeros((40, 1), dtype=np.bool_))
    scored = Scored("half", "attack", sealed(wrong), 0, 0.0, 0.0, "", {}, nowhere)
    return scored, sealed(truth - truth.mean(axis=0))


def test_seeds_in_which_nobody_differs_are_no_seeds_with_nothing_followed() -> None:
    exact = {seed: one_ill(seed, ill, 0.0) for seed, ill in enumerate((1, 0, 0))}
    luck = {seed: one_ill(seed, ill, 9.0) for seed, ill in enumerate((1, 0, 0))}
    (column,) = combine_guess(exact, ["diag"], None, [luck]).columns
    assert (column.leakage.value, column.leakage.low) == (1.0, 1.0)
    assert column.adds.low > 0.5
    assert column.carried == 1
    ((alone,),) = (combine_guess({0: exact[0]}, ["diag"], None, [{0: luck[0]}]).columns,)
    assert column.leakage.low == alone.leakage.low


def test_seeds_that_disagree_still_widen_the_interval() -> None:
    parts = {seed: one_ill(seed, 20, off) for seed, off in enumerate((0.0, 3.0, 3.0))}
    (column,) = combine_guess(parts, ["diag"], None).columns
    assert column.leakage.low == 0.0
    assert column.carried == 120


@pytest.mark.parametrize(
    ("carried", "people", "said"),
    [(1, 50, True), (4, 50, True), (5, 50, False), (0, 50, False), (4, 10, False)],
)
def test_a_headline_that_rests_on_few_people_says_so(carried: int, people: int, said: bool) -> None:
    threat = a_threat("white-box", [share(0.8, 0.7, 0.9, people)], [0.0])
    (guess,) = threat.findings
    columns = tuple(replace(column, carried=carried) for column in guess.columns)
    text = headline([replace(threat, findings=(replace(guess, columns=columns),))]).sentence
    told = f"Most of the differences in “c0” are those of {carried} of the {people} people attacked"
    assert (told in text) == said


def test_what_a_defense_leaves_is_called_all_that_is_left_to_add() -> None:
    zero = share(0.0, 0.0, 0.0)
    before = ColumnFinding("c0", zero, share(1.0, 1.0, 1.0), zero, zero, share(0.8, 0.7, 0.9))
    left = share(0.18, 0.1, 0.3)
    capped = replace(before, leakage=share(0.9, 0.8, 0.95), adds=left, alone=0.82)
    free = replace(capped, leakage=left)
    assert [_pair(before, one).bounded for one in (capped, free)] == [True, False]
    threat = a_threat("white-box", [share(0.8, 0.7, 0.9)], [0.0])
    for bounded in (True, False):
        pair = ColumnDefense("c0", share(0.8, 0.7, 0.9), left, bounded=bounded)
        defense = replace(
            low_case().defenses[0], columns=(pair,), column=pair, worst=pair, against=("white-box",)
        )
        told = " ".join(advice(headline([threat]), [threat], [defense]))
        assert "leaves 18 % (95 % interval 10 % to 30 %) in “c0”" in told
        assert ("all that own columns leave open" in told) == bounded


def test_people_known_instead_of_attacked_are_told() -> None:
    every = a_threat("black-box", [share(0.2, 0.1, 0.3, 30)], [0.0])
    half = replace(a_threat("black-box-known", [share(0.2, 0.1, 0.3, 15)], [0.0]), granted=25)
    (note,) = known_notes(25, [every, half])
    assert note == (
        "Under black-box-known 15 people are attacked in all seeds together, elsewhere 30: the others "
        "are known there, as the table has too few people whom nobody attacks."
    )
    assert known_notes(25, [every, replace(every, name="black-box-known", granted=25)]) == []


def test_copies_of_records_are_told_where_they_are_many() -> None:
    people = pd.DataFrame({"age": [30.5, 41.0, 52.5], "income": [1.0, 2.0, 3.0]})
    assert copy_notes(people) == []
    (note,) = copy_notes(pd.concat([people] * 4))
    assert note.startswith("9 of 12 records are copies of others")
    many = pd.DataFrame({"age": np.arange(100.0)})
    assert copy_notes(pd.concat([many, many[:10]])) == []
