"""Page, terminal, sign-off page and comparison say the same of one audit, in words that are whole."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from sample_audit import accuracy, high_case, low_case, share

from whatleaks.auditor.advice import advice, silent
from whatleaks.auditor.notes import counted_again
from whatleaks.auditor.result import (
    NAMED,
    AuditResult,
    ColumnDefense,
    GroupFinding,
    People,
    Unmeasured,
)
from whatleaks.report.comparison import compare, lines
from whatleaks.report.html import render
from whatleaks.report.page import lay_out
from whatleaks.report.signoff import render as sign
from whatleaks.report.terminal import summary


def spaced(text: str) -> str:
    """Return a page with usual spaces before its percent signs."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def named_case() -> AuditResult:
    """Return an audit whose first column is named much more than it is followed, and is defended badly."""
    made = high_case()
    worst = made.headline.column

    def counted(people: People | None) -> People:
        assert people is not None
        return replace(people, named=share(0.9), named_without=share(0.1), named_more=share(0.8))

    threats = tuple(
        replace(
            threat,
            findings=tuple(
                replace(
                    guess,
                    columns=tuple(
                        replace(c, people=counted(c.people), adds=share(0.04))
                        if c.column == worst
                        else c
                        for c in guess.columns
                    ),
                )
                for guess in threat.findings
            ),
        )
        for threat in made.threats
    )
    return replace(made, threats=threats)


def test_the_table_of_columns_is_on_the_scale_of_the_bars() -> None:
    """Before: "joining adds 4 %" beside a bar of 80 %, and a defense that leaves more than was added."""
    made = named_case()
    (row,) = [row for row in lay_out(made).rows if row.column == made.headline.column]
    assert row.found.worse.scale == NAMED
    assert (row.without, row.joined) == (0.1, 0.9)
    (cells,) = re.findall(
        rf'<th scope="row"><bdi>{row.column}</bdi></th>(<td>10 %.*?)</tr>', spaced(render(made))
    )
    assert cells.startswith("<td>10 %</td><td>90 %</td><td>80 %<small>people named exactly</small>")


def test_nothing_is_shown_below_nothing() -> None:
    """Before, tables said "-3 %" or "-0 %" where figures and cards said "0 %"."""
    made = high_case()
    below = replace(share(0.0), value=-0.03, low=-0.1)
    pairs = tuple(replace(pair, after=below) for pair in made.defenses[0].columns)
    first = replace(made.defenses[0], columns=pairs, column=pairs[0], worst=pairs[0], adds=below)
    made = replace(made, defenses=(first, *made.defenses[1:]))
    stored = made.to_dict()
    for text in (
        render(made),
        summary(made),
        sign(stored),
        "\n".join(lines(compare(stored, stored))),
    ):
        assert not re.search(r"(?<![\d.])-\d+(\.\d+)?[ \N{NO-BREAK SPACE}]%", text)


def test_groups_have_the_number_of_their_words() -> None:
    """Before: a bar of 67 % beside "372 of 372 people, joined or not"."""
    group = GroupFinding("all others", share(0.67), share(0.4), share(1.0), share(0.4))
    (bar,) = lay_out(replace(high_case(), groups=(group,))).groups
    assert (bar.text, bar.known, bar.value) == ("100 %", 1.0, 1.0)  # nothing of it is a leak
    (bar,) = lay_out(
        replace(high_case(), groups=(replace(group, within_without=share(0.3)),))
    ).groups
    assert (bar.text, bar.known, bar.value) == ("67 %", 0.3, 0.67)
    (bar,) = lay_out(replace(high_case(), groups=(group,))).groups
    assert bar.detail.startswith("228 of 228 people, joined or not")


@pytest.mark.parametrize("without", [0.5, 0.01])
def test_no_attack_is_credited_with_people_reached_without_joining(without: float) -> None:
    """Before: "6 of 240 people, joined or not (by Equality solving)"."""
    made = high_case()
    (threat,) = [t for t in made.threats if t.name == made.headline.threat]
    first = threat.of("attack")[0]
    people = People(share(0.2), share(without), (), 0.0, share(0.2))
    weaker = tuple(replace(c, adds=share(0.0), people=people) for c in first.columns)
    first = replace(first, columns=tuple(replace(c, people=None) for c in first.columns))
    other = replace(first, name="other", title="Another attack", columns=weaker)
    rows = lay_out(replace(made, threats=(replace(threat, findings=(first, other)),))).rows
    assert all(("(by Another attack)" in row.people) == (without < 0.2) for row in rows)


