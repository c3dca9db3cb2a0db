"""Two scales decide what is signed: differences that are followed, and people whose value is named."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sample_audit import finding, high_case, share

from auditing import audited
from whatleaks.arrays import Floats, sealed, sealed_bools, sealed_ints
from whatleaks.auditor.advice import advice, headline
from whatleaks.auditor.combine import Entry
from whatleaks.auditor.digits import digits_of
from whatleaks.auditor.levels import UNSETTLED, above
from whatleaks.auditor.people import count_people, held_against
from whatleaks.auditor.pool import Pool
from whatleaks.auditor.result import AuditResult, DigitsFinding, People, ThreatFinding
from whatleaks.auditor.spec import AuditSpec
from whatleaks.metrics.measurement import Measurement
from whatleaks.metrics.naming import names_more
from whatleaks.models.grids import BOOLEAN, Grids, free
from whatleaks.report.html import render
from whatleaks.report.signoff import render as sign
from whatleaks.report.terminal import summary
from whatleaks.trial.evaluator import CONSTANT, Evaluator
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.records import PerRecord
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.scorers.values import Scored, named_by_commonest
from whatleaks.trial.truth import Truth

NEEDS = "The attack needs your part of the trained model"


def spec(*passive: str, **options: object) -> AuditSpec:
    chosen = {
        "quick": True, "threats": ("white-box",), "inversion_steps": 5, "defenses": False, **options,
    }  # fmt: skip
    return AuditSpec("y", passive, **chosen)  # type: ignore[arg-type]


@functools.cache
def new_salary() -> AuditResult:
    """The partner holds last year's salary: it follows 96 % of this year's, and knows nobody's."""
    rng = np.random.default_rng(31)
    old = rng.normal(3000, 700, 400).round()
    frame = pd.DataFrame({"a0": rng.normal(size=400).round(3), "old": old})
    frame["salary"] = (old + rng.normal(0, 120, 400)).round()
    drive = frame["a0"] + (frame["salary"] - 3000) / 700 + rng.logistic(size=400)
    return audited(frame.assign(y=(drive > 0).astype(int)), spec("salary"))


def test_a_column_that_is_followed_already_and_named_only_by_joining_is_no_small_leak() -> None:
    head = new_salary().headline
    assert head.level == "complete"
    assert head.sentence == (
        "Joining lets your partner read column “salary” exactly: it names the exact value of 80 of 80 "
        "people, 2 of 80 without joining."
    )
    assert above(head, 0.1) == f"joining adds {head.adds.value:.3f}"
    assert head.conditions[0].level == "complete"
    assert "names the exact value of 80 of 80 people" in head.conditions[0].sentence


def test_a_partner_has_a_column_only_if_it_has_the_values() -> None:
    result = new_salary()
    assert result.headline.already == ()
    told = " ".join(result.advice)
    assert "already has" not in told
    (known,) = result.headline.followed
    assert known.column == "salary"
    assert known.share > 0.9
    said = f"can already follow {100 * known.share:.0f} % of the differences in “salary”, not the exact"
    assert said in told
    assert "not the exact values" in render(result)
    assert "not the exact values" in sign(json.loads(json.dumps(result.to_dict())))


def test_a_rare_yes_is_not_named_by_whoever_says_no_to_everybody() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    frame["ill"] = (rng.random(400) < 0.05).astype(int)
    frame["y"] = (frame["a"] + frame["c"] + rng.logistic(size=400) > 0).astype(int)
    result = audited(frame, spec("ill", "c"))
    for threat in result.threats:
        for guess in threat.of("attack"):
            people = next(c.people for c in guess.columns if c.column == "ill")
            assert people is not None
            assert people.named_without.value >= 0.9
            assert people.named_more is not None
            assert people.named_more.value <= 0.1


