"""Sealed arrays: owned, contiguous, read-only copies.

A numpy slice drags the whole array along in ``.base`` and a torch tensor drags its
graph. A sealed array carries only its own numbers.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Buckets: TypeAlias = npt.NDArray[np.int8]


def sealed(values: npt.ArrayLike) -> Floats:
    """Copy ``values`` into an owned, C-ordered, read-only float64 array."""
    copy: Floats = np.array(values, dtype=np.float64, order="C", copy=True)
    copy.setflags(write=False)
    return copy


def seal(values: Floats) -> Floats:
    """Seal an array that nobody else holds, without copying it if it owns its memory."""
    if values.base is not None or values.dtype != np.float64 or not values.flags.c_contiguous:
        return sealed(values)
    values.setflags(write=False)
    return values


def sealed_ints(values: npt.ArrayLike) -> Ints:
    """Copy ``values`` into an owned, C-ordered, read-only int64 array."""
    copy: Ints = np.array(values, dtype=np.int64, order="C", copy=True)
    copy.setflags(write=False)
    return copy


def sealed_bools(values: npt.ArrayLike) -> Bools:
    """Copy ``values`` into an owned, C-ordered, read-only array of truth values."""
    copy: Bools = np.array(values, dtype=np.bool_, order="C", copy=True)
    copy.setflags(write=False)
    return copy


def is_sealed(array: npt.NDArray[Any]) -> bool:
    """Say whether ``array`` owns its memory, refers to no other array and cannot be written."""
    return array.base is None and bool(array.flags.owndata) and not array.flags.writeable