def test_nothing_is_cut_off_beneath_a_row() -> None:
    """Before: "exactly 288 of 288 people (9 with…" in the terminal."""
    group = GroupFinding(
        "the tenth furthest from the average", *[share(0.9)] * 2, *[share(0.1)] * 2
    )
    told = summary(replace(high_case(), groups=(group, group)))
    whole = " ".join(told.split())
    assert (
        "205 of 228 people (23 without joining); exactly 205 of 228 people (23 without joining)"
        in whole
    )


def test_the_circle_is_the_defense_that_the_advice_names() -> None:
    """Before, the one that leaves least, whatever it costs: figure and advice named different ones."""
    made, column = high_case(), high_case().headline.column
    named = []
    for title, left, right in (("dear", 0.01, 0.4), ("cheap", 0.06, 0.9)):
        pair = ColumnDefense(column, share(0.8), share(left))
        named.append(
            replace(
                made.defenses[0], name=title, title=title, columns=(pair,), column=pair, worst=pair,
                accuracy_before=accuracy(0.9), accuracy=accuracy(right),
                threat=made.headline.threat, against=(made.headline.threat,),
            )
        )  # fmt: skip
    page = lay_out(replace(made, defenses=tuple(named)))
    assert page.best_defense == "cheap"
    assert page.helps == ("80 % → 6 %", f"in {column}, with “cheap”, accuracy 90.0 % → 90.0 %")
    page = lay_out(replace(made, defenses=tuple(named[:1])))
    assert page.helps is not None
    assert page.helps[0] == "Only at a price"
    pair = replace(named[0].worst, after=share(0.4))
    weak = replace(named[1], columns=(pair,), column=pair, worst=pair)
    page = lay_out(replace(made, defenses=(weak,)))
    assert page.helps is not None
    assert page.helps[0] == "None tried is enough"
    assert "the closest, “cheap”, leaves 40 %" in page.helps[1]
    assert lay_out(replace(made, defenses=())).helps is None
    assert lay_out(low_case()).helps == ("No defense is called for", "")


@pytest.mark.parametrize("count", [3, 9])
def test_the_page_to_sign_says_how_much_advice_is_not_on_it(count: int) -> None:
    made = replace(high_case(), advice=tuple(f"Advice {k}." for k in range(count)))
    text = sign(made.to_dict())
    assert ("Advice 3." in text) == (count > 3)
    assert "Advice 4." not in text
    assert ("and 5 more, in the report" in text) == (count > 4)


def test_a_comparison_names_defenses_as_the_reports_do() -> None:
    stored = high_case().to_dict()
    told = "\n".join(
        lines(compare(stored, {**stored, "spec": {**stored["spec"], "threats": ["x", "y"]}}))
    )
    assert "threats: none in A, x, y in B" in told
    assert stored["defenses"][0]["title"][:12] in told


def test_it_is_said_why_more_people_are_counted_than_there_are() -> None:
    """Before: "900 of 900 people" of a table of 500 without a word."""
    (note,) = counted_again(high_case().threats, 200)
    assert note.endswith("228 people are counted, the table has 200.")
    assert counted_again(high_case().threats, 228) == []


def test_the_page_to_sign_cuts_no_remark_in_a_word_and_names_the_federation() -> None:
    """Before: "error by then 0.1 (0.049 to 0.16), witho…", and model lr where a split network was trained."""
    made = high_case()
    long = replace(made.defenses[0], remark=f"It halted one. {'It watched and watched ' * 20}.")
    note = "Under split-hijack the federation that trains is split, not lr: what is said there holds for split."
    text = sign(replace(made, defenses=(long,), notes=(note,)).to_dict())
    assert "It halted one. More in the report." in text
    assert "watched and" not in text
    assert note in text


def test_defenses_that_no_attack_could_answer_are_named() -> None:
    """Before: "none of the defenses tried; the closest leaves 100 %", where four others left no attack at all."""
    made = high_case()
    why = "no attack that guesses values ran with it in place"
    lost = (
        Unmeasured("least-batch-80", "Large batches", "white-box", why, silent=True),
        Unmeasured("arbiter-adam", "Another optimiser", "encrypted", why, silent=True),
        Unmeasured("gate-0.01", "A gate", "white-box", "it withheld the scores of all 80 records"),
    )
    assert made.headline.threat == "white-box"
    (title,) = silent(lost, "white-box")
    assert silent(lost, "black-box") == (title,) == ("Large batches",)  # who holds less
    told = advice(made.headline, made.threats, (), silenced=(title,))
    assert any(
        f"With “{title}” in place no attack tried here finds an answer" in line for line in told
    )
    page = lay_out(replace(made, defenses=(), unmeasured=lost))
    assert page.helps == ("Not measured", f"no attack tried finds an answer with “{title}”")
    assert lay_out(replace(low_case(), defenses=(), unmeasured=lost)).helps is not None