@functools.cache
def half_known() -> AuditResult:
    rng = np.random.default_rng(41)
    own, others = rng.normal(size=(400, 2)).round(3), rng.normal(size=(400, 6)).round(3)
    half = (own[:, 1] * 0.87 + 0.5 * rng.normal(size=400)).round(3)
    drive = own[:, 0] + half + 0.8 * others.sum(axis=1) + 0.5 * rng.logistic(size=400)
    names = [f"p{i}" for i in range(6)]
    frame = pd.DataFrame(np.column_stack([own, half, others]), columns=["a0", "a1", "h", *names])
    return audited(frame.assign(y=(drive > 0).astype(int)), spec("h", *names))


def test_what_own_columns_tell_those_who_learnt_stands_beside_what_is_subtracted() -> None:
    result = half_known()
    found = max(
        (c for g in result.threats[0].of("attack") for c in g.columns if c.column == "h"),
        key=lambda c: c.adds.value,
    )
    assert found.alone > 0.5 > 0.3 > found.control.value
    told = " ".join(summary(result).split())
    assert "a what your partner’s own columns tell whoever has learnt" in told
    page = render(result)
    assert 'class="alone"' in page
    assert "whatever the partner" not in page
    assert "follows 0 % without joining" not in page
    wording = result.headline.sentence
    assert "without joining this attack follows" in wording.lower() or "exactly" in wording


def test_the_headline_says_what_whoever_learnt_follows_from_own_columns() -> None:
    sure = Measurement(0.3, 0.25, 0.35, 80, "leakage", "records")
    found = threat("white-box", [sure], [0.0])
    column = replace(found.findings[0].columns[0], alone=0.63)
    attack = replace(found.findings[0], columns=(column,))
    head = headline([replace(found, findings=(attack,))])
    assert head.sentence == (
        "Joining adds 30 %: with what it is sent an attack follows 30 % of the differences between "
        "people in “c0”. Without joining this attack follows 0 %; whoever has learnt from complete "
        "records of other people follows 63 % from your partner’s own columns."
    )


def threat(name: str, columns: list[Measurement], chances: list[float], **more: Any) -> Any:
    """Return a threat with one attack that adds so much in every column."""
    made = finding("a", "An attack", "attack", "", {f"c{j}": 0.0 for j in range(len(columns))})
    found = tuple(
        replace(column, adds=adds, leakage=share(max(adds.value, 0.0)), control=share(0.0, 0.0),
                chance=chance, people=None)
        for column, adds, chance in zip(made.columns, columns, chances, strict=True)
    )  # fmt: skip
    learnt = more.pop("learnt", None)
    findings = [replace(made, columns=found)]
    if learnt is not None:
        value, alone, luck = learnt
        learner, own = (
            finding(role, role, role, "", {c.column: of for c in found})
            for role, of in (("learner", value), ("alone", alone))
        )
        lead = Measurement(value - alone, value - alone - 0.05, value - alone + 0.05, 80, "", "")
        columns_of = tuple(
            replace(c, adds=lead, control=share(alone), alone=alone, chance=luck, people=None)
            for c in learner.columns
        )
        findings += [replace(learner, columns=columns_of), own]
    return ThreatFinding(name, "S.", "C.", False, (), "additive", tuple(findings))


NOTHING = Measurement(0.0, 0.0, 0.02, 80, "leakage", "records")
LEARNT = (
    "no attack tried here reads it beyond luck, but whoever learns from complete records of other people "
    "follows 54 % of “c0” (3 % without joining)"
)


def test_a_headline_names_the_threats_that_nothing_was_tried_against() -> None:
    quiet = threat("white-box", [NOTHING], [1.0])
    whole, less = headline([quiet]), headline([quiet], ("black-box",))
    assert whole.level == less.level == "low"
    assert less.sentence == (
        f"{whole.sentence} No attack could be tried here under black-box: nothing is said of it."
    )


