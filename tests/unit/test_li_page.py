"""The page on Li et al. says what the stored verdicts say."""

from __future__ import annotations

from pathlib import Path

from whatleaks_lab.papers.ledger import STORED
from whatleaks_lab.report.paper_document import figure_of, own_entries, results_part, rewritten


def test_the_page_is_written_from_the_stored_verdicts() -> None:
    root = Path(__file__).resolve().parents[2]
    path = root / "docs" / "papers" / "li.md"
    text = path.read_text()
    entries = own_entries("L", STORED)
    assert [entry.claim.id for entry in entries] == [f"L{i:02}" for i in range(1, 14)]
    assert rewritten(text, results_part(entries, "li")) == text
    for entry in entries:
        figure = figure_of(entry)
        if figure:
            assert (path.parent / "li" / f"{entry.claim.id}.svg").read_text() == figure
