"""The comparison of defenses: the front, the recommendation, what the report shows of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_audit import accuracy, high_case, share

from whatleaks.auditor.advice import advice
from whatleaks.auditor.again import contenders
from whatleaks.auditor.compare import compare_defenses
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.result import ColumnDefense, DefenseFinding, Trade, Worth
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import card
from whatleaks.errors import UsageError
from whatleaks.report.figures import Point, privacy_against_utility
from whatleaks.report.html import render


def tried(name: str, leak: float, worth: float, wide: float = 0.02) -> DefenseFinding:
    pair = ColumnDefense("income", share(0.8, 0.02), share(leak, wide))
    return DefenseFinding(
        name=name, title=f"The defense {name}", acts_on="release", threat="white-box", attack="a",
        columns=(pair,), column=pair, worst=pair, adds_before=pair.before, adds=pair.after,
        limit=pair.after, accuracy_before=accuracy(0.90), accuracy=accuracy(worth),
        against=("white-box",),
    )  # fmt: skip


def test_the_front_is_what_no_other_beats_in_both() -> None:
    found = compare_defenses(
        [tried("good", 0.06, 0.895), tried("dear", 0.01, 0.7), tried("poor", 0.3, 0.6)], "white-box"
    )
    assert found is not None
    assert {p.name for p in found.points if p.front} == {"", "good", "dear"}
    assert found.recommended == "good"  # dear leaks less, and costs 20 points of accuracy
    assert "6 % in the worst column instead of 80 %" in found.why


def test_a_dear_setting_is_named_but_not_recommended() -> None:
    found = compare_defenses([tried("half", 0.3, 0.9), tried("dear", 0.0, 0.5)], "white-box")
    assert found is not None
    assert found.recommended == ""
    assert "at most 2.0 points of accuracy" in found.why
    assert "costs 40.0 points" in found.why


@pytest.mark.parametrize("leak", [0.79, 0.11])
def test_nothing_is_recommended_that_leaves_the_leak(leak: float) -> None:
    found = compare_defenses([tried("idle", leak, 0.9)], "white-box")
    assert found is not None
    assert found.recommended == ""
    assert "none of the 1 tried brings what joining adds below 10 %" in found.why
    assert f"The defense idle, leaves {100 * leak:.0f} %" in found.why


@pytest.mark.parametrize("leaks", [(0.05, 0.3), (0.3, 0.4), (0.02, 0.09)])
def test_it_never_contradicts_the_advice(leaks: tuple[float, ...]) -> None:
    defenses = [tried(f"d{i}", leak, 0.89) for i, leak in enumerate(leaks)]
    head = replace(high_case().headline, level="high", threat="white-box", column="income")
    told = " ".join(advice(head, (), defenses))
    found = compare_defenses(defenses, "white-box")
    assert found is not None
    assert ("None of the defenses tried" in told) == (found.recommended == "")
    if found.recommended:
        assert f"“The defense {found.recommended}” brings" in told


def test_another_number_than_the_headlines_is_explained() -> None:
    """Defenses are tried on some of the seeds: what is read without them there may be another share."""
    head = replace(high_case().headline, level="high", threat="white-box", column="income")
    (line, *_) = advice(replace(head, adds=share(0.8)), (), [tried("good", 0.06, 0.895)])
    assert "from 80 % down to 6 %" in line
    (line, *_) = advice(replace(head, adds=share(0.7)), (), [tried("good", 0.06, 0.895)])
    assert "from 80 % (on the seeds and records on which defenses were tried) down to 6 %" in line


def test_where_little_is_read_without_a_defense_none_is_said_to_fail() -> None:
    head = replace(high_case().headline, level="medium", threat="white-box", column="income")
    small = ColumnDefense("income", share(0.09), share(0.001))
    holds = replace(tried("good", 0.0, 0.9), columns=(small,), column=small, worst=small)
    (line, *_) = advice(replace(head, adds=share(0.12)), (), [holds])
    assert "None of the defenses" not in line
    assert "joining adds 9 % in “income” without any" in line


def dear_case() -> tuple[DefenseFinding, DefenseFinding]:
    """Return a defense that stops everything and spoils the model, and one that costs nothing."""
    return tried("dear", 0.03, 0.4), tried("class", 0.28, 0.9)


def test_the_price_of_every_defense_that_is_named_is_told() -> None:
    """Before: "the closest leaves 28 %", and not that the model then classes 61 % instead of 90 %."""
    head = replace(high_case().headline, level="high", threat="white-box", column="income")
    lines = advice(head, (), [tried("dear", 0.28, 0.61), tried("class", 0.56, 0.9)])
    assert "“The defense dear”, leaves 28 %" in lines[0]
    assert "loses 29.0 points of accuracy" in lines[0]
    (cheap,) = [line for line in lines if line.startswith("Of those that cost at most 2.0 points")]
    assert "“The defense class” leaves least: 56 %" in cheap
    assert "at no cost of accuracy" in cheap
    assert sum("asks about one person again" in line for line in lines) == 1  # both release scores


def test_a_defense_that_leaves_nothing_of_what_joining_is_worth_says_so() -> None:
    """Before: a model worse than the partner's own was to be weighed against what joining is worth."""
    head = replace(high_case().headline, level="high", threat="white-box", column="income")
    worth = high_case().worth
    alone = replace(worth, accuracy_alone=accuracy(0.72))
    lines = advice(head, (), dear_case(), worth=alone)
    assert "it is right in 40.0 % of cases, without joining in 72.0 %" in lines[0]
    assert "weigh it" not in lines[0]
    assert any("“The defense class” leaves least: 28 %" in line for line in lines)
    worse = replace(worth, accuracy_alone=accuracy(0.3))
    assert "weigh it" in advice(head, (), dear_case(), worth=worse)[0]


