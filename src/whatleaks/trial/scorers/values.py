"""Guessed values against the truth: squared errors and how far guesses follow differences."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from whatleaks.arrays import Bools, Floats, sealed, sealed_bools
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.metrics.column_association import Followed, follow
from whatleaks.metrics.reconstruction import distances
from whatleaks.models.grids import Grids
from whatleaks.threat.guess import ValueGuess
from whatleaks.trial.truth import Committed, Plain, Truth

NEAR = 1e-6  # of the range: an ordinary number is named if it is that close


@travels
@dataclass(frozen=True)
class Scored:
    """One guess against the truth: records x columns. Errors, not values.

    ``off``: the guess less the truth. Beside how far the truth lies ``apart`` from its column means,
    which is the same for all guesses and kept once, everything else follows. ``named``:
    where the guess, moved to the nearest value that the column can take, is the truth; of a
    one-hot group where the whole category is. ``mirrored``: the one other table that fits as well is
    the mirror image of the guess, so which end of an order is which stays open.
    """

    name: str
    role: str
    off: Floats
    alternatives: int
    best_alternative: float
    seconds: float
    isolated: str
    settings: dict[str, Plain]
    named: Bools = field(default_factory=lambda: sealed_bools(np.zeros((0, 0))))
    mirrored: bool = False

    @property
    def squared(self) -> Floats:
        """The squared error of every value."""
        return np.asarray(np.square(self.off))

    def guessed(self, apart: Floats) -> Floats:
        """Return how far every guess lies apart from its column's mean."""
        return np.asarray(self.off - self.off.mean(axis=0) + apart)

    def followed(self, apart: Floats, sign: float = 1.0) -> Followed:
        """Say how far the guess, or with ``sign`` -1 its mirror image, follows every column."""
        guessed = self.guessed(apart)
        return follow(sign * guessed * apart, np.square(guessed), np.square(apart))


def without_cells(scored: Scored) -> Scored:
    """Return the same without its tables of records x columns."""
    none = sealed(np.zeros((0, 0)))
    return replace(scored, off=none, named=sealed_bools(none))


def score_values(committed: Committed, role: str, truth: Truth) -> Scored:
    """Score a table of values and, where several fit equally well, the best of them."""
    guess = committed.guess
    assert isinstance(guess, ValueGuess)
    if guess.values.shape != truth.values.shape:
        raise AttackError(
            f"{committed.name} guessed {guess.values.shape[0]} x {guess.values.shape[1]} values, "
            f"the truth has {truth.values.shape[0]} x {truth.values.shape[1]}"
        )
    best = min(
        float(((table - truth.values) ** 2).mean()) for table in (guess.values, *guess.alternatives)
    )
    made = scored_table(committed, role, guess.values, truth.values, len(guess.alternatives), best)
    return replace(
        made,
        named=named(guess.values, truth.values, truth.grids),
        mirrored=_mirrored(guess.values, guess.alternatives),
    )


def _mirrored(values: Floats, alternatives: tuple[Floats, ...]) -> bool:
    if len(alternatives) != 1:
        return False
    middle = values + alternatives[0]
    return bool(np.abs(middle - middle.mean(axis=0)).max(initial=0.0) < NEAR)


def scored_table(
    committed: Committed,
    role: str,
    values: Floats,
    truth: Floats,
    alternatives: int = 0,
    best: float = 0.0,
) -> Scored:
    """Compare two tables value by value."""
    return Scored(
        committed.name,
        role,
        distances(values, truth),
        alternatives,
        best,
        committed.seconds,
        committed.isolated,
        committed.settings,
    )


def named(values: Floats, truth: Floats, grids: Grids | None) -> Bools:
    """Say of every value whether it is right once it is moved to what the column can hold."""
    near = np.full(truth.shape[1], NEAR)
    snapped = values
    if grids is not None:
        loose = list(grids.free)
        snapped = grids.snap(values)
        snapped[:, loose] = values[:, loose]
        for j, grid in enumerate(grids.columns):
            if not grid.free and not grid.values:
                near[j] = grid.step / 4.0
    right = np.abs(snapped - truth) <= near
    for group in grids.one_hot if grids is not None else ():
        right[:, list(group)] = right[:, list(group)].all(axis=1, keepdims=True)
    return sealed_bools(right)


def named_by_commonest(truth: Floats, grids: Grids | None) -> Bools:
    """Say where a column's commonest value is right, of a one-hot group its commonest category.

    A value that nobody shares is nobody's guess.
    """
    groups = list(grids.one_hot) if grids is not None else []
    held = {j for group in groups for j in group}
    right = np.zeros(truth.shape, dtype=np.bool_)
    for group in [*groups, *((j,) for j in range(truth.shape[1]) if j not in held)]:
        rows = np.rint(truth[:, list(group)] / NEAR)
        _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
        most = int(counts.argmax())
        if counts[most] > 1:
            right[:, list(group)] = (rows == rows[first[most]]).all(axis=1, keepdims=True)
    return sealed_bools(right)


def relative_errors(committed: Committed, truth: Floats) -> tuple[float, float]:
    """Return mean error over mean size (L 6.2): of the committed table, and of the best that fits."""
    guess = committed.guess
    tables = (guess.values, *guess.alternatives) if isinstance(guess, ValueGuess) else ()
    size = float(np.abs(truth).mean())
    errors = [float(np.abs(table - truth).mean()) / size for table in tables]
    return errors[0], min(errors)
