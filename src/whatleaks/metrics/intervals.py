"""Statistics in one place: every 95 % interval that whatleaks prints is made here.

Which method, and why. Errors per record are skewed (a squared error has a long right
tail), so the plain t interval is too short on the right at n about 100. The studentised
bootstrap corrects for skewness to the same order as the interval's own width shrinks, and
keeps its coverage there; the percentile bootstrap does not. Above ``LARGE`` records the two
agree to a fraction of a percent, so the t interval is used and no resampling is paid for.
Where thousands of columns have an interval each, None in place of the random numbers takes the
t interval for them too. Seeds are few and each value is already an average, so a t interval is right for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from whatleaks.arrays import Bools, Floats
from whatleaks.errors import UsageError
from whatleaks.metrics.measurement import Measurement

LEVEL = 0.95
RESAMPLES = 999  # (999 + 1) * 0.025 is whole: the quantiles are order statistics
EDGE = round((RESAMPLES + 1) * (1 - LEVEL) / 2)  # the order statistic at either end
SMALL = 20  # below, resamples repeat too much to be studentised
LARGE = 1000  # above, skewness no longer matters
_CELLS = 1 << 15  # resampled values held at once: 256 KB, which stays in the cache


def mean_over_records(
    errors: npt.ArrayLike, unit: str, rng: np.random.Generator | None
) -> Measurement:
    """Average one value per record; the interval is over records.

    Average the columns of a record first: two columns of one person are not two records.
    """
    values = _finite(errors, unit)
    _need_two(values.size, "record", "measure more records or repeat over seeds")
    centre = float(values.mean())
    low, high = _interval(values - centre, np.ones_like(values), rng)
    return _around(centre, low, high, values.size, unit, "records")


def ratio_over_records(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    unit: str,
    rng: np.random.Generator | None,
) -> Measurement:
    """Divide two sums over the same records, such as errors by squared deviations.

    The standard error is the delta method's, taken anew in every resample.
    """
    top, bottom = _finite(numerators, unit), _finite(denominators, unit)
    _same_records(top, bottom)
    _need_two(top.size, "record", "measure more records or repeat over seeds")
    if bottom.mean() <= 0.0:
        raise UsageError(f"a ratio in {unit} divides by zero: the column does not vary")
    centre = float(top.mean() / bottom.mean())
    low, high = _interval(top - centre * bottom, bottom, rng)
    return _around(centre, low, high, top.size, unit, "records")


def leakage_over_records(
    errors: npt.ArrayLike, deviations: npt.ArrayLike, rng: np.random.Generator | None
) -> Measurement:
    """Return 1 - error / variance, not clipped: below zero is worse than knowing the mean.

    ``errors`` are squared errors and ``deviations`` squared distances from the column's
    mean, one of each per record. Reports clip with ``clipped(m, 0, 1)``.
    """
    ratio = ratio_over_records(errors, deviations, "leakage", rng)
    return Measurement(
        1.0 - ratio.value, 1.0 - ratio.high, 1.0 - ratio.low, ratio.n, ratio.unit, ratio.over
    )


def paired_difference(
    a: npt.ArrayLike, b: npt.ArrayLike, unit: str, rng: np.random.Generator
) -> Measurement:
    """Average ``a - b`` over the records that both attacks guessed.

    Hard records are hard for both, so the difference is known better than either error.
    """
    first, second = _finite(a, unit), _finite(b, unit)
    _same_records(first, second)
    return mean_over_records(first - second, unit, rng)


def mean_over_seeds(values: npt.ArrayLike, unit: str) -> Measurement:
    """Average one value per seed with a t interval.

    One seed has no interval. Zero width would claim certainty and infinite width cannot
    be printed, so it is refused.
    """
    numbers = _finite(values, unit)
    _need_two(numbers.size, "seed", "give at least 2")
    centre, half = float(numbers.mean()), _t_half_width(numbers - numbers.mean())
    return _around(centre, -half, half, numbers.size, unit, "seeds")


def seeds_of_columns(values: Floats, told: Bools | None = None) -> tuple[Floats, Floats]:
    """Return what ``mean_over_seeds`` does for every column of seeds x columns: mean, half width.

    ``told``: which seeds say anything of a column. Where fewer than two do, there is no width.
    """
    from scipy.special import stdtrit

    _need_two(len(values), "seed", "give at least 2")
    if told is None or told.all():
        centre: Floats = values.mean(axis=0)
        return centre, t_half_widths(values - centre)
    n = told.sum(axis=0)
    centre = np.where(told, values, 0.0).sum(axis=0) / np.maximum(n, 1)
    squares = np.square(np.where(told, values - centre, 0.0)).sum(axis=0)
    freedom = np.maximum(n - 1, 1)
    t = stdtrit(freedom, 0.5 + LEVEL / 2)
    return centre, np.where(n > 1, t * np.sqrt(squares / freedom / np.maximum(n, 1)), 0.0)


@lru_cache(maxsize=1 << 14, typed=True)  # thousands of columns have few counts
def wilson(successes: int, n: int, unit: str = "rate", over: str = "records") -> Measurement:
    """Return a rate with Wilson's interval, which stays inside [0, 1] and has width at 0 and 1."""
    from scipy.special import ndtri

    if n < 1 or not 0 <= successes <= n:
        raise UsageError(f"a rate of {successes} in {n} does not exist: count at least 1 {over}")
    z = float(ndtri(0.5 + LEVEL / 2))
    rate = successes / n
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # At 0 and n the bound is the rate itself; rounding must not put it on the other side.
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == n else min(1.0, middle + half)
    return Measurement(rate, low, high, n, unit, over)


