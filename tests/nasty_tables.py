"""Nasty tables, made from a seed: files as they come out of real systems, and worse."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Rng = np.random.Generator
Cells = Callable[[int, Rng], list[Any]]


def _spread(n: int, rng: Rng) -> list[Any]:
    return rng.normal(size=n).round(4).tolist()


def _with(values: list[Any], odd: Any, rng: Rng, times: int = 1) -> list[Any]:
    for place in rng.integers(0, max(1, len(values)), times):
        if values:
            values[int(place)] = odd
    return values


# Columns as text, for CSV.
TEXT: dict[str, Cells] = {
    "numbers": _spread,
    "huge value": lambda n, r: _with(_spread(n, r), "1e45", r),
    "largest doubles": lambda n, r: [["1.7e308", "-1.7e308", "0"][i % 3] for i in range(n)],
    "beyond doubles": lambda n, r: _with(_spread(n, r), "1e999", r),
    "four hundred digits": lambda n, r: _with(_spread(n, r), "9" * 400, r),
    "tiny value": lambda n, r: _with([0] * n, "5e-324", r),
    "infinities": lambda n, r: _with(_spread(n, r), "inf", r, 2),
    "gaps": lambda n, r: _with(_spread(n, r), "", r, 3),
    "only gaps": lambda n, r: [""] * n,
    "only NA": lambda n, r: ["NA"] * n,
    "constant": lambda n, r: [7] * n,
    "running number": lambda n, r: list(range(n)),
    "beyond 2^53": lambda n, r: [2**60 + int(v) for v in r.integers(0, 9, n)],
    "decimal commas": lambda n, r: [f"{v:.2f}".replace(".", ",") for v in r.random(n) * 90],
    "thousands": lambda n, r: [f"{int(v):,}" for v in r.integers(1000, 99999, n)],
    "points in groups": lambda n, r: [f"{int(v):,}".replace(",", ".") for v in r.integers(1000, 9**6, n)],
    "words among numbers": lambda n, r: _with([int(v) for v in r.integers(0, 999, n)], "k.A.", r, 2),
    "percent": lambda n, r: [f"{v:.1f} %" for v in r.random(n) * 100],
    "money": lambda n, r: [f"€ {v:.2f}" for v in r.random(n) * 100],
    "hex": lambda n, r: [hex(int(v)) for v in r.integers(0, 999, n)],
    "dates": lambda n, r: [str(date(2020, 1, 1) + timedelta(int(d))) for d in r.integers(0, 900, n)],
    "two kinds of dates": lambda n, r: [["2020-01-02", "03.04.2021"][i % 2] for i in range(n)],
    "dates far off": lambda n, r: _with(["2020-01-02", "2021-03-04"] * (n // 2) + ["2020-01-02"] * (n % 2), "9999-12-31", r),
    "words": lambda n, r: r.choice(["red", "green", "blue"], n).tolist(),
    "free text": lambda n, r: [f"a remark {i}, \"quoted\", and more of the same words" for i in range(n)],
    "lines in cells": lambda n, r: [f"first {i % 3}\nsecond" for i in range(n)],
    "booleans": lambda n, r: r.choice(["true", "false"], n).tolist(),
    "booleans and gaps": lambda n, r: r.choice(["true", "false", ""], n).tolist(),
    "json": lambda n, r: ['{"a": [1, 2]}'] * n,
    "controls": lambda n, r: [f"\x1b[31m{i % 4}\x07" for i in range(n)],
    "other scripts": lambda n, r: r.choice(["年龄", "العمر", "\u202etxt"], n).tolist(),
    "spaces": lambda n, r: [f"  {v} " for v in r.integers(0, 9, n)],
    "minus signs": lambda n, r: [f"\u2212{v}" for v in r.integers(0, 99, n)],
}  # fmt: skip


def _arrow(kind: Any) -> Callable[[list[Any]], pa.Array]:
    return lambda values: pa.array(values, type=kind)


# Columns with a type of their own, for Parquet: values, and the type they are stored as.
TYPED: dict[str, tuple[Cells, Any]] = {
    "list": (lambda n, r: [[1, 2]] * n, pa.list_(pa.int64())),
    "list of lists": (lambda n, r: [[[1.5]], None] * (n // 2) + [[]] * (n % 2), pa.list_(pa.list_(pa.float64()))),
    "struct": (lambda n, r: [{"a": i, "b": "x"} for i in range(n)], pa.struct([("a", pa.int64()), ("b", pa.string())])),
    "map": (lambda n, r: [[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int64())),
    "decimal": (lambda n, r: [Decimal(int(v)) / 100 for v in r.integers(0, 9999, n)], pa.decimal128(12, 2)),
    "binary": (lambda n, r: [bytes([i % 5, 255]) for i in range(n)], pa.binary()),
    "far timestamps": (lambda n, r: [datetime(9999, 1, 1 + i % 9) for i in range(n)], pa.timestamp("us")),
    "old dates": (lambda n, r: [date(1, 1, 1 + i % 9) for i in range(n)], pa.date32()),
    "zoned timestamps": (lambda n, r: [datetime(2020, 1, 1 + i % 20) for i in range(n)], pa.timestamp("ns", tz="Europe/Berlin")),
    "durations": (lambda n, r: [timedelta(seconds=int(v)) for v in r.integers(0, 9999, n)], pa.duration("us")),
    "times of day": (lambda n, r: [time(i % 24, 5) for i in range(n)], pa.time64("us")),
    "nothing": (lambda n, r: [None] * n, pa.null()),
    "large unsigned": (lambda n, r: [2**64 - 1 - int(v) for v in r.integers(0, 99, n)], pa.uint64()),
    "half floats": (lambda n, r: [np.float16(v) for v in r.random(n)], pa.float16()),
    "floats with huge": (lambda n, r: _with(_spread(n, r), 1e45, r), pa.float64()),
    "floats with NaN": (lambda n, r: _with(_spread(n, r), float("nan"), r, 3), pa.float64()),
    "nullable whole": (lambda n, r: _with([int(v) for v in r.integers(0, 99, n)], None, r, 2), pa.int64()),
    "dictionary": (lambda n, r: r.choice(["a", "b"], n).tolist(), pa.dictionary(pa.int32(), pa.string())),
    "numbers": (_spread, pa.float64()),
    "words": (lambda n, r: r.choice(["red", "green"], n).tolist(), pa.string()),
}  # fmt: skip

NAMES = (
    "",
    " ",
    "a,b",
    'say "x"',
    "two\nlines",
    "x" * 300,
    "\u202eelba",
    "年龄",
    "=1+1",
    "--drop",
    "7",
)


@dataclass(frozen=True)
class Nasty:
    """A file, the flags for it, and what was done to it, for a failure's message."""

    path: Path
    label: str | None
    passive: tuple[str, ...]
    drop: tuple[str, ...]
    choices: dict[str, Any]
    what: str


