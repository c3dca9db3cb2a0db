"""The figures of claims: each takes measured numbers and returns SVG text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whatleaks.errors import SpecError
from whatleaks.metrics.measurement import Measurement
from whatleaks.report.figures import (
    Line,
    draw_lines,
    draw_threshold,
    finish,
    in_turn,
    interval_arms,
    line_in_words,
    require_series,
    series_name,
)
from whatleaks.report.style import COLOURS, DASHES, GREYS, INK, MARKS, sheet, svg
from whatleaks.report.wording import number, number_range, printable


@dataclass(frozen=True)
class Curve:
    """A detector's score at every step; ``halted`` is the step at which training stopped."""

    label: str
    steps: Sequence[int]
    scores: Sequence[float]
    halted: int | None = None


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
    require_series(title, parts)
    rows = -(-len(parts) // 2)
    with sheet(title, 7.0, 0.9 + 2.3 * rows) as figure:
        grid = figure.subplots(rows, 2, squeeze=False, sharex=True).ravel()
        words: list[str] = []
        named: dict[str, Any] = {}
        for axes, part in zip(grid, parts, strict=False):
            draw_lines(axes, part.lines, part.baselines, log)
            if log_counts:
                axes.set_xscale("log")
            if counts or log_counts:
                axes.xaxis.set_major_formatter(lambda x, _: number(x))
            axes.set_title(printable(part.title), fontsize=10)
            words.append(f"{part.title}:")
            words += [line_in_words(line) for line in (*part.lines, *part.baselines)]
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


def score_curves(
    title: str,
    curves: Sequence[Curve],
    threshold: float | None = None,
    threshold_label: str = "halt below",
    x_label: str = "Step",
    y_label: str = "Score",
) -> str:
    """Draw detectors' scores over training steps, with the threshold and where training was halted."""
    require_series(title, curves)
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
                color=in_turn(COLOURS, i), linestyle=in_turn(DASHES, i), label=series_name(curve.label),
            )  # fmt: skip
            ended = "not halted"
            if curve.halted is not None:
                ended = f"halted at step {curve.halted}"
                last = float(np.interp(curve.halted, list(curve.steps), list(curve.scores)))
                axes.plot([curve.halted], [last], "X", color=in_turn(COLOURS, i), markersize=9.0)
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
            draw_threshold(axes, threshold, threshold_label)
            words.append(f"{threshold_label}: {number(threshold)}.")
        finish(axes, title, x_label, y_label)
        return svg(figure, title, " ".join(words))


def picture_grid(title: str, rows: Mapping[str, Any], captions: Sequence[str] = ()) -> str:
    """Draw rows of pictures (n x height x width, or with 3 colours; values 0 to 1), one row per label."""
    require_series(title, rows)
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
                    axes.set_ylabel(series_name(label), rotation=0, ha="right", va="center")
                if r == 0 and c < len(captions):
                    axes.set_title(
                        series_name(captions[c]), fontsize=9, fontweight="normal", loc="center"
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
    require_series(title, entries)
    from matplotlib.ticker import FuncFormatter

    with sheet(title) as figure:
        axes = figure.add_subplot()
        figure.set_figheight(1.4 + 0.27 * len(entries))
        values = [m for _, m, _ in entries]
        axes.barh(
            range(len(entries)),
            [m.value for m in values],
            xerr=interval_arms(values),
            color=[GREYS[0] if guess else COLOURS[0] for _, _, guess in entries],
            height=0.7,
            error_kw={"elinewidth": 1.1, "ecolor": INK},
        )
        axes.set_yticks(range(len(entries)), [series_name(label) for label, _, _ in entries])
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
    require_series(title, groups)
    with sheet(title) as figure:
        axes = figure.add_subplot()
        for i, (label, x, y) in enumerate(groups):
            axes.plot(
                x,
                y,
                in_turn(MARKS, i),
                color=in_turn(COLOURS, i),
                label=series_name(label),
                linestyle="none",
            )
        finish(axes, title, x_label, y_label)
        words = "; ".join(
            f"{label}: "
            + ", ".join(f"({number(a)}, {number(b)})" for a, b in zip(x, y, strict=True))
            for label, x, y in groups
        )
        return svg(figure, title, words + ".")
