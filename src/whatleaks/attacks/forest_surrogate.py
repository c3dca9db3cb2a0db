"""A differentiable stand-in for a granted forest (Luo et al. 2021, section V-B).

The adversary makes records up, has the forest vote on them, and fits a network of 2000 and
200 units to the votes. The stand-in only lends its slope: what an attack must match are the
fractions that the real forest released.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.models.forest import Forest
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.torch_network import Layers, Optimiser, build, export

BATCH = 256
RATE = 0.001


def fit_surrogate(
    forest: Forest,
    known: Floats | None,
    unknown: int,
    records: int,
    epochs: int,
    hidden: tuple[int, ...],
    rng: np.random.Generator,
) -> JointNetwork:
    """Fit a network over the joined columns to the forest's vote fractions.

    Made-up values are uniform on [0, 1], the public range of every column. With ``known``
    given, the own columns are drawn from these records instead: the stand-in is only ever
    asked about them, and real records fill a small corner of the whole space. The loss is the
    squared distance of softmax outputs to fractions, averaged. Every epoch sees new records:
    the forest answers as often as it is asked, so there is nothing to overfit.
    """
    import torch

    own = forest.active_columns
    structure = Layers(hidden, forest.classes)
    net = build(own + unknown, structure, rng).float()
    optimiser = Optimiser(net.parameters(), RATE)
    for _ in range(epochs):
        x = rng.random((records, own + unknown))
        if known is not None:
            x[:, :own] = known[rng.integers(0, len(known), records)]
        made_up = torch.tensor(x, dtype=torch.float32)
        votes = torch.tensor(forest.fractions(x), dtype=torch.float32)
        for start in range(0, records, BATCH):
            rows = slice(start, start + BATCH)
            guess = torch.softmax(net(made_up[rows]), dim=1)
            optimiser.follow(((guess - votes[rows]) ** 2).mean())
    layers = export(net.double(), structure)
    assert not isinstance(layers, Linear)
    first, bias = layers.weights[0], layers.biases[0]
    rest = type(layers)(layers.weights[1:], layers.biases[1:], "relu")
    return JointNetwork(
        Linear(sealed(first[:own]), bias),
        Linear(sealed(first[own:]), sealed(np.zeros(len(bias)))),
        rest,
        "relu",
    )
