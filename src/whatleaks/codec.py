"""Bytes for everything that crosses a boundary: messages, views, guesses.

A tree of frozen dataclasses, tuples, dicts, scalars and arrays becomes one byte string
and back. Only classes marked ``@travels`` decode, arrays travel as their bare bytes, there
is no pickle, and what comes out is sealed: no object of the sender survives the journey.

Layout: ``WLK1`` | header length (u32) | JSON tree | arrays and blobs, one after another.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from dataclasses import fields, is_dataclass
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, TypeAlias, TypeVar

import numpy as np

from whatleaks.errors import WireError

_MAGIC = b"WLK1"
_CLASSES: dict[str, type[Any]] = {}
_FIELDS: dict[type[Any], tuple[str, ...]] = {}  # asked for with every message, so kept
_BIG = sys.byteorder == "big"
_ALLOWED_DTYPES = frozenset({"float64", "float32", "int64", "int32", "int8", "uint8", "bool"})
_STORED = {name: np.dtype(name).newbyteorder("<") for name in _ALLOWED_DTYPES}
_NAMES = {np.dtype(name): name for name in _ALLOWED_DTYPES}  # numpy spells a name anew each time
LONGEST_HEADER = 1 << 28  # bytes, for what we wrote ourselves

Blob: TypeAlias = bytes | memoryview
T = TypeVar("T")


def travels(cls: type[T]) -> type[T]:
    """Allow a frozen dataclass to cross the wire under its own name."""
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} must be a dataclass to travel")
    other = _CLASSES.get(cls.__name__)
    if other is not None and other.__module__ != cls.__module__:
        raise TypeError(f"two classes named {cls.__name__} travel")
    _CLASSES[cls.__name__] = cls
    _FIELDS[cls] = tuple(field.name for field in fields(cls))
    return cls


def encode(value: Any) -> bytes:
    """Encode a tree of plain values into bytes."""
    parts: list[str] = []
    blobs: list[Blob] = []
    _write(value, parts, blobs)
    header = "".join(parts).encode()
    return b"".join([_MAGIC, struct.pack("<I", len(header)), header, *blobs])


def decode(data: bytes) -> Any:
    """Decode bytes written by ``encode``; anything malformed is a ``WireError``."""
    if len(data) < 8 or data[:4] != _MAGIC:
        raise WireError("these bytes are not a whatleaks message: wrong first four bytes")
    (length,) = struct.unpack("<I", data[4:8])
    if length > LONGEST_HEADER:
        raise WireError(f"a message header has {length} bytes: at most {LONGEST_HEADER} are read")
    if 8 + length > len(data):
        raise WireError("a message is cut short: its header is longer than its bytes")
    try:
        tree = json.loads(data[8 : 8 + length])
    except ValueError as error:
        raise WireError(f"a message header is not JSON: {error}") from None
    except RecursionError:
        raise WireError("a message header is nested too deeply") from None
    reader = _Reader(memoryview(data)[8 + length :])
    try:
        value = _unpack(tree, reader)
    except WireError:
        raise
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        # The header comes from outside: whatever is missing or of another type ends here, also
        # in the checks of the records that it names.
        raise WireError(f"a message header is malformed: {type(error).__name__}") from None
    if not reader.exhausted():
        raise WireError("a message carries bytes that its header does not announce")
    return value


class _Reader:
    """Hands out consecutive pieces of the blob section."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._at = 0

    def take(self, size: int) -> memoryview:
        if size < 0 or self._at + size > len(self._view):
            raise WireError("a message is cut short: an array is missing bytes")
        piece = self._view[self._at : self._at + size]
        self._at += size
        return piece

    def exhausted(self) -> bool:
        return self._at == len(self._view)


