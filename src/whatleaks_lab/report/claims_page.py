"""One HTML page per paper: each claim, its verdict, the figure, the evidence, the command."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whatleaks.errors import StoreError
from whatleaks.metrics.measurement import Measurement
from whatleaks_lab.papers.check import checks
from whatleaks_lab.papers.claim import papers
from whatleaks_lab.papers.ledger import Entry
from whatleaks_lab.papers.plot import BarPlot, LinePlot, PanelPlot, Plot, ScatterPlot, Series

EVIDENCE_ROWS = 60


def draw(plot: Plot) -> str:
    """Draw a claim's figure as SVG."""
    from whatleaks.report.figures import Line, error_against_share
    from whatleaks_lab.report.figures import Curve, Panel, bars, panels, scatter, score_curves

    def drawn(series: Sequence[Series]) -> list[Line]:
        return [Line(s.label, s.x, s.y) for s in series]

    if isinstance(plot, BarPlot):
        entries = [(bar.label, bar.value, bar.guess) for bar in plot.bars]
        return bars(plot.title, entries, plot.y_label, log=plot.log)
    if isinstance(plot, ScatterPlot):
        groups = [(group.label, group.x, group.y) for group in plot.groups]
        return scatter(plot.title, groups, plot.x_label, plot.y_label)
    if isinstance(plot, LinePlot):
        return error_against_share(
            plot.title,
            drawn(plot.lines),
            drawn(plot.baselines),
            y_label=plot.y_label,
            log=plot.log,
            x_label=plot.x_label,
        )
    if isinstance(plot, PanelPlot):
        first = plot.panels[0]
        parts = [Panel(p.title, drawn(p.lines), drawn(p.baselines)) for p in plot.panels]
        return panels(plot.title, parts, first.x_label, first.y_label, first.log)
    curves = [
        Curve(
            label,
            list(range(1, len(scores) + 1)),
            list(scores),
            halted=len(scores) if halted else None,
        )
        for label, scores, halted in plot.curves
    ]
    return score_curves(
        plot.title, curves, threshold=plot.threshold, x_label="fake batches scored", y_label="score"
    )


def write_pages(entries: Sequence[Entry], folder: Path) -> list[Path]:
    """Write one page per paper and an index; return their paths."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("whatleaks_lab.report"), autoescape=True)
    page = environment.get_template("claims.html")
    index = environment.get_template("claims_index.html")
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        summaries = []
        for paper in papers().values():
            own = [entry for entry in entries if entry.claim.paper == paper.letter]
            counts = {
                v: sum(e.judgement.verdict == v for e in own)
                for v in ("holds", "partly", "fails", "not-run")
            }
            summaries.append({"paper": paper, "counts": counts, "file": f"{paper.letter}.html"})
            path = folder / f"{paper.letter}.html"
            path.write_text(
                page.render(paper=paper, counts=counts, claims=[_shown(e) for e in own]), "utf-8"
            )
            written.append(path)
        path = folder / "index.html"
        path.write_text(index.render(papers=summaries), "utf-8")
        return [path, *written]
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror}") from None


def _shown(entry: Entry) -> dict[str, Any]:
    """Lay one claim out for the template."""
    check = checks().get(entry.claim.id)
    figure = ""
    if check is not None and check.draw is not None and entry.records:
        plot = check.draw(entry.records)
        figure = draw(plot) if plot is not None else ""
    rows = []
    for record in entry.records[:EVIDENCE_ROWS]:
        numbers = {**record.measurements, **record.baselines}
        rows.append(
            {
                "run": record.work.title(),
                "hash": record.hash[:12],
                "numbers": "; ".join(
                    f"{name} {_short(value)}"
                    for name, value in numbers.items()
                    if not isinstance(value, list)
                ),
            }
        )
    reported = entry.claim.reported
    return {
        "entry": entry,
        "figure": figure,
        "rows": rows,
        "more": max(0, len(entry.records) - EVIDENCE_ROWS),
        "reported": ""
        if reported is None
        else reported
        if isinstance(reported, str)
        else json.dumps(reported),
        "command": ""
        if check is None
        else f"whatleaks claims run {entry.claim.id} --profile {entry.profile or 'standard'}",
    }


def _short(value: object) -> str:
    if isinstance(value, Measurement):
        return f"{value.value:.3g} [{value.low:.3g}, {value.high:.3g}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
