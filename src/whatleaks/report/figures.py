"""The figures of experiments: each takes measured numbers and returns SVG text.

Every figure carries its data in words (``<desc>``), draws the intervals it is given and
refers to nothing outside itself. matplotlib loads on the first call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.errors import SpecError
from whatleaks.metrics.measurement import Measurement
from whatleaks.report.style import (
    COLOURS,
    DASHES,
    FAINT,
    GREYS,
    INK,
    MARKS,
    sheet,
    svg,
)
from whatleaks.report.wording import number, number_range, percent, printable, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL = 40  # characters of a name that a figure has room for


@dataclass(frozen=True)
class Line:
    """One attack or baseline: a measurement at every place on the axis."""

    label: str
    x: Sequence[float]
    y: Sequence[Measurement]


@dataclass(frozen=True)
class Point:
    """One setting of a defense: what leaks and what the model is worth."""

    label: str
    leakage: Measurement
    utility: Measurement


def error_against_share(
    title: str,
    lines: Sequence[Line],
    baselines: Sequence[Line] = (),
    threshold: float | None = None,
    threshold_label: str = "threshold",
    y_label: str = "Error (mean squared)",
    log: bool = False,
    x_label: str = "Share of columns held by the passive party",
) -> str:
    """Draw the error against the share of columns (0 to 1) that the passive party holds."""
    require_series(title, lines)
    with sheet(title) as figure:
        axes = figure.add_subplot()
        draw_lines(axes, lines, baselines, log)
        if threshold is not None:
            draw_threshold(axes, threshold, threshold_label)
        finish(axes, title, x_label, y_label)
        return svg(figure, title, " ".join(line_in_words(line) for line in (*lines, *baselines)))


def privacy_against_utility(
    title: str,
    points: Sequence[Point],
    x_label: str = "Accuracy of the joint model",
    y_label: str = "Leakage",
    front: Sequence[str] = (),
    chosen: str = "",
) -> str:
    """Draw what leaks against what the model is worth; bottom right is best.

    ``front`` names points that no other beats in both: a line joins them and a star marks the
    ideal corner. ``chosen`` names the one that is recommended: a ring is around it.
    """
    require_series(title, points)
    from matplotlib.ticker import FuncFormatter

    with sheet(title) as figure:
        axes = figure.add_subplot()
        for i, point in enumerate(points):
            axes.errorbar(
                [point.utility.value],
                [point.leakage.value],
                xerr=interval_arms([point.utility]),
                yerr=interval_arms([point.leakage]),
                fmt=in_turn(MARKS, i),
                color=in_turn(COLOURS, i),
                label=series_name(point.label),
            )
        joined = sorted(
            ((p.utility.value, p.leakage.value) for p in points if p.label in front),
        )
        if joined:
            x, y = zip(*joined, strict=True)
            axes.plot(x, y, color=FAINT, zorder=0, label="front: no other is better in both")
            ideal = max(p.utility.value for p in points)
            axes.plot([ideal], [0.0], "*", color=INK, markersize=14, clip_on=False, label="ideal")
        for point in points:
            if point.label == chosen:
                axes.plot(
                    [point.utility.value], [point.leakage.value], "o", fillstyle="none",
                    markersize=18, color=INK, label="recommended",
                )  # fmt: skip
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: percent(x)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: percent(y)))
        axes.set_ylim(bottom=0.0)
        finish(axes, title, x_label, y_label)
        words = (
            f"{p.label}: leakage {percent(p.leakage.value)}, utility {percent(p.utility.value, 1)}"
            + (", on the front" if p.label in front else "")
            + (", recommended." if p.label == chosen else ".")
            for p in points
        )
        return svg(figure, title, " ".join(words))


def require_series(title: str, things: Sequence[Any] | Mapping[str, Any]) -> None:
    if not things:
        raise SpecError(f"figure {title!r} has nothing to show: give at least one series")


def in_turn(choices: Sequence[Any], i: int) -> Any:
    return choices[i % len(choices)]


def series_name(label: str) -> str:
    return shorten(printable(label), _LABEL)


def interval_arms(measured: Sequence[Measurement]) -> Any:
    """Return the lengths of the interval's two arms, as matplotlib wants them."""
    return np.array([[m.value - m.low for m in measured], [m.high - m.value for m in measured]])


def _with_intervals(axes: Axes, line: Line, aside: float, **look: Any) -> None:
    axes.errorbar(
        [x + aside for x in line.x],
        [m.value for m in line.y],
        yerr=interval_arms(line.y),
        label=series_name(line.label),
        elinewidth=1.1,
        **look,
    )


def draw_lines(axes: Axes, lines: Sequence[Line], baselines: Sequence[Line], log: bool) -> None:
    """Draw measured lines in colour and baselines in grey, against a share from 0 to 1."""
    from matplotlib.ticker import FuncFormatter

    for line in (*lines, *baselines):
        if len(line.x) != len(line.y):
            raise SpecError(
                f"{line.label!r} has {len(line.x)} places and {len(line.y)} measurements: give as many"
            )
    for i, line in enumerate(lines):
        _with_intervals(
            axes, line, (i - (len(lines) - 1) / 2) * 0.006,
            color=in_turn(COLOURS, i), marker=in_turn(MARKS, i), linestyle=in_turn(DASHES, i),
        )  # fmt: skip
    for i, line in enumerate(baselines):
        _with_intervals(
            axes,
            line,
            0.0,
            color=in_turn(GREYS, i),
            linestyle=in_turn(DASHES[1:], i),
            linewidth=1.2,
        )
    if log:
        axes.set_yscale("log")
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=0.0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: percent(x)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: number(y)))


def draw_threshold(axes: Axes, value: float, label: str) -> None:
    axes.axhline(value, color=INK, linewidth=1.2, linestyle=(0, (2, 2)), label=series_name(label))


def finish(axes: Axes, title: str, x_label: str, y_label: str) -> None:
    axes.set_title(printable(title))
    axes.set_xlabel(printable(x_label))
    axes.set_ylabel(printable(y_label))
    figure = axes.get_figure(root=True)
    if figure is not None:
        figure.legend(loc="outside lower left", ncols=3)


def line_in_words(line: Line) -> str:
    places = "; ".join(
        f"{percent(x)}: {number(m.value)} ({number_range(m)})"
        for x, m in zip(line.x, line.y, strict=True)
    )
    return f"{line.label}: {places}."
