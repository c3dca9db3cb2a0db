"""The generative regression network (Luo et al. 2021, section V, Algorithm 2).

A generator maps a record's own columns and noise to its unknown columns. It learns, over all
scored records together, values that the granted model scores as the real ones were scored.

What the paper leaves open, and what is done here:
- The output layer: a sigmoid. The threat grants the public range [0, 1], so a value outside
  it is known to be wrong. An untrained generator therefore answers about one half: compare
  its error with the constant one half, not with random numbers only.
- The penalty on "too large" a variance (Eq 9): see ``Penalty``. Nothing is tuned on the truth.
  The authors' program penalises all variance, with a weight found by a search on the true
  error; ``Penalty.authors`` is that term with the weight of their settings, for comparison.
- Start (Algorithm 2, line 1): not N(0, 1), which saturates the output layer, but uniform in
  +-1/sqrt(fan-in).
- Epochs, batch, rate: not stated. Adam at its usual rate of 0.001 for 60 epochs, but never
  fewer than ``least_steps``, so that few records train as long as many. The authors' program
  takes batches of 64 at 0.0001; larger batches are faster.
- Single precision inside: the generator's own noise is far above its rounding.
- With more than ``MOST_INPUTS`` own and unknown columns (the paper has at most 59): at most ``MOST_NOISE``
  numbers of noise, and the directions in which the records differ in place of the own columns. Most
  of the generator's weights would be those of its inputs. ``benchmarks/wide_generator.py`` measures
  what that costs the attack, and what it saves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.possible_values import snapped
from whatleaks.attacks.searched_before import searched_before
from whatleaks.catalog import attack
from whatleaks.citations import LUO
from whatleaks.codec import travels
from whatleaks.errors import AttackError, UsageError
from whatleaks.models.torch_forms import GivenOwn, log_scores
from whatleaks.models.torch_network import Optimiser
from whatleaks.seeds import torch_seed
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxPredictionView

if TYPE_CHECKING:
    import torch

    Scores = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

UNIFORM_VARIANCE = 1.0 / 12.0
SMALLEST_BATCH, LARGEST_BATCH = 64, 1024
MOST_INPUTS, MOST_NOISE = 1000, 60
RULES = ("excess", "authors")


@dataclass(frozen=True)
class Penalty:
    """The loss of Eq 9 is ``score_weight`` x squared distance of scores, averaged over records and
    classes, plus ``variance_weight`` x what each column's variance exceeds ``allowed`` by, averaged
    over columns.
    """

    score_weight: float
    variance_weight: float
    allowed: float

    @staticmethod
    def excess(own: Floats, scores: Floats) -> Penalty:
        """Take both terms in units that the view itself sets, so that no weight is left to choose.

        The score term is in units of the released scores' variance: 1 means that the
        generator explains nothing of them. The variance term counts what exceeds the mean
        variance of the adversary's own columns, in units of it: columns of one table, on one
        scale, are the best measure in the view of how much a column varies. Without any
        varying own column the variance of U(0, 1) is allowed.
        """
        allowed = float(own.var(axis=0).mean()) if own.shape[1] else 0.0
        allowed = allowed if allowed > 1e-6 else UNIFORM_VARIANCE
        return Penalty(1.0 / max(float(scores.var(axis=0).mean()), 1e-6), 1.0 / allowed, allowed)

    @staticmethod
    def authors(classes: int, unknown: int) -> Penalty:
        """Take the sum of squared distances over 64 records plus 0.25 x the sum of variances."""
        return Penalty(64.0 * classes, 0.25 * unknown, 0.0)

    def score_term(self, given: torch.Tensor, released: torch.Tensor) -> torch.Tensor:
        """Return the weighted squared distance of scores."""
        return ((given - released) ** 2).mean() * self.score_weight

    def variance_term(self, values: torch.Tensor) -> torch.Tensor:
        """Return the weighted variance above the allowed one."""
        import torch

        excess = torch.relu(values.var(dim=0, correction=0) - self.allowed)
        return excess.mean() * self.variance_weight


@attack(
    "generative-regression",
    title="Generative regression network",
    paper=LUO,
    needs="scores of many records and the whole differentiable model",
)
@attack(
    "generative-regression-snapped",
    title="Generative regression network, moved to values that the columns can take",
    paper=f"whatleaks, after {LUO}",
    needs="scores of many records, the whole differentiable model and what values the columns can "
    "take",
    settings={"snap": True},
    again=False,
)
@travels
@dataclass(frozen=True)
class GenerativeRegression:
    """``hidden`` as in U VI-C, with layer norm after each; the four switches are Table III's.

    ``use_own`` off: noise in place of the own columns. ``use_generator`` off: no network; a
    free value for every unknown, started at the random guess U(0, 1) and moved by Adam with
    ``free_rate`` for as many steps ("naive regression"). ``variance_rule``: "excess" or
    "authors", see ``Penalty``. ``batch`` None: a tenth of the records, within 64 and 1024.
    ``draws``: not in the paper; above 1, the average of that many answers with fresh noise.
    ``snap``: not in the paper; the answers are moved to values that the schema allows.
    """

    extra: ClassVar[str] = "networks"

    hidden: tuple[int, ...] = (600, 200, 100)
    epochs: int = 60
    batch: int | None = None
    learning_rate: float = 0.001
    least_steps: int = 1000
    use_own: bool = True
    use_noise: bool = True
    use_variance_penalty: bool = True
    use_generator: bool = True
    variance_rule: str = "excess"
    free_rate: float = 0.01
    draws: int = 1
    snap: bool = False

    def __post_init__(self) -> None:
        """Refuse settings with no meaning."""
        if self.variance_rule not in RULES:
            raise UsageError(f"the variance rule is excess or authors, got {self.variance_rule!r}")
        for name in ("epochs", "batch", "draws"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"generative regression needs {name} of at least 1, got {value}")
        if not self.hidden or min(self.hidden) < 1:
            raise UsageError(f"the generator needs hidden layers of 1 or more, got {self.hidden}")
        if self.use_generator and not (self.use_own or self.use_noise):
            raise UsageError("the generator needs an input: leave use_own or use_noise on")

    @property
    def name(self) -> str:
        """The attack and what is switched off."""
        parts = ("own", "noise", "variance_penalty", "generator")
        off = [p.replace("_", "-") for p in parts if not getattr(self, f"use_{p}")]
        rule = [] if self.variance_rule == "excess" else ["authors-variance"]
        mean = [f"mean-of-{self.draws}"] if self.draws > 1 else []
        snap = ["snapped"] if self.snap else []
        return "-".join(["generative-regression", *[f"no-{p}" for p in off], *rule, *mean, *snap])

    @property
    def stream(self) -> str:
        """Where its luck comes from: moving the answers afterwards takes no luck of its own."""
        return replace(self, snap=False).name

    def infer(self, view: WhiteBoxPredictionView, rng: np.random.Generator) -> ValueGuess:
        """Train the generator on every scored record and let it answer for each."""
        import torch

        if view.unknown < 1:
            raise AttackError("generative regression needs at least 1 unknown column, got 0")
        model = GivenOwn(view.model, view.own, torch.float32)

        def scores(values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
            return log_scores(model.outputs(values, rows)).exp()

        luck = str(rng.bit_generator.state)
        seen = (view.own, view.scores, view.unknown, view.model)
        asked = ("generator", replace(self, snap=False), luck, *seen)
        values = searched_before(
            asked, lambda: self.regress(view.own, view.scores, view.unknown, scores, rng)
        )
        return ValueGuess(sealed(snapped(values, view)) if self.snap else values)

    def regress(
        self,
        own: Floats,
        released: Floats,
        unknown: int,
        scores: Scores,
        rng: np.random.Generator,
    ) -> Floats:
        """Return values whose ``scores(values, rows)`` match the released ones (Algorithm 2)."""
        import torch

        if not len(own):
            return sealed(np.zeros((0, unknown)))
        draw = torch.Generator().manual_seed(torch_seed(rng))
        penalty = (
            Penalty.excess(own, released)
            if self.variance_rule == "excess"
            else Penalty.authors(released.shape[1], unknown)
        )
        wanted = torch.tensor(released, dtype=torch.float32)

        def loss(values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
            total = penalty.score_term(scores(values, rows), wanted[rows])
            return total + penalty.variance_term(values) if self.use_variance_penalty else total

        if self.use_generator:
            values = self._generate(torch.tensor(own, dtype=torch.float32), unknown, loss, draw)
        else:
            values = self._free(len(own), unknown, loss, draw)
        return sealed(values.double().numpy())

    def schedule(self, records: int) -> tuple[int, int]:
        """Return how many epochs there are and into how many batches each is cut."""
        size = self.batch or min(max(records // 10, SMALLEST_BATCH), LARGEST_BATCH)
        batches = max(1, round(records / size))
        return max(self.epochs, -(-self.least_steps // batches)), batches

    def _generate(
        self, own: torch.Tensor, unknown: int, loss: Scores, draw: torch.Generator
    ) -> torch.Tensor:
        import torch

        records = len(own)
        noise = self.use_noise * unknown
        if own.shape[1] + unknown > MOST_INPUTS:
            own, noise = directions(own), min(noise, MOST_NOISE)
        noise += (not self.use_own) * own.shape[1]
        net = generator_network(
            self.use_own * own.shape[1] + noise, self.hidden, unknown, draw, torch.float32
        )
        epochs, batches = self.schedule(records)
        optimiser = Optimiser(net.parameters(), self.learning_rate)

        def inputs(rows: torch.Tensor) -> torch.Tensor:
            parts = [own[rows]] if self.use_own else []
            if noise:
                parts.append(torch.randn(len(rows), noise, generator=draw))  # line 6
            return torch.cat(parts, dim=1)

        for _ in range(epochs):
            order = torch.randperm(records, generator=draw)
            for rows in order.tensor_split(batches):
                optimiser.follow(loss(net(inputs(rows)), rows))  # line 11
        everybody = torch.arange(records)
        with torch.no_grad():
            return torch.stack([net(inputs(everybody)) for _ in range(self.draws)]).mean(dim=0)

    def _free(
        self, records: int, unknown: int, loss: Scores, draw: torch.Generator
    ) -> torch.Tensor:
        import torch

        values = torch.rand(records, unknown, generator=draw).requires_grad_()
        optimiser = torch.optim.Adam([values], lr=self.free_rate)
        everybody = torch.arange(records)
        epochs, batches = self.schedule(records)
        for _ in range(epochs * batches):
            optimiser.zero_grad(set_to_none=True)
            # The sum over records: then no record's step depends on how many others there are.
            (loss(values, everybody) * records).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        return values.detach()


def directions(own: torch.Tensor) -> torch.Tensor:
    """Return the records along the axes in which they differ: at most as many as there are records.

    Their distances stay in proportion, and the columns' mean square stays as it is.
    """
    import torch

    left, sizes, _ = torch.linalg.svd(own - own.mean(dim=0), full_matrices=False)
    turned: torch.Tensor = left * sizes
    size = turned.square().mean()
    if float(size) > 0.0:
        turned *= (own.square().mean() / size).sqrt()
    return turned


def generator_network(
    inputs: int, hidden: tuple[int, ...], outputs: int, draw: torch.Generator, dtype: torch.dtype
) -> torch.nn.Sequential:
    """Build the generator: linear, layer norm, ReLU for each hidden layer; a sigmoid at the end."""
    import torch

    layers: list[torch.nn.Module] = []
    for fan_in, fan_out in pairwise([inputs, *hidden, outputs]):
        layer = torch.nn.Linear(fan_in, fan_out, dtype=dtype)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.uniform_(-1.0 / np.sqrt(fan_in), 1.0 / np.sqrt(fan_in), generator=draw)
        layers += [layer, torch.nn.LayerNorm(fan_out, dtype=dtype), torch.nn.ReLU(inplace=True)]
    return torch.nn.Sequential(*layers[:-2], torch.nn.Sigmoid())
