"""Weights worked out from blurred ones by whoever knows the scheme and epsilon (Varasteh, Remarks 10 and 13).

The scheme is public and so is its distance; only the passive columns' moments are not. They show in
the right sides b' = A x, which are exact. So for weights W that could be the true ones the moments
follow as far as the equations reach, and the scheme can be run on W: the true weights are those of
which it makes the disclosed ones.

- Case ii (1 < d < k) is undone exactly. The scheme minimises Tr(R K_0) at a given Tr(W^T W R). With
  W_n = W R the right sides give z = R^T x, so C = R^T K_0 R; put R = R Q R^T and the same problem
  reads Tr(Q C) at the same Tr(W_n^T W_n Q), and its optimum is Q = R. The scheme run on what was
  disclosed gives R itself, or R^T, which is as good; the range of the columns tells the two apart.
- Case iii (d = 1) does not depend on the data (Remark 13). The right sides of all records lie on one
  line, that of A, and the distance says where on it: one of two places. A secret distance does not
  hide it: the right sides are w x, so the largest of them is w where some record has the value 1.
- Cases i and iv need moments that no score shows: there those of values spread evenly over the
  range stand in, and the weights are found by iteration. How far that carries is measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError
from whatleaks.models.additive import adjacent_differences
from whatleaks.models.blurring import blurred, case_of, distance
from whatleaks.models.box_solutions import half_star
from whatleaks.models.closed_errors import Moments

ROUNDS = {"i": 6, "ii": 2, "iv": 12}  # of the iteration; case ii needs one
TRIED = 5  # distances from none to the one that is told, where the true one is secret
SECRETS = ("", "epsilon", "sign")


def unblurred(
    disclosed: Floats,
    right: Floats,
    *,
    percent: float = 0.0,
    epsilon: float = 0.0,
    secret: str = "",
    rng: np.random.Generator,
) -> Floats:
    """Return the weights, columns x outputs, that most plausibly stand behind the disclosed ones.

    ``right`` are the right sides of all records. ``epsilon`` is the distance g (Eq 33), or
    ``percent`` of the true weights' mean square. ``secret``: a smaller distance was drawn, or the
    sign; then all that is possible is tried, and what explains the right sides best is taken.
    """
    if secret == "sign":
        return most_plausible([disclosed, -disclosed], right)
    if secret == "epsilon" and case_of(*disclosed.shape) == "iii":
        return _largest(disclosed, right, percent, epsilon)
    shares = np.linspace(0.0, 1.0, TRIED)[1:] if secret == "epsilon" else np.ones(1)
    found = [disclosed] if secret == "epsilon" else []
    for share in shares:
        found += turned_back(disclosed, right, percent * share, epsilon * share, rng)
    return most_plausible(found or [disclosed], right)


def turned_back(
    disclosed: Floats, right: Floats, percent: float, epsilon: float, rng: np.random.Generator
) -> list[Floats]:
    """Return weights of which the scheme makes the disclosed ones, as near as the iteration comes."""
    case = case_of(*disclosed.shape)
    if case == "iii":
        return _one_column(disclosed, right, percent, epsilon, rng)
    found = []
    for start in (disclosed, -disclosed):
        weights = start
        best, least = start, np.inf
        last: Floats | None = None
        for _ in range(ROUNDS[case]):
            far = epsilon or percent / 100.0 * float((weights**2).mean())
            try:
                made = blurred(weights, explained(weights, right), far, rng)
            except UsageError:  # no weights at this distance: not the ones that were blurred
                break
            off = distance(made.weights, disclosed)
            if off < least:
                best, least = weights, off
            if off <= 1e-20 * far:
                break
            if made.rotation is None:
                step = np.asarray(disclosed - made.weights)
                if last is not None:  # steps that shrink by a constant factor have a known end
                    shrink = float(np.sum(step * last) / max(np.sum(last * last), 1e-300))
                    step = step / (1.0 - shrink) if abs(shrink) < 0.9 else step
                    last = None
                else:
                    last = step
                weights = np.asarray(weights + step)
            else:
                weights = np.asarray(made.rotation @ disclosed)
                if case == "ii":  # R and R^T serve the scheme alike
                    found.append(np.asarray(made.rotation.T @ disclosed))
        found.append(weights if case == "ii" else best)
    return found


def _one_column(
    disclosed: Floats, right: Floats, percent: float, epsilon: float, rng: np.random.Generator
) -> list[Floats]:
    """Return the weights of one column on the line of the right sides, at the distance that is told.

    The scheme gains nothing by moving all outputs alike, so their mean stays as it was.
    """
    line = _line(disclosed, right)
    found = [line.weights(t) for t in line.places(percent, epsilon)]
    made = []
    for weights in found:
        far = epsilon or percent / 100.0 * float((weights**2).mean())
        shown = blurred(weights, explained(weights, right), far, rng).weights
        made.append(distance(shown, disclosed) <= 1e-3 * far)
    return [one for one, same in zip(found, made, strict=True) if same] or found


def _largest(disclosed: Floats, right: Floats, percent: float, epsilon: float) -> Floats:
    """Return the weight of one column whose distance is secret: the largest right side, w x at x = 1.

    It is no farther from the disclosed weight than is told.
    """
    line = _line(disclosed, right)
    along = right @ line.direction
    place = float(along[np.abs(along).argmax()])
    if epsilon or percent < 100.0:  # a share of one and more holds on no interval
        ends = line.places(percent, epsilon)
        place = min(max(place, min(ends)), max(ends))
    return line.weights(place)


@dataclass(frozen=True)
class _Line:
    """Weights of one column by their place t on the line of the right sides: J w = t direction."""

    direction: Floats
    back: Floats
    mean: float
    disclosed: Floats

    def weights(self, place: float) -> Floats:
        return np.asarray(self.mean + place * self.back)[None, :]

    def places(self, percent: float, epsilon: float) -> list[float]:
        """Return where weights are as far from the disclosed ones as is told."""
        off, outputs = self.disclosed[0] - self.mean, self.disclosed.shape[1]
        share = 0.0 if epsilon else percent / 100.0
        # |off - t back|^2 = outputs epsilon, or the share of |mean + t back|^2.
        told = outputs * (epsilon or share * self.mean**2)
        square = float(self.back @ self.back) * (1.0 - share)
        roots = np.roots([square, -2.0 * float(off @ self.back), float(off @ off) - told])
        return [float(t.real) for t in roots]


def _line(disclosed: Floats, right: Floats) -> _Line:
    outputs = disclosed.shape[1]
    direction = np.linalg.svd(right, full_matrices=False)[2][0]
    back = direction @ np.linalg.pinv(adjacent_differences(np.eye(outputs)))  # J w = direction
    mean = float(disclosed.mean()) if outputs > 1 else 0.0
    return _Line(direction, back, mean, disclosed)


def explained(weights: Floats, right: Floats) -> Moments:
    """Return moments of the columns that explain the right sides if ``weights`` are the true ones.

    In the directions that the equations reach they are those of the solutions; in the others those
    of values spread evenly over [0, 1].
    """
    matrix = adjacent_differences(weights).T
    d, inverse = matrix.shape[1], np.linalg.pinv(matrix)
    solved = half_star(matrix, right)
    mean = solved.mean(axis=0)
    rest = np.eye(d) - inverse @ matrix
    return Moments(solved.T @ solved / len(solved) + rest / 12.0, mean)


def most_plausible(found: list[Floats], right: Floats) -> Floats:
    """Choose the weights under which the right sides are those of values in the range.

    First by the share of the right sides that the solutions of half*, moved into the box, leave
    unexplained; among those that leave the same, by the likelihood of the right sides if values are
    spread evenly: mean A 1/2, covariance A A^T / 12.
    """
    missed, unlikely = [], []
    whole = max(float(((right - right.mean(axis=0)) ** 2).sum()), 1e-300)
    for weights in found:
        matrix = adjacent_differences(weights).T
        values = half_star(matrix, right)
        left = right - np.clip(values, 0.0, 1.0) @ matrix.T
        missed.append(float((left**2).sum()) / whole)
        sizes = np.linalg.svd(matrix, compute_uv=False)
        sizes = sizes[sizes > 1e-12 * sizes.max(initial=1e-300)]
        spread = 12.0 * ((values - 0.5) ** 2).sum(axis=1).mean()
        unlikely.append(spread + 2.0 * float(np.log(sizes).sum()))
    least = min(missed)
    chosen = [i for i, miss in enumerate(missed) if miss <= 1.05 * least + 1e-6]
    return found[min(chosen, key=lambda i: unlikely[i])]
