"""docs/catalog.md as the catalog would write it: one line for every part of the package's own.

``python tests/contract/catalog_page.py`` writes the page anew.
"""

from __future__ import annotations

from pathlib import Path

from whatleaks.catalog import Card, cards
from whatleaks.extras import named

PAGE = Path(__file__).resolve().parents[2] / "docs" / "catalog.md"
HEADINGS = {
    "attack": "Attacks",
    "hijack": "Hijacks",
    "baseline": "Baselines",
    "defense": "Defenses",
    "detector": "Detectors",
    "threat": "Threats",
    "federation": "Federations",
}
INTRODUCTION = """# The catalog

Every part that whatleaks brings along. The commands `whatleaks attacks`, `defenses`, `detectors`,
`threats` and `federations` say more, and list the parts of installed plugins too. This page is
written by `tests/contract/catalog_page.py`, and a test compares the two.
"""


def own(kind: str) -> list[Card]:
    """Return the cards of the package itself, by name: outsiders have pages of their own.

    Threats and federations come in the order in which their files were imported, which is not the
    same in every process.
    """
    found = [card for card in cards(kind) if card.module.partition(".")[0] == "whatleaks"]
    return sorted(found, key=lambda card: card.name)


def line(card: Card) -> str:
    """Return the line of one part."""
    if card.kind == "threat":
        return f"- `{card.name}`: {card.title}"
    paper = f" ({card.paper})" if card.paper else ""
    extra = f" Needs `{named(card.extra)}`." if card.extra else ""
    return f"- `{card.name}`: {card.title}{paper}.{extra}"


def page() -> str:
    """Return the whole page."""
    parts = [INTRODUCTION]
    for kind, heading in HEADINGS.items():
        parts.append("\n".join([f"## {heading}", *map(line, own(kind)), ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
