"""One self-contained HTML file from an audit result: no script, no network, no font to fetch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from whatleaks.auditor.result import AuditResult
from whatleaks.files import write_atomically
from whatleaks.report import wording
from whatleaks.report.page import LEAKAGE, lay_out, levels

if TYPE_CHECKING:
    from jinja2 import Environment

_FIRST_COLUMNS = 12  # the others fold away on screen and are open in print


def render(result: AuditResult) -> str:
    """Return the whole report as HTML text; equal results give equal text."""
    template = environment().get_template("report.html")
    return template.render(
        page=lay_out(result),
        r=result,
        levels=levels(result),
        leakage_in_words=LEAKAGE,
        first=_FIRST_COLUMNS,
    )


def write(result: AuditResult, path: str | Path) -> Path:
    """Write the report in one step: a reader never meets half a file."""
    target = Path(path)
    data = render(result).encode("utf-8", errors="replace")
    write_atomically(target, data, 0o600 if result.samples else 0o644)
    return target


def _whole(show: Callable[..., str]) -> Callable[..., str]:
    """Keep every number and its percent sign on one line, in narrow cells of print too."""
    return lambda *given: wording.unbroken(show(*given))


@cache
def environment() -> Environment:
    """Return what renders the templates of reports."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        num=wording.number,
        added=_whole(wording.added),
        added_range=_whole(wording.added_range),
        pct=_whole(wording.percent),
        pct_range=_whole(wording.percent_range),
        num_range=wording.number_range,
        points=wording.points,
        duration=wording.duration,
        moment=wording.moment,
        clean=wording.printable,
        flow=wording.unbroken,
        plain=wording.plain_value,
        listing=wording.listing,
        first_sentence=wording.first_sentence,
    )
    made.globals.update(count=wording.count)
    return made
