"""A figure as data: what the report draws for a claim. Nothing here draws."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.metrics.measurement import Measurement


@dataclass(frozen=True)
class Series:
    """One line of a figure."""

    label: str
    x: tuple[float, ...]
    y: tuple[Measurement, ...]


@dataclass(frozen=True)
class LinePlot:
    """Values against something varied, with intervals; baselines are drawn apart."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Series, ...]
    baselines: tuple[Series, ...] = ()
    log: bool = False


@dataclass(frozen=True)
class PanelPlot:
    """Several line plots side by side that share their axes' meaning, lines and legend."""

    title: str
    panels: tuple[LinePlot, ...]


@dataclass(frozen=True)
class ScorePlot:
    """A detector's scores over the steps of several runs, with its threshold."""

    title: str
    curves: tuple[tuple[str, tuple[float, ...], bool], ...]  # label, scores, halted
    threshold: float


@dataclass(frozen=True)
class Bar:
    """One named number with its interval; ``guess`` marks a baseline."""

    label: str
    value: Measurement
    guess: bool = False


@dataclass(frozen=True)
class BarPlot:
    """Numbers side by side that have no axis in common but their unit."""

    title: str
    y_label: str
    bars: tuple[Bar, ...]
    log: bool = False


@dataclass(frozen=True)
class Points:
    """One cloud of a scatter plot."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class ScatterPlot:
    """Pairs of numbers, several clouds."""

    title: str
    x_label: str
    y_label: str
    groups: tuple[Points, ...]


Plot = LinePlot | PanelPlot | ScorePlot | BarPlot | ScatterPlot