def _write(value: Any, header: list[str], blobs: list[Blob]) -> None:
    """Write a value's place in the tree as JSON text; its numbers and bytes go to the blobs."""
    kind = type(value)
    if kind is str:
        header.append(_quoted(value))
    elif kind is np.ndarray:
        _write_array(value, header, blobs)
    elif kind in _FIELDS and _CLASSES.get(kind.__name__) is kind:
        before = f'{{"c":{_quoted(kind.__name__)},"v":['
        for name in _FIELDS[kind]:
            header.append(f"{before}[{_quoted(name)},")
            _write(getattr(value, name), header, blobs)
            before = "],"
        header.append("]]}" if _FIELDS[kind] else f"{before}]}}")
    elif value is None:
        header.append("null")
    elif isinstance(value, bool):
        header.append("true" if value else "false")
    elif isinstance(value, str):
        header.append(_quoted(value))
    elif isinstance(value, int | np.integer):
        header.append(str(int(value)))
    elif isinstance(value, float | np.floating):
        header.append(f'{{"f":"{float(value).hex()}"}}')
    elif isinstance(value, np.ndarray):
        _write_array(value, header, blobs)
    elif isinstance(value, bytes):
        blobs.append(value)
        header.append(f'{{"b":{len(value)}}}')
    elif isinstance(value, tuple | list):
        header.append('{"t":[')
        for place, item in enumerate(value):
            if place:
                header.append(",")
            _write(item, header, blobs)
        header.append("]}")
    elif isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise WireError("a dictionary travels only if all of its keys are text")
        header.append('{"d":[')
        for place, (key, item) in enumerate(value.items()):
            header.append(f"{',' if place else ''}[{_quoted(key)},")
            _write(item, header, blobs)
            header.append("]")
        header.append("]}")
    elif is_dataclass(value) and not isinstance(value, type):
        raise WireError(f"{kind.__name__} does not travel: mark it with @travels")
    else:
        raise WireError(f"{kind.__name__} cannot travel: only plain values, arrays and records do")


def _write_array(value: np.ndarray[Any, Any], header: list[str], blobs: list[Blob]) -> None:
    name = _NAMES.get(value.dtype) or value.dtype.name
    if name not in _ALLOWED_DTYPES:
        raise WireError(f"an array of {value.dtype} cannot travel: send numbers")
    if not value.dtype.isnative or _BIG:
        value = value.astype(value.dtype.newbyteorder("<"), copy=False)
    blobs.append(np.ascontiguousarray(value).data)  # copied once, when all are put together
    header.append(f'{{"a":"{name}","s":[{",".join(map(str, value.shape))}]}}')


def _unpack(tree: Any, reader: _Reader) -> Any:
    if tree is None or type(tree) in (str, int, bool):
        return tree
    if type(tree) is not dict:
        raise WireError("a message header holds an unknown kind of value")
    if "f" in tree:
        return float.fromhex(tree["f"])
    if "a" in tree:
        return _array(tree["a"], tree["s"], reader)
    if "b" in tree:
        return bytes(reader.take(_size(tree["b"])))
    if "t" in tree:
        return tuple(_unpack(item, reader) for item in tree["t"])
    if "d" in tree:
        return _named(tree["d"], reader)
    if "c" in tree:
        cls = _CLASSES.get(tree["c"])
        if cls is None:
            raise WireError(f"a message holds an unknown record {tree['c']!r}")
        values = _named(tree["v"], reader)
        if values.keys() != set(_FIELDS[cls]):
            raise WireError(f"a message's {tree['c']} has other fields than expected")
        return cls(**values)
    raise WireError("a message header holds an unknown kind of value")


def _named(pairs: Any, reader: _Reader) -> dict[str, Any]:
    """Read values by name. Names are text: a partner can make integers whose hashes collide."""
    found: dict[str, Any] = {}
    for key, item in pairs:
        if type(key) is not str or key in found:
            raise WireError("a message names a value by something that is not text, or one twice")
        found[key] = _unpack(item, reader)
    return found


def _size(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise WireError("an array or a blob in a message has no proper size")
    return number


def _array(dtype: Any, shape: Any, reader: _Reader) -> np.ndarray[Any, Any]:
    if dtype not in _ALLOWED_DTYPES:
        raise WireError(f"an array of {dtype!r} cannot travel: send numbers")
    if not isinstance(shape, list) or len(shape) > 8:
        raise WireError("an array in a message has no proper shape")
    stored = _STORED[dtype]
    # Before memory is set aside.
    held = reader.take(math.prod(map(_size, shape)) * stored.itemsize)
    array = np.array(np.frombuffer(held, dtype=stored).reshape(shape), dtype=dtype, order="C")
    array.setflags(write=False)
    return array
