"""A column as the questions need it: its kind, digits, public range, and what other people's values say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.errors import UsageError

NUMBER, CATEGORY = "number", "category"  # yes or no is a category of two codes
HALVINGS = range(3, 11)  # a number is asked for within spread * 2**-k
FEWEST = 5  # people of whom anything is said
RARE = 0.1  # who has a category that fewer have is unusual
MOST_RARE = 30  # rare categories that are asked about, the commonest of them


@dataclass(frozen=True)
class Column:
    """What makes the questions of a passive column; one for all trials that are pooled."""

    name: str
    kind: str
    low: float  # the public range, or the lowest and highest code
    high: float
    step: float = 0.0  # one unit of the last digit; 0: floats of all digits
    spread: float = 0.0  # from the 10 % to the 90 % quantile
    cuts: tuple[float, ...] = ()  # where the fifths meet
    codes: tuple[float, ...] = ()  # of categories, rising
    common: tuple[float, ...] = ()  # categories that one in ten has, and the commonest
    rare: tuple[float, ...] = ()  # categories that fewer have, and at least FEWEST people
    stays: bool = False  # the same in all rows of a person

    def within(self) -> dict[str, float]:
        """Return how closely a number can be known: the question's name and the tolerance.

        A tolerance below half a unit asks for more digits than the column has: "exactly" is all.
        """
        exactly = max(self.step / 2, 1e-9 * self.spread)
        asked = {"exactly": exactly}
        for halvings in HALVINGS:
            tolerance = self.spread * 2.0**-halvings
            if tolerance > exactly:
                asked[f"within {figure(tolerance)}"] = tolerance
        return asked


def describe(
    name: str,
    values: Floats,
    *,
    kind: str = NUMBER,
    digits: int | None = None,
    limits: tuple[float, float] | None = None,
    codes: Sequence[float] = (),
    persons: Ints | None = None,
) -> Column:
    """Describe a column by values of other people; where ``persons`` is given, a person counts once.

    ``digits`` after the point (2 for cents, -3 for thousands), None for floats. ``limits`` and
    ``codes`` are public; without them they are those of the values.
    """
    values = np.asarray(values, dtype=np.float64)
    if kind not in (NUMBER, CATEGORY):
        raise UsageError(f"{name!r} is of kind {kind!r}; there are {NUMBER!r} and {CATEGORY!r}")
    if limits and not -math.inf < limits[0] <= limits[1] < math.inf:
        raise UsageError(
            f"the limits of {name!r} must be two numbers, the lower one first, got {limits}"
        )
    if not values.size or not np.isfinite(values).all():
        raise UsageError(f"the values of {name!r} must be numbers, and at least one")
    stays = persons is not None and same_within(values, persons)
    if stays and persons is not None:
        values = values[np.unique(persons, return_index=True)[1]]
    if kind == CATEGORY:
        found, counts = np.unique(values, return_counts=True)
        every = tuple(sorted({*map(float, codes), *found.tolist()}))
        share = counts / counts.sum()
        common = found[(share >= RARE) | (counts == counts.max())]
        rare = (share < RARE) & (counts >= FEWEST)
        first = np.argsort(-counts[rare], kind="stable")[:MOST_RARE]
        return Column(
            name=name,
            kind=kind,
            low=every[0],
            high=every[-1],
            codes=every,
            common=tuple(common.tolist()),
            rare=tuple(sorted(found[rare][first].tolist())),
            stays=stays,
        )
    low, high = limits or (float(values.min()), float(values.max()))
    tenth, *cuts, ninth = np.quantile(values, [0.1, 0.2, 0.4, 0.6, 0.8, 0.9]).tolist()
    step = 0.0 if digits is None else 10.0**-digits
    return Column(name, kind, low, high, step, ninth - tenth, tuple(cuts), stays=stays)


def same_within(values: Floats, persons: Ints) -> bool:
    """Say whether all rows of a person have one value."""
    _, first, person = np.unique(persons, return_index=True, return_inverse=True)
    return bool((values == values[first][person]).all())


def figure(amount: float) -> str:
    """Write an amount with two digits, rounded up: whoever is within 58.9 is within 59."""
    unit = 10.0 ** (math.floor(math.log10(amount)) - 1)
    rounded = math.ceil(amount / unit - 1e-9) * unit
    return f"{rounded:.2g}" if unit < 1 else f"{rounded:,.0f}"
