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
class ScorePlot:
    """A detector's scores over the steps of several runs, with its threshold."""

    title: str
    curves: tuple[tuple[str, tuple[float, ...], bool], ...]  # label, scores, halted
    threshold: float


Plot = LinePlot | ScorePlot
