"""``whatleaks audit --images``: pictures in, a report out."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import typer

from whatleaks.cli.common import other_flags, time_lines, words
from whatleaks.errors import UsageError

# What an audit of pictures takes; every other flag is about tables.
TAKEN = (
    "images",
    "threat",
    "seeds",
    "seed",
    "targets",
    "out",
    "no_defenses",
    "isolated",
    "show_values",
    "quick",
    "profile",
    "workers",
    "on",
    "address",
    "plugin",
)


def audit_images(context: typer.Context, path: Path, threat: str | None, **chosen: Any) -> None:
    """Read the pictures, run the hijack suite on their halves, write report.html and audit.json."""
    from whatleaks.auditor.estimate import LONG, workers_that_pay
    from whatleaks.auditor.pictures import THREAT, PictureSpec, audit_pictures
    from whatleaks.data.picture_files import read_pictures
    from whatleaks.data.sources import readable
    from whatleaks.files import write_atomically
    from whatleaks.report.picture_page import summary, write
    from whatleaks.runs.executors import choose
    from whatleaks.runs.live import display_for

    wrong = other_flags(context, TAKEN)
    if wrong:
        raise UsageError(f"{wrong[0]} has no meaning with --images: leave it out")
    if words(threat) not in ((), (THREAT,)):
        raise UsageError(f"--images is audited under --threat {THREAT}, got {threat}")
    out: Path = chosen.pop("out")
    profile: bool = chosen.pop("profile")
    on, workers, address = (chosen.pop(name) for name in ("on", "workers", "address"))
    spec = PictureSpec(**chosen)
    pictures = read_pictures(path)
    if workers is None and on == "local":  # trainings of networks: a first look is long enough too
        workers = workers_that_pay(LONG, pictures.pixels.size)
    executor = choose(on, workers or 0, address, inline=True)
    command = readable(shlex.join(["whatleaks", *sys.argv[1:]]))
    result = audit_pictures(pictures, spec, executor, out, display_for(), command)
    page = write(result, out / "report.html")
    text = json.dumps(result.to_dict(), indent=1, allow_nan=False, ensure_ascii=False)
    write_atomically(out / "audit.json", text.encode())
    print(summary(result))
    print(readable(f"Report: {page.resolve()}"))
    if profile:
        print("\n".join(time_lines(result.phases)))
