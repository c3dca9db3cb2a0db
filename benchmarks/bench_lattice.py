"""Lattice decoding of satellite's scores: one reduction for all records against one for each.

    python benchmarks/bench_lattice.py [--records 1000]

The model is a logistic regression of 36 columns and 6 classes, the scores are doubles. First
1,000 records with 18 unknown columns (limit: 3 s). Then the ratio against one reduction a
record, in which the target is a row of the lattice (Kannan's embedding), on fewer records. Then
the reach: the most unknown columns, and bits, that each decodes in all of the records tried, and
what 32-bit scores allow. Seconds are the process's own on one thread. Fails above the limit.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from lattice_tables import Table, released, table

from whatleaks.arrays import Floats
from whatleaks.models.additive import Additive
from whatleaks.models.grids import Grids
from whatleaks.models.lattice import LatticeSettings, alike, decode, residual, right_sides
from whatleaks.models.lattice_basis import SHIFT, Unknowns, equations_left, unknowns
from whatleaks.models.precision import float32, float64
from whatleaks.models.readings import Readings, score_readings

LIMIT = 3.0
FIRST = 4000  # rows before it trained the model


def case(data: Table, columns: int, records: int, precision: str) -> tuple[Readings, Grids, Floats]:
    """Return readings, grids and the truth with the last columns unknown."""
    hidden = np.arange(len(data.unknowns) - columns, len(data.unknowns))
    own, theirs, active, passive = data.split(hidden)
    rows = data.x[FIRST : FIRST + records]
    scores = released(Additive(active, passive).scores(rows[:, own], rows[:, theirs]), precision)
    grids = data.grids.pick(tuple(theirs.tolist()))
    known = float64() if precision == "64" else float32()
    readings = score_readings(rows[:, own], scores, active, passive, grids, known)
    return readings, grids, rows[:, theirs]


def one_by_one(readings: Readings, grids: Grids) -> Floats:
    """Reduce a lattice for every record, its target being one of the rows."""
    from flint import fmpz_mat

    unknown = unknowns(grids)
    values = np.zeros((len(readings), len(grids)))
    for rows, width in alike(readings, 1.0):
        left = equations_left(readings.matrix, width, (), unknown, readings.normalised)
        told = right_sides(readings.pick(rows), left, unknown)
        places = int(np.ceil(np.log2(unknown.levels.max()))) + 8
        beside = np.rint(np.ldexp(np.diag(unknown.weight), places))
        across = np.array([[int(entry) >> (3 * SHIFT - places) for entry in row] for row in left.slopes.T], dtype=object)  # fmt: skip
        for row, target in zip(rows, told, strict=True):
            values[row] = _kannan(fmpz_mat, unknown, beside, across, target, left, places)
    return values


def _kannan(fmpz_mat, unknown: Unknowns, beside, across, target, left, places: int):  # type: ignore[no-untyped-def]
    size = len(unknown.levels)
    basis = [[int(v) for v in beside[i]] + [int(v) for v in across[i]] + [0] for i in range(size)]
    centre = unknown.start
    gap = residual(target[None, :], centre[None, :], left)[0]
    off = np.rint(np.ldexp((unknown.centre - centre) * unknown.weight, places))
    last = [int(v) for v in off] + [int(np.rint(np.ldexp(v, places))) for v in gap] + [1 << places]
    reduced = fmpz_mat([*basis, last]).lll()
    for i in range(size + 1):
        mark = int(reduced[i, size + len(left)])
        if abs(mark) == 1 << places:
            sign = 1 if mark > 0 else -1
            moved = np.array([int(reduced[i, j]) for j in range(size)], dtype=np.float64)
            point = unknown.centre - sign * moved / np.ldexp(unknown.weight, places)
            whole = np.rint(point).astype(np.int64)
            return unknown.values(whole[None, :])[0]
    return unknown.values(centre[None, :])[0]


def timed(work):  # type: ignore[no-untyped-def]
    """Return the result and the seconds of this process."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def right(values: Floats, truth: Floats) -> float:
    """Return the share of records whose every cell is exact."""
    return float((np.abs(values - truth).max(axis=1) < 1e-9).mean())


def main() -> None:
    """Print seconds, ratio and reach."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--records", type=int, default=1000)
    records = parser.parse_args().records
    data = table("satellite", rows=6435)
    readings, grids, truth = case(data, 18, records, "64")
    found, seconds = timed(lambda: decode(readings, grids))
    print(
        f"{records:,} records x 18 columns, {grids.bits():.0f} bits: {seconds:.2f} s (limit "
        f"{LIMIT:g} s), {found.reductions} reduction, exact {right(found.values, truth):.1%}, "
        f"proven unique {(found.status == 0).mean():.1%}"
    )
    few = max(1, records // 10)
    alone, theirs = timed(lambda: one_by_one(readings.pick(np.arange(few)), grids))
    ratio = theirs / few / (seconds / records)
    print(
        f"one reduction a record: {1e3 * theirs / few:.2f} ms each, exact "
        f"{right(alone, truth[:few]):.1%}; shared {1e3 * seconds / records:.2f} ms each with the "
        f"proof: {ratio:.0f} times as fast"
    )
    only = LatticeSettings(width=1, wider=1)
    for precision in ("64", "32"):
        reach = {"one reduction a record": 0, "shared, nearest plane only": 0, "shared, beam": 0}
        bits = dict.fromkeys(reach, 0.0)
        for columns in range(4, 36):
            readings, grids, truth = case(data, columns, 40, precision)
            for name, values in (
                ("one reduction a record", one_by_one(readings, grids)),
                ("shared, nearest plane only", decode(readings, grids, only).values),
                ("shared, beam", decode(readings, grids).values),
            ):
                if right(values, truth) == 1.0:
                    reach[name], bits[name] = columns, grids.bits()
        for name, columns in reach.items():
            print(
                f"{precision}-bit scores, {name}: all of 40 up to {columns} columns, {bits[name]:.0f} bits"
            )
    print(f"({os.getloadavg()[0]:.1f} processes wanted a processor)")
    raise SystemExit("slower than the limit" if seconds > LIMIT else 0)


if __name__ == "__main__":
    main()
