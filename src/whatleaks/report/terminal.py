"""The audit in a terminal: a plain summary, and tables for the listing commands."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from whatleaks.auditor.result import NAMED, AuditResult
from whatleaks.metrics.measurement import Measurement
from whatleaks.report.page import LEAKAGE, Bar, lay_out
from whatleaks.report.wording import (
    added,
    added_range,
    count,
    left_out,
    percent,
    plain_value,
    printable,
    shorten_name,
    unbroken,
)

if TYPE_CHECKING:
    from rich.table import Table

_WIDTH = 79
_COLUMNS = 10
_NAME = 26
_BAR = 20
_PEOPLE = 3
_NOTES = 8


def summary(result: AuditResult) -> str:
    """Return the audit in plain text, for a screen of 80 characters."""
    page = lay_out(result)
    head = result.headline
    lines = [f"What leaks: {printable(plain_value(result.table.get('name', 'table')))}", ""]
    if page.worst is not None:
        lines.append(
            f"{printable(head.level).upper()}: joining adds {added(head.adds)} "
            f"(95 % interval {added_range(head.adds)})"
            + (", people named exactly" if head.scale == NAMED else "")
        )
    lines += [*wrap(printable(head.sentence)), ""]
    for condition in head.conditions:
        lines += wrap(printable(condition.sentence), "  - ", "    ")
    lines += ["", *wrap(LEAKAGE)]
    if page.worst is not None:
        lines += ["", f"Columns under {printable(head.threat)}, the strongest attack on each"]
        marks = (
            "= reached, not counted as added, # what joining adds, a what your partner’s own columns tell whoever "
            "has learnt from complete records of others, | the limit"
        )
        defended = f", o with “{printable(page.best_defense)}”" if page.best_defense else ""
        lines += wrap(marks + defended, "  ", "  ")
        lines += [_row(bar) for bar in page.columns[:_COLUMNS]]
        if len(page.columns) > _COLUMNS:
            lines.append(f"  and {len(page.columns) - _COLUMNS} more, in the report")
        for row in (row for row in page.rows[:_PEOPLE] if row.people):
            named = row.people.startswith(row.column)
            known = row.people if named else f"{row.column}: {row.people}"
            lines += wrap(printable(known), "  ", "    ")
    if page.digits:
        lines += ["", *wrap(_digits_heading(result))]
        lines += [_row(bar) for bar in page.digits]
    if page.groups:
        lines += ["", f"Who is worst off: {printable(head.column)} known within 5 % of its range"]
        lines += [line for bar in page.groups for line in _detailed(bar)]
    if page.overview:
        lines += [
            "",
            "Threats: mean over columns by the strongest attack on each, and the worst column",
        ]
        lines += [line for bar in page.overview for line in _detailed(bar)]
    for line in left_out((one.extra, one.name) for one in result.not_tried):
        lines += ["", *textwrap.wrap(printable(line), _WIDTH, break_on_hyphens=False)]
    lines += ["", "What joining is worth: alone -> together, gain record by record"]
    for worth in page.worth:
        moved = f"{worth.alone} -> {worth.together}"
        lines.append(f"  {worth.name:<26} {moved:<18} {worth.gain}")
    lines += wrap(page.gain_sure, "  ", "  ")
    if page.verdicts:
        lines += ["", "Defenses: what joining adds in the headline's column, in the worst column"]
        lines += ["with it, and accuracy, without -> with"]
        lines += wrap(page.some_seeds, "  ", "  ")
        for verdict in page.verdicts:
            d = verdict.defense
            name = shorten_name(printable(d.title), 32)
            leak = "left out"
            if d.column is not None:
                leak = f"{_brief(d.column.before)} -> {_brief(d.column.after)}"
            right = f"{percent(d.accuracy_before.value, 1)} -> {percent(d.accuracy.value, 1)}"
            lines.append(f"  {name:<32} {leak:<18} {_brief(d.worst.after):<7} {right}")
            if d.remark:
                lines += wrap(d.remark, "    ", "    ")
    if result.comparison is not None:
        lines += ["", f"Privacy against utility, {printable(result.comparison.threat)}"]
        lines += ["  what joining adds in the worst column, accuracy; * on the front"]
        for point in sorted(result.comparison.points, key=lambda p: p.leak.value):
            name = shorten_name(printable(point.title), 48)
            mark = "*" if point.front else " "
            lines.append(
                f"{mark} {name:<48} {_brief(point.leak):>7} {percent(point.accuracy.value, 1):>8}"
            )
        lines += wrap(printable(result.comparison.why), "  ", "  ")
    lines += ["", *wrap(_columns_read(result))]
    notes = _worth_knowing(result)
    if notes:
        lines += ["", "Worth knowing"]
        for note in notes[:_NOTES]:
            lines += wrap(printable(note), "  - ", "    ")
        if len(notes) > _NOTES:
            lines.append(f"  and {len(notes) - _NOTES} more, in the report")
    if result.advice:
        lines += ["", "What would help"]
        for i, advice in enumerate(result.advice, 1):
            lines += wrap(printable(advice), f"  {i}. ", "     ")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _worth_knowing(result: AuditResult) -> list[str]:
    """Return the notes on the audit, and of a threat that no attack fits what its first seed says."""
    told = list(result.notes)
    for threat in result.threats:
        if not threat.of("attack"):
            first = next(iter(result.seeds), 0)
            told += [
                f"{threat.name}: {note.removeprefix(f'Seed {first}: ')}"
                for note in threat.notes
                if note.startswith(f"Seed {first}: ") or not note.startswith("Seed ")
            ]
    return told


def _columns_read(result: AuditResult) -> str:
    """Say which columns were read as what, and whose they are."""
    told = []
    for owner in ("active", "passive", "label"):
        cards = [card for card in result.columns if card.owner == owner]
        names = [f"{printable(card.name)} ({card.kind})" for card in cards[:_COLUMNS]]
        more = f" and {len(cards) - _COLUMNS} more" if len(cards) > _COLUMNS else ""
        told.append(f"{owner}: {', '.join(names)}{more}")
    return "Columns as read. " + "; ".join(told) + "."


def table(title: str, headers: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table for the terminal; cells are shown as they are, never read as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(printable(title)), box=box.SIMPLE_HEAD, title_justify="left")
    for place, header in enumerate(headers):  # the first column holds names: they stay whole
        made.add_column(Text(printable(header)), overflow="fold", no_wrap=place == 0)
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
    name = shorten_name(printable(bar.label), _NAME)
    known, end = round(bar.known * _BAR), round(bar.value * _BAR)
    cells = ["=" if i < known else "#" if i < end else "." for i in range(_BAR)]
    for place, mark in ((bar.alone, "a"), (bar.limit, "|"), (bar.defended, "o")):
        if place is not None:
            cells[min(_BAR - 1, int(place * _BAR))] = mark
    return f"  {name:<{_NAME}} {''.join(cells)} {bar.text:>6} ({bar.interval})"


def _digits_heading(result: AuditResult) -> str:
    """Say whose share the bars of digits are: a column of ordinary numbers is not in it."""
    found = result.digits
    assert found is not None
    beside = "" if found.without is None else f" ({percent(found.without.value)} without joining)"
    return f"{count(len(found.columns), 'column')} of set values: all named by one score's digits{beside}"


def _detailed(bar: Bar) -> list[str]:
    """Return a row with what belongs to it beneath; numbers stand at its end, so nothing is cut."""
    return [_row(bar), *wrap(printable(bar.detail), "    ", "    ")]


def _brief(measured: Measurement) -> str:
    """Show what joining adds in a column of a table."""
    return added(measured).replace("over ", ">").replace("under ", "<")


def wrap(text: str, first: str = "", then: str = "") -> list[str]:
    """Wrap to the screen; a number and its percent sign stay on one line."""
    lines = textwrap.wrap(unbroken(text), _WIDTH, initial_indent=first, subsequent_indent=then)
    return [line.replace("\N{NO-BREAK SPACE}%", " %") for line in lines]
