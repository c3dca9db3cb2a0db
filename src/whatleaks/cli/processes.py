"""Parties as processes: ``keys``, ``party``, ``align`` and ``transcript``."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whatleaks.cli.common import show
from whatleaks.errors import UsageError, nearest

if TYPE_CHECKING:
    from whatleaks.crypto.psi import Alignment

MOST = 16  # parties of one role


def keys(
    out: Annotated[Path, typer.Option(help="Folder for one sub-folder of keys per party.")],
    passive: Annotated[int, typer.Option(help="How many passive parties there are.")] = 1,
    clients: Annotated[
        int, typer.Option(help="Make keys for so many clients of a horizontal federation instead.")
    ] = 0,
    days: Annotated[int, typer.Option(help="How long the certificates are valid.")] = 30,
) -> None:
    """Make certificates for party processes: one folder each, to be handed to that party alone."""
    from whatleaks.crypto.certificates import make_certificates
    from whatleaks.federation.horizontal.settings import client_names
    from whatleaks.wire.parties import ACTIVE, ARBITER, CLIENT, COORDINATOR, PASSIVE, passive_names

    if not 1 <= passive <= MOST:
        raise UsageError(f"--passive is {passive}: use 1 to {MOST}")
    if clients not in (0, *range(2, MOST + 1)):
        raise UsageError(f"--clients is {clients}: use 2 to {MOST}")
    parties = {ACTIVE: ACTIVE, ARBITER: ARBITER, COORDINATOR: COORDINATOR}
    parties |= dict.fromkeys(passive_names(passive), PASSIVE)
    if clients:
        parties = {ARBITER: ARBITER, **dict.fromkeys(client_names(clients), CLIENT)}
    for folder in make_certificates(out, parties, days):
        print(folder)


def party(
    role: Annotated[str, typer.Option(help="active, passive, arbiter, coordinator or client.")],
    config: Annotated[Path, typer.Option(help="This party's TOML file; see docs/processes.md.")],
    name: Annotated[
        str | None, typer.Option(help="This party's name, where a role has several: passive-2.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last epoch or tree that all saved.")
    ] = False,
    transcript: Annotated[
        Path | None, typer.Option(help="Save every message that this party receives.")
    ] = None,
    join_timeout: Annotated[
        float, typer.Option(help="How many seconds to wait for the others at the start.")
    ] = 30.0,
) -> None:
    """Run one party of a secure federation as its own process, over mutual TLS on loopback."""
    from whatleaks.federation.processes.party_config import ROLES, load_config
    from whatleaks.federation.processes.party_process import run_party
    from whatleaks.wire.parties import role_of

    if role not in ROLES:
        raise UsageError(
            f"--role is {role!r}: use one of {', '.join(ROLES)}.{nearest(role, ROLES)}"
        )
    if role_of(name or role) != role:
        raise UsageError(f"--name {name!r} is not a {role} party")
    chosen = load_config(config, name or role)
    run_party(chosen, resume, transcript, lambda line: print(line, flush=True), join_timeout)


def align(
    first: Annotated[Path, typer.Argument(help="A CSV file.")],
    second: Annotated[Path, typer.Argument(help="Another party's CSV file.")],
    id: Annotated[str, typer.Option("--id", help="The column that joins the two files.")],
    out: Annotated[Path, typer.Option(help="Folder for the two files' common records.")],
    strip: Annotated[
        bool, typer.Option("--strip", help="Ignore spaces around ids and repeated ones inside.")
    ] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", help="Ignore case in ids.")] = False,
) -> None:
    """Cut two CSV files to their common records, in one order, by private set intersection."""
    from whatleaks.crypto.psi import align as intersect
    from whatleaks.data.alignment import align_files

    def common(ids: Sequence[str], others: Sequence[str]) -> Alignment:
        return intersect(ids, others, strip, ignore_case, (str(first), str(second)))

    done = align_files(first, second, id, out, common)
    for file in done:
        print(f"{file.target}: {file.kept} of {file.rows} records")
    for file in done:
        if file.untidy:
            print(
                f"{file.source}: {file.untidy} ids without a match have spaces or capitals: "
                "try --strip or --ignore-case"
            )


def transcript(
    file: Annotated[Path, typer.Argument(help="A file that `whatleaks party --transcript` saved.")],
    as_: Annotated[str, typer.Option("--as", help="The party whose eyes to use.")],
) -> None:
    """Show what a party saw: kinds, plain or cipher, sizes, and what it can compute from them."""
    from whatleaks.threat.exposures import what_was_seen
    from whatleaks.wire.transcript import Transcript

    found = what_was_seen(Transcript.load(file), as_)
    show(
        f"What {as_} saw",
        ("from", "kind", "form", "messages", "bytes", "shapes", "steps"),
        [
            (
                seen.sender,
                seen.kind,
                seen.form,
                str(seen.count),
                f"{seen.size:,}",
                ", ".join("x".join(map(str, shape)) for shape in seen.shapes),
                f"{seen.steps[0]} to {seen.steps[1]}",
            )
            for seen in found
        ],
    )
    print("What it gives away")
    for line in dict.fromkeys(f"  {seen.kind} ({seen.form}): {seen.exposes}" for seen in found):
        print(textwrap.fill(line, 79, subsequent_indent="    "))
