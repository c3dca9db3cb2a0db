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
    readable_on,
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


@dataclass(frozen=True)
class Curve:
    """A detector's score at every step; ``halted`` is the step at which training stopped."""

    label: str
    steps: Sequence[int]
    scores: Sequence[float]
    halted: int | None = None


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
    _need(title, lines)
    with sheet(title) as figure:
        axes = figure.add_subplot()
        _draw_lines(axes, lines, baselines, log)
        if threshold is not None:
            _threshold(axes, threshold, threshold_label)
        _finish(axes, title, x_label, y_label)
        return svg(figure, title, " ".join(_line_in_words(line) for line in (*lines, *baselines)))


@dataclass(frozen=True)
class Panel:
    """One of several small line figures with the same lines."""

    title: str
    lines: Sequence[Line]
    baselines: Sequence[Line] = ()


def panels(
    title: str,
    parts: Sequence[Panel],
    x_label: str,
    y_label: str,
    log: bool = False,
    counts: bool = False,
    log_counts: bool = False,
    across: int = 6,
) -> str:
    """Draw small figures two by two under one legend; each has a scale of its own.

    ``counts``: places on the axis are numbers such as steps, not shares; ``log_counts``: each step
    along it is a factor. ``across``: names in a row of the legend.
    """
    _need(title, parts)
    rows = -(-len(parts) // 2)
    with sheet(title, 7.0, 0.9 + 2.3 * rows) as figure:
        grid = figure.subplots(rows, 2, squeeze=False, sharex=True).ravel()
        words: list[str] = []
        named: dict[str, Any] = {}
        for axes, part in zip(grid, parts, strict=False):
            _draw_lines(axes, part.lines, part.baselines, log)
            if log_counts:
                axes.set_xscale("log")
            if counts or log_counts:
                axes.xaxis.set_major_formatter(lambda x, _: number(x))
            axes.set_title(printable(part.title), fontsize=10)
            words.append(f"{part.title}:")
            words += [_line_in_words(line) for line in (*part.lines, *part.baselines)]
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                named.setdefault(label, handle)
        for axes in grid[len(parts) :]:
            axes.set_visible(False)
        for axes in grid[max(0, len(parts) - 2) : len(parts)]:
            axes.set_xlabel(printable(x_label))
        figure.supylabel(printable(y_label), fontsize=10)
        figure.suptitle(printable(title), x=0.02, ha="left", fontweight="bold")
        figure.legend(
            list(named.values()),
            list(named),
            loc="outside lower left",
            ncols=min(across, len(named)),
        )
        return svg(figure, title, " ".join(words))


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
    _need(title, points)
    from matplotlib.ticker import FuncFormatter

    with sheet(title) as figure:
        axes = figure.add_subplot()
        for i, point in enumerate(points):
            axes.errorbar(
                [point.utility.value],
                [point.leakage.value],
                xerr=_arms([point.utility]),
                yerr=_arms([point.leakage]),
                fmt=_turn(MARKS, i),
                color=_turn(COLOURS, i),
                label=_name(point.label),
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
        _finish(axes, title, x_label, y_label)
        words = (
            f"{p.label}: leakage {percent(p.leakage.value)}, utility {percent(p.utility.value, 1)}"
            + (", on the front" if p.label in front else "")
            + (", recommended." if p.label == chosen else ".")
            for p in points
        )
        return svg(figure, title, " ".join(words))


def heat_map(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    value_label: str = "Leakage",
    shares: bool = True,
) -> str:
    """Draw a table of numbers as shades with the numbers in them; ``None`` is shown as not run."""
    _need(title, rows)
    if len(values) != len(rows) or any(len(row) != len(columns) for row in values):
        raise SpecError(
            f"heat map {title!r} needs {len(rows)} x {len(columns)} values: one per cell"
        )
    table = np.array(
        [[np.nan if v is None else v for v in row] for row in values], dtype=np.float64
    )
    known = table[np.isfinite(table)]
    top = 1.0 if shares else float(known.max(initial=0.0)) or 1.0
    show = percent if shares else number
    width, height = 2.4 + 0.95 * len(columns), 1.3 + 0.42 * len(rows)
    with sheet(title, max(4.0, width), max(2.2, height)) as figure:
        axes = figure.add_subplot()
        for r, row in enumerate(table):
            for c, value in enumerate(row):
                run = bool(np.isfinite(value))
                shade = float(np.clip(value / top, 0.0, 1.0)) if run else 0.0
                _cell(axes, c, r, shade, show(float(value)) if run else "not run", run)
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xticks(range(len(columns)), [_name(c) for c in columns], rotation=30, ha="right")
        axes.set_yticks(range(len(rows)), [_name(r) for r in rows])
        axes.grid(visible=False)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_title(printable(f"{title} ({value_label})"))
        words = (
            f"{row}, {column}: {'not run' if value is None else show(float(value))}."
            for row, line in zip(rows, values, strict=True)
            for column, value in zip(columns, line, strict=True)
        )
        return svg(figure, title, " ".join(words))


def score_curves(
    title: str,
    curves: Sequence[Curve],
    threshold: float | None = None,
    threshold_label: str = "halt below",
    x_label: str = "Step",
    y_label: str = "Score",
) -> str:
    """Draw detectors' scores over training steps, with the threshold and where training was halted."""
    _need(title, curves)
    with sheet(title) as figure:
        axes = figure.add_subplot()
        words = []
        for i, curve in enumerate(curves):
            if len(curve.steps) != len(curve.scores):
                raise SpecError(
                    f"{curve.label!r} has {len(curve.steps)} steps and {len(curve.scores)} scores: give as many"
                )
            axes.plot(
                list(curve.steps), list(curve.scores),
                color=_turn(COLOURS, i), linestyle=_turn(DASHES, i), label=_name(curve.label),
            )  # fmt: skip
            ended = "not halted"
            if curve.halted is not None:
                ended = f"halted at step {curve.halted}"
                last = float(np.interp(curve.halted, list(curve.steps), list(curve.scores)))
                axes.plot([curve.halted], [last], "X", color=_turn(COLOURS, i), markersize=9.0)
                axes.annotate(
                    ended,
                    (curve.halted, last),
                    xytext=(6, 8),
                    textcoords="offset points",
                    fontsize=9,
                )
            final = number(curve.scores[-1]) if len(curve.scores) else "none"
            words.append(f"{curve.label}: last score {final}, {ended}.")
        if threshold is not None:
            _threshold(axes, threshold, threshold_label)
            words.append(f"{threshold_label}: {number(threshold)}.")
        _finish(axes, title, x_label, y_label)
        return svg(figure, title, " ".join(words))


def picture_grid(title: str, rows: Mapping[str, Any], captions: Sequence[str] = ()) -> str:
    """Draw rows of pictures (n x height x width, or with 3 colours; values 0 to 1), one row per label."""
    _need(title, rows)
    stacks = {label: np.asarray(stack, dtype=np.float64) for label, stack in rows.items()}
    across = max(len(stack) for stack in stacks.values())
    for label, stack in stacks.items():
        if stack.ndim not in (3, 4) or (stack.ndim == 4 and stack.shape[-1] != 3):
            raise SpecError(
                f"pictures {label!r} have shape {stack.shape}: give n x height x width, or with 3 colours last"
            )
    with sheet(title, 1.3 + 0.85 * across, 0.5 + 0.9 * len(stacks)) as figure:
        grid = figure.subplots(len(stacks), across, squeeze=False)
        for r, (label, stack) in enumerate(stacks.items()):
            for c in range(across):
                axes = grid[r, c]
                axes.set_xticks([])
                axes.set_yticks([])
                axes.grid(visible=False)
                for spine in axes.spines.values():
                    spine.set_visible(False)
                if c < len(stack):
                    picture = np.nan_to_num(np.clip(stack[c], 0.0, 1.0))
                    axes.imshow(picture, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
                if c == 0:
                    axes.set_ylabel(_name(label), rotation=0, ha="right", va="center")
                if r == 0 and c < len(captions):
                    axes.set_title(
                        _name(captions[c]), fontsize=9, fontweight="normal", loc="center"
                    )
        words = ", ".join(f"{label} ({len(stack)})" for label, stack in stacks.items())
        return svg(figure, title, f"Pictures in rows: {words}.")


def bars(
    title: str,
    entries: Sequence[tuple[str, Measurement, bool]],
    x_label: str,
    log: bool = False,
) -> str:
    """Draw named numbers as lying bars with intervals; guesses (the third entry) are grey."""
    _need(title, entries)
    from matplotlib.ticker import FuncFormatter

    with sheet(title) as figure:
        axes = figure.add_subplot()
        figure.set_figheight(1.4 + 0.27 * len(entries))
        values = [m for _, m, _ in entries]
        axes.barh(
            range(len(entries)),
            [m.value for m in values],
            xerr=_arms(values),
            color=[GREYS[0] if guess else COLOURS[0] for _, _, guess in entries],
            height=0.7,
            error_kw={"elinewidth": 1.1, "ecolor": INK},
        )
        axes.set_yticks(range(len(entries)), [_name(label) for label, _, _ in entries])
        axes.invert_yaxis()
        if log:
            axes.set_xscale("log")
            axes.minorticks_off()
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,g}" if log else number(x)))
        axes.set_title(printable(title))
        axes.set_xlabel(printable(x_label))
        words = "; ".join(f"{n}: {number(m.value)} ({number_range(m)})" for n, m, _ in entries)
        return svg(figure, title, words + ".")


def scatter(
    title: str,
    groups: Sequence[tuple[str, Sequence[float], Sequence[float]]],
    x_label: str,
    y_label: str,
) -> str:
    """Draw clouds of points, one mark and colour each."""
    _need(title, groups)
    with sheet(title) as figure:
        axes = figure.add_subplot()
        for i, (label, x, y) in enumerate(groups):
            axes.plot(
                x, y, _turn(MARKS, i), color=_turn(COLOURS, i), label=_name(label), linestyle="none"
            )
        _finish(axes, title, x_label, y_label)
        words = "; ".join(
            f"{label}: "
            + ", ".join(f"({number(a)}, {number(b)})" for a, b in zip(x, y, strict=True))
            for label, x, y in groups
        )
        return svg(figure, title, words + ".")


def _need(title: str, things: Sequence[Any] | Mapping[str, Any]) -> None:
    if not things:
        raise SpecError(f"figure {title!r} has nothing to show: give at least one series")


def _turn(choices: Sequence[Any], i: int) -> Any:
    return choices[i % len(choices)]


def _name(label: str) -> str:
    return shorten(printable(label), _LABEL)


def _arms(measured: Sequence[Measurement]) -> Any:
    """Return the lengths of the interval's two arms, as matplotlib wants them."""
    return np.array([[m.value - m.low for m in measured], [m.high - m.value for m in measured]])


def _with_intervals(axes: Axes, line: Line, aside: float, **look: Any) -> None:
    axes.errorbar(
        [x + aside for x in line.x],
        [m.value for m in line.y],
        yerr=_arms(line.y),
        label=_name(line.label),
        elinewidth=1.1,
        **look,
    )


def _draw_lines(axes: Axes, lines: Sequence[Line], baselines: Sequence[Line], log: bool) -> None:
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
            color=_turn(COLOURS, i), marker=_turn(MARKS, i), linestyle=_turn(DASHES, i),
        )  # fmt: skip
    for i, line in enumerate(baselines):
        _with_intervals(
            axes,
            line,
            0.0,
            color=_turn(GREYS, i),
            linestyle=_turn(DASHES[1:], i),
            linewidth=1.2,
        )
    if log:
        axes.set_yscale("log")
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=0.0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: percent(x)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: number(y)))


