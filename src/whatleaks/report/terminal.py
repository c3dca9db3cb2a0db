"""The audit in a terminal: a plain summary, and tables for the listing commands."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from whatleaks.auditor.result import AuditResult
from whatleaks.report.page import LEAKAGE, Bar, lay_out
from whatleaks.report.wording import percent, percent_range, plain_value, printable, shorten

if TYPE_CHECKING:
    from rich.table import Table

_WIDTH = 79
_COLUMNS = 10
_NAME = 26
_BAR = 20


def summary(result: AuditResult) -> str:
    """Return the audit in plain text, for a screen of 80 characters."""
    page = lay_out(result)
    head = result.headline
    lines = [
        f"What leaks: {printable(plain_value(result.table.get('name', 'table')))}",
        "",
        f"{printable(head.level).upper()}: leakage {percent(head.leakage.value)} "
        f"(95 % interval {percent_range(head.leakage)})",
        *_wrap(printable(head.sentence)),
        "",
        *_wrap(LEAKAGE),
    ]
    if page.worst is not None:
        attack, threat = printable(page.worst.title), printable(head.threat)
        lines += ["", f"Columns, worst first ({attack}, {threat}; | marks the limit)"]
        lines += [_row(bar) for bar in page.columns[:_COLUMNS]]
        if len(page.columns) > _COLUMNS:
            lines.append(f"  and {len(page.columns) - _COLUMNS} more, in the report")
    if page.overview:
        lines += ["", "Threats, the worst attack of each, over all columns"]
        lines += [_row(bar) for bar in page.overview]
    lines += [
        "",
        *_wrap(
            f"Accuracy: {percent(result.accuracy_alone.value, 1)} alone, "
            f"{percent(result.accuracy.value, 1)} together ({page.gain}). {page.gain_sure}"
        ),
    ]
    if page.verdicts:
        lines += ["", "Defenses: leakage and accuracy, without -> with"]
        for verdict in page.verdicts:
            d = verdict.defense
            name = shorten(printable(d.title), 40)
            leak = f"{percent(d.leakage_before.value)} -> {percent(d.leakage.value)}"
            right = f"{percent(d.accuracy_before.value, 1)} -> {percent(d.accuracy.value, 1)}"
            lines.append(f"  {name:<40} {leak:<16} {right}")
            if d.remark:
                lines += _wrap(d.remark, "    ", "    ")
    lines += ["", *_wrap(_columns_read(result))]
    if result.advice:
        lines += ["", "What would help"]
        for i, advice in enumerate(result.advice, 1):
            lines += _wrap(printable(advice), f"  {i}. ", "     ")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _columns_read(result: AuditResult) -> str:
    """Say which columns were read as what, and whose they are."""
    told = []
    for owner in ("active", "passive", "label"):
        cards = [card for card in result.columns if card.owner == owner]
        names = [f"{printable(card.name)} ({card.kind})" for card in cards[:_COLUMNS]]
        more = f" and {len(cards) - _COLUMNS} more" if len(cards) > _COLUMNS else ""
        told.append(f"{owner}: {', '.join(names)}{more}")
    return "Columns as read. " + "; ".join(told) + "."


def verdicts(claims: Sequence[Mapping[str, Any]]) -> str:
    """Return each claim's verdict with all that stands behind it, one block per claim."""
    blocks = []
    for claim in claims:
        lines = [f"{claim['id']}  {claim['verdict'].upper()}  ({claim['where']})"]
        lines += _wrap(claim["claim"], "  claim     ", " " * 12)
        told = [("measured", claim["measured"]), ("note", claim["note"])]
        if claim["value"] is not None:
            low, high = claim["interval"]
            told.insert(1, ("value", f"{claim['value']:.4g} [{low:.4g}, {high:.4g}]"))
        if claim["reported"] is not None:
            told.append(("reported", plain_value(claim["reported"])))
        if claim["n"]:
            told.append(("size", f"{claim['n']} runs, {claim['seconds']} s; {claim['sizes']}"))
        for name, text in told:
            if text:
                lines += _wrap(text, f"  {name:<10}", " " * 12)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def verdict_lines(claims: Sequence[Mapping[str, Any]]) -> str:
    """Return one short entry per claim and a count of verdicts."""
    lines = []
    for claim in claims:
        head = f"{claim['id']}  {claim['verdict']:<8} "
        lines += _wrap(claim["claim"], head, " " * len(head))
        if claim["measured"]:
            text = f"{claim['profile']}: {claim['measured']}"
            lines += _wrap(text, " " * len(head) + "-> ", " " * (len(head) + 3))
    counts = Counter(claim["verdict"] for claim in claims)
    tally = ", ".join(f"{counts[v]} {v}" for v in ("holds", "partly", "fails", "not-run"))
    return "\n".join([*lines, "", f"{len(claims)} claims: {tally}"])


def table(title: str, headers: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table for the terminal; cells are shown as they are, never read as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(printable(title)), box=box.SIMPLE_HEAD, title_justify="left")
    for header in headers:
        made.add_column(Text(printable(header)), overflow="fold")
    for row in rows:
        made.add_row(*(Text(printable(str(cell))) for cell in row))
    return made


def print_tables(*tables: Table, file: TextIO | None = None, width: int | None = None) -> None:
    """Print tables one under the other, to the screen or a file."""
    from rich.console import Console

    console = Console(file=file, width=width, highlight=False)
    for made in tables:
        console.print(made)


def _row(bar: Bar) -> str:
    name = shorten(printable(bar.label), _NAME)
    cells = ["#" if i < round(bar.value * _BAR) else "." for i in range(_BAR)]
    if bar.limit is not None:
        cells[min(_BAR - 1, int(bar.limit * _BAR))] = "|"
    return f"  {name:<{_NAME}} {''.join(cells)} {bar.text:>6} ({bar.interval})"


def _wrap(text: str, first: str = "", then: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=then)