def test_low_is_not_said_where_whoever_learns_follows_much_more() -> None:
    held = threat("white-box", [NOTHING], [1.0], learnt=(0.54, 0.03, 1e-9))
    head = headline([held])
    assert head.level == UNSETTLED
    assert LEARNT in head.sentence
    assert head.conditions[0].level == UNSETTLED
    assert LEARNT in head.conditions[0].sentence
    assert head.up_to >= 0.5
    assert LEARNT in str(above(head, 0.1))
    assert above(head, 0.6) is None
    told = advice(head, [held], ())
    assert not any("too small" in line or "calls for a defense" in line for line in told)
    result = replace(high_case(), headline=head, threats=(held,), advice=told)
    signed = sign(json.loads(json.dumps(result.to_dict())))
    assert LEARNT in signed.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("learnt", [(0.54, 0.03, 0.2), (0.54, 0.50, 1e-9), (0.05, 0.0, 1e-9)])
def test_a_learner_that_is_lucky_or_needs_no_message_leaves_low_as_it_is(learnt: Any) -> None:
    assert headline([threat("white-box", [NOTHING], [1.0], learnt=learnt)]).level == "low"


def test_what_attacks_with_known_people_show_is_not_told_again_as_learnt() -> None:
    much = Measurement(0.5, 0.4, 0.6, 80, "leakage", "records")
    known = threat("black-box-known", [much], [0.0], learnt=(0.54, 0.03, 1e-9))
    head = headline([known])
    assert head.level == "high"
    assert "learns from complete records" not in head.sentence
    (line,) = [c.sentence for c in head.conditions if c.name == "records"]
    assert "learns" not in line


def test_the_model_is_named_as_the_cause_only_if_nobody_does_as_well_without_it() -> None:
    much = Measurement(0.98, 0.97, 0.99, 80, "leakage", "records")
    little = Measurement(0.05, 0.0, 0.09, 80, "leakage", "records")
    white = threat("white-box", [much], [0.0])
    for other, learnt, said in ((much, None, False), (little, None, True),
                                (little, (0.9, 0.0, 1e-9), False)):  # fmt: skip
        beside = threat("black-box-known", [other], [0.0], learnt=learnt)
        threats = [white, beside]
        lines = advice(headline(threats), threats, ())
        assert any(NEEDS in line for line in lines) == said


def test_no_advice_is_given_about_a_column_that_the_partner_has() -> None:
    rng = np.random.default_rng(21)
    own = rng.normal(size=(400, 3)).round(3)
    frame = pd.DataFrame(own, columns=["a0", "a1", "a2"]).assign(copy=own[:, 1])
    drive = own[:, 0] + own[:, 1] + rng.logistic(size=400)
    result = audited(frame.assign(y=(drive > 0).astype(int)), spec("copy"))
    assert result.headline.already == ("copy",)
    assert result.headline.level == "low"
    assert not any("exactly from one score" in line for line in result.advice)
    known = threat("black-box-known", [NOTHING], [1.0])
    bar = finding("auxiliary-regression", "A bar", "baseline", "", {"c0": 1.0})
    known = replace(known, findings=(*known.findings, bar))
    head = headline([known])
    assert any("“A bar” follows" in line for line in advice(head, [known], ()))
    had = replace(head, already=("c0",))
    assert not any("“A bar” follows" in line for line in advice(had, [known], ()))


def test_what_is_given_beforehand_does_not_excuse_who_names_everybody() -> None:
    result = new_salary()
    column = next(c for g in result.threats[0].of("attack") for c in g.columns if c.people)
    attack = replace(result.threats[0].of("attack")[0], columns=(column,))
    bar = finding("auxiliary-regression", "A bar", "baseline", "", {"salary": 0.95})
    held = replace(result.threats[0], name="white-box-known", findings=(attack, bar))
    assert column.adds.value < 0.1 < column.worse.measured.value
    assert not any("“A bar” follows" in line for line in advice(headline([held]), [held], ()))


def test_of_a_model_that_was_always_held_it_is_said_that_nothing_else_was_tried() -> None:
    much = Measurement(0.98, 0.97, 0.99, 80, "leakage", "records")
    threats = [threat("white-box", [much], [0.0])]
    lines = advice(headline(threats), threats, ())
    assert not any(NEEDS in line for line in lines)
    assert any("no threat without it was tried" in line for line in lines)


