"""Luck far out: leads that few records decide are not called beyond luck, and leaks still are."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.metrics.column_association import follow, gain
from whatleaks.metrics.leads import lead_over
from whatleaks.metrics.swaps import (
    CLEAR,
    DRAWS,
    _bound,
    _leads,
    _scaled,
    chance_by_swaps,
    right_by_luck,
)

COLUMNS = 2000


def parts(guess, truth):
    g, t = guess - guess.mean(axis=0), truth - truth.mean(axis=0)
    return g * t, g * g, t * t


def world(rng, people, own, sent, kind, columns=COLUMNS):
    """An attack that knows own columns and reads a message, and its control: others' messages."""
    hidden, a, b = rng.normal(size=(3, people, columns))
    known = own * (own * hidden + np.sqrt(1.0 - own**2) * a)
    message = sent * hidden + np.sqrt(1.0 - sent**2) * b
    others = rng.permuted(message, axis=0)
    guesses = [known + (sent or 0.3) * told for told in (message, others)]
    if kind == "heavy":
        hidden, guesses = np.exp(hidden), [np.exp(guess) for guess in guesses]
    elif kind == "yes/no":
        hidden = (hidden > 0.0).astype(float)
    return [parts(guess, hidden) for guess in guesses]


def chances(one, other):
    apart = np.full(one[2].shape[1], len(one[2]))
    return chance_by_swaps(one[:2], other[:2], one[2], apart)


@pytest.mark.parametrize(("people", "own", "kind"), [(24, 0.95, "heavy"), (60, 0.8, "heavy")])
def test_luck_is_as_rare_as_said_far_out(people, own, kind) -> None:
    """Of 2,000 columns 6 are expected at 3 in 1,000; more than 17 are luck once in 20,000 times."""
    one, other = world(np.random.default_rng(29), people, own, 0.0, kind)
    assert (chances(one, other) <= 0.003).sum() <= 17


def test_the_error_alone_takes_luck_for_a_lead() -> None:
    """Why places are changed: by its error alone, a heavy tail's luck is ten times as frequent."""
    one, other = world(np.random.default_rng(29), 24, 0.95, 0.0, "heavy")
    assert (gain(follow(*one), follow(*other)).chance <= 0.003).sum() > 40


@pytest.mark.parametrize("kind", ["heavy", "yes/no", "normal"])
def test_who_reads_nearly_everything_is_beyond_luck(kind) -> None:
    one, other = world(np.random.default_rng(5), 60, 0.0, 0.999, kind, columns=200)
    assert (chances(one, other) <= 1e-4).mean() >= 0.97


def test_what_is_clear_without_draws_is_beyond_the_draws_too() -> None:
    """A bound: a few leads of each kind, and luck does not come below it more often than it says."""
    rng = np.random.default_rng(6)
    one, other = world(rng, 300, 0.3, 0.5, "normal", columns=40)
    clear = _bound(one[:2], other[:2], one[2]) <= CLEAR
    assert clear.sum() >= 20
    drawn = np.abs(_leads(_scaled(*one), _scaled(*other), one[2] / one[2].sum(axis=0)))
    assert (drawn[0] > drawn[1:].max(axis=0))[clear].all()
    one, other = world(rng, 24, 0.95, 0.0, "heavy")
    assert (_bound(one[:2], other[:2], one[2]) <= 0.01).sum() <= 35  # 20 are allowed


def test_the_lead_that_is_drawn_is_the_measured_one() -> None:
    rng = np.random.default_rng(2)
    one, other = world(rng, 50, 0.5, 0.5, "normal", columns=4)
    drawn = _leads(_scaled(*one), _scaled(*other), one[2] / one[2].sum(axis=0))
    assert drawn.shape == (DRAWS + 1, 4)
    first, second = follow(*one), follow(*other)
    apart = first.influence - second.influence
    error = np.sqrt(np.square(apart).sum(axis=0) / 49 / 50)
    wanted = (np.arctanh(first.r) - np.arctanh(second.r)) / error
    np.testing.assert_allclose(drawn[0], wanted, rtol=1e-8)


