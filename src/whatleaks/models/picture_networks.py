"""Networks on pictures: convolutions from a flat half of a picture to a flat embedding, and back.

A record is a flat row of numbers (height x width x colours, as pictures are stored); the width
follows from the number of columns. Sizes as in Yao et al. Table X: two convolutions for MNIST,
three residual blocks of three convolutions and a skip for CIFAR-10 and Tiny ImageNet.
Deviations: fewer channels than a GPU would allow, no normalisation layer (its running averages
would be a memory of the training besides the weights).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.codec import travels
from whatleaks.errors import UsageError
from whatleaks.models.torch_network import torch_dtype
from whatleaks.seeds import torch_seed

if TYPE_CHECKING:
    import torch


@travels
@dataclass(frozen=True)
class Convolutions:
    """A bottom model on pictures: every layer (or residual block) halves the picture.

    ``channels`` of each layer, the last one's are the embedding's. ``residual``: each layer is
    a block of three convolutions with a skip around them.
    """

    height: int
    colours: int = 1
    channels: tuple[int, ...] = (8, 16)
    residual: bool = False

    def __post_init__(self) -> None:
        """Refuse pictures without pixels."""
        if self.height < 1 or self.colours < 1 or not self.channels or min(self.channels) < 1:
            raise UsageError(
                "pictures need a height, colours and channels of at least 1, got "
                f"{self.height}, {self.colours} and {self.channels}"
            )

    def width(self, inputs: int) -> int:
        """Return how wide a picture of so many numbers is; a cut that is no picture is refused."""
        row = self.height * self.colours
        if inputs % row or not inputs:
            raise UsageError(
                f"{inputs} columns are no picture of height {self.height} in {self.colours} colours"
            )
        return inputs // row

    def cells(self, inputs: int) -> tuple[int, int]:
        """Return height and width of the embedding's map."""
        high, wide = self.height, self.width(inputs)
        for _ in self.channels:
            high, wide = (high + 1) // 2, (wide + 1) // 2
        return high, wide

    def outputs(self, inputs: int) -> int:
        """Return how many numbers an embedding has."""
        high, wide = self.cells(inputs)
        return high * wide * self.channels[-1]

    def build(self, inputs: int, rng: np.random.Generator, precision: str) -> torch.nn.Module:
        """Build the network; its first weights come from ``rng`` alone."""
        import torch

        parts: list[torch.nn.Module] = [_Picture(self.height, self.width(inputs), self.colours)]
        last = self.colours
        for index, count in enumerate(self.channels):
            made = _Block(last, count) if self.residual else _halving(last, count)
            parts.append(made)
            if index + 1 < len(self.channels):
                parts.append(torch.nn.LeakyReLU(0.2))
            last = count
        parts.append(torch.nn.Flatten())
        return started(torch.nn.Sequential(*parts), rng, precision)


@travels
@dataclass(frozen=True)
class PictureDecoder:
    """The way back: embeddings of several halves of one shape, as channels of one map, to a half."""

    bottom: Convolutions
    halves: int
    columns: int

    def build(self, inputs: int, rng: np.random.Generator, precision: str) -> torch.nn.Module:
        """Build the network; its first weights come from ``rng`` alone."""
        import torch

        cells, wide = self.bottom.cells(self.columns), self.bottom.width(self.columns)
        last = self.halves * self.bottom.channels[-1]
        if inputs != last * cells[0] * cells[1]:
            raise UsageError("all halves of a picture must be of one shape: cut it in the middle")
        parts: list[torch.nn.Module] = [torch.nn.Unflatten(1, (last, *cells))]
        sizes = [(self.bottom.height, wide)]
        for _ in self.bottom.channels[1:]:
            sizes.append(((sizes[-1][0] + 1) // 2, (sizes[-1][1] + 1) // 2))
        counts = (*reversed(self.bottom.channels), self.bottom.channels[0])[: len(sizes)]
        for size, count in zip(reversed(sizes), counts, strict=True):
            parts += [
                torch.nn.Upsample(size=size, mode="nearest"),
                torch.nn.Conv2d(last, count, 3, padding=1),
                torch.nn.LeakyReLU(0.2),
            ]
            last = count
        parts += [
            torch.nn.Conv2d(last, self.bottom.colours, 3, padding=1),
            torch.nn.Tanh(),  # pixels are on a scale from -1 to 1
            _Row(),
        ]
        return started(torch.nn.Sequential(*parts), rng, precision)


def _halving(last: int, count: int) -> torch.nn.Module:
    import torch

    return torch.nn.Conv2d(last, count, 3, stride=2, padding=1)


def _keep_to_sound_kernels() -> None:
    """Have torch's own convolutions where those of oneDNN spoil memory: CPUs without AVX-512.

    Trainings of residual networks on pictures of 8 x 4 ended there in a crash or in tensors that
    nobody had changed (torch 2.13.0 with oneDNN 3.12, AVX2); not with oneDNN kept to AVX, nor
    without it. The switch is the process's.
    """
    import torch

    if torch.backends.cpu.get_cpu_capability() != "AVX512":
        torch.backends.mkldnn.set_flags(False)  # type: ignore[no-untyped-call]


def started(network: torch.nn.Module, rng: np.random.Generator, precision: str) -> torch.nn.Module:
    """Draw all weights uniform in +-1/sqrt(fan-in), torch's own rule, from ``rng`` alone."""
    import torch

    _keep_to_sound_kernels()
    generator = torch.Generator().manual_seed(torch_seed(rng))
    network = network.to(torch_dtype(precision))
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, torch.nn.Conv2d):
                bound = 1.0 / sqrt(module.weight[0].numel())
                for parameter in module.parameters(recurse=False):
                    parameter.uniform_(-bound, bound, generator=generator)
    return network


def _Picture(height: int, width: int, colours: int) -> torch.nn.Module:
    import torch

    class Picture(torch.nn.Module):
        """Rows of numbers to pictures with the colours first."""

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            return rows.reshape(-1, height, width, colours).permute(0, 3, 1, 2)

    return Picture()


def _Row() -> torch.nn.Module:
    import torch

    class Row(torch.nn.Module):
        """Pictures with the colours first to rows of numbers."""

        def forward(self, pictures: torch.Tensor) -> torch.Tensor:
            return pictures.permute(0, 2, 3, 1).reshape(len(pictures), -1)

    return Row()


def _Block(last: int, count: int) -> torch.nn.Module:
    import torch

    class Block(torch.nn.Module):
        """Three convolutions, the first of which halves, and a skip around them."""

        def __init__(self) -> None:
            super().__init__()
            self.path = torch.nn.Sequential(
                _halving(last, count),
                torch.nn.LeakyReLU(0.2),
                torch.nn.Conv2d(count, count, 3, padding=1),
                torch.nn.LeakyReLU(0.2),
                torch.nn.Conv2d(count, count, 3, padding=1),
            )
            self.skip = torch.nn.Conv2d(last, count, 1, stride=2)

        def forward(self, pictures: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.path(pictures) + self.skip(pictures)
            return found

    return Block()
