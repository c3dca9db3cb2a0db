"""One drawing style for every figure of the project: colours, marks, and SVG that never changes.

Colours are those of Okabe and Ito, told apart with any colour vision; every series has its
own mark and dash as well. Text stays text in the reader's own font; ink is ``currentColor``,
so that a figure fits a light and a dark page.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from whatleaks.report.wording import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito 2008, darkest contrast first; yellow is left out: it vanishes on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
GREYS = ("#6b7480", "#8a929c", "#565e69")
INK = "#010203"  # replaced by currentColor
FAINT = "#a7aeb7"

_RC: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.0,
    "text.parse_math": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "grid.color": FAINT,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.6,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "errorbar.capsize": 3.0,
}


@contextmanager
def sheet(title: str, width: float = 6.4, height: float = 4.0) -> Iterator[Figure]:
    """Give an empty figure in the project's style; it needs no screen and leaves no state."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # The title salts the ids, so that two figures on one page do not share any.
    with matplotlib.rc_context({**_RC, "svg.hashsalt": f"whatleaks {title}"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure


def svg(figure: Figure, title: str, description: str) -> str:
    """Return the figure as SVG text with a title and a description, ready to stand in a page.

    Call it inside ``sheet``. Equal figures give equal bytes: no date, no random id.
    """
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=nothing)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    used = set(re.findall(r"#([\w-]+)", text))
    text = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", text)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    head, body = text.split(">", 1)
    words = (
        f"<title>{escape(printable(title))}</title><desc>{escape(printable(description))}</desc>"
    )
    return f'{head} role="img" style="width:100%;max-width:46rem;height:auto">{words}{body}'.strip()