def test_three_people_who_agree_by_luck_are_no_lead() -> None:
    """A copy of a yes/no column with three exceptions, and only there a message moves the guess.

    All three move the right way in 1 of 8 cases. Their error is small, as they agree.
    """
    truth = np.repeat([0.0, 1.0], 25)
    wrong = [3, 11, 40]
    copy = truth.copy()
    copy[wrong] = 1.0 - copy[wrong]
    moved = np.zeros(50)
    moved[wrong] = 1e-4 * np.array([2.0, 2.2, 1.8]) * np.sign(truth[wrong] - 0.5)
    one, other = (parts((copy + sign * moved)[:, None], truth[:, None]) for sign in (1, -1))
    assert gain(follow(*one), follow(*other)).chance[0] < 1e-4
    assert chance_by_swaps(one[:2], other[:2], one[2], np.array([3]))[0] == 1 / 8


def test_it_is_silent_where_nobody_can_change_places() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(30, 4))
    truth[:, 3] = 0.5  # nobody differs
    guess = truth + rng.normal(size=truth.shape)
    rival = rng.normal(size=truth.shape)
    rival[:, 0] = 0.1 + 0.2  # the same for everybody, but for rounding
    rival[:, 1] = 0.0
    rival[0, 1] = 1.0  # one person only
    found = chances(parts(guess, truth), parts(rival, truth))
    assert np.isfinite(found).all()
    assert (found[[0, 3]] == 0.0).all()
    assert ((found[[1, 2]] > 0.0) & (found[[1, 2]] <= 1.0)).all()


def test_who_leads_all_leads_each_beyond_luck() -> None:
    one, other = world(np.random.default_rng(8), 40, 0.3, 0.5, "normal", columns=30)
    third, _ = world(np.random.default_rng(9), 40, 0.3, 0.5, "normal", columns=30)
    leads = [gain(follow(*one), follow(*rival)) for rival in (other, third)]
    found = lead_over(leads, np.zeros(30, dtype=np.int64))
    assert (found.value == leads[0].value).all()
    assert (found.chance == np.maximum(leads[0].chance, leads[1].chance)).all()


def test_guesses_next_to_exact_have_finite_chances() -> None:
    """Influences are differences of large numbers there: what rounding leaves may not become an error."""
    rng = np.random.default_rng(0)
    truth = rng.random((34, 40)) < 0.5
    away = truth - truth.mean(axis=0)
    wrong = truth.astype(float)
    wrong[0] = 1.0 - wrong[0]
    found = []
    for noise in (1e-6, 1e-5, 1e-4, 1e-3):
        near = truth + noise * rng.normal(size=truth.shape)
        with np.errstate(all="raise"):
            for rival in (wrong, near + noise * rng.normal(size=truth.shape)):
                one, other = (
                    (g * away, g * g) for g in (x - x.mean(axis=0) for x in (near, rival))
                )
                apart = np.full(40, 34)
                found.append(chance_by_swaps(one, other, away**2, apart))
    assert np.isfinite(found).all()
    assert (np.array(found) <= 1.0).all()


def test_an_exact_guess_is_luck_once_in_all_orders_of_its_values() -> None:
    ill = np.zeros(300)
    ill[7] = 1.0
    assert right_by_luck([ill]) == pytest.approx(1 / 300, rel=1e-9)
    assert right_by_luck([ill, np.zeros(300)]) == pytest.approx(1 / 300, rel=1e-9)
    assert right_by_luck([ill, ill]) == pytest.approx(1 / 300**2, rel=1e-9)
    assert right_by_luck([np.array([0.0, 0.0, 1.0, 1.0])]) == pytest.approx(1 / 6, rel=1e-12)
    assert right_by_luck([np.arange(5.0)]) == pytest.approx(1 / 120, rel=1e-12)
    assert right_by_luck([np.zeros(9)]) == 1.0
