"""``whatleaks compare`` and ``signoff``: what stored audits say, without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whatleaks.cli.common import AsJson, print_json
from whatleaks.errors import UsageError
from whatleaks.files import check_writable


def compare(
    a: Annotated[Path, typer.Argument(help="An audit's folder, or its audit.json.")],
    b: Annotated[Path, typer.Argument(help="Another one.")],
    as_json: AsJson = False,
) -> None:
    """Compare two audits: headline, columns, defenses, accuracy; say when table or code differ."""
    from whatleaks.report.comparison import compare as side_by_side
    from whatleaks.report.comparison import lines
    from whatleaks.report.stored import load_audit

    found = side_by_side(load_audit(a), load_audit(b))
    if as_json:
        print_json(found)
    else:
        print("\n".join(lines(found)))


def signoff(
    folder: Annotated[Path, typer.Argument(help="An audit's folder, or its audit.json.")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write; signoff.html beside the audit.")
    ] = None,
) -> None:
    """Write one page of A4 to print and sign."""
    from whatleaks.report.signoff import write
    from whatleaks.report.stored import load_audit

    audit = load_audit(folder)
    beside = folder if folder.is_dir() else folder.parent
    target = out or beside / "signoff.html"
    if target.suffix != ".html":
        raise UsageError(f"--out writes a page: give a name that ends in .html, got {target}")
    check_writable(target.parent)
    print(write(audit, target))
