"""Figures on the page about Yao et al. that belong to no single verdict, drawn from stored results.

``python -m whatleaks_lab.report.yao_figures docs/papers/yao`` draws the grid of pictures, the t-SNE maps,
the detectors' scores, the error against steps with the halts, and the error by auxiliary records; it also
writes the table of halts into the page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from whatleaks.errors import StoreError
from whatleaks.metrics.intervals import mean_over_seeds
from whatleaks.metrics.measurement import Measurement
from whatleaks.report.figures import Line
from whatleaks.runs.grouping import scenario_of
from whatleaks.runs.record import Record
from whatleaks_lab.papers.check import checks
from whatleaks_lab.papers.ledger import read, results_home
from whatleaks_lab.papers.yao_auxiliary import auxiliary_path
from whatleaks_lab.papers.yao_detectors import SCRUTINIZER, SPLITGUARD, role_of
from whatleaks_lab.papers.yao_gallery import GAME, gallery_path
from whatleaks_lab.papers.yao_game import DETECTORS, Match, game_table, matches
from whatleaks_lab.papers.yao_setup import BREAKING, FIRST_SEED, SHORT
from whatleaks_lab.report.figures import Curve, Panel, panels, picture_grid, scatter, score_curves

START, END = "<!-- game: start -->", "<!-- game: end -->"
THRESHOLDS = {SPLITGUARD: 0.9, SCRUTINIZER: 0.8}


def drawn(
    gallery: Mapping[str, Any], watched: Sequence[Record], sizes: Mapping[str, Any]
) -> dict[str, str]:
    """Return every figure by its file's name."""
    found = {"pictures.svg": _grid(gallery["pictures"]), "auxiliary.svg": _sizes(sizes["errors"])}
    for dataset in GAME:
        found[f"steps-{dataset}.svg"] = _game(gallery, watched, dataset)
    for kind, clouds in gallery["clouds"].items():
        groups = [(label, *np.array(points).T.tolist()) for label, points in clouds.items()]
        name = "tsne-classifier.svg" if kind.startswith("with") else "tsne-plain.svg"
        title = f"Embeddings of URVFL on MNIST, {kind}"
        found[name] = scatter(title, [(g[0], g[1], g[2]) for g in groups], "t-SNE 1", "t-SNE 2")
    for dataset in GAME:
        for detector in THRESHOLDS:
            name = f"scores-{detector}-{dataset}.svg"
            found[name] = _scores(watched, dataset, detector)
    return found


def _grid(rows: Mapping[str, Any]) -> str:
    shown = {
        "original" if name == "truth" else name: np.array(p) / 255.0 for name, p in rows.items()
    }
    return picture_grid("MNIST after 300 steps: left halves are the hijacker's own", shown)


def _scores(watched: Sequence[Record], dataset: str, detector: str) -> str:
    """Draw a detector's scores of the first seed, whoever played the active party."""
    curves = []
    for record in watched:
        scenario, scores = scenario_of(record), record.measurements.get("detector scores")
        mine = (scenario.dataset, scenario.detector, scenario.seed) == (
            dataset,
            detector,
            FIRST_SEED,
        )
        if mine and isinstance(scores, list) and scores:
            halt = len(scores) if record.measurements["halted"] else None
            curves.append(Curve(role_of(record), range(1, len(scores) + 1), scores, halt))
    title = f"{detector} on {SHORT[dataset]}, seed {FIRST_SEED}"
    return score_curves(title, curves, THRESHOLDS[detector], x_label="Score given")


def _sizes(errors: Mapping[str, Any]) -> str:
    """Draw the hijack's error and the bar's by the number of auxiliary records."""
    parts = []
    for dataset, found in errors.items():
        sizes = sorted(map(int, found))
        lines = {
            kind: Line(label, sizes, [_mean(found[str(size)][kind]) for size in sizes])
            for kind, label in (
                ("hijack", "URVFL"),
                ("bar", "no message"),
                ("mean", "their mean"),
            )
        }
        parts.append(Panel(SHORT[dataset], [lines["hijack"]], [lines["bar"], lines["mean"]]))
    title = "URVFL by the number of auxiliary records"
    return panels(title, parts, "auxiliary records", "mean squared error", log_counts=True)


def _game(gallery: Mapping[str, Any], watched: Sequence[Record], dataset: str) -> str:
    """Draw the error against steps of every hijack, and where each detector ended it."""
    parts, found = [], matches(gallery, watched)
    for hijack in BREAKING:
        course = gallery["courses"][dataset][hijack]
        steps = sorted(int(key) for key in course)
        errors = [_mean(course[str(at)]["error"]) for at in steps]
        bar = [_mean(course[str(at)]["bar"]) for at in steps]
        lines = [Line("not watched", steps, errors)]
        lines += [_halts(found[dataset, detector, hijack], detector) for detector in DETECTORS]
        parts.append(Panel(hijack, lines, [Line("no message", steps, bar)]))
    title = f"{SHORT[dataset]}: what is told by each step, and by when each detector halts"
    unit = "mean squared error, variance 1"
    return panels(title, parts, "steps", unit, log=True, counts=True, across=3)


def _halts(match: Match, detector: str) -> Line:
    """Return the error at the halts of one detector, at their mean step."""
    ended, label = match.ended, detector
    if len(ended) < 2:
        return Line(label, [], [])
    steps = float(np.mean([match.steps[i] for i in ended]))
    return Line(label, [steps], [_mean([match.errors[i] for i in ended])])


def _mean(values: Sequence[float]) -> Measurement:
    return mean_over_seeds(values, "mse")


def with_table(page: str, table: str) -> str:
    """Put the table of halts between its marks."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table}\n{END}{after}"


def stored(path: Path, again: str) -> Any:
    """Read numbers that a study kept; without them say how to make them."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path} cannot be read ({error}): run python -m whatleaks_lab.papers.{again}"
        ) from None


def main(arguments: Sequence[str]) -> None:
    """Draw all figures into a folder, and write the table into the page beside it."""
    (folder,) = arguments
    gallery = stored(gallery_path(), "yao_gallery")
    sizes = stored(auxiliary_path(), "yao_auxiliary")
    watched = read(results_home() / "standard" / "Y06.json", checks()["Y06"]).records
    for name, figure in drawn(gallery, watched, sizes).items():
        Path(folder, name).write_text(figure, "utf-8")
    page = Path(f"{folder}.md")
    text = with_table(page.read_text("utf-8"), game_table(gallery, watched))
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