def test_people_are_counted_beside_whom_a_guess_without_joining_comes_as_close_to() -> None:
    result = half_known()
    told = " ".join(summary(result).split())
    assert "people, joined or not" in told  # one value for everybody comes as close
    assert "people, joined or not" in render(result)
    for threat_ in result.threats:
        for guess in threat_.of("attack"):
            for column in guess.columns:
                assert column.people is not None
                assert column.people.inside_without is not None
    for group in result.groups:
        assert group.within_without is not None


def test_the_worst_column_stands_beside_the_mean_of_a_threat() -> None:
    result = high_case()
    page = render(result).replace("\N{NO-BREAK SPACE}", " ")
    assert "worst column: radius, 65 %" in page
    assert "mean over columns" in page
    signed = sign(json.loads(json.dumps(result.to_dict())))
    assert "Threats: worst column, mean" in signed
    assert "worst column" in summary(result)


def test_people_named_more_than_by_a_rival_have_an_interval_and_a_chance() -> None:
    """Everybody against nobody, the same people, and how often luck alone leads: at most 1 in 20."""
    nobody, everybody = np.zeros((80, 1), dtype=bool), np.ones((80, 1), dtype=bool)
    found = names_more(everybody, nobody)
    assert (found.value[0], found.high[0]) == (1.0, 1.0)
    assert 0.9 < found.low[0] < 1.0
    assert found.chance[0] == pytest.approx(0.5**80)
    same = names_more(nobody, nobody)
    assert (same.value[0], same.chance[0]) == (0.0, 1.0)
    assert same.high[0] == pytest.approx(0.0458, abs=1e-4)  # Wilson's of none in 80
    assert names_more(nobody, everybody).chance[0] == 1.0
    rng = np.random.default_rng(0)
    for share_ in (0.02, 0.3, 0.5, 0.9):
        a, b = (rng.random((60, 4000)) < share_ for _ in range(2))
        b = np.where(rng.random(a.shape) < 0.4, a, b)  # they have much in common
        lead = names_more(a, b)
        assert (lead.chance <= 0.05).mean() <= 0.05
        assert ((lead.low <= 0.0) & (lead.high >= 0.0)).mean() >= 0.94


def test_nobody_is_left_to_name_where_a_rival_names_everybody() -> None:
    """Before: "up to 10 % more people named exactly is not ruled out" of a column that the partner has."""
    truth = np.random.default_rng(0).normal(size=(80, 1))

    def pool(right: int) -> Pool:
        named = np.arange(80)[:, None] < right
        off = sealed(np.where(named, 0.0, 1.0))
        scored = Scored("a", "attack", off, 0, 0.0, 0.0, "", {}, sealed_bools(named))
        return Pool({0: (scored, sealed(truth - truth.mean()))})

    people = [People(*[share(0.0)] * 2, (), 0.0, share(0.0))]
    (most, other), attack = (pool(80), pool(77)), pool(80)
    attack.squared = attack.squared + 1e-9  # another guess, and as right
    (found,) = held_against(people, attack, [most, other])
    assert found.named_more is not None
    assert found.named_more.value == 0.0
    assert found.named_more.high == pytest.approx(1.0 - 0.0125 ** (1 / 80))  # below 10 %
    (open_,) = held_against(people, pool(80), [pool(40), pool(38)])
    assert open_.named_more is not None
    assert (open_.named_more.value, open_.named_more.high > 0.5) == (0.5, True)


