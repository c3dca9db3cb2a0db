"""The figure of a sweep: error against share of columns, one line per attack and data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whatleaks.errors import UsageError, argument
from whatleaks.files import write_atomically
from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import grouped, over_seeds, scenario_of
from whatleaks.runs.record import Record


def write_figure(records: Sequence[Record], path: Path) -> Path:
    """Draw every measured error against the share of passive columns, averaged over seeds."""
    from whatleaks.report.figures import Line, error_against_share

    if not any(scenario_of(record).share for record in records):
        raise UsageError(
            f"{argument('figure')} draws error against share: the sweep varies no share"
        )
    drawn: dict[bool, list[Line]] = {False: [], True: []}
    several = len(grouped(records, "dataset")) > 1
    for (dataset,), group in grouped(records, "dataset").items():
        for role, baseline in (("measurements", False), ("baselines", True)):
            names = {
                name: None
                for record in group
                for name, value in getattr(record, role).items()
                if isinstance(value, Measurement) and value.unit == "mse" and name != "bound"
            }
            for name in names:
                having = [r for r in group if name in getattr(r, role)]
                by_share = grouped(having, "share")
                x = [share for (share,) in sorted(by_share)]
                y = [over_seeds(by_share[key], name) for key in sorted(by_share)]
                label = f"{name}, {dataset}" if several else name
                drawn[baseline].append(Line(label, x, y))
    svg = error_against_share("Error against share of columns", drawn[False], drawn[True])
    write_atomically(path, svg.encode())
    return path
