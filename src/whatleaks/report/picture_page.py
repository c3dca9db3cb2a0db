"""An audit of pictures as one HTML file and as lines of text; pictures only where asked for."""

from __future__ import annotations

import base64
import io
import textwrap
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.auditor.picture_result import PictureAudit, PictureRow
from whatleaks.files import write_atomically
from whatleaks.report.html import environment
from whatleaks.report.wording import (
    number,
    number_range,
    percent,
    percent_range,
    points,
    printable,
)

_COLOURS = {"leaks": "high", "open": "medium"}  # of the page; else low
_GAP = 2  # pixels between pictures


@dataclass(frozen=True)
class Strip:
    """A row of pictures as one image."""

    label: str
    source: str


def render(result: PictureAudit) -> str:
    """Return the whole report as HTML text."""
    template = environment().get_template("pictures.html")
    grid = tuple(Strip(row.label, strip(row)) for row in result.grid)
    return template.render(r=result, colour=_COLOURS.get(result.level, "low"), grid=grid)


def write(result: PictureAudit, path: Path) -> Path:
    """Write the report in one step; with pictures in it, it is its owner's alone."""
    data = render(result).encode("utf-8", errors="replace")
    write_atomically(path, data, 0o600 if result.grid else 0o644)
    return path


def strip(row: PictureRow) -> str:
    """Return pictures side by side as a PNG that stands in the page itself."""
    from matplotlib.image import imsave

    sink = io.BytesIO()
    imsave(sink, side_by_side(row.pictures), format="png", vmin=0.0, vmax=1.0)
    return "data:image/png;base64," + base64.b64encode(sink.getvalue()).decode("ascii")


def side_by_side(pictures: Floats) -> Floats:
    """Lay pictures in a row with a white gap; grey ones become three equal colours."""
    coloured = np.broadcast_to(pictures, (*pictures.shape[:3], 3))
    gap = np.ones((pictures.shape[1], _GAP, 3))
    parts = [part for picture in coloured for part in (picture, gap)][:-1]
    return np.concatenate(parts, axis=1)


def summary(result: PictureAudit) -> str:
    """Return the findings as plain text, for a screen of 80 characters."""
    name = printable(str(result.table["name"]))
    lines = [f"What leaks: {name}", "", *textwrap.wrap(result.sentence, 79), ""]
    lines.append("Hijacks: error of pixels from -1 to 1; adds: below the best guess without")
    for f in result.of("attack"):
        assert f.adds is not None
        watches = " (only watches)" if f.obeys else ""
        lines.append(
            f"  {f.name + watches:<26} {number(f.error.value):>7}  {f.psnr.value:5.1f} dB  adds "
            f"{number(f.adds.value)} ({number_range(f.adds)})"
        )
    lines += [
        f"  {f.name:<26} {number(f.error.value):>7}  no message" for f in result.of("baseline")
    ]
    lines += textwrap.wrap(result.asking(), 79)
    for d in result.detectors:
        false = round(d.false_halts.value * d.false_halts.n)
        rate = percent_range(d.false_halts)
        lines += ["", f"{d.name}: halts honest training in {false} of {d.false_halts.n} ({rate})"]
        lines += [
            f"  {w.hijack:<12} halted in {w.halted} of {w.of}, error by then {number(w.error.value)} "
            f"({number_range(w.error)})"
            for w in d.watched
        ]
        lines += textwrap.wrap(d.silent, 77, initial_indent="  ", subsequent_indent="  ")
    if result.defenses:
        lines += ["", "Defenses: error without -> with, accuracy without -> with"]
    lines += [
        f"  {d.name:<22} {d.hijack:<10} {number(d.before.value)} -> {number(d.error.value)}   "
        f"{percent(d.accuracy_before.value, 1)} -> {percent(d.accuracy.value, 1)}"
        for d in result.defenses
    ]
    gain = points(result.worth.accuracy_gain.value)
    return "\n".join([*lines, "", f"Joining is worth {gain} of accuracy."])
