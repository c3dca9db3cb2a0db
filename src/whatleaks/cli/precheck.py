"""``whatleaks precheck``: what a protocol's messages determine, before there is any data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from whatleaks.cli.common import AsJson, print_json, whole_numbers


def precheck(
    protocol: Annotated[str, typer.Argument(help="linear, logistic, horizontal, boost or scores.")],
    own: Annotated[int | None, typer.Option(help="Columns of the party that asks.")] = None,
    partner: Annotated[int | None, typer.Option(help="Columns of the partner.")] = None,
    batch: Annotated[int | None, typer.Option(help="Records in a batch.")] = None,
    records: Annotated[int | None, typer.Option(help="Records that train: one batch.")] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Passes over the records, or rounds: 20.")
    ] = None,
    known: Annotated[int | None, typer.Option(help="Complete records that are known: 0.")] = None,
    parties: Annotated[int | None, typer.Option(help="Passive parties: 1; or clients: 2.")] = None,
    classes: Annotated[int | None, typer.Option(help="Classes of the label.")] = None,
    levels: Annotated[
        str | None, typer.Option(help="Values that each column can take, as 2,2,100; 0: free.")
    ] = None,
    digits: Annotated[int | None, typer.Option(help="Digits of a released score: 17.")] = None,
    optimiser: Annotated[str | None, typer.Option(help="sgd or adam, at the arbiter: sgd.")] = None,
    shuffle: Annotated[bool | None, typer.Option(help="Other batches in every epoch.")] = None,
    masked: Annotated[bool | None, typer.Option(help="Gradients hidden from the arbiter.")] = None,
    queries: Annotated[bool | None, typer.Option(help="Plain z at prediction: yes.")] = None,
    trees: Annotated[int | None, typer.Option(help="Trees of a boosted model: 5.")] = None,
    depth: Annotated[int | None, typer.Option(help="Their depth: 3.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Nodes that the partner holds: all.")] = None,
    per_query: Annotated[
        int | None, typer.Option(help="Made-up records in one query: 401.")
    ] = None,
    width: Annotated[
        float | None, typer.Option(help="Width of a column's public range: 1.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="How near a threshold is wanted: 1e-6.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count without data what a protocol's messages determine, and name which setting ends it."""
    from whatleaks.auditor.precheck import precheck as counted

    given = {
        "own": own, "partner": partner, "batch": batch, "records": records, "epochs": epochs,
        "known": known, "parties": parties, "classes": classes, "digits": digits,
        "levels": whole_numbers("levels", levels) if levels else None,
        "optimiser": optimiser, "shuffle": shuffle, "masked": masked, "queries": queries,
        "trees": trees, "depth": depth, "nodes": nodes, "per_query": per_query,
        "width": width, "epsilon": epsilon,
    }  # fmt: skip
    lines = counted(protocol, **{name: value for name, value in given.items() if value is not None})
    if as_json:
        print_json([asdict(line) for line in lines])
        return
    for line in lines:
        print(f"[{line.so}] {line.what}")
        opened = f", {line.known} known values open the rest" if line.known else ""
        print(f"    {line.has} of {line.needs} {line.unit}{opened}")
        print(f"    by: {line.source}")
        for end in line.ends:
            print(f"    ends it: {end}")