def test_one_value_for_everybody_names_the_commonest_value_or_category() -> None:
    truth = np.array([[0.0, 0.1, 1.0, 0.0], [0.0, 0.2, 1.0, 0.0], [1.0, 0.3, 0.0, 1.0]])
    one_hot = Grids((BOOLEAN, free(), BOOLEAN, BOOLEAN), one_hot=((2, 3),))
    right = named_by_commonest(sealed(truth), one_hot)
    assert right.sum(axis=0).tolist() == [2, 0, 2, 2]  # nobody shares a value of the second
    made = Evaluator(Truth(sealed(truth), grids=one_hot)).constant()
    assert made.role == "constant"
    apart = truth - truth.mean(axis=0)
    assert np.abs(made.guessed(apart)).max() < 1e-15
    assert made.squared[:, 1] == pytest.approx([0.01, 0.0, 0.01])


def test_a_number_and_its_percent_sign_stay_on_one_line() -> None:
    result = replace(
        high_case(), headline=replace(high_case().headline, sentence="It adds 0 %, or 5 %.")
    )
    assert "It adds 0\N{NO-BREAK SPACE}%, or 5\N{NO-BREAK SPACE}%." in render(result)
    for pad in range(12):
        said = replace(result.headline, sentence="x" * pad + " adds 55 %" * 30)
        lines = summary(replace(result, headline=said)).splitlines()
        assert not any(line.strip().startswith("%") for line in lines)


def told(name: str, role: str, guess: Floats, truth: Floats) -> Scored:
    right = sealed_bools(np.round(guess) == truth)
    return Scored(name, role, sealed(guess - truth), 0, 0.0, 0.0, "", {}, right)


def test_who_is_named_is_also_within_every_reach() -> None:
    truth = np.tile([[0.0], [1.0]], (20, 1))
    parts = told("half-star", "attack", np.abs(truth - 0.3), truth)  # named once it is moved
    apart = sealed(truth - 0.5)
    (people,), whole = count_people(Pool({0: (parts, apart)}), [Pool({0: (parts, apart)})], [])
    assert people.named.value == people.inside.value == people.within[0].value == 1.0
    assert people.inside_without is not None
    assert people.inside_without.value == people.named_without.value == 1.0
    assert whole.named.value == whole.inside.value == 1.0


@pytest.mark.parametrize(("ill", "enough"), [(0, None), (5, 3), (500, 2)])
def test_digits_are_enough_if_they_name_whom_nobody_names_without_joining(
    ill: int, enough: int | None
) -> None:
    truth = (np.arange(1000) < ill).astype(float)[:, None]
    apart = sealed(truth - truth.mean())
    ones = sealed_ints(np.ones(1000))
    scored = (told(CONSTANT, "constant", np.zeros((1000, 1)), truth),)
    records = PerRecord(("ill",), apart, scored, (), ones, ones, 1000, 100)
    measured = {
        "digits": [1.0, 2.0, 3.0], "digits named": [900.0, 996.0, 1000.0],
        "digits released": [3.0, 6.0, 9.0], "digits hidden": 1.0, "digits columns": [0.0],
    }  # fmt: skip
    scenario = Scenario("mine", share=0.5, threat="white-box", attacks=("lattice-decoding",))
    found = digits_of([Entry(scenario, Outcome(measured), records)])
    assert found is not None
    assert found.without is not None
    assert found.without.value == pytest.approx(1.0 - ill / 1000)
    assert found.enough == enough


def test_digits_read_no_column_in_which_nobody_differs() -> None:
    truth = np.column_stack([np.zeros(40), np.arange(40) / 39])
    guess = told(CONSTANT, "constant", np.zeros((40, 2)), truth)
    ones = sealed_ints(np.ones(40))
    apart = sealed(truth - truth.mean(axis=0))
    records = PerRecord(("rare", "age"), apart, (guess,), (), ones, ones, 40, 10)
    measured = {
        "digits": [4.0], "digits named": [40.0], "digits released": [9.0], "digits hidden": 6.3,
        "digits columns": [0.0, 1.0],
    }  # fmt: skip
    scenario = Scenario("mine", share=0.5, threat="white-box", attacks=("lattice-decoding",))
    found = digits_of([Entry(scenario, Outcome(measured), records)])
    assert found is not None
    assert found.enough == 4
    assert found.columns == ("age",)


