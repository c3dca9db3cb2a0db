"""``whatleaks data``: find and fetch the public data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whatleaks.cli.common import AsJson, DataHome, show

data_app = typer.Typer(help="Find and fetch the public data sets.", no_args_is_help=True)


@data_app.command("list")
def data_list(data_home: DataHome = None, as_json: AsJson = False) -> None:
    """List the data sets and whether they are at hand."""
    list_datasets(data_home, as_json)


@data_app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(help="The data set's name.")], data_home: DataHome = None
) -> None:
    """Download a data set, or find it where it already is."""
    from whatleaks.data.fetching import fetch

    for path in fetch(name, data_home):
        print(path)


def list_datasets(data_home: Path | None, as_json: bool = False) -> None:
    """Print the table of data sets."""
    from whatleaks.data.location import find
    from whatleaks.data.registry import CARDS

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
            for card in CARDS.values()
        ],
        as_json,
    )
