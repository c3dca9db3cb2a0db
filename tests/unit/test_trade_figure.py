"""Defenses as points: which are on the front, and what the figure says in words."""

from __future__ import annotations

from whatleaks_lab.papers.jiang_defenses import Found
from whatleaks_lab.report.trade_figure import front, placed, trade_figure

POINTS = {
    "no defense": (0.9, 0.8),
    "rounded": (0.9, 0.6),  # better than none in one, equal in the other
    "noise": (0.7, 0.3),
    "worse noise": (0.6, 0.4),  # beaten in both
    "label": (0.9, 0.6),  # as good as another: both stay
}


def test_the_front_holds_what_nothing_beats() -> None:
    assert front(POINTS) == ["noise", "rounded", "label"]
    assert front({"only": (0.5, 0.5)}) == ["only"]


def test_an_adversary_asks_often_and_a_user_once() -> None:
    found = {
        ("noise-1", 10): Found(0.8, 0.5, 0.4, 0.3, 0.1),
        ("noise-1", 1): Found(0.6, 0.2, 0.1, 0.2, 0.2),
        ("", 1): Found(0.9, 0.7, 0.6, 0.5, 0.1),
    }
    assert placed(found, "white") == {"no defense": (0.9, 0.7), "noise-1": (0.6, 0.5)}
    assert placed(found, "black") == {"no defense": (0.9, 0.6), "noise-1": (0.6, 0.4)}


def test_the_figure_says_its_numbers_and_marks_the_ideal() -> None:
    drawn = trade_figure("Defenses on a set", [("one model", POINTS), ("another", POINTS)])
    assert drawn.startswith("<svg") or "<svg" in drawn[:200]
    assert "rounded accuracy 90 %, attack 60 %, on the front;" in drawn
    assert "worse noise accuracy 60 %, attack 40 %;" in drawn
    assert drawn.count(">ideal<") == 1
