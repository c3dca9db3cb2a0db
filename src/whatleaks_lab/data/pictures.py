"""One parser for each picture set: the publisher's bytes become arrays of uint8."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from whatleaks.arrays import Ints, sealed_ints
from whatleaks.data.images import Images, Pixels
from whatleaks.data.location import Located

_DIGITS = tuple("0123456789")
_ARTICLES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


def _read_only(pixels: npt.NDArray[Any]) -> Pixels:
    copy: Pixels = np.array(pixels, dtype=np.uint8, order="C", copy=True)
    copy.setflags(write=False)
    return copy


def _idx(located: Located, part: str) -> tuple[Pixels, Ints]:
    """Read an idx pair: 16 bytes before the pictures, 8 before the labels."""
    pictures = np.frombuffer(located.read(f"{part}-images-idx3-ubyte.gz"), np.uint8, offset=16)
    labels = np.frombuffer(located.read(f"{part}-labels-idx1-ubyte.gz"), np.uint8, offset=8)
    return _read_only(pictures.reshape(-1, 28, 28)), sealed_ints(labels)


def _idx_set(located: Located, classes: tuple[str, ...]) -> Images:
    return Images(
        located.card.name, *_idx(located, "train"), *_idx(located, "t10k"), classes, located.card
    )


def _arrays(located: Located, name: str) -> dict[str, npt.NDArray[Any]]:
    with np.load(io.BytesIO(located.read(name)), allow_pickle=False) as archive:
        return dict(archive)


def _cifar(located: Located) -> Images:
    training = _arrays(located, "cifar10_train10000.npz")
    test = _arrays(located, "cifar10_test2000.npz")
    return Images(
        located.card.name,
        _read_only(training["x"]),
        sealed_ints(training["y"]),
        _read_only(test["x"]),
        sealed_ints(test["y"]),
        tuple(str(name) for name in training["names"]),
        located.card,
    )


def _tiny(located: Located) -> Images:
    both = _arrays(located, "tiny_imagenet_subset2000.npz")
    return Images(
        located.card.name,
        _read_only(both["x_train"]),
        sealed_ints(both["y_train"]),
        _read_only(both["x_val"]),
        sealed_ints(both["y_val"]),
        tuple(str(wnid) for wnid in both["wnids"]),
        located.card,
    )


IMAGE_PARSERS: dict[str, Callable[[Located], Images]] = {
    "mnist": lambda located: _idx_set(located, _DIGITS),
    "fashion-mnist": lambda located: _idx_set(located, _ARTICLES),
    "cifar10": _cifar,
    "tiny-imagenet": _tiny,
}