def clipped(measurement: Measurement, lowest: float, highest: float) -> Measurement:
    """Move value and interval into the range that the quantity can have."""
    if lowest <= measurement.low and measurement.high <= highest:
        return measurement
    value, low, high = (
        min(max(x, lowest), highest) for x in (measurement.value, measurement.low, measurement.high)
    )
    return Measurement(value, low, high, measurement.n, measurement.unit, measurement.over)


def _interval(
    residuals: Floats, weights: Floats, rng: np.random.Generator | None
) -> tuple[float, float]:
    """Return the interval's ends relative to the ratio whose residuals these are.

    With ``r = sum top / sum weights``, the residuals are ``top - r * weights`` and sum to
    zero. A plain mean is the ratio with unit weights.
    """
    drawn = None
    if rng is not None and SMALL <= residuals.size <= LARGE and residuals.any():
        drawn = _resample(residuals, weights, rng)
    return ends(residuals, weights, drawn)


def ends(
    residuals: Floats, weights: Floats, drawn: tuple[Floats, Floats] | None
) -> tuple[float, float]:
    """Return the interval's ends from the resamples' shifts and spreads; without any the t interval's."""
    n = residuals.size
    half = _t_half_width(residuals) / float(weights.mean())
    if drawn is None or half == 0.0:
        return -half, half
    shift, spread = drawn
    # A resample without spread has no t value. One in RESAMPLES means that nearly all
    # records are equal; then the bootstrap says nothing and the t interval stands.
    if bool((spread <= 1e-12 * float(residuals.var()) / float(weights.mean()) ** 2).any()):
        return -half, half
    t = np.sort(shift / np.sqrt(spread / (n - 1)))
    error = math.sqrt(float(residuals.var()) / (n - 1)) / float(weights.mean())
    low, high = -float(t[-EDGE]) * error, -float(t[EDGE - 1]) * error
    return min(low, 0.0), max(high, 0.0)


def _resample(
    residuals: Floats, weights: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw records with replacement: the ratio's shift and its variance per record, each time."""
    n = residuals.size
    plain = bool((weights == 1.0).all())
    shifts, spreads = [], []
    step = max(1, _CELLS // n)
    for start in range(0, RESAMPLES, step):
        rows = rng.integers(0, n, (min(step, RESAMPLES - start), n))
        e = residuals[rows]
        if plain:
            shift = e.mean(axis=1)
            spread = np.square(e).mean(axis=1) - np.square(shift)
        else:
            w = weights[rows]
            mass = w.mean(axis=1)
            mass = np.where(mass > 0.0, mass, np.nan)
            shift = e.mean(axis=1) / mass
            spread = np.square(e - shift[:, None] * w).mean(axis=1) / np.square(mass)
        shifts.append(shift)
        spreads.append(np.nan_to_num(spread))
    return np.concatenate(shifts), np.concatenate(spreads)


def _t_half_width(residuals: Floats) -> float:
    from scipy.special import stdtrit

    n = residuals.size
    t = float(stdtrit(n - 1, 0.5 + LEVEL / 2))
    return t * math.sqrt(float(np.square(residuals).sum()) / (n - 1) / n)


def t_half_widths(residuals: Floats) -> Floats:
    """Return how far the t interval reaches to either side, for every column."""
    from scipy.special import stdtrit

    n = len(residuals)
    t = float(stdtrit(n - 1, 0.5 + LEVEL / 2))
    return np.asarray(t * np.sqrt(np.square(residuals).sum(axis=0) / (n - 1) / n))


def _around(centre: float, below: float, above: float, n: int, unit: str, over: str) -> Measurement:
    return Measurement(centre, centre + below, centre + above, n, unit, over)


def _finite(values: npt.ArrayLike | Sequence[float], unit: str) -> Floats:
    array: Floats = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise UsageError(f"{unit} has {array.ndim} axes: give one value per record or seed")
    if not np.isfinite(array).all():
        raise UsageError(
            f"{unit} holds a value that is not finite: leave that record out and say so"
        )
    return array


def _need_two(n: int, what: str, remedy: str) -> None:
    if n < 2:
        raise UsageError(f"{n} {what}{'' if n == 1 else 's'} give no interval: {remedy}")


def _same_records(a: Floats, b: Floats) -> None:
    if a.shape != b.shape:
        raise UsageError(
            f"a paired measure needs the same records, got {a.size} and {b.size}: "
            "compare only what both guessed"
        )
