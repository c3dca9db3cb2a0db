"""Numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatleaks.auditor import levels
from whatleaks.auditor.levels import LOW, MEDIUM
from whatleaks.auditor.result import People
from whatleaks.metrics.intervals import wilson
from whatleaks.metrics.measurement import Measurement
from whatleaks.report import wording
from whatleaks.report.page import people_in_words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.01234, "0.0123"),
        (0.5, "0.5"),
        (12.345, "12.3"),
        (1234.5, "1,234"),
        (999.7, "1,000"),
        (1.2e-15, "0 (exact to 1e-15)"),
        (3.44e-7, "3.4e-7"),
        (2e9, "2e9"),
        (math.nan, "not known"),
        (math.inf, "not known"),
    ],
)
def test_number(value: float, text: str) -> None:
    assert wording.number(value) == text


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.87, 0, "87 %"),
        (0.9649, 1, "96.5 %"),
        (1.0, 0, "100 %"),
        (1 - 1e-12, 0, "100 %"),
        (0.9999, 0, "over 99.9 %"),
        (0.9951, 0, "99.5 %"),
        (0.0, 0, "0 %"),
        (0.0002, 0, "under 0.1 %"),
        (0.004, 0, "0.4 %"),
        (0.0971, 0, "9.7 %"),
        (0.09999, 0, "under 10 %"),
        (0.0949, 0, "9 %"),
        (0.0996, 1, "9.96 %"),
        (0.1, 0, "10 %"),
        (0.4989, 0, "49.9 %"),
        (math.nan, 0, "not known"),
    ],
)
def test_percent(share: float, digits: int, text: str) -> None:
    assert wording.percent(share, digits) == text


@given(st.floats(min_value=1e-6, max_value=1 - 1e-6))
def test_percent_never_claims_nothing_or_everything_falsely(share: float) -> None:
    assert wording.percent(share) not in ("0 %", "100 %", "0.0 %", "100.0 %")


@given(st.floats(-0.006, 0.006), st.integers(0, 1), st.sampled_from((LOW, MEDIUM)))
def test_no_number_is_rounded_up_to_the_bound_of_a_word(
    off: float, digits: int, bound: float
) -> None:
    share = bound + off
    for text in (wording.percent(share, digits), levels.percent(share, digits)):
        below = text.startswith("under ")
        assert below or (float(text.removesuffix(" %")) < 100.0 * bound) == (share < bound)
        assert not below or share < bound


@given(st.floats(min_value=1e-12, max_value=1e12))
def test_number_stays_within_a_twentieth(value: float) -> None:
    shown = float(wording.number(value).replace(",", ""))
    assert shown == pytest.approx(value, rel=0.05)


@given(st.floats())
def test_no_float_is_shown_as_nan(value: float) -> None:
    for text in (wording.number(value), wording.percent(value), wording.points(value)):
        assert "nan" not in text
        assert "inf" not in text


def test_ranges_points_counts_and_times() -> None:
    m = Measurement(0.87, 0.84, 0.9, 10, "share", "records")
    assert wording.percent_range(m) == "84 % to 90 %"
    assert wording.number_range(m) == "0.84 to 0.9"
    assert wording.percent_range(Measurement(1, 1, 1, 10, "share", "records")) == "100 % to 100 %"
    assert wording.points(0.053) == "+5.3 points"
    assert wording.points(-0.02) == "\N{MINUS SIGN}2.0 points"
    assert wording.points(0.0001) == "no difference"
    nothing = Measurement(0.0, -0.0001, 0.0001, 10, "accuracy", "records")
    assert wording.points_range(nothing) == "0.0 to 0.0 points"
    mixed = Measurement(0.01, -0.004, 0.031, 10, "accuracy", "records")
    assert wording.points_range(mixed) == "\N{MINUS SIGN}0.4 to +3.1 points"
    assert wording.signed_range(mixed) == "\N{MINUS SIGN}0.004 to +0.031"
    assert [wording.signed(v) for v in (0.0, 1e-15, -3e-7)] == [
        "0",
        "0 (exact to 1e-15)",
        "\N{MINUS SIGN}3e-7",
    ]
    assert wording.count(1, "column") == "1 column"
    assert wording.count(1200, "record") == "1,200 records"
    assert wording.duration(0.2) == "under 1 second"
    assert wording.duration(42) == "42 seconds"
    assert wording.duration(600) == "10 minutes"
    assert wording.moment("2025-01-15T10:30:00Z") == "15 January 2025, 10:30 UTC"
    assert wording.moment("long ago") == "long ago"


def test_printable_disarms_control_and_direction_characters() -> None:
    assert "\x1b" not in wording.printable("\x1b[31mred")
    assert "\u202e" not in wording.printable("a\u202eb")
    for name in ("Größe 年龄", "می\u200cخواهم"):
        assert wording.printable(name) == name


def test_listing_holds_no_nan() -> None:
    assert "NaN" not in wording.listing({"a": [math.nan, (math.inf,)]})


def test_a_first_sentence_ends_at_a_point_that_is_not_part_of_a_name() -> None:
    assert wording.first_sentence("It adds 5.5 % in “st. no. x”. Alone it is 3 %. More.") == (
        "It adds 5.5 % in “st. no. x”.",
        "Alone it is 3 %. More.",
    )
    assert wording.first_sentence("Nothing was tried.") == ("Nothing was tried.", "")


def test_who_joined_never_reaches_fewer_people_than_without() -> None:
    def of(hits: int) -> Measurement:
        return wilson(hits, 342, "share of people")

    people = People(of(30), of(2), (of(1), of(2), of(3)), 20.0, of(129), of(299))
    assert people_in_words("area", people) == (
        "area within 20 for 299 of 342 people, joined or not; "
        "named exactly for 30 of 342 people (2 without joining)"
    )
