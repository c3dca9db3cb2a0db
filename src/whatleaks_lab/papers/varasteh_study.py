"""Varasteh's experiments as runs: one linear model for all columns, windows of passive columns.

The paper trains its model centrally and then deals the columns out (section VI): a window of ``size``
neighbouring columns is the passive party's, all others are the active party's, and errors are
averaged over windows and over training and prediction records. One model serves all windows. The
active party's models see its own columns, the labels and what was released, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.attacks.agnostic import plausible
from whatleaks.attacks.equations import equations
from whatleaks.errors import SpecError, nearest
from whatleaks.models.additive import Additive, adjacent_differences, link
from whatleaks.models.adversary_model import Seen, refined
from whatleaks.models.blurring import blurred, on_orthonormal
from whatleaks.models.box_solutions import half_star, least_squares
from whatleaks.models.closed_errors import (
    agnostic_half_star,
    agnostic_least_squares,
    misled,
    moments,
    one_column,
    rotated_half_star,
    rotated_least_squares,
    two_classes,
)
from whatleaks.models.linear import Linear
from whatleaks.models.logistic import chosen_strength, fit_logistic
from whatleaks.runs.work import work
from whatleaks.seeds import Streams
from whatleaks.trial.limit import learnt_from, predict_from_evidence
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.preparing import ready
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings

LIMIT = (200, 600)  # records that the limit is measured on, and those that it learns from
PERCENTS = (1, 5, 20)  # of the mean squared weight: the distances epsilon
READING: dict[str, dict[str, Any]] = {
    "bank-marketing": {"categories": "target-mean", "parser": "drop_duration"},
    "adult": {"categories": "target-mean"},
    "statlog-satellite": {},
    "pendigits": {},
    "grid-stability": {},
}
Numbers = dict[str, Any]


@dataclass(frozen=True)
class Joint:
    """A prepared set and the model of all its columns."""

    columns: Floats
    labels: Ints
    training: Ints
    rest: Ints
    model: Linear
    strength: float


@work
@dataclass(frozen=True)
class VarastehStudy:
    """One set, one size of window, one seed; ``rows`` records of the set, 0: all."""

    kind: ClassVar[str] = "varasteh-study"
    label: ClassVar[str] = ""

    dataset: str
    part: str
    size: int = 0
    windows: int = 1
    rows: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a part that does not exist."""
        if self.part not in PARTS:
            raise SpecError(
                f"there is no part {self.part!r} of the study.{nearest(self.part, PARTS)}"
            )

    def identity(self) -> dict[str, Any]:
        """Return all fields: each decides the numbers."""
        return asdict(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields; ``from_dict`` reads them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any]) -> VarastehStudy:
        """Read back what ``to_dict`` wrote."""
        return cls(**tree)

    def title(self) -> str:
        """Say which run this is."""
        return f"{self.dataset} {self.part} size={self.size} seed={self.seed}"

    def training_key(self) -> str:
        """Windows of one set and seed share its model."""
        return f"varasteh {self.dataset} {self.rows} {self.seed}"

    def modules(self) -> tuple[str, ...]:
        """Name this file; what computes is found by its imports."""
        return (__name__,)

    @classmethod
    def perform_group(
        cls, works: Sequence[VarastehStudy], table: bytes | None
    ) -> Iterator[tuple[Outcome, bytes]]:
        """Compute the runs; the sets are public, so nothing is private."""
        del table
        for one in works:
            yield Outcome(PARTS[one.part](one)), b""


def _prepared(dataset: str, rows: int, seed: int) -> tuple[Floats, Ints, Ints, Ints]:
    scenario = Scenario(dataset, unknown=1, data=Settings({**READING[dataset], "rows": rows}))
    data = ready(scenario, None, Streams(seed))
    held = data.holdings
    names = [name for party in held.columns for name in held.names[party]]
    wide = np.concatenate([held.columns[party] for party in held.columns], axis=1)
    order = [names.index(name) for column in data.columns for name in column.encoded_as]
    return wide[:, order], held.labels, data.training, data.pool


@lru_cache(maxsize=1)
def joint(dataset: str, rows: int, seed: int) -> Joint:
    """Prepare a set and fit its model; the last one is kept."""
    columns, labels, training, rest = _prepared(dataset, rows, seed)
    classes = int(labels.max()) + 1
    like = Linear(
        sealed(np.zeros((1, 1 if classes == 2 else classes))),
        sealed(np.zeros(1 if classes == 2 else classes)),
    )
    few = training[: min(len(training), 1500)]
    strength = chosen_strength(columns[few], labels[few])
    model = fit_logistic(columns[training], labels[training], like, strength)
    return Joint(columns, labels, training, rest, model, strength)


