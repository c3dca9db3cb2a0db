"""The experiments' figures: deterministic, labelled, self-contained SVG."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np
import pytest
from sample_audit import accuracy, error, share

from whatleaks.errors import SpecError
from whatleaks.report import figures
from whatleaks.report.figures import Line, Point
from whatleaks_lab.report import figures as lab
from whatleaks_lab.report.figures import Curve, Panel

SHARES = (0.1, 0.3, 0.5)


def line(label: str, *values: float) -> Line:
    return Line(label, SHARES, [error(value) for value in values])


def errors() -> str:
    return figures.error_against_share(
        "Satellite <LR> & $x$",
        [line("Equality solving", 1.2e-15, 0.01, 0.07), line("Half*", 0.01, 0.02, 0.03)],
        [line("half", 0.05, 0.05, 0.05)],
        threshold=1 / 12,
        threshold_label="one twelfth",
    )


def scatter() -> str:
    points = [
        Point("rounding", share(0.3), accuracy(0.96)),
        Point("none", share(0.87), accuracy(0.965)),
    ]
    return figures.privacy_against_utility("Defenses", points)


def curves() -> str:
    return lab.score_curves(
        "SplitGuard",
        [
            Curve("honest", range(4), [0.5, 0.6, 0.8, 0.9]),
            Curve("hijack", range(3), [0.6, 0.4, 0.2], 2),
        ],
        threshold=0.5,
        threshold_label="halt below",
    )


def small() -> str:
    parts = [
        Panel(name, [line("LR", 0.1, 0.2, top)], [line("half", 0.3, 0.3, 0.3)])
        for name, top in (("bank", 0.4), ("credit", 0.5), ("drive", 0.6))
    ]
    return lab.panels("Three sets", parts, "share", "error")


def pictures() -> str:
    stack = np.linspace(0, 1, 3 * 4 * 4).reshape(3, 4, 4)
    colour = np.repeat(stack[..., None], 3, axis=-1)[:2]
    return lab.picture_grid("Faces", {"truth": stack, "guess": colour}, ["one", "two"])


LABELS: list[tuple[Callable[[], str], list[str]]] = [
    (errors, ["Satellite <LR> & $x$", "Equality solving", "Half*", "half", "one twelfth", "50 %"]),
    (scatter, ["Defenses", "rounding", "none", "Leakage"]),
    (curves, ["SplitGuard", "honest", "hijack", "halt below", "halted at step 2"]),
    (small, ["Three sets", "bank", "credit", "drive", "LR", "half", "share", "error", "50 %"]),
    (pictures, ["truth", "guess", "one", "two"]),
]


@pytest.mark.parametrize(("draw", "labels"), LABELS)
def test_figure(draw: Callable[[], str], labels: list[str]) -> None:
    svg = draw()
    assert svg == draw()
    assert len(svg) < 60_000
    root = ElementTree.fromstring(svg)
    words = {(e.text or "").strip() for e in root.iter() if e.tag.endswith("}text")}
    for label in labels:
        assert any(label in word for word in words), label
    names = [e.tag.rsplit("}", 1)[1] for e in root]
    assert names[:2] == ["title", "desc"]
    assert root.get("role") == "img"
    # The only addresses are names of XML name spaces, which nobody fetches.
    for address in re.findall(r'[\w:]+="https?:[^"]*"|https?:', svg):
        assert address.startswith("xmlns")
    for e in root.iter():
        for key, value in e.attrib.items():
            if key.endswith("href"):
                assert value.startswith(("#", "data:image/png;base64,"))


def test_two_figures_on_one_page_share_no_id() -> None:
    one, two = errors(), curves()
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_intervals_are_drawn_and_told() -> None:
    wide = figures.error_against_share("t", [Line("a", [0.5], [error(0.1, 0.5)])])
    narrow = figures.error_against_share("t", [Line("a", [0.5], [error(0.1, 0.1)])])
    assert wide != narrow
    assert "50 %: 0.1 (0.05 to 0.15)" in wide


def test_bars_on_a_log_axis_have_plain_numbers_below() -> None:
    entries = [("a", error(1e-6, 0.1), False), ("b", error(200.0, 0.1), True)]
    svg = lab.bars("t", entries, "mse", log=True)
    assert "$" not in svg
    assert ">1e-06<" in svg
    assert ">100<" in svg


def test_a_log_axis_shows_exact_and_coarse_errors_together() -> None:
    svg = figures.error_against_share("t", [line("a", 1e-9, 1e-4, 0.1)], log=True)
    assert "1e-9" in svg


def test_wrong_input_is_refused_in_one_line() -> None:
    with pytest.raises(SpecError, match="nothing to show"):
        figures.error_against_share("t", [])
    with pytest.raises(SpecError, match="'a' has 2 places and 1"):
        figures.error_against_share("t", [Line("a", [0.1, 0.2], [error(0.1)])])
    with pytest.raises(SpecError, match="'a' has 2 steps and 1"):
        lab.score_curves("t", [Curve("a", [0, 1], [0.5])])
    with pytest.raises(SpecError, match="shape"):
        lab.picture_grid("t", {"a": np.zeros((2, 2))})
