"""Universal Binary JSON, as XGBoost writes it, read with every length checked.

XGBoost's own reader believes the lengths in a damaged file and asks for memory beyond all
measure: a file of unknown origin is read here instead.
"""

from __future__ import annotations

import struct
from typing import Any

_NUMBERS = {"i": ">b", "U": ">B", "I": ">h", "l": ">i", "L": ">q", "d": ">f", "D": ">d"}
_WORDS = {"T": True, "F": False, "Z": None}
_DEEPEST = 100


def read_ubjson(data: bytes) -> Any:
    """Return the tree of plain values; whatever is not one raises ``ValueError``."""
    reader = _Reader(data)
    tree = reader.value(reader.mark(), 0)
    if reader.at != len(data):
        raise ValueError("bytes are left over")
    return tree


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise ValueError("the file is cut short")
        self.at += size
        return self.data[self.at - size : self.at]

    def mark(self) -> str:
        """Return the letter that says what follows; N says nothing."""
        while (found := self.take(1)) == b"N":
            pass
        return found.decode("latin-1")

    def number(self, mark: str) -> Any:
        form = _NUMBERS[mark]
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def length(self, mark: str) -> int:
        if mark not in "iUIlL":
            raise ValueError("a length is no whole number")
        return int(self.number(mark))

    def text(self, mark: str) -> str:
        return self.take(self.length(mark)).decode()

    def value(self, mark: str, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("the file is nested too deeply")
        if mark == "{":
            found = {}
            while (key := self.mark()) != "}":
                name = self.text(key)
                found[name] = self.value(self.mark(), depth + 1)
            return found
        if mark == "[":
            return self.array(depth)
        if mark == "S":
            return self.text(self.mark())
        return _WORDS[mark] if mark in _WORDS else self.number(mark)

    def array(self, depth: int) -> list[Any]:
        """Read until the closing bracket, or as many as are announced, of one kind or of any."""
        mark, kind = self.mark(), ""
        if mark == "$":
            kind, mark = self.mark(), self.mark()
            if mark != "#":
                raise ValueError("a list of one kind has no length")
        if mark == "#":
            count = self.length(self.mark())
            if kind:
                size = struct.calcsize(_NUMBERS[kind])
                numbers = self.take(count * size) if count >= 0 else self.take(-1)
                return list(struct.unpack(f">{count}{_NUMBERS[kind][1]}", numbers))
            if count > len(self.data) - self.at:
                raise ValueError("the file is cut short")
            return [self.value(self.mark(), depth + 1) for _ in range(count)]
        found = []
        while mark != "]":
            found.append(self.value(mark, depth + 1))
            mark = self.mark()
        return found