def _windows(one: VarastehStudy, width: int) -> list[Ints]:
    """Return evenly spaced windows of neighbouring columns, around the end."""
    firsts = np.linspace(0, width, one.windows, endpoint=False).astype(int)
    return [(first + np.arange(one.size)) % width for first in firsts]


def _cut(held: Joint, window: Ints) -> tuple[Ints, Additive]:
    own = np.setdiff1d(np.arange(held.columns.shape[1]), window)
    weights, bias = held.model.weights, held.model.bias
    nothing = sealed(np.zeros_like(bias))
    return own, Additive(
        Linear(sealed(weights[own]), bias), Linear(sealed(weights[window]), nothing)
    )


def _error(guess: Floats, truth: Floats) -> float:
    return float(((np.clip(guess, 0.0, 1.0) - truth) ** 2).mean())


def table_of(one: VarastehStudy) -> Numbers:
    """Count a set (Table I)."""
    columns, labels, _, _ = _prepared(one.dataset, one.rows, one.seed)
    return {
        "columns": int(columns.shape[1]),
        "classes": int(labels.max()) + 1,
        "records": len(columns),
        "mean": float(columns.mean()),
        "variance": float(columns.var(axis=0).mean()),
    }


def attacks_of(one: VarastehStudy) -> Numbers:
    """Attack every window with exact, estimated and refined scores; average over windows."""
    held = joint(one.dataset, one.rows, one.seed)
    rng, chance = (Streams(one.seed).rng(name) for name in ("earlier", "references"))
    found: dict[str, list[float]] = {}

    def keep(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for window in _windows(one, held.columns.shape[1]):
        own, model = _cut(held, window)
        mine, theirs = held.columns[:, own], held.columns[:, window]
        exact = adjacent_differences(held.model.logits(held.columns))
        scores = link(held.model.logits(held.columns))
        keep("half", float(((theirs - 0.5) ** 2).mean()))
        system = equations(mine, exact, model)
        keep("half-star", _error(half_star(system.matrix, system.right), theirs))
        # The control: everybody's scores are another's. The limit: what a regressor learns.
        swapped = equations(mine, exact[chance.permutation(len(exact))], model)
        keep("control", _error(half_star(swapped.matrix, swapped.right), theirs))
        order = chance.permutation(len(mine))[: sum(LIMIT)]
        asked, others = order[: LIMIT[0]], order[LIMIT[0] :]
        for name, seen in (
            ("limit", np.concatenate([mine, scores, exact], axis=1)),
            ("limit without scores", mine),
        ):
            some = learnt_from(others, chance)
            learnt = predict_from_evidence(
                seen[asked], theirs[asked], seen[some], theirs[some], chance
            )
            keep(name, _error(learnt, theirs[asked]))
        train, labels = held.training, held.labels
        first = fit_logistic(mine[train], labels[train], held.model, held.strength)
        keep("accuracy alone", _accuracy(first, mine[held.rest], labels[held.rest]))
        asked = rng.permutation(held.rest)[:100]
        models = {"agnostic": first}
        penalty = 0.5 / (held.strength * len(train))  # the one that the first model has
        for count in (50, 100):
            some = asked[:count]
            models[f"refined-{count}"] = refined(
                first,
                mine[train],
                labels[train],
                Seen(mine[some], scores=scores[some]),
                penalty=penalty,
            )
        models["labels-100"] = refined(
            first,
            mine[train],
            labels[train],
            Seen(mine[asked], classes=scores[asked].argmax(axis=1)),
            alpha=0.0,
            beta=1.0,
            penalty=penalty,
        )
        for name, estimate in models.items():
            ratios = adjacent_differences(estimate.logits(mine))
            guessed = equations(mine, ratios, model)
            keep(name, _error(half_star(guessed.matrix, guessed.right), theirs))
            if name != "agnostic":
                continue
            calm = plausible(guessed)
            keep("weighted", _error(half_star(calm.matrix, calm.right), theirs))
            off = ratios - exact
            mismatch = off.T @ off / len(off)
            raw = float(((half_star(guessed.matrix, guessed.right) - theirs) ** 2).mean())
            keep(
                "amplified",
                raw - float(((half_star(system.matrix, system.right) - theirs) ** 2).mean()),
            )
            closed = agnostic_half_star(guessed.matrix, moments(theirs), mismatch)
            keep("closed form off", abs(closed - raw) / max(1.0, raw))
            if one.size <= len(guessed.matrix):
                squares = least_squares(guessed.matrix, guessed.right)
                raw = float(((squares - theirs) ** 2).mean())
                closed = agnostic_least_squares(guessed.matrix, mismatch)
                keep("closed form off", abs(closed - raw) / max(1.0, raw))
    numbers: Numbers = {name: float(np.mean(values)) for name, values in found.items()}
    numbers["closed form off"] = float(np.max(found["closed form off"]))
    numbers["accuracy"] = _accuracy(held.model, held.columns[held.rest], held.labels[held.rest])
    return numbers


def _accuracy(model: Linear, columns: Floats, labels: Ints) -> float:
    return float((link(model.logits(columns)).argmax(axis=1) == labels).mean())


def schemes_of(one: VarastehStudy) -> Numbers:
    """Blur the weights of every window at several distances; exact scores, unclamped half*."""
    held = joint(one.dataset, one.rows, one.seed)
    rng = Streams(one.seed).rng("schemes")
    found: dict[str, list[float]] = {}

    def keep(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for window in _windows(one, held.columns.shape[1]):
        weights, theirs = held.model.weights[window], held.columns[:, window]
        known, matrix = moments(theirs), adjacent_differences(weights).T
        keep("half", float(((theirs - 0.5) ** 2).mean()))
        keep("half-star", misled(matrix, matrix, known))
        mixed = rng.normal(size=(len(matrix), len(matrix)))  # T of Remark 8
        for percent in PERCENTS:
            epsilon = percent / 100.0 * float((weights**2).mean())
            blur = blurred(weights, known, epsilon, rng)
            shown = adjacent_differences(blur.weights).T
            plain = half_star(shown, theirs @ matrix.T)
            raw = float(((plain - theirs) ** 2).mean())
            keep(f"error at {percent}", raw)
            keep(f"clamped at {percent}", _error(plain, theirs))
            keep("distance off", abs(blur.distance / epsilon - 1.0))
            keep("closed form off", abs(blur.predicted - raw) / max(1.0, raw))
            if blur.rotation is not None and blur.case == "i":
                keep("closed form off", abs(rotated_half_star(matrix, blur.rotation, known) - raw))
            if blur.rotation is not None and blur.case == "ii":
                keep("closed form off", abs(rotated_least_squares(blur.rotation, known) - raw))
            if blur.case == "iii":
                keep("closed form off", abs(one_column(matrix, shown, known) - raw) / max(1.0, raw))
            if blur.case == "iv":
                keep(
                    "closed form off", abs(two_classes(matrix, shown, known) - raw) / max(1.0, raw)
                )
                turned = blurred(weights, known, epsilon, rng, case="i")
                keep(f"rotated at {percent}", turned.predicted)
            if blur.case != "iii":
                again = half_star(mixed @ shown, theirs @ matrix.T @ mixed.T)
                other = float(((again - theirs) ** 2).mean())
                keep("rewritten off", abs(other - raw) / max(1.0, raw))
    numbers: Numbers = {name: float(np.mean(values)) for name, values in found.items()}
    for name in ("closed form off", "rewritten off", "distance off"):
        if name in found:
            numbers[name] = float(np.max(found[name]))
    return numbers


def optima_of(one: VarastehStudy) -> Numbers:
    """Compare solvers with analytic optima: Example 1, case ii without a constraint, Remark 11."""
    held = joint(one.dataset, one.rows, one.seed)
    rng = Streams(one.seed).rng("optima")
    window = np.arange(one.size)
    weights, theirs = held.model.weights[window], held.columns[:, window]
    known, matrix = moments(theirs), adjacent_differences(weights).T
    pull = np.linalg.pinv(matrix) @ matrix @ known.second  # Eq 29
    numbers: Numbers = {}
    for name, gradient in (("example 1", pull), ("case ii", known.second)):
        analytic = -float(np.linalg.svd(gradient, compute_uv=False).sum())
        reached = min(
            float(np.sum(gradient * _least(gradient, half, rng))) for half in (1, -1, 1, -1)
        )
        numbers[f"{name} off"] = abs(reached - analytic) / max(1.0, abs(analytic))
    two = weights[:1, :2] if weights.shape[1] > 1 else np.array([[0.0, float(weights[0, 0])]])
    apart = float(two[0, 1] - two[0, 0])
    epsilon = 0.01 * apart**2
    blur = blurred(two, moments(theirs[:, :1]), epsilon, rng)
    change = (blur.weights - two)[0] / np.sqrt(epsilon)
    numbers["remark 11 off"] = float(np.abs(np.sort(change) - np.array([-1.0, 1.0])).max())
    return numbers


def _least(gradient: Floats, half: int, rng: np.random.Generator) -> Floats:
    """Minimise from a random start in one half of the manifold: no path leads from det 1 to -1."""
    start = np.linalg.qr(rng.normal(size=gradient.shape))[0]
    start[:, 0] *= half * np.sign(np.linalg.det(start))
    return on_orthonormal(
        lambda r: float(np.sum(gradient * r)),
        lambda r: gradient,
        lambda r, way: np.zeros_like(way),
        start,
    )


PARTS: dict[str, Callable[[VarastehStudy], Numbers]] = {
    "table": table_of,
    "attacks": attacks_of,
    "schemes": schemes_of,
    "optima": optima_of,
}
