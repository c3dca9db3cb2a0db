"""Blurred weights: closed forms against plain errors, optima against analytic ones, the defense."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whatleaks.defenses.blurred_weights import BlurredWeights
from whatleaks.errors import UsageError
from whatleaks.models import closed_errors as closed
from whatleaks.models.additive import adjacent_differences
from whatleaks.models.blurring import blurred, case_of, on_orthonormal
from whatleaks.models.box_solutions import half_star, least_squares
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_group


def _some(columns: int, outputs: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(columns, outputs))
    return weights, adjacent_differences(weights).T, rng.random((200, columns)) ** 2


def test_errors_of_estimated_scores_are_those_of_eqs_13_and_21() -> None:
    rng = np.random.default_rng(1)
    for columns, outputs in ((3, 6), (8, 4)):
        _, matrix, x = _some(columns, outputs)
        off = 0.1 * rng.normal(size=(200, outputs - 1))
        mismatch = off.T @ off / 200
        right = x @ matrix.T + off
        if columns < outputs:
            plain = ((least_squares(matrix, right) - x) ** 2).mean()
            assert closed.agnostic_least_squares(matrix, mismatch) == pytest.approx(
                plain, rel=1e-12, abs=1e-9
            )
        plain = ((half_star(matrix, right) - x) ** 2).mean()
        found = closed.agnostic_half_star(matrix, closed.moments(x), mismatch)
        assert found == pytest.approx(plain, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize(
    ("columns", "outputs", "case"), [(8, 4, "i"), (3, 6, "ii"), (1, 4, "iii"), (6, 1, "iv")]
)
def test_every_case_meets_its_distance_and_its_closed_form(
    columns: int, outputs: int, case: str
) -> None:
    weights, matrix, x = _some(columns, outputs)
    known = closed.moments(x)
    assert case_of(columns, outputs) == case
    before = closed.misled(matrix, matrix, known)
    last = before
    for epsilon in (0.01, 0.1):
        found = blurred(weights, known, epsilon, np.random.default_rng(0))
        assert found.case == case
        assert found.distance == pytest.approx(epsilon, rel=1e-5)
        shown = adjacent_differences(found.weights).T
        plain = ((half_star(shown, x @ matrix.T) - x) ** 2).mean()
        assert found.predicted == pytest.approx(plain, rel=1e-12, abs=1e-9)
        rotation = found.rotation
        if rotation is not None:
            assert np.abs(rotation.T @ rotation - np.eye(columns)).max() < 1e-9
        special = {
            "i": lambda r, _: closed.rotated_half_star(matrix, r, known),
            "ii": lambda r, _: closed.rotated_least_squares(r, known),
            "iii": lambda _, a: closed.one_column(matrix, a, known),
            "iv": lambda _, a: closed.two_classes(matrix, a, known),
        }[case](rotation, shown)
        assert special == pytest.approx(plain, rel=1e-12, abs=1e-9)
        # Remark 8: another way to write the equations changes nothing.
        mixed = np.random.default_rng(2).normal(size=(len(matrix), len(matrix)))
        again = ((half_star(mixed @ shown, x @ matrix.T @ mixed.T) - x) ** 2).mean()
        if case in ("i", "ii", "iv"):
            assert again == pytest.approx(plain, rel=1e-12, abs=1e-8)
        # No random weights at the same distance mislead more.
        rng = np.random.default_rng(3)
        for _ in range(20):
            change = rng.normal(size=weights.shape)
            change *= np.sqrt(epsilon * weights.size) / np.linalg.norm(change)
            if rotation is None:
                other = adjacent_differences(weights + change).T
                assert closed.misled(matrix, other, known) <= found.predicted + 1e-9
        assert found.predicted > last
        last = found.predicted


def test_example_1_the_solver_reaches_the_analytic_optimum() -> None:
    _, matrix, x = _some(6, 4)
    pull = np.linalg.pinv(matrix) @ matrix @ closed.moments(x).second  # gradient of Eq 29
    left, sizes, right = np.linalg.svd(pull)
    assert np.sum(pull * -(left @ right)) == pytest.approx(-sizes.sum(), abs=1e-12)
    start = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    found = on_orthonormal(
        lambda r: float(np.sum(pull * r)), lambda r: pull, lambda r, way: np.zeros_like(r), start
    )
    assert np.sum(pull * found) == pytest.approx(-sizes.sum(), abs=1e-6)


def test_without_a_constraint_case_ii_turns_every_sign() -> None:
    weights, _, x = _some(3, 6)
    known = closed.moments(x)
    found = blurred(weights, known, 4.0 * float((weights**2).mean()), np.random.default_rng(0))
    assert np.abs(found.rotation + np.eye(3)).max() < 1e-3
    assert found.predicted == pytest.approx(4.0 * np.trace(known.second) / 3, rel=1e-4)
    with pytest.raises(UsageError, match="out of reach"):
        blurred(weights, known, 4.1 * float((weights**2).mean()), np.random.default_rng(0))


def test_remark_11_two_weights_move_apart_by_the_root_of_epsilon() -> None:
    weights = np.array([[0.3, 1.1]])
    x = np.random.default_rng(0).random((50, 1))
    found = blurred(weights, closed.moments(x), 0.01, np.random.default_rng(0))
    assert np.abs(np.abs(found.weights - weights) - 0.1).max() < 1e-5
    assert (found.weights - weights)[0, 0] * (found.weights - weights)[0, 1] < 0


def test_one_column_is_read_off_the_range_of_the_right_sides() -> None:
    """Remark 14: whatever weight is disclosed, w x over many records spans 0 to w."""
    rng = np.random.default_rng(0)
    x = rng.random((300, 1))
    x = (x - x.min()) / (x.max() - x.min())
    right = -1.7 * x
    ends = right[np.abs(right).argmax()]
    assert np.abs(right / ends - x).max() < 1e-12


def test_scores_stay_and_half_star_is_misled_but_people_undo_it() -> None:
    base = Scenario(
        "wine", share=0.4, threat="white-box-known", targets=40, known=30,
        attacks=("half-star", "null-space-regression"), model_options=Settings({"steps": 300}),
    )  # fmt: skip
    hidden = replace(base, defense="blurred-weights-25")
    aware = replace(
        hidden, attacks=("half-star",), attack_options=Settings(BlurredWeights(25).told())
    )
    runs = [done.outcome.measurements for done in run_group([base, hidden, aware])]
    found, then, told = runs
    assert found["accuracy"] == then["accuracy"]
    assert then["half-star"].value > 1.2 * found["half-star"].value
    assert told["half-star"].value < then["half-star"].value  # who knows the scheme
    assert then["null-space-regression"].value == pytest.approx(
        found["null-space-regression"].value, rel=0.05
    )


def test_what_means_nothing_is_refused() -> None:
    for wrong, says in (
        ({"percent": 500}, "percent is 0 to 400 percent"),
        ({"epsilon": -1.0}, "epsilon must be a number of at least 0"),
        ({"epsilon": float("nan")}, "epsilon must be a number of at least 0"),
        ({"secret": "all"}, "secret is epsilon or empty"),
    ):
        with pytest.raises(UsageError, match=says):
            BlurredWeights(**wrong)
    with pytest.raises(UsageError, match="out of reach"):
        blurred(np.ones((3, 2)), closed.moments(np.eye(3)), 1e9, np.random.default_rng(0))
    assert (
        BlurredWeights(epsilon=0.5, secret="sign").name == "blurred-weights-epsilon-0.5-secret-sign"
    )


@pytest.mark.parametrize(("columns", "outputs"), [(17, 3), (40, 5)])
def test_many_columns_are_rotated_as_well_in_the_few_directions_that_matter(
    columns: int, outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from whatleaks.models import blurring

    rng = np.random.default_rng(4)
    known = closed.moments(rng.random((200, columns)) * rng.random(columns))
    weights = rng.normal(size=(columns, outputs))
    epsilon = 0.25 * float((weights**2).mean())
    few = blurred(weights, known, epsilon, np.random.default_rng(5))
    monkeypatch.setattr(blurring, "_where_it_matters", lambda *_: None)
    every = blurred(weights, known, epsilon, np.random.default_rng(5))
    assert few.rotation is not None
    assert (
        np.linalg.matrix_rank(few.rotation - np.eye(columns)) <= 2 * (2 * outputs + 1) < columns + 2
    )
    assert np.abs(few.rotation @ few.rotation.T - np.eye(columns)).max() < 1e-12
    assert few.distance == pytest.approx(epsilon, rel=1e-3)
    assert few.predicted == pytest.approx(every.predicted, rel=1e-4)


def test_the_slope_of_eq_51_is_its_own() -> None:
    rng = np.random.default_rng(6)
    known, a, b = closed.moments(rng.random((50, 7))), rng.normal(size=(1, 7)), rng.normal(size=7)
    told = closed.TwoClasses.of(a, known)
    assert told.error(b) == pytest.approx(closed.misled(a, b[None], known), abs=1e-12)
    steps = 1e-5 * np.eye(7)
    slow = [(told.error(b + e) - told.error(b - e)) / 2e-5 for e in steps]
    assert np.abs(told.slope(b) - slow).max() < 1e-7


@pytest.mark.parametrize("outputs", [1, 2, 4])
def test_the_error_is_that_of_the_matrices_multiplied_in_full(outputs: int) -> None:
    rng = np.random.default_rng(outputs)
    x, true, shown = (rng.random(size) for size in ((40, 5), (outputs, 5), (outputs, 5)))
    inverse, half = np.linalg.pinv(shown), np.full(5, 0.5)
    guess = x @ (inverse @ true).T + (np.eye(5) - inverse @ shown) @ half
    found = closed.misled(true, shown, closed.moments(x))
    assert found == pytest.approx(float(((guess - x) ** 2).mean()), abs=1e-9)
