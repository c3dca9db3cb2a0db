"""The page: order, escaping, completeness, no reference to anything outside."""

import html
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sample_audit import (
    CASES,
    ESA,
    HOSTILE,
    bare_case,
    complete_case,
    finding,
    high_case,
    result,
    sample_case,
    spread_over,
    wide_case,
)

from whatleaks.auditor.result import AuditResult
from whatleaks.errors import WhatleaksError
from whatleaks.report.html import render, write
from whatleaks.report.page import lay_out, worst_of
from whatleaks.report.wording import printable

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Reader(HTMLParser):
    """Collects tags, attributes and text, and checks that every tag is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(result: AuditResult) -> tuple[str, Reader]:
    html = render(result)
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return html, reader


@pytest.mark.parametrize("case", CASES)
def test_sections_stand_in_the_order_of_the_questions(case: str) -> None:
    html, _ = read(CASES[case]())
    questions = [
        "How bad is it?",
        "Which columns leak?",
        "Under which threat?",
        "How sure are we?",
        "What would help?",
        "How was this made?",
    ]
    places = [html.index(question) for question in questions]
    assert places == sorted(places)


@pytest.mark.parametrize("case", CASES)
def test_the_page_is_self_contained_small_and_same_each_time(case: str) -> None:
    result = CASES[case]()
    html, reader = read(result)
    assert html == render(CASES[case]())
    assert len(html.encode()) < 300_000
    assert not {"script", "link", "img", "iframe", "object", "base"} & set(reader.tags)
    assert not re.search(r"https?:|//[a-z]|@import|url\(", html, flags=re.IGNORECASE)
    names = [name for name, _ in reader.attributes]
    assert not [name for name in names if name.startswith("on") or name == "src"]
    for name, value in reader.attributes:
        if name == "href":
            assert value is not None
            assert value.startswith("#")
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("case", CASES)
def test_level_in_words_every_column_and_no_nan(case: str) -> None:
    result = CASES[case]()
    _, reader = read(result)
    text = " ".join(reader.text)
    assert result.headline.level in text
    for card in result.columns:
        assert printable(card.name) in text
    style_removed = re.sub(r":root.*?\n\}", "", text, flags=re.DOTALL)
    assert not re.search(r"\bnan\b(?!<i>)|\bNaN\b|\binf\b|\bNone\b", style_removed)


def test_hostile_names_are_shown_and_never_run() -> None:
    html, reader = read(CASES["hostile"]())
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "onerror=alert(2)>" not in html
    assert "49 &amp;" not in html  # {{ 7 * 7 }} is a name, not a template
    assert "<b>Equality" not in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    for name in HOSTILE:
        assert printable(name) in " ".join(reader.text)


def test_sixty_columns_are_all_there_worst_first() -> None:
    result = wide_case()
    names = [bar.label for bar in lay_out(result).columns]
    assert names == [f"sensor_{i:02d}" for i in range(60)]
    html, _ = read(result)
    assert html.count('class="bar"') >= 60
    assert "48 more columns" in html


def test_three_hundred_columns_still_make_a_small_file() -> None:
    names = tuple(f"sensor_{i:03d}" for i in range(300))
    many = result("low", "Little leaks.", spread_over(names, 0.05), ESA)
    assert len(render(many).encode()) < 500_000


def test_an_exact_attack_is_said_to_be_exact() -> None:
    html, _ = read(complete_case())
    assert "0 (exact to 1e-15)" in html
    assert "100 %" in html


def test_values_are_shown_only_when_asked_for_and_with_a_warning() -> None:
    with_values, _ = read(sample_case())
    without, _ = read(high_case())
    for value in ("0.482", "0.501", "0.12", "0.119"):
        assert f"<td>{value}</td>" in with_values
    assert with_values.count("real values of real people") == 2
    assert "real values" not in without
    assert "True value" not in without


def test_what_is_missing_is_said() -> None:
    html, _ = read(bare_case())
    assert "No defense was tried" in html
    assert "not measured" in html
    assert "no learner was trained" in html
    empty, _ = read(replace(high_case(), threats=()))
    assert "No attack ran" in empty
    unmeasured = replace(high_case().threats[1].findings[0], columns=())
    threat = replace(high_case().threats[1], findings=(unmeasured,))
    html, _ = read(replace(high_case(), threats=(threat,)))
    assert "Not measured:" in html


def test_the_worst_is_the_one_that_the_headline_names() -> None:
    result = high_case()
    threat, attack = worst_of(result)
    assert threat is result.threats[1]
    assert attack is result.threats[1].findings[0]
    other = replace(result, headline=replace(result.headline, threat="gone", attack="gone"))
    assert worst_of(other)[1] is attack


def test_a_threat_is_shown_by_the_strongest_attack_on_each_column() -> None:
    names = ("a", "b", "c")
    one = finding("x", "reads one", "attack", "", dict.fromkeys(names, 0.0) | {"a": 1.0})
    every = finding("y", "reads all", "attack", "", dict.fromkeys(names, 0.9))
    weak = replace(high_case().threats[0], name="weak", findings=(every,))
    strong = replace(weak, name="strong", findings=(one, every))
    bars = {
        bar.label: bar for bar in lay_out(replace(high_case(), threats=(weak, strong))).overview
    }
    assert bars["weak"].text == "68 %"  # three quarters of 0.9, as in sample_audit
    assert bars["strong"].text == "70 %"  # and of 1 in one of three columns
    assert bars["strong"].detail == "worst column: a, 75 %; reads one"


def test_a_malicious_threat_changes_what_was_not_tested() -> None:
    result = high_case()
    assert any("breaks the protocol" in line for line in lay_out(result).untested)
    said = replace(result.threats[0], conduct="breaks nothing, says nothing malicious")
    assert not lay_out(replace(result, threats=(said,))).threats[0].malicious  # words are no fact
    bad = replace(result.threats[0], conduct="follows nobody", malicious=True)
    assert lay_out(replace(result, threats=(bad,))).threats[0].malicious
    assert not any(
        "breaks the protocol" in line for line in lay_out(replace(result, threats=(bad,))).untested
    )


def test_section_four_says_the_same_as_section_one() -> None:
    html, _ = read(high_case())
    assert "tells something only if" not in html
    assert "on two scales, and the worse one decides" in html
    page = lay_out(high_case())
    named = next(bar for bar in page.columns if bar.label == high_case().headline.column)
    assert named.text == "65 %"  # of 87 %, a quarter of which is known without joining
    assert "joining adds" in html


def test_the_three_conditions_stand_in_the_headline() -> None:
    html, _ = read(high_case())
    for start in ("If you hand over your part", "If you keep it", "If your partner holds"):
        assert start in html


def test_the_command_comes_from_the_spec_when_it_is_there() -> None:
    result = high_case()
    assert lay_out(result).command == "whatleaks audit breast-cancer"
    spec = {"command": ["whatleaks", "audit", "my table.csv"]}
    assert lay_out(replace(result, spec=spec)).command == "whatleaks audit 'my table.csv'"


def test_figures_have_titles_and_descriptions() -> None:
    html, _ = read(high_case())
    figures = re.findall(r'<svg[^>]*role="img".*?</svg>', html, flags=re.DOTALL)
    assert len(figures) > 20
    for figure in figures:
        assert "<title>" in figure
        assert "<desc>" in figure


def palettes(css: str) -> list[dict[str, str]]:
    blocks = re.findall(r":root \{(.*?)\}", css, flags=re.DOTALL)
    return [dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block)) for block in blocks]


def contrast(one: str, two: str) -> float:
    def light(colour: str) -> float:  # the relative luminance of WCAG 2.2
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        red, green, blue = (
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_meets_wcag_aa_in_every_scheme() -> None:
    found = palettes(render(high_case()))
    assert len(found) == 3  # light, dark, print
    for colours in found:
        for words in ("ink", "soft", "low", "medium", "high", "complete", "bar"):
            assert contrast(colours[words], colours["paper"]) >= 4.5, words
        for words in ("ink", "soft"):
            assert contrast(colours[words], colours["card"]) >= 4.5, words
        assert contrast(colours["ink"], colours["warn"]) >= 4.5
        for shape in ("bar", "gain", "mark", "idle"):
            assert contrast(colours[shape], colours["rail"]) >= 3.0, shape


def test_write_replaces_in_one_step_and_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "out" / "report.html"
    assert write(high_case(), target) == target
    first = target.read_text(encoding="utf-8")
    write(high_case(), str(target))
    assert target.read_text(encoding="utf-8") == first == render(high_case())
    assert [path.name for path in target.parent.iterdir()] == ["report.html"]


def test_a_file_with_values_is_for_its_owner_only(tmp_path: Path) -> None:
    path = write(sample_case(), tmp_path / "report.html")
    assert path.stat().st_mode & 0o077 == 0


def test_write_says_in_one_line_why_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "file" / "report.html", tmp_path / "folder"):
        with pytest.raises(WhatleaksError, match=r"cannot write|is a folder") as caught:
            write(high_case(), target)
        assert "\n" not in str(caught.value)
        assert str(tmp_path) in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_people_are_counted_in_every_seed_and_worth_goes_by_more_than_accuracy() -> None:
    result = high_case()
    page = html.unescape(render(replace(result, seeds=(0, 1, 2, 3, 4), defended_seeds=(0, 1, 2))))
    assert f"{result.target_rows:,} records attacked in each of 5 seeds" in page
    tile = page[page.index("What joining gives you") :].partition("</div>")[0]
    assert "Record by record the joint model is" in tile
    assert "Defenses were tried on the first 3 of 5 seeds." in page
    once = html.unescape(render(replace(result, seeds=(0,), defended_seeds=(0,))))
    assert "in each of" not in once
    assert "Defenses were tried on" not in once
