"""A small network from what is known of a record to what is wanted, learnt on few complete records.

For pictures, where a linear regression draws no edges. Two hidden layers; nothing about it is
chosen by anybody's truth: an eighth of the complete records says when to stop, another eighth how
good it is, and then it is trained anew on all of them for as long as was found best.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.codec import decode, encode
from whatleaks.errors import AttackError
from whatleaks.models.ridge import learnt
from whatleaks.models.scaling import Scale
from whatleaks.models.torch_network import Layers, Optimiser, build
from whatleaks.seeds import torch_seed

FEWEST = 8  # complete records: with fewer none can be left out
PATIENCE = 15  # rounds without a better one
KEPT = 4  # answers: every run of a seed asks for the same ones


@dataclass(frozen=True)
class DecoderSettings:
    """Hidden widths, rounds over the records at most, records of a step, Adam's rate."""

    hidden: tuple[int, ...] = (256, 256)
    rounds: int = 100
    batch: int = 16
    rate: float = 1e-3


@dataclass(frozen=True)
class Decoded:
    """Answers, how many rounds they took, and the errors on records that were left out.

    ``missed`` is the decoder's own, ``regression`` that of a ridge regression on the same
    records: mean squared errors, answers kept within the range of the records learnt on.
    """

    values: Floats
    rounds: int
    missed: float
    regression: float


def decoded(
    known: Floats,
    wanted: Floats,
    asked: Floats,
    rng: np.random.Generator,
    settings: DecoderSettings = DecoderSettings(),
) -> Decoded:
    """Learn ``wanted`` from ``known``, row by row, and answer for the rows of ``asked``.

    The same question with the same luck is answered from memory.
    """
    if len(known) < FEWEST:
        raise AttackError(f"a decoder needs at least {FEWEST} complete records, got {len(known)}")
    return _decoded(encode((known, wanted, asked)), torch_seed(rng), settings)


@lru_cache(maxsize=KEPT)
def _decoded(records: bytes, seed: int, settings: DecoderSettings) -> Decoded:
    known, wanted, asked = decode(records)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(known))
    eighth = len(known) // 8
    stop, judge, rest = order[:eighth], order[eighth : 2 * eighth], order[2 * eighth :]
    weights = int(rng.integers(2**31))  # both trainings begin alike
    first = _Course(known[rest], wanted[rest], weights, settings)
    best, rounds, missed = np.inf, 0, np.inf
    for done in range(1, settings.rounds + 1):
        first.round()
        error = _error(first.answers(known[stop]), wanted[stop])
        if error < best:
            best, rounds = error, done
            missed = _error(first.answers(known[judge]), wanted[judge])
        if done - rounds >= PATIENCE:
            break
    line = _within(learnt(known[rest], wanted[rest], known[judge]), wanted[rest])
    whole = _Course(known, wanted, weights, settings)
    for _ in range(rounds):
        whole.round()
    return Decoded(sealed(whole.answers(asked)), rounds, missed, _error(line, wanted[judge]))


class _Course:
    """One training: rounds over all records in a new order each time."""

    def __init__(self, known: Floats, wanted: Floats, seed: int, settings: DecoderSettings) -> None:
        import torch

        rng = np.random.default_rng(seed)
        self._wanted = wanted
        self._scales = one_spread(known), one_spread(wanted)
        layers = Layers(settings.hidden, wanted.shape[1])
        self._network = build(known.shape[1], layers, rng, "float32")
        self._step = Optimiser(self._network.parameters(), settings.rate)
        self._chance = torch.Generator().manual_seed(torch_seed(rng))
        self._inputs = torch.tensor(self._scales[0].apply(known), dtype=torch.float32)
        self._targets = torch.tensor(self._scales[1].apply(wanted), dtype=torch.float32)
        self._batch = settings.batch

    def round(self) -> None:
        """Take every record once."""
        import torch

        order = torch.randperm(len(self._inputs), generator=self._chance)
        for start in range(0, len(order), self._batch):
            drawn = order[start : start + self._batch]
            told = self._network(self._inputs[drawn])
            self._step.follow(torch.nn.functional.mse_loss(told, self._targets[drawn]))

    def answers(self, asked: Floats) -> Floats:
        """Answer, kept within the range of the records learnt on."""
        import torch

        scale, back = self._scales
        with torch.no_grad():
            told = self._network(torch.tensor(scale.apply(asked), dtype=torch.float32))
        return _within(back.undo(sealed(told.numpy())), self._wanted)


def one_spread(columns: Floats) -> Scale:
    """Return a scale that centres every column and divides all by one number.

    A pixel that is lit in one picture of a hundred stays as faint as it is.
    """
    spread = float(np.sqrt(columns.var(axis=0).mean()))
    width = columns.shape[1]
    return Scale(sealed(columns.mean(axis=0)), sealed(np.full(width, spread or 1.0)))


def _within(values: Floats, seen: Floats) -> Floats:
    return np.clip(values, seen.min(axis=0), seen.max(axis=0))


def _error(values: Floats, truth: Floats) -> float:
    return float(((values - truth) ** 2).mean())
