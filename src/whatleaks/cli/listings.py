"""One table for every kind of part: what the catalog holds, the package's own and others'."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whatleaks.cli.common import AsJson, DataHome, Plugins, show, use_plugins
from whatleaks.extras import named

if TYPE_CHECKING:
    from whatleaks.catalog import Card

GUESSERS = ("attack", "hijack", "baseline")
ROWS = (
    "Not here: horizontal federations, whose clients hold other people of the same columns. No column is\n"
    "hidden from a partner there, so an audit of columns has nothing to ask: whatleaks run\n"
    "examples/horizontal.toml shows what a client reads of the other's people."
)
TAKES_PART = "The training itself: it plays the active party."


def attacks(plugin: Plugins = None, as_json: AsJson = False) -> None:
    """List attacks, hijacks and baselines, their papers and what each sees and needs."""
    use_plugins(plugin)
    from whatleaks.catalog import cards

    show(
        "Attacks",
        ("name", "kind", "paper", "what it sees", "needs"),
        [(c.name, kind, c.paper, _sees(c), _needs(c)) for kind in GUESSERS for c in cards(kind)],
        as_json,
    )


def defenses(plugin: Plugins = None, as_json: AsJson = False) -> None:
    """List the defenses, their papers and what each needs."""
    use_plugins(plugin)
    from whatleaks.catalog import cards

    show(
        "Defenses",
        ("name", "what it does", "paper", "acts on", "needs"),
        [(c.name, c.title, c.paper, c.part.socket, _needs(c)) for c in cards("defense")],
        as_json,
    )


def detectors(plugin: Plugins = None, as_json: AsJson = False) -> None:
    """List the detectors, their papers and what each is granted."""
    use_plugins(plugin)
    from whatleaks.catalog import cards

    show(
        "Detectors",
        ("name", "what it does", "paper", "is granted"),
        [
            (c.name, c.title, c.paper, "; ".join(grant.value for grant in c.part.grants))
            for c in cards("detector")
        ],
        as_json,
    )


def threats(plugin: Plugins = None, as_json: AsJson = False) -> None:
    """List the threat models in plain words."""
    use_plugins(plugin)
    from whatleaks.catalog import cards

    rows = [(c.name, c.title) for c in cards("threat")]
    show("Threat models", ("name", "in words"), rows, as_json)


def federations(plugin: Plugins = None, as_json: AsJson = False) -> None:
    """List the federations, the models that each trains and the messages that threats may read."""
    use_plugins(plugin)
    from whatleaks.catalog import cards

    show(
        "Federations",
        ("name", "what it is", "paper", "models", "shows the active party"),
        [
            (
                c.name,
                c.title,
                c.paper,
                ", ".join((*c.part.models, *c.part.forms)),
                ", ".join(sorted(c.part.shows)),
            )
            for c in cards("federation")
        ],
        as_json,
    )
    if not as_json:
        print(ROWS)


def datasets(data_home: DataHome = None, as_json: AsJson = False) -> None:
    """List the data sets, their sizes, licences and whether they are at hand."""
    from whatleaks.data.location import find
    from whatleaks.data.registry import cards

    show(
        "Data sets",
        ("name", "what it is", "rows x columns", "task", "licence", "at hand"),
        [
            (
                card.name,
                card.title,
                f"{card.rows:,} x {card.features}",
                card.task,
                card.licence,
                "yes" if card.embedded or find(card, data_home) else "no",
            )
            for card in cards().values()
        ],
        as_json,
    )


def _needs(card: Card) -> str:
    """Say what a part needs, and the extra that must be installed for it."""
    return f"{card.needs}; {named(card.extra)}" if card.extra else card.needs


def _sees(card: Card) -> str:
    """Say what a guesser sees, in the first line of its view."""
    if card.kind == "hijack":
        return TAKES_PART
    return (card.view.__doc__ or "").strip().partition("\n")[0]
