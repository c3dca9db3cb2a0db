"""Figures on the page about Yao et al. that belong to no single verdict, drawn from stored results.

``python -m whatleaks.report.yao_figures docs/papers/yao`` draws the grid of pictures, the t-SNE maps,
the detectors' scores and the error against steps with the halts of Y06.
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
from whatleaks.papers.check import checks
from whatleaks.papers.grouping import scenario_of
from whatleaks.papers.ledger import read, results_home
from whatleaks.papers.yao_detectors import SCRUTINIZER, SPLITGUARD, role_of
from whatleaks.papers.yao_gallery import gallery_path
from whatleaks.papers.yao_setup import BREAKING, CREDIT, FIRST_SEED, IOT, SHORT
from whatleaks.report.figures import (
    Curve,
    Line,
    Panel,
    panels,
    picture_grid,
    scatter,
    score_curves,
)
from whatleaks.runs.record import Record

THRESHOLDS = {SPLITGUARD: 0.9, SCRUTINIZER: 0.8}


def drawn(gallery: Mapping[str, Any], watched: Sequence[Record]) -> dict[str, str]:
    """Return every figure by its file's name."""
    found = {"pictures.svg": _grid(gallery["pictures"]), "steps.svg": _game(gallery, watched)}
    for kind, clouds in gallery["clouds"].items():
        groups = [(label, *np.array(points).T.tolist()) for label, points in clouds.items()]
        name = "tsne-classifier.svg" if kind.startswith("with") else "tsne-plain.svg"
        title = f"Embeddings of URVFL on MNIST, {kind}"
        found[name] = scatter(title, [(g[0], g[1], g[2]) for g in groups], "t-SNE 1", "t-SNE 2")
    for dataset in (CREDIT, IOT):
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


def _game(gallery: Mapping[str, Any], watched: Sequence[Record]) -> str:
    """Draw the error against steps of every hijack, and where each detector ended it."""
    parts = []
    for hijack in BREAKING:
        course = gallery["courses"][hijack]
        steps = sorted(int(key) for key in course)
        errors = [_mean(course[str(at)]["error"]) for at in steps]
        bar = [_mean(course[str(at)]["bar"]) for at in steps]
        lines = [Line("not watched", steps, errors)]
        lines += [_halts(watched, hijack, detector) for detector in THRESHOLDS]
        parts.append(Panel(hijack, lines, [Line("no message", steps, bar)]))
    title = "Credit: what is told by each step, and when a detector halts"
    return panels(title, parts, "steps", "mean squared error, variance 1", log=True, counts=True)


def _halts(watched: Sequence[Record], hijack: str, detector: str) -> Line:
    """Return the error at the halts of one detector, at their mean step."""
    mine = [
        record
        for record in watched
        if (scenario_of(record).dataset, scenario_of(record).detector) == (CREDIT, detector)
        and role_of(record) == hijack
        and record.measurements["halted"]
    ]
    label = f"{detector} halts"
    if len(mine) < 2:
        return Line(label, [], [])
    steps = [float(_plain(record.measurements["steps"])) for record in mine]
    errors = [_plain(record.measurements[f"{hijack} standardised"]) for record in mine]
    return Line(label, [float(np.mean(steps))], [_mean(errors)])


def _plain(value: Any) -> float:
    return float(value.value if isinstance(value, Measurement) else value)


def _mean(values: Sequence[float]) -> Measurement:
    return mean_over_seeds(values, "mse")


def main(arguments: Sequence[str]) -> None:
    """Draw all figures into a folder."""
    (folder,) = arguments
    try:
        gallery = json.loads(gallery_path().read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{gallery_path()} cannot be read ({error}): run python -m whatleaks.papers.yao_gallery"
        ) from None
    watched = read(results_home() / "standard" / "Y06.json", checks()["Y06"]).records
    for name, figure in drawn(gallery, watched).items():
        Path(folder, name).write_text(figure, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
