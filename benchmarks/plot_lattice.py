"""Draw docs/attacks/lattice-decoding.svg from the study's numbers.

    python benchmarks/plot_lattice.py [--numbers docs/attacks/lattice-decoding.json]

Left: every case of the study by the bits released and the bits hidden; the rule's border is the
diagonal. Right: the share of records read exactly against the digits of the scores.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

ORDER = ("64", "32", "6", "4", "3", "2")
TICKS = ("64 bit", "32 bit", "6 dec.", "4 dec.", "3 dec.", "2 dec.")
ROOM = 12.0
LINES = (
    ("satellite", 6), ("satellite", 18), ("satellite", 30), ("credit", 10), ("adult", 6),
    ("bank", 8), ("drive", 8),
)  # fmt: skip


def cases(told: dict[str, Any]) -> np.ndarray:
    """Return released bits, hidden bits and exact share of every case with a grid."""
    rows = [
        (row["hidden_bits"] - row["luck"], row["hidden_bits"], row["exact_share"])
        for part in told["tables"].values()
        for row in part["rows"]
        if row["luck"] is not None and row["hidden_bits"] > 0
    ]
    return np.array(rows)


def share(told: dict[str, Any], table: str, columns: int) -> list[float]:
    """Return the exact share at each precision, over the draws with so many columns."""
    rows = [row for row in told["tables"][table]["rows"] if row["columns"] == columns]
    if table == "credit" and columns == 10:  # the ten small columns: sex to the payment states
        rows = [row for row in rows if row["names"][0] == "SEX" and row["hidden_bits"] < 40]
    return [
        float(np.mean([row["exact_share"] for row in rows if row["precision"] == precision]))
        for precision in ORDER
    ]


def main() -> None:
    """Write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--numbers", type=Path, default=Path("docs/attacks/lattice-decoding.json"))
    given = parser.parse_args()
    told = json.loads(given.numbers.read_text())
    plt.rcParams["svg.hashsalt"] = "lattice"
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6))
    found = cases(told)
    top = float(found[:, :2].max()) * 1.08
    dots = left.scatter(
        found[:, 0], found[:, 1], c=found[:, 2], cmap="viridis", s=22, edgecolors="black",
        linewidths=0.3, vmin=0, vmax=1,
    )  # fmt: skip
    left.plot([0, top], [0, top], color="black", linewidth=1, label="border: released = hidden")
    left.plot(
        [ROOM, top], [0, top - ROOM], color="black", linewidth=1, linestyle=":",
        label=f"proof: {ROOM:.0f} bits to spare",
    )  # fmt: skip
    left.set(
        xlabel="bits released by a record's scores", ylabel="bits hidden in the unknown columns",
        xlim=(0, top), ylim=(0, top), title="Read exactly below the border",
    )  # fmt: skip
    left.legend(loc="lower right", fontsize=8)
    figure.colorbar(dots, ax=left, label="share of records exact in every cell")
    for table, columns in LINES:
        right.plot(
            range(len(ORDER)), share(told, table, columns), marker="o", label=f"{table}, {columns}"
        )
    right.set_xticks(range(len(ORDER)), TICKS)
    right.set(
        ylabel="share of records exact in every cell", title="Digits released", ylim=(-0.03, 1.03)
    )
    right.legend(fontsize=8, title="table, unknown columns")
    figure.tight_layout()
    out = given.numbers.with_suffix(".svg")
    figure.savefig(out, metadata={"Date": None})
    print(out)


if __name__ == "__main__":
    main()