def test_a_leak_for_no_gain_is_told_first() -> None:
    head = replace(high_case().headline, level="high", threat="white-box", column="income")
    none = Worth(accuracy(0.73), accuracy(0.72), share(0.0), auc_gain=replace(share(0.0), low=-0.1))
    (line, *_) = advice(head, (), dear_case(), worth=none)
    assert line.startswith("No gain is shown for what leaks")
    assert "by accuracy or AUC" in line
    some = replace(none, auc_gain=share(0.5))
    for case, gained in ((head, some), (replace(head, level="low"), none)):
        assert not any("No gain" in one for one in advice(case, (), dear_case(), worth=gained))


def test_a_cheap_defense_that_would_be_named_meets_the_slow_attacks_too() -> None:
    head = replace(high_case().headline, level="high", threat="white-box", column="income")
    assert contenders(head, dear_case()) == ["dear", "class"]
    assert contenders(head, [tried("good", 0.06, 0.9), *dear_case()]) == ["good", "dear"]


def test_another_setting_has_the_title_of_its_family() -> None:
    """Before, reports said "noise-1" beside "Gaussian noise of 0.1 on scores"."""
    titles = {name: card("defense", name).title for name in ("noise-1", "rounding-2", "dp-sgd-10")}
    assert titles == {
        "noise-1": "Gaussian noise of 1 on scores",
        "rounding-2": "Scores rounded down to 2 digits",
        "dp-sgd-10": "Differentially private training, epsilon 10",
    }


def test_other_threats_and_other_columns_are_not_compared() -> None:
    assert compare_defenses([tried("good", 0.2, 0.9)], "black-box") is None
    assert compare_defenses([], "white-box") is None
    columns = replace(tried("fewer", 0.0, 0.9), acts_on="data")
    found = compare_defenses([tried("good", 0.2, 0.9), columns], "white-box")
    assert found is not None
    assert [p.name for p in found.points] == ["", "good"]
    assert found.recommended == "fewer"
    assert "It is not drawn" in found.why
    assert "Not compared" not in found.why  # it is what is recommended
    found = compare_defenses(
        [tried("best", 0.0, 0.9), replace(columns, title="Fewer")], "white-box"
    )
    assert found is not None
    assert found.recommended == "best"
    assert found.why.endswith("Not compared, as other columns are left to judge: Fewer.")


def test_settings_that_leave_no_attack_an_answer_are_named() -> None:
    found = compare_defenses([tried("idle", 0.8, 0.9)], "white-box", ["Large batches"])
    assert found is not None
    assert found.why.endswith("Not compared, as no attack tried finds an answer: Large batches.")


def test_no_setting_is_said_to_fail_where_little_is_read_without_any() -> None:
    little = tried("good", 0.0, 0.9)
    assert little.column is not None
    pair = replace(little.column, before=share(0.05))
    little = replace(little, column=pair, worst=pair, columns=(pair,))
    found = compare_defenses([little], "white-box")
    assert found is not None
    assert found.recommended == ""
    assert "none can be seen to help" in found.why
    assert "none of the" not in found.why


def test_comparing_adds_settings_and_asks_noise_again() -> None:
    spec = AuditSpec("y", ("a",), threats=("white-box",), seeds=1)
    plain = {s.defense: s for s in scenarios(spec, "t", "0" * 64)}
    more = {s.defense: s for s in scenarios(replace(spec, compare_defenses=True), "t", "0" * 64)}
    assert set(more) - set(plain) == {"rounding-2", "noise-0.01", "noise-1", "dp-sgd-0.1", "dp-sgd-10"}  # fmt: skip
    assert more["noise-1"].asks == more["noise-0.1"].asks > 1
    assert more["rounding-2"].asks == 1
    assert more["rounding-2"].attack_options["cut"] == 2
    assert more["purifier-real"].attack_options["purifier"] == "real"
    with pytest.raises(UsageError, match="nothing to compare"):
        AuditSpec("y", ("a",), defenses=False, compare_defenses=True)


def test_the_figure_marks_front_corner_and_choice() -> None:
    trades = [Trade("", "none", share(0.8), accuracy(0.9), True)]
    points = [Point(p.title, p.leak, p.accuracy) for p in trades]
    marked = privacy_against_utility("All", points, front=["none"], chosen="none")
    assert "on the front, recommended." in marked
    for word in ("ideal", "recommended", "front"):
        assert word in marked
    assert "ideal" not in privacy_against_utility("All", points)


def test_without_the_extra_that_draws_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    found = compare_defenses([tried("good", 0.0, 0.9)], "white-box")
    result = replace(high_case(), comparison=found)
    assert "Not drawn here" not in render(result)
    monkeypatch.setattr("whatleaks.report.page.absent", lambda extra: extra == "figures")
    page = render(result)
    assert "Not drawn here: needs whatleaks[figures]." in page
    assert found is not None
    assert found.why in page
