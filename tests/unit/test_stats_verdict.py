"""The headline, its word, and the four recommendations, from rows that are written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from whatleaks.errors import UsageError
from whatleaks.stats.rows import Row
from whatleaks.stats.verdict import headline, recommend, word

LEAK = Row(
    partner="stranger",
    threat="white-box",
    release="scores",
    defense="",
    attack="score-rest",
    column="income",
    question="exactly",
    people=1000,
    unknown=800.0,
    without=200.0,
    with_=600.0,
    leak=0.5,
    low=0.46,
    high=0.54,
    chance=0.001,
    lowest=0.44,
    highest=0.56,
)
NOTHING = replace(
    LEAK, with_=204.0, leak=0.005, low=-0.01, high=0.02, chance=0.8, lowest=0.0, highest=0.04
)


def test_the_headline_is_no_small_groups_luck() -> None:
    """Five of five told is the largest leak, and the lower end of three hundred people is higher."""
    five = replace(LEAK, people=5, unknown=5.0, without=0.0, with_=5.0, leak=1.0, low=0.48)
    more = replace(LEAK, question="which fifth", with_=640.0, leak=0.55, low=0.45)
    head = headline([five, more, LEAK])
    assert head is not None
    assert (head.row, head.index) == (more, 1)
    assert (head.low, head.high, head.chance) == (0.44, 0.56, 0.001)
    far = replace(more, low=0.40)
    head = headline([five, far, LEAK])
    assert head is not None
    assert head.row == LEAK


def test_partners_are_judged_apart_and_the_worst_is_taken() -> None:
    """A partner of whom nothing is found does not stand for one of whom something is."""
    large = replace(NOTHING, partner="insider", unknown=8.0, low=0.7, leak=0.9, chance=0.2)
    head = headline([large, NOTHING, LEAK])
    assert head is not None
    assert head.row == LEAK
    worse = replace(LEAK, partner="insider", leak=0.7, low=0.66, with_=760.0)
    head = headline([LEAK, worse, NOTHING])
    assert head is not None
    assert head.row == worse
    aged = replace(LEAK, column="age", leak=0.4, low=0.36)
    head = headline([LEAK, worse, aged], matters=["age"])
    assert head is not None
    assert head.index == 2
    nothing = headline([NOTHING, large])
    assert nothing is not None
    assert not nothing.found
    assert word(nothing.row, nothing.chance) == "nothing found"


def test_a_partners_luck_is_that_of_its_largest_gain() -> None:
    head = headline([replace(LEAK, chance=0.3), replace(NOTHING, chance=0.002)])
    assert head is not None
    assert head.chance == 0.002


@pytest.mark.parametrize(
    ("leak", "says"),
    [(0.02, "low"), (0.1, "medium"), (0.49, "medium"), (0.5, "high"), (0.9, "nearly all")],
)
def test_words(leak: float, says: str) -> None:
    assert word(replace(LEAK, leak=leak), 0.05) == says
    assert word(replace(LEAK, leak=leak), 0.051) == "nothing found"


def test_words_of_rows_that_do_not_count() -> None:
    assert word(replace(LEAK, people=1000, without=997.0, unknown=3.0), 0.01) == "known anyway"
    assert word(replace(LEAK, people=8, without=4.0, unknown=4.0), 0.01) == "too few people"
    assert word(replace(LEAK, people=3, without=3.0, unknown=0.0), 0.01) == "too few people"


BETTER = {"accuracy": (0.01, 0.05), "AUC": (-0.01, 0.04), "log loss": (0.0, 0.1)}
WORSE = {**BETTER, "AUC": (-0.3, -0.2)}
EVEN = {"accuracy": (-0.02, 0.02), "AUC": (-0.01, 0.04), "log loss": (-0.1, 0.1)}


def test_do_not_join_unless_a_defense_leaves_what_is_accepted_and_joining_still_gains() -> None:
    defended = replace(NOTHING, defense="class only")
    rows = [LEAK, defended]
    assert recommend([LEAK]).outcome == "do-not-join"
    for worth in (None, {}, {"class only": WORSE}, {"class only": EVEN}, {"rounding": BETTER}):
        assert recommend(rows, worth=worth).outcome == "do-not-join"
    found = recommend(rows, worth={"class only": BETTER})
    assert (found.outcome, found.defenses) == ("join-with-conditions", ("class only",))
    left = replace(defended, high=0.14)
    assert recommend([LEAK, left], worth={"class only": BETTER}).outcome == "do-not-join"
    other = replace(LEAK, partner="insider")  # with the defense, this partner was not tried
    assert recommend([*rows, other], worth={"class only": BETTER}).outcome == "do-not-join"
    untried = recommend(rows, worth={"class only": BETTER}, untried=["insider"])
    assert (untried.outcome, untried.untried) == ("do-not-join", ("insider",))


def test_a_defense_is_enough_only_where_all_that_was_planned_is_measured_with_it() -> None:
    """Not to have asked about the column that leaks, or one of its questions, is no protection."""
    other = replace(NOTHING, column="other")
    fifth = replace(NOTHING, question="which fifth")
    plan = [LEAK, other, fifth]
    defended = [replace(NOTHING, defense="noise"), *(replace(r, defense="noise") for r in plan[1:])]
    worth = {"noise": BETTER}
    assert recommend([*plan, *defended], worth=worth).defenses == ("noise",)
    for i in range(len(defended)):
        less = [*plan, *defended[:i], *defended[i + 1 :]]
        assert recommend(less, worth=worth).outcome == "do-not-join"
    swapped = [replace(row, threat="black-box") for row in defended]
    assert recommend([*plan, *swapped], worth=worth).outcome == "do-not-join"


def test_a_column_that_a_defense_leaves_out_is_not_asked_about() -> None:
    plan = [LEAK, replace(NOTHING, column="other")]
    defended = replace(NOTHING, column="other", defense="less")
    rows, worth = [*plan, defended], {"less": BETTER}
    assert recommend(rows, worth=worth).outcome == "do-not-join"
    assert recommend(rows, worth=worth, omits={"less": ["other"]}).outcome == "do-not-join"
    assert recommend(rows, worth=worth, omits={"noise": ["income"]}).outcome == "do-not-join"
    omits = {"less": ["income"]}
    assert recommend(rows, worth=worth, omits=omits).defenses == ("less",)
    assert recommend(rows, worth=worth, omits=omits, matters=["income"]).defenses == ("less",)
    assert recommend(rows, worth=worth, omits=omits, untried=["insider"]).defenses == ()
    assert recommend(rows, omits=omits).outcome == "do-not-join"
    still = replace(LEAK, defense="less")  # measured all the same, and it leaks
    assert recommend([*rows, still], worth=worth, omits=omits).outcome == "do-not-join"


def test_a_defense_may_change_the_release() -> None:
    """ "Release the class only" has rows of another release than the plan: partner and threat are the same."""
    plan = [replace(LEAK, release=""), replace(LEAK, release="", partner="insider")]
    defended = [
        replace(NOTHING, partner=row.partner, release="class", defense="class only") for row in plan
    ]
    worth = {"class only": BETTER}
    found = recommend([*plan, *defended], worth=worth)
    assert (found.outcome, found.defenses) == ("join-with-conditions", ("class only",))
    assert recommend([*plan, defended[0]], worth=worth).outcome == "do-not-join"
    leaks = replace(LEAK, release="class", defense="class only")
    assert recommend([*plan, leaks, defended[1]], worth=worth).outcome == "do-not-join"


def test_the_headline_of_a_recommendation_is_found_among_the_rows_that_were_given() -> None:
    x, y = replace(LEAK, column="x"), replace(LEAK, column="y", leak=0.4, low=0.36)
    given = [replace(x, defense="D"), replace(y, defense="D"), x, y]
    for matters, place in (((), 2), (["y"], 3)):
        head = recommend(given, matters=matters).headline
        assert head is not None
        assert (head.index, head.row) == (place, given[place])


def test_a_column_that_matters_is_a_column() -> None:
    other = replace(NOTHING, column="other", defense="noise")  # asked about with the defense only
    for ask in (recommend, headline):
        with pytest.raises(UsageError, match=r"'incme'.* Did you mean 'income'\?"):
            ask([LEAK], matters=["income", "incme"])
        with pytest.raises(UsageError, match="'nosuch'"):
            ask([LEAK], matters=["nosuch"])
    with pytest.raises(UsageError, match="'other'"):
        recommend([LEAK, other], matters=["other"])


def test_join_as_planned() -> None:
    assert recommend([NOTHING]).outcome == "join"
    assert recommend([NOTHING], accept=0.01).outcome == "not-decided"  # an upper end of 2 %
    assert recommend([NOTHING], untried=["insider"]).outcome == "not-decided"
    assert recommend([NOTHING], recurring=True).outcome == "not-decided"
    assert recommend([NOTHING], unfit=True).outcome == "not-decided"
    assert recommend([LEAK], recurring=True).outcome == "not-decided"
    assert recommend([LEAK, replace(NOTHING, column="age")], matters=["age"]).outcome == "join"


def test_few_unknown_people_do_not_block_and_few_people_do() -> None:
    """30 unknown of 1,000 cannot rule 10 % out, and are named; a column asked about 30 people is not decided."""
    few = replace(NOTHING, question="who is 1", people=30, unknown=30.0, high=0.3)
    found = recommend([NOTHING, few])
    assert (found.outcome, found.few) == ("join", (few,))
    assert recommend([few]).outcome == "not-decided"
    assert recommend([few]).small == ("income",)
    sure = replace(few, lowest=0.2)
    assert recommend([NOTHING, sure]).outcome == "not-decided"


def test_how_many_people_would_decide() -> None:
    """The upper end stands 8 points above a leak of 6 %, and may stand 4: four times the people."""
    wide = replace(NOTHING, leak=0.06, low=0.01, high=0.14)
    found = recommend([wide])
    assert (found.outcome, found.above, found.people) == ("not-decided", (wide,), 4000)
    tenth = replace(wide, question="who is in the unusual tenth", people=100, unknown=80.0)
    assert recommend([NOTHING, tenth]).people == 4000  # of the table, of which a tenth is 400
    high = replace(LEAK, leak=0.14, low=0.06, high=0.22, lowest=0.02)
    assert recommend([high]).people == 4000
    assert recommend([replace(high, leak=0.1)]).people is None


def test_luck_that_is_not_excluded_is_not_decided() -> None:
    assert recommend([replace(LEAK, chance=0.2)]).outcome == "not-decided"


@pytest.mark.parametrize("accept", [0.0, 1.0, -0.1])
def test_a_share_is_accepted(accept: float) -> None:
    with pytest.raises(UsageError, match="accept must be a share"):
        recommend([LEAK], accept=accept)
