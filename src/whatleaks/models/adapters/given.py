"""A model that somebody else trained, as plain numbers over the table's own columns.

An adapter writes one down: which columns it takes, what becomes of each before it enters the
model (``Coding``, ``Feature``), and what the model computes from that (``Dense``, ``Votes`` or
``Boosted``). Nothing of the library that trained it is left, so it travels and has a hash.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.codec import encode, travels
from whatleaks.errors import UsageError
from whatleaks.models.additive import link
from whatleaks.models.network import Network
from whatleaks.models.tree import Tree


@travels
@dataclass(frozen=True)
class Coding:
    """How the model reads the words of a column: as numbers, or as one yes or no for each.

    ``codes`` are the numbers of the words; empty: one-hot. ``other`` is what a word that is
    not listed becomes; None: the model refuses such a word.
    """

    column: str
    words: tuple[str, ...]
    codes: tuple[float, ...] = ()
    other: float | None = None

    @property
    def one_hot(self) -> bool:
        """Whether every word is an input of its own."""
        return not self.codes


@travels
@dataclass(frozen=True)
class Feature:
    """One input: a column's number, or 1 where it holds ``word``, after ``steps`` in turn.

    A step is one of ``- / * +`` with a number, in the library's own order: so it rounds as
    the library rounds; ``single``: in single precision. Divisors and factors are positive: an
    input never falls as its column rises. ``coded``: the number is the word's of its ``Coding``.
    """

    column: str
    word: str | None = None
    steps: tuple[tuple[str, float], ...] = ()
    single: bool = False
    coded: bool = False

    def of(self, values: Floats) -> Floats:
        """Return the input for values of the column."""
        kind = np.float32 if self.single else np.float64
        found = values.astype(kind)
        for sign, number in self.steps:
            found = _STEP[sign](found, kind(number))
        return found.astype(np.float64)

    def affine(self) -> tuple[float, float]:
        """Return slope and offset: the input is ``slope * value + offset``."""
        slope, offset = 1.0, 0.0
        for sign, number in self.steps:
            if sign in "*/":
                slope = float(_STEP[sign](np.float64(slope), number))
            offset = float(_STEP[sign](np.float64(offset), number))
        return slope, offset

    def then(self, *steps: tuple[str, float]) -> Feature:
        """Return the input with more steps."""
        return replace(self, steps=(*self.steps, *steps))


_SINGLE = 1e-6  # what single precision may leave below zero
_STEP = {"-": np.subtract, "/": np.divide, "*": np.multiply, "+": np.add}


@travels
@dataclass(frozen=True)
class Dense:
    """Layers; one layer is a linear model. One output: the sigmoid, several: the softmax."""

    layers: Network

    @property
    def classes(self) -> int:
        """How many classes are scored."""
        return max(2, len(self.layers.biases[-1]))

    @property
    def form(self) -> str:
        """The name of the form."""
        return "given-linear" if len(self.layers.weights) == 1 else "given-network"

    def scores(self, x: Floats) -> Floats:
        """Return the class scores."""
        return link(self.layers.logits(x))


@travels
@dataclass(frozen=True)
class Votes:
    """A tree, or a forest whose trees' class shares are averaged (scikit-learn's rule)."""

    trees: tuple[Tree, ...]
    forest: bool

    @property
    def classes(self) -> int:
        """How many classes are scored."""
        return self.trees[0].classes

    @property
    def form(self) -> str:
        """The name of the form."""
        return "given-forest" if self.forest else "given-tree"

    def scores(self, x: Floats) -> Floats:
        """Return the class scores."""
        total = sum(tree.shares(x) for tree in self.trees)
        return np.asarray(total / len(self.trees))


@travels
@dataclass(frozen=True)
class Boosted:
    """Trees whose leaves' weights (``value``, one column) are added to ``base``, then linked.

    Tree i adds to output ``outputs[i]``.
    """

    trees: tuple[Tree, ...]
    outputs: tuple[int, ...]
    base: Floats

    @property
    def classes(self) -> int:
        """How many classes are scored."""
        return max(2, len(self.base))

    @property
    def form(self) -> str:
        """The name of the form: no view shows boosted trees, so only the scores remain."""
        return "given-scores"

    def scores(self, x: Floats) -> Floats:
        """Return the class scores."""
        margins = np.tile(self.base, (len(x), 1))
        for tree, output in zip(self.trees, self.outputs, strict=True):
            margins[:, output] += tree.value[tree.leaves(x), 0]
        return link(margins)


Core = Dense | Votes | Boosted


@travels
@dataclass(frozen=True)
class GivenModel:
    """A fitted classifier. ``columns`` are the table's, in the model's order.

    ``classes`` name the scores' columns; empty where the model only counts them, which means
    the label's values in sorted order. ``fills`` say what the model reads where a column has a
    gap. ``notes`` are for the report.
    """

    source: str
    columns: tuple[str, ...]
    features: tuple[Feature, ...]
    core: Core
    codings: tuple[Coding, ...] = ()
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fills: tuple[tuple[str, float | str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be computed with: a file may hold anything."""
        core, inputs = self.core, len(self.features)
        steps = [step for feature in self.features for step in feature.steps]
        numbers = [np.array([number for _, number in steps])]
        if isinstance(core, Dense):
            numbers += [*core.layers.weights, *core.layers.biases]
            fits = len(core.layers.weights[0]) == inputs
        else:
            if not core.trees:
                raise UsageError("the model has no trees: it says the same of everybody")
            numbers += [tree.value for tree in core.trees]
            fits = all(tree.feature.max() < inputs for tree in core.trees)
        if isinstance(core, Boosted):
            numbers.append(core.base)
            fits = fits and len(core.outputs) == len(core.trees)
            fits = fits and all(0 <= output < len(core.base) for output in core.outputs)
        if isinstance(core, Votes) and any((tree.value < -_SINGLE).any() for tree in core.trees):
            raise UsageError("the model's trees hold numbers below zero, so these are no shares")
        if not all(np.isfinite(held).all() for held in numbers):
            raise UsageError("the model holds numbers that are not finite: train it anew")
        if not fits or any(number <= 0.0 for sign, number in steps if sign in "*/"):
            raise UsageError("the model's parts do not fit each other: save it anew")

    def digest(self) -> str:
        """Return the hash that names the model."""
        return hashlib.sha256(encode(self)).hexdigest()


def word_of(value: object) -> str:
    """Write a category or a class as a word: 3, 3.0 and "3" are the same, True is 1."""
    if isinstance(value, str | bytes):
        return value if isinstance(value, str) else value.decode("utf-8", "replace")
    if isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)
