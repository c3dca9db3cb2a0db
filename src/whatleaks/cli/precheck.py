"""``whatleaks precheck``: what a setting gives away, before there is any data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from whatleaks.cli.common import AsJson, print_json, whole_numbers


def precheck(
    protocol: Annotated[
        str, typer.Argument(help="linear, logistic, sshe, horizontal, boost or scores.")
    ],
    own: Annotated[int | None, typer.Option(help="Columns of the party that asks.")] = None,
    partner: Annotated[int | None, typer.Option(help="Columns of the partner.")] = None,
    batch: Annotated[int | None, typer.Option(help="Records in a batch.")] = None,
    records: Annotated[int | None, typer.Option(help="Records that train.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the records, or rounds.")] = None,
    known: Annotated[int | None, typer.Option(help="Complete records that are known.")] = None,
    parties: Annotated[int | None, typer.Option(help="Passive parties, or clients.")] = None,
    classes: Annotated[int | None, typer.Option(help="Classes of the label.")] = None,
    levels: Annotated[
        str | None, typer.Option(help="Values that each column can take, as 2,2,100; 0: free.")
    ] = None,
    digits: Annotated[int | None, typer.Option(help="Digits of a released score.")] = None,
    optimiser: Annotated[str | None, typer.Option(help="sgd or adam, at the arbiter.")] = None,
    shuffle: Annotated[bool | None, typer.Option(help="Other batches in every epoch.")] = None,
    masked: Annotated[bool | None, typer.Option(help="Gradients hidden from the arbiter.")] = None,
    queries: Annotated[bool | None, typer.Option(help="Plain z at prediction.")] = None,
    trees: Annotated[int | None, typer.Option(help="Trees of a boosted model.")] = None,
    depth: Annotated[int | None, typer.Option(help="Their depth.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Nodes that the partner holds.")] = None,
    per_query: Annotated[int | None, typer.Option(help="Made-up records in one query.")] = None,
    width: Annotated[float | None, typer.Option(help="Width of a column's public range.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="How near a threshold is wanted.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say without data what a protocol's messages determine, and which setting ends it."""
    from whatleaks.auditor.precheck.ask import precheck as ask

    given = {
        "own": own, "partner": partner, "batch": batch, "records": records, "epochs": epochs,
        "known": known, "parties": parties, "classes": classes, "digits": digits,
        "levels": whole_numbers("levels", levels) if levels else None,
        "optimiser": optimiser, "shuffle": shuffle, "masked": masked, "queries": queries,
        "trees": trees, "depth": depth, "nodes": nodes, "per_query": per_query,
        "width": width, "epsilon": epsilon,
    }  # fmt: skip
    found = ask(protocol, **{name: value for name, value in given.items() if value is not None})
    if as_json:
        print_json(asdict(found))
        return
    for line in found.lines:
        print(f"[{line.state}] {line.what}")
        print(f"    {line.says}")
        if line.known:
            print(f"    known values needed: {line.known} ({line.ratio:.1%} of what they open)")
        print(f"    by: {line.source}")
        for stop in line.stops:
            print(f"    ends it: {stop}")
    for text in found.assumes:
        print(f"assumes: {text}")
