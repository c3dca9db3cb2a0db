"""``whatleaks protect``: weights to disclose instead of the true ones, and what that is worth."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whatleaks.cli.common import (
    AsJson,
    Bins,
    Categories,
    DataHome,
    Decimal,
    Drop,
    DropConstant,
    EncodeText,
    Encoding,
    Label,
    Missing,
    Na,
    Passive,
    ScaleOn,
    Sheet,
    Table,
    Thousands,
    print_json,
)
from whatleaks.errors import UsageError

if TYPE_CHECKING:
    from whatleaks.auditor.protect import Errors, Protection


def protect(
    table: Table,
    label: Label = None,
    passive: Passive = None,
    epsilon: Annotated[
        float, typer.Option(help="Mean squared change of a weight; 0: as --percent says.")
    ] = 0.0,
    percent: Annotated[
        int, typer.Option(help="The same in percent of the weights' mean square, 0 to 400.")
    ] = 25,
    secret: Annotated[
        str,
        typer.Option(
            help="What the partner is not told: epsilon (a smaller one is drawn), or nothing."
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Write the weights to disclose into this CSV file.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The root of all random streams.")] = 0,
    targets: Annotated[int, typer.Option(help="Records that are attacked, at most.")] = 300,
    missing: Missing = "refuse",
    categories: Categories = "ordinal",
    scale_on: ScaleOn = "training",
    drop: Drop = None,
    drop_constant: DropConstant = False,
    encode_text: EncodeText = False,
    bins: Bins = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    na: Na = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    data_home: DataHome = None,
    as_json: AsJson = False,
) -> None:
    """Blur a linear model's passive weights by a chosen distance; scores stay exact."""
    from whatleaks.auditor.protect import protect as run
    from whatleaks.data.problems import raise_first
    from whatleaks.data.sources import open_source
    from whatleaks.data.suspects import about_missing_codes
    from whatleaks.data.written import read_written
    from whatleaks.defenses.blurred_weights import BlurredWeights
    from whatleaks.trial.settings import Settings

    defense = BlurredWeights(percent, epsilon, secret)
    if out is not None and out.suffix != ".csv":
        raise UsageError(f"--out writes CSV: give a name that ends in .csv, got {out}")
    if out is not None and out.exists() and Path(table).exists() and out.samefile(table):
        raise UsageError(f"--out {out} is the table itself: give another name")
    source = open_source(
        table, label, passive or (), [], None, False, data_home, drop or (), encoding, sheet
    )
    frame, notes, asked = read_written(source.frame, decimal, thousands, na or (), encode_text)
    raise_first(problem for problem in asked if problem.column not in source.drop)
    for note in (*source.notes, *notes, *about_missing_codes(frame, source.label, source.drop)):
        print(f"note: {note}", file=sys.stderr)
    found = run(
        frame,
        source.label,
        source.passive,
        defense,
        name=source.name,
        seed=seed,
        targets=targets,
        data=Settings(
            {
                "missing": missing,
                "categories": categories,
                "scale_on": scale_on,
                "drop": source.drop,
                "constant": "drop" if drop_constant else "refuse",
                "encode_text": encode_text,
                "bins": bins or 0,
            }
        ),
    )
    if out is not None:
        import pandas as pd

        from whatleaks.files import write_atomically

        outputs = [f"output {k}" for k in range(found.disclosed.shape[1])]
        weights = pd.DataFrame(found.disclosed, index=list(found.columns), columns=outputs)
        write_atomically(out, weights.to_csv(index_label="column").encode())
    if as_json:
        print_json(_tree(found))
        return
    from whatleaks.report.wording import printable

    print(f"case {found.case}, distance g = {found.distance:.4g}; scores stay as they are")
    for i, name in enumerate(found.columns):
        true = ", ".join(f"{w:+.3f}" for w in found.weights[i])
        shown = ", ".join(f"{w:+.3f}" for w in found.disclosed[i])
        print(f"  {printable(name)}: {true}  ->  {shown}")
    for title, one in (("true weights", found.before), ("blurred weights", found.after)):
        print(f"{title}:")
        print(f"  half*, predicted (unclamped, training records)  {one.predicted:.4f}")
        print(f"  half*, measured                                 {_said(one.half_star)}")
        if one.adaptive is not None:
            print(f"  half* of who knows the scheme, measured         {_said(one.adaptive)}")
        if one.knowing is not None:
            print(
                f"  a partner who knows {one.known:3} people, measured        {_said(one.knowing)}"
            )
        print(f"  one half, which knows nothing                   {_said(one.half)}")
    if out is not None:
        print(f"weights to disclose: {out}")


def _said(found: object) -> str:
    value, low, high = (getattr(found, field) for field in ("value", "low", "high"))
    return f"{value:.4f} [{low:.4f}, {high:.4f}]"


def _tree(found: Protection) -> dict[str, object]:
    def errors(one: Errors) -> dict[str, object]:
        return {
            "predicted": one.predicted,
            "half_star": one.half_star.value,
            "knowing_the_scheme": None if one.adaptive is None else one.adaptive.value,
            "people_known": one.known,
            "knowing_people": None if one.knowing is None else one.knowing.value,
            "half": one.half.value,
        }

    return {
        "case": found.case,
        "distance": found.distance,
        "columns": list(found.columns),
        "weights": found.weights.tolist(),
        "disclosed": found.disclosed.tolist(),
        "before": errors(found.before),
        "after": errors(found.after),
    }