def test_bits_are_told_only_where_the_rule_explains_what_is_read() -> None:
    head = headline([threat("white-box", [NOTHING], [1.0])])
    whole = (Measurement(1.0, 0.9, 1.0, 80, "share of people", "records"),)
    found = DigitsFinding("white-box", ("p",), (1,), whole, (0.4,), 1.0, 1)
    (line,) = [one for one in advice(head, (), (), found) if "exactly from one score" in one]
    assert "carries" not in line
    more = replace(found, released=(5.0,))
    (line,) = [one for one in advice(head, (), (), more) if "exactly from one score" in one]
    assert "holds 1 bit, one such score carries 5." in line


def exact(name: str, column: str, followed: float, named_more: float, named: float) -> Any:
    """Return a threat whose attack reads one column, with so many people named."""
    made = threat(name, [share(followed)], [0.0])
    (guess,) = made.findings
    (one,) = guess.columns
    counted = People(
        share(named, 0.0), share(named - named_more, 0.0), (), 0.0, share(named), None,
        share(named_more, 0.0), 0.0,
    )  # fmt: skip
    read = replace(one, column=column, recovered=share(followed), people=counted)
    return replace(made, findings=(replace(guess, columns=(read,)),))


def test_the_headline_counts_all_columns_that_are_read() -> None:
    p, q = exact("white-box", "p", 0.995, 1.0, 1.0), exact("black-box", "q", 0.999, 0.99, 1.0)
    assert headline([p, q]).sentence == (
        "Joining lets your partner read all of your columns exactly: it names the exact value of 228 of "
        "228 people, 0 of 228 without joining, in “p”."
    )


def test_columns_that_are_read_almost_are_not_told_as_read_exactly() -> None:
    p, q = exact("white-box", "p", 1.0, 0.5, 1.0), exact("black-box", "q", 0.992, 0.0, 0.0)
    assert headline([p, q]).sentence == (
        "Joining lets your partner read column “p” exactly, and 1 more almost exactly."
    )


def test_a_learner_who_follows_less_than_the_attacks_is_not_told_as_more() -> None:
    wide = Measurement(0.46, 0.4, 0.47, 80, "leakage", "records")
    head = headline([threat("white-box", [wide], [0.0], learnt=(0.46, 0.0, 1e-9))])
    assert head.level == "medium"
    assert "learns" not in head.sentence
    assert head.sentence.endswith(" More, up to 51 % is not ruled out.")
    assert head.up_to == pytest.approx(0.51)
    assert above(head, 0.5) is not None
    head = headline([threat("white-box", [wide], [0.0], learnt=(0.49, 0.0, 1e-9))])
    assert (
        "More, whoever learns from complete records of other people follows 49 %" in head.sentence
    )


def test_whoever_holds_records_too_is_never_rated_safer_than_who_holds_none() -> None:
    much, some = (Measurement(v, v - 0.1, v + 0.1, 80, "", "records") for v in (0.8, 0.3))
    queries = threat("boost-queries", [much], [0.0])  # boost-known is granted no probes
    head = headline([queries, threat("boost-known", [some], [0.0])])
    kept, records = head.conditions[1:]
    assert kept.level == records.level == "high"
    assert "joining adds 80 % in “c0”" in records.sentence
    asked = threat("white-box-asking", [much], [0.0])
    known = [threat(f"{box}-known", [some], [0.0]) for box in ("black-box", "white-box")]
    records = headline([asked, *known]).conditions[2]
    assert "; with your part of the model too: high, joining adds 80 %" in records.sentence


def test_whoever_holds_the_model_is_not_called_low_where_who_does_not_is_open() -> None:
    narrow = Measurement(0.03, 0.0, 0.09, 80, "", "records")
    wide = Measurement(0.02, -0.05, 0.2, 80, "", "records")
    head = headline([threat("white-box", [narrow], [1.0]), threat("black-box", [wide], [1.0])])
    assert [c.level for c in head.conditions[:2]] == [UNSETTLED, UNSETTLED]
