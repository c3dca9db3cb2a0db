"""``whatleaks data``: find and fetch the public data sets."""

from __future__ import annotations

from typing import Annotated

import typer

from whatleaks.cli.common import AsJson, DataHome
from whatleaks.cli.listings import datasets

data_app = typer.Typer(help="Find and fetch the public data sets.", no_args_is_help=True)


@data_app.command("list")
def data_list(data_home: DataHome = None, as_json: AsJson = False) -> None:
    """List the data sets and whether they are at hand."""
    datasets(data_home, as_json)


@data_app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(help="The data set's name.")], data_home: DataHome = None
) -> None:
    """Download a data set, or find it where it already is."""
    from whatleaks_lab.data.fetching import fetch

    for path in fetch(name, data_home):
        print(path)
