"""Privacy against utility in one figure per data set: a panel for each model and each adversary.

``python -m whatleaks_lab.report.trade_figure docs/papers/jiang`` draws those of Jiang et al. from the
stored verdicts of J17 to J20 (Figs 14 and 15), with the ideal corner and the front marked.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from whatleaks.auditor.compare import better
from whatleaks.errors import StoreError
from whatleaks.report.style import COLOURS, FAINT, INK, MARKS, sheet, svg
from whatleaks.report.wording import number, percent, printable
from whatleaks.runs.record import Record
from whatleaks_lab.papers.check import checks
from whatleaks_lab.papers.jiang_defenses import Found, tables
from whatleaks_lab.papers.jiang_setup import SHORT
from whatleaks_lab.papers.ledger import read, results_home

CLAIMS = ("J17", "J18", "J19", "J20")
PROFILE = "standard"
ADVERSARIES = (("white", "white box"), ("black", "black box"))
NONE = "no defense"

Placed = Mapping[str, tuple[float, float]]  # by defense: the model's accuracy, the attack's


def placed(by: Mapping[tuple[str, int], Found], adversary: str) -> dict[str, tuple[float, float]]:
    """Return where every defense stands; an adversary who may ask often does, a user asks once."""
    leaks: dict[str, float] = {}
    for (defense, _), found in sorted(by.items()):  # the most asks come last
        leaks[defense] = getattr(found, adversary)
    return {name or NONE: (by[name, 1].accuracy, leak) for name, leak in leaks.items()}


def front(points: Placed) -> list[str]:
    """Name the points that no other beats: worth no less and leaking no more, one of them truly."""

    def beaten(name: str) -> bool:
        worth, leak = points[name]
        return any(better((k, w), (leak, worth)) for w, k in points.values())

    return sorted((name for name in points if not beaten(name)), key=lambda name: points[name])


def trade_figure(title: str, parts: Sequence[tuple[str, Placed]]) -> str:
    """Draw panels two by two under one legend; bottom right is best."""
    names = list(dict.fromkeys(name for _, points in parts for name in points))
    look = {name: (MARKS[i % len(MARKS)], COLOURS[i // 2 % len(COLOURS)]) for i, name in enumerate(names)}  # fmt: skip
    rows = -(-len(parts) // 2)
    with sheet(title, 7.0, 1.5 + 2.5 * rows) as figure:
        words = []
        grid = figure.subplots(rows, 2, squeeze=False).ravel()
        for axes, (part, points) in zip(grid, parts, strict=False):
            best = front(points)
            for name, (worth, leak) in points.items():
                mark, colour = look[name]
                axes.plot([worth], [leak], mark, color=colour, label=printable(name))
            axes.plot(
                *zip(*(points[name] for name in best), strict=True),
                color=FAINT, zorder=0, label="front: no other is better in both",
            )  # fmt: skip
            ideal = max(worth for worth, _ in points.values())
            axes.plot([ideal], [0.0], "*", color=INK, markersize=12, clip_on=False, label="ideal")
            axes.set_ylim(bottom=0.0)
            axes.set_title(printable(part), fontsize=10)
            words.append(f"{part}:")
            words += [
                f"{name} accuracy {percent(worth)}, attack {percent(leak)}"
                + (", on the front;" if name in best else ";")
                for name, (worth, leak) in points.items()
            ]
        for axes in grid[max(0, len(parts) - 2) : len(parts)]:
            axes.set_xlabel("Accuracy of the joint model")
        figure.supylabel("Attack accuracy of the strongest attack", fontsize=10)
        figure.suptitle(printable(title), x=0.02, ha="left", fontweight="bold")
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=4)
        return svg(figure, title, " ".join(words))


def jiang_figures(home: Path) -> dict[str, str]:
    """Return the figure of every set, by its short name, from the stored verdicts."""
    records: dict[str, Record] = {}
    for claim in CLAIMS:
        entry = read(home / PROFILE / f"{claim}.json", checks()[claim])
        records |= {record.hash: record for record in entry.records}
    found = tables(tuple(records.values()))
    figures = {}
    for dataset in dict.fromkeys(dataset for dataset, _ in found):
        parts = [
            (f"{'logistic regression' if model == 'lr' else model}, {words}", placed(by, adversary))
            for (name, model), by in found.items()
            if name == dataset
            for adversary, words in ADVERSARIES
        ]
        figures[SHORT[dataset]] = trade_figure(f"Defenses on {SHORT[dataset]}", parts)
    return figures


def main(arguments: Sequence[str]) -> None:
    """Write the figures into a folder."""
    (folder,) = arguments
    try:
        for name, figure in jiang_figures(results_home()).items():
            path = Path(folder) / f"defenses-{name}.svg"
            path.write_text(figure, "utf-8")
            print(f"{path}: {number(len(figure))} characters")
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
