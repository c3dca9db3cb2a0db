"""The results part of a paper's document: written from stored verdicts, so that it cannot drift.

``python -m whatleaks_lab.report.paper_document U docs/papers/luo.md`` replaces what stands between
the two marks of the document and draws one SVG per claim beside it. A test compares them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from whatleaks.errors import StoreError, UsageError
from whatleaks_lab.papers.check import Check, checks
from whatleaks_lab.papers.claim import Claim, Judgement, Verdict, claims
from whatleaks_lab.papers.ledger import Entry, read, results_home
from whatleaks_lab.report.claims_page import draw

PROFILE = "standard"
START, END = "<!-- results: start -->", "<!-- results: end -->"


def results_part(entries: Sequence[Entry], folder: str) -> str:
    """Return a table of verdicts and one section per claim, with figures from ``folder``."""
    lines = ["| Claim | Verdict | Profile | Measured |", "|---|---|---|---|"]
    for entry in entries:
        told = entry.judgement
        lines.append(
            f"| {entry.claim.id} | {told.verdict.value} | {entry.profile or '-'} | {told.measured or told.note} |"
        )
    for entry in entries:
        lines += ["", *_section(entry, folder)]
    return "\n".join(lines) + "\n"


def _section(entry: Entry, folder: str) -> list[str]:
    stated, told = entry.claim, entry.judgement
    lines = [
        f"### {stated.id}: {told.verdict.value} ({stated.where})",
        "",
        f"Claim: {stated.claim}.",
    ]
    if told.verdict == Verdict.NOT_RUN:
        return [*lines, "", told.note or "Not run yet."]
    lines += ["", f"Rule: {entry.rule}", "", f"Measured: {told.measured.removesuffix('.')}."]
    if told.value is not None and told.value.n > 1:
        lines.append(f"Central number: {told.value}.")
    if told.note:
        lines += ["", told.note]
    lines += [
        "",
        f"Sizes ({entry.profile}): {entry.sizes}; {len(entry.records)} runs. "
        f"Again: `whatleaks claims run {stated.id} --profile {entry.profile}`",
    ]
    if figure_of(entry):
        lines += ["", f"![{stated.id}]({folder}/{stated.id}.svg)"]
    return lines


def figure_of(entry: Entry) -> str:
    """Draw the figure of a claim as SVG; empty without runs."""
    check = checks().get(entry.claim.id)
    plot = check.draw(entry.records) if check and check.draw and entry.records else None
    return draw(plot) if plot is not None else ""


def rewritten(document: str, part: str) -> str:
    """Return the document with ``part`` between its marks."""
    before, start, rest = document.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise UsageError(f"the document needs the two marks {START} and {END}")
    return f"{before}{START}\n{part}{END}{after}"


def own_entries(letter: str, home: Path) -> list[Entry]:
    """Return a paper's claims with their committed verdicts: those of the standard profile."""
    entries = []
    for stated in claims().values():
        check = checks().get(stated.id)
        path = home / PROFILE / f"{stated.id}.json"
        if stated.paper == letter:
            ready = check is not None and path.exists()
            entries.append(read(path, check) if check and ready else _waiting(stated, check))
    return entries


def _waiting(stated: Claim, check: Check | None) -> Entry:
    why = f"Not run yet: {check.awaits}." if check and check.awaits else "Not run yet."
    return Entry(stated, Judgement(Verdict.NOT_RUN, "", note=why))


def main(arguments: Sequence[str]) -> None:
    """Write the results part and the figures of one paper."""
    letter, name = arguments
    path = Path(name)
    entries = own_entries(letter, results_home())
    folder = path.parent / path.stem
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            figure = figure_of(entry)
            if figure:
                (folder / f"{entry.claim.id}.svg").write_text(figure, "utf-8")
        path.write_text(
            rewritten(path.read_text("utf-8"), results_part(entries, path.stem)), "utf-8"
        )
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