def _threshold(axes: Axes, value: float, label: str) -> None:
    axes.axhline(value, color=INK, linewidth=1.2, linestyle=(0, (2, 2)), label=_name(label))


def _cell(axes: Axes, column: int, row: int, shade: float, text: str, run: bool) -> None:
    """Draw one cell of a heat map."""
    from matplotlib.patches import Rectangle

    # From white to the first colour: one hue, so that shade alone carries the order.
    first = np.array([int(COLOURS[0][i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    red, green, blue = (float(v) for v in 1.0 - shade * (1.0 - first))
    colour = (red, green, blue)
    look: dict[str, Any] = {"facecolor": colour} if run else {"facecolor": "none", "hatch": "///"}
    axes.add_patch(
        Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, edgecolor=FAINT, linewidth=0.5, **look)
    )
    axes.text(
        column,
        row,
        text,
        ha="center",
        va="center",
        fontsize=9,
        color=readable_on(colour) if run else INK,
    )


def _finish(axes: Axes, title: str, x_label: str, y_label: str) -> None:
    axes.set_title(printable(title))
    axes.set_xlabel(printable(x_label))
    axes.set_ylabel(printable(y_label))
    figure = axes.get_figure(root=True)
    if figure is not None:
        figure.legend(loc="outside lower left", ncols=3)


def _line_in_words(line: Line) -> str:
    places = "; ".join(
        f"{percent(x)}: {number(m.value)} ({number_range(m)})"
        for x, m in zip(line.x, line.y, strict=True)
    )
    return f"{line.label}: {places}."