def make(seed: int, folder: Path) -> Nasty:
    """Write the nasty table of a seed."""
    rng = np.random.default_rng(seed)
    rows = int(rng.choice([0, 1, 3, 19, 20, 21, 40, 60, 60, 60, 80]))
    parquet = bool(rng.random() < 0.4)
    pool: dict[str, Any] = TYPED if parquet else TEXT
    kinds = [str(k) for k in rng.choice(list(pool), size=int(rng.integers(1, 5)))]
    names = [f"c{i}" for i in range(len(kinds))]
    if rng.random() < 0.3:
        names[0] = str(rng.choice(NAMES))
    if rng.random() < 0.1 and len(names) > 1:
        names[1] = names[0]
    names = ["a", "b", *names, "y"]
    base = [_spread(rows, rng), _spread(rows, rng)]
    label_kind = str(rng.choice(["two", "two", "two", "two", "number", "odd", "one", "gaps"]))
    label = {
        "two": [["no", "yes"][i % 2] for i in range(rows)],
        "number": _spread(rows, rng),
        "odd": [["no", "yes", "rare"][2 if i == 5 else i % 2] for i in range(rows)],
        "one": ["same"] * rows,
        "gaps": [[None, "yes", "no"][i % 3] for i in range(rows)],
    }[label_kind]
    what = f"seed {seed}: {rows} rows, {kinds}, label {label_kind}"
    if parquet:
        values = [pool[k][0](rows, rng) for k in kinds]
        arrays = [
            *(pa.array(c, type=pa.float64()) for c in base),
            *(pa.array(v, type=pool[k][1]) for v, k in zip(values, kinds, strict=True)),
            pa.array(label),
        ]
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_arrays(arrays, names=names), sink)
        raw = sink.getvalue()
    else:
        columns = [*base, *(pool[k](rows, rng) for k in kinds), label]
        separator = str(rng.choice([",", ",", ";", "\t", "|"]))
        raw = _csv(names, columns, separator).encode()
    raw, harm = _harmed(raw, rng)
    path = folder / ("t.parquet" if parquet else "t.csv")
    if rng.random() < 0.05:
        path = folder / os.fsdecode(b"t\xff\xfe.csv")
    path.write_bytes(raw)
    passive = tuple(str(n) for n in rng.choice(names[:-1], size=int(rng.integers(1, 3))))
    if rng.random() < 0.1:
        passive = (*passive, str(rng.choice(["nobody", "y", "", "a,b"])))
    drop = tuple(names[2:-1]) if rng.random() < 0.3 else ()
    choices = {
        "missing": str(rng.choice(["refuse", "median", "drop-rows"])),
        "categories": str(rng.choice(["ordinal", "one-hot", "target-mean"])),
        "drop_constant": bool(rng.random() < 0.5),
        "encode_text": bool(rng.random() < 0.5),
        "scale_on": str(rng.choice(["training", "all"])),
        "bins": [None, None, None, 1, 3][int(rng.integers(5))],
        "na": [(), (), ("k.A.",), ("0",)][int(rng.integers(4))],
    }
    named = [None, "y", "y", "y", "y", "y", "Y"][int(rng.integers(7))]
    return Nasty(path, named, passive, drop, choices, f"{what}{harm}")


