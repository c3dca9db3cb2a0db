"""The conditional mean of values, given what was released on them and complete records of some people.

Whatever a model releases (votes, scores, logits) narrows the values down. Known people say where
values are likely to be: a regression from what is seen of a record, with normal errors as large as
those on people left out. Values drawn from there are put through the model; the draws whose
release comes nearest to the one seen are kept, and moved by a linear regression of values on
releases within them, so that their mean fits the release seen. For a linear model and normal values
that is the conditional mean itself, however many draws are kept, and it satisfies the equations.

How many draws are kept, and what the regression starts from, is decided on the known people, each
answered from the others. They also show how far releases are off from what the model would say
(rounded, noisy): so much a draw may miss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.models.few_records import spread_along
from whatleaks.models.ridge import Ridge, fitted

DRAWS = 200
KEPT = (1.0, 0.3, 0.1)  # shares of the draws
CHUNK = 40_000  # draws that go through the model at a time
CELLS = 10_000_000  # and at most so many values of them

# own columns, unknown values -> what the model would release: both have a row for each draw
Release = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class People:
    """Own columns of some records, and what was released on them in the form of ``Release``."""

    own: Floats
    seen: Floats


def conditional_mean(
    known: People, values: Floats, asked: People, release: Release, rng: np.random.Generator
) -> Floats:
    """Return values between 0 and 1 for the asked records; ``values`` are those of the known."""
    noise = ((release(known.own, values) - known.seen) ** 2).mean(axis=0)
    steps = rng.normal(size=(DRAWS, values.shape[1]))
    errors, answers = [], []
    for inputs, wanted in (
        (known.own, asked.own),
        (_beside(known), _beside(asked)),
    ):
        line = fitted(inputs, values)
        spread = steps @ _root(line).T
        left_out = values - line.left_out
        start = line(wanted)
        errors.append(line.left_out)
        answers.append(np.clip(start, 0.0, 1.0))
        tried = narrowed(known, left_out, spread, release, noise)
        found = narrowed(asked, start, spread, release, noise)
        errors += [values - one for one in tried]
        answers += found
    missed = np.array([float((one**2).sum(axis=1).mean()) for one in errors])
    missed = np.maximum(missed, 1e-300)
    weights = (missed.min() / missed) ** (0.5 * len(values))
    return np.asarray(np.tensordot(weights / weights.sum(), np.stack(answers), axes=1))


def narrowed(
    people: People, centre: Floats, spread: Floats, release: Release, noise: Floats
) -> list[Floats]:
    """Return every record's mean value given its release, for each share of draws that is kept.

    ``centre`` has a row for each record; ``spread`` are the draws' distances from it.
    """
    found: list[list[Floats]] = [[] for _ in KEPT]
    step = max(1, min(CHUNK // len(spread), CELLS // max(1, spread.size)))
    for i in range(0, len(centre), step):
        part = slice(i, i + step)
        x = np.clip(centre[part, None, :] + spread, 0.0, 1.0)  # records x draws x columns
        count, draws, _ = x.shape
        own = np.repeat(people.own[part], draws, axis=0)
        told = release(own, x.reshape(count * draws, -1)).reshape(count, draws, -1)
        off = people.seen[part, None, :] - told
        scale = told.var(axis=1, keepdims=True) + noise + 1e-12
        order = np.argsort((off**2 / scale).sum(axis=2), axis=1)
        for k, share in enumerate(KEPT):
            nearest, missed = x, off
            if share < 1.0:
                most = order[:, : max(2, round(share * draws)), None]
                nearest, missed = (np.take_along_axis(part, most, 1) for part in (x, off))
            found[k].append(_moved(nearest, missed, noise))
    return [np.concatenate(parts) for parts in found]


def _moved(x: Floats, off: Floats, noise: Floats) -> Floats:
    """Move the kept draws' mean to the release seen, by the regression of values on releases."""
    mean, miss = x.mean(axis=1), off.mean(axis=1)
    told = miss[:, None, :] - off  # releases about their mean
    count, kinds = x.shape[1], off.shape[2]
    turned = told.transpose(0, 2, 1)
    both = turned @ told / count
    across = turned @ x / count  # releases are about their mean, so values need not be
    slack = noise + 1e-9 * np.trace(both, axis1=1, axis2=2)[:, None] + 1e-15
    both = both + slack[:, :, None] * np.eye(kinds)
    move = np.linalg.solve(both, across)  # releases x columns
    return np.asarray(np.clip(mean + np.einsum("ni,nij->nj", miss, move), 0.0, 1.0))


def _beside(people: People) -> Floats:
    return np.concatenate([people.own, people.seen], axis=1)


def _root(line: Ridge) -> Floats:
    """Return a root of the covariance of a regression's errors; few people: less related."""
    return np.asarray(
        np.linalg.cholesky(spread_along(line.left_out, np.eye(line.left_out.shape[1])))
    )