def _csv(names: list[str], columns: list[list[Any]], separator: str) -> str:
    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        if any(mark in text for mark in (separator, '"', "\n")):
            return '"' + text.replace('"', '""') + '"'
        return text

    lines = [names, *(list(row) for row in zip(*columns, strict=True))]
    return "\n".join(separator.join(cell(v) for v in line) for line in lines) + "\n"


def _harmed(raw: bytes, rng: Rng) -> tuple[bytes, str]:
    """Damage one file in six as transfers and exports do."""
    if rng.random() > 1 / 6:
        return raw, ""
    harms: dict[str, Callable[[bytes], bytes]] = {
        "empty": lambda b: b"",
        "only line ends": lambda b: b"\r\n\n",
        "cut": lambda b: b[: len(b) // 2],
        "bytes changed": lambda b: bytes(v ^ 0x5A if i % 97 == 13 else v for i, v in enumerate(b)),
        "a ragged row": lambda b: b + b"1,2,3,4,5,6,7,8,9,10\n",
        "an open quote": lambda b: b + b'"1',
        "utf-16": lambda b: b.decode("latin-1").encode("utf-16"),
        "latin-1": lambda b: b + b"\xe4\xf6",
        "a mark": lambda b: b"\xef\xbb\xbf" + b,
        "zipped and cut": lambda b: gzip.compress(b, mtime=0)[:-9],
        "zipped": lambda b: gzip.compress(b, mtime=0),
        "excel": lambda b: b"PK\x03\x04" + b,
        "nulls": lambda b: b + b"\0\0",
        "windows": lambda b: b.replace(b"\n", b"\r\n"),
        "magic only": lambda b: b"PAR1",
    }
    name = str(rng.choice(list(harms)))
    return harms[name](raw), f", {name}"
