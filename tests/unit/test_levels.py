"""The word that is signed: never "low" where an interval says that more may be added."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sample_audit import finding, low_case
from sample_audit import share as measured

from whatleaks.arrays import sealed, sealed_bools
from whatleaks.auditor.advice import advice, effective, headline
from whatleaks.auditor.levels import (
    ALARMS,
    LOW,
    MEDIUM,
    UNSETTLED,
    above,
    attacked,
    comparisons,
    percent,
)
from whatleaks.auditor.notes import known_notes
from whatleaks.auditor.pool import Pool, combine_guess, leads
from whatleaks.auditor.result import AuditResult, ColumnDefense, ThreatFinding
from whatleaks.metrics.column_association import follow, gain
from whatleaks.metrics.measurement import Measurement
from whatleaks.report import wording
from whatleaks.report.html import render
from whatleaks.report.signoff import render as sign
from whatleaks.report.terminal import summary
from whatleaks.trial.scorers.values import Scored

THREATS = ("white-box", "black-box", "agnostic", "black-box-known", "white-box-known")
EVERY_LEVEL = ("low", "medium", "high", "complete", UNSETTLED)


def a_threat(name: str, columns: list[Measurement], chances: list[float]) -> ThreatFinding:
    """Return a threat with one attack that adds so much in every column."""
    made = finding("a", "An attack", "attack", "", {f"c{j}": 0.0 for j in range(len(columns))})
    found = tuple(
        replace(
            column,
            adds=adds,
            leakage=measured(min(max(adds.value, 0.0), 1.0)),
            recovered=measured(min(max(adds.value, 0.0), 1.0)),
            control=measured(0.0, 0.0),
            chance=chance,
            people=None,
        )
        for column, adds, chance in zip(made.columns, columns, chances, strict=True)
    )
    made = replace(made, columns=found)
    return ThreatFinding(name, "S.", "C.", False, (), "additive", (made,))


def random_result(seed: int) -> AuditResult:
    """Return an audit of random numbers: wide and narrow intervals, sure and unsure, few and many."""
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(1, 5))
    threats = []
    for name in rng.permutation(THREATS)[: int(rng.integers(1, 5))]:
        values = rng.choice([0.0, 0.02, 0.09, 0.2, 0.6, 1.0], columns) * rng.uniform(
            0.5, 1, columns
        )
        wide = rng.choice([0.0, 0.01, 0.05, 0.4], columns)
        ends = [
            Measurement(v, v - w, min(v + w, 1.0), 50, "leakage", "records")
            for v, w in zip(values.tolist(), wide.tolist(), strict=True)
        ]
        chances = rng.choice([0.0, 1e-4, 0.01, 0.5], columns).tolist()
        threats.append(a_threat(str(name), ends, chances))
    head = headline(threats)
    sample = low_case()
    defenses = []
    for defense in sample.defenses:
        pairs = tuple(
            ColumnDefense(c.column, c.adds, measured(float(rng.uniform(0, 0.2)), 0.05))
            for c in threats[0].findings[0].columns
        )
        worst = max(pairs, key=lambda pair: pair.after.value)
        own = next((pair for pair in pairs if pair.column == head.column), None)
        defenses.append(
            replace(defense, columns=pairs, column=own, worst=worst, against=(head.threat,))
        )
    return replace(
        sample,
        headline=head,
        threats=tuple(threats),
        defenses=tuple(defenses),
        advice=advice(head, threats, defenses),
        digits=None,
    )


@pytest.mark.parametrize("seed", range(300))
def test_low_is_said_only_where_nothing_more_is_open(seed: int) -> None:
    result = random_result(seed)
    head, found = result.headline, list(attacked(result.threats))
    most = max(column.adds.high for _, _, column in found)
    assert head.level in EVERY_LEVEL
    assert head.up_to == most
    if head.level == "low":
        assert most < LOW
    if head.level in ("medium", "high", "complete"):
        assert head.beyond_guessing
        assert head.adds.value >= LOW
    if head.level == "medium" and most >= MEDIUM:
        assert f"{percent(most)}" in head.sentence
        assert "not ruled out" in head.sentence
    assert (head.level == UNSETTLED) == ("unsettled" in head.sentence)
    if head.level == UNSETTLED:  # what is drawn is the interval that leaves it open
        assert head.adds.high == most
        assert head.column == head.open_column
    for condition in head.conditions:
        chosen = [c for t, _, c in found if t.name == condition.threat]
        if condition.level == "low":
            assert max(column.adds.high for column in chosen) < LOW
            assert condition.up_to < LOW
        assert (condition.level == UNSETTLED) == (
            ": unsettled" in condition.sentence.partition("; with")[0]
        )
    # The whole is never rated below a part of it.
    order = {word: place for place, word in enumerate(("low", UNSETTLED, "medium", "high"))}
    for condition in head.conditions:
        if condition.level in order and head.level in order:
            assert order[condition.level] <= order[head.level]


def test_the_random_results_hold_every_case() -> None:
    levels = [random_result(seed).headline.level for seed in range(300)]
    assert all(levels.count(word) >= 5 for word in ("low", UNSETTLED, "medium", "high"))


@pytest.mark.parametrize("seed", range(120))
def test_advice_never_contradicts_the_table(seed: int) -> None:
    result = random_result(seed)
    head, told = result.headline, " ".join(result.advice)
    recommended = [d for d in result.defenses if f"“{d.title}” brings" in told]
    if head.level in ("low", UNSETTLED):
        assert not recommended
    if head.level == UNSETTLED:
        assert "calls for a defense" not in told
        assert percent(head.up_to) in told
    for defense in recommended:
        assert effective(defense)
        if max(pair.after.high for pair in defense.columns) >= LOW:
            assert "not ruled out" in told


@pytest.mark.parametrize("seed", [0, 5, 10, 12, 18, 47, 61, 84, 94])
def test_every_output_says_the_same_word(seed: int) -> None:
    result = random_result(seed)
    head = result.headline
    text = summary(result)
    assert f"{head.level.upper()}: joining adds" in text
    page = render(result).replace("\N{NO-BREAK SPACE}", " ")
    assert f"level {head.level}" in page
    assert f'aria-current="true">{head.level}<' in page
    stored = json.loads(json.dumps(result.to_dict()))
    assert stored["headline"]["level"] == head.level
    assert stored["headline"]["up_to"] == head.up_to
    signed = sign(stored).replace("\N{NO-BREAK SPACE}", " ")
    for condition in head.conditions:
        flat = " ".join(text.split())
        assert condition.sentence in flat
        assert condition.sentence in page.replace("&#34;", '"')
        assert condition.sentence in signed


@pytest.mark.parametrize("seed", range(100))
def test_a_gate_opens_only_where_less_is_shown(seed: int) -> None:
    head = random_result(seed).headline
    for most in (0.0, 0.05, 0.1, 0.3, 0.7, 1.0):
        said = above(head, most)
        assert (said is None) == (head.up_to <= most)
        if said is not None and not (head.beyond_guessing and head.adds.value > most):
            assert "not ruled out" in said


def test_a_gate_does_not_call_shown_what_the_headline_calls_unsettled() -> None:
    """A small leak beyond luck beside a larger one that may be luck."""
    sure = Measurement(0.05, 0.03, 0.07, 500, "leakage", "records")
    unsure = Measurement(0.3, -0.05, 0.6, 20, "leakage", "records")
    head = headline([a_threat("white-box", [sure, unsure], [1e-6, 0.2])])
    assert (head.level, head.column) == (UNSETTLED, "c1")
    assert above(head, 0.1) == (
        "joining may add up to 0.600 (that is not ruled out; more records or seeds would say)"
    )


def test_three_people_of_fifty_raise_no_alarm() -> None:
    """Only they are guessed apart, all in the right direction: of 8 orders of three pairs that is one.

    A rival that knows nothing is led beyond luck, and the chance is that of the rival led least surely.
    """
    truth = np.repeat([0.0, 1.0], 25)[:, None]
    wrong = [3, 11, 40]
    copy = truth.copy()
    copy[wrong] = 1.0 - copy[wrong]
    better = np.zeros_like(copy)
    better[wrong] = 1e-3 * np.sign(truth[wrong] - 0.5)

    def pool(guess: np.ndarray) -> Pool:
        nowhere = sealed_bools(np.zeros(truth.shape, dtype=bool))
        scored = Scored("a", "attack", sealed(guess - truth), 0, 0.0, 0.0, "", {}, nowhere)
        return Pool({0: (scored, sealed(truth - truth.mean()))})

    attack, control, nothing = (pool(guess) for guess in (copy + better, copy - better, 0 * copy))
    _, alone = leads(attack, [nothing], np.array([0]))
    _, chance = leads(attack, [nothing, control], np.array([1]))
    assert alone[0] < 1e-4
    assert chance[0] == 1 / 8


def test_the_one_ill_person_is_found_by_luck_once_in_as_many_as_there_are() -> None:
    ill = np.zeros((300, 1))
    ill[7] = 1.0
    other = np.roll(ill, 1, axis=0)

    def pool(guess: np.ndarray) -> Pool:
        nowhere = sealed_bools(np.zeros(ill.shape, dtype=bool))
        scored = Scored("a", "attack", sealed(guess - ill), 0, 0.0, 0.0, "", {}, nowhere)
        return Pool({0: (scored, sealed(ill - ill.mean()))})

    _, chance = leads(pool(ill), [pool(other)], np.array([0]))
    assert chance[0] == pytest.approx(1 / 300)


def test_the_upper_end_allows_for_every_rival_that_may_be_the_best() -> None:
    """Eight rivals that know equally much: the best of them is best by luck."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(400, 300))

    def noisy(share: float) -> Pool:
        away = truth - truth.mean(axis=0)
        moved = truth + rng.normal(size=truth.shape) * np.sqrt((1 - share) / share)
        nowhere = sealed_bools(np.zeros(truth.shape, dtype=bool))
        scored = Scored("a", "attack", sealed(moved - truth), 0, 0.0, 0.0, "", {}, nowhere)
        return Pool({0: (scored, sealed(away))})

    attack, rivals, weak = noisy(0.6), [noisy(0.5) for _ in range(8)], noisy(0.01)
    followed = np.array([rival.followed.value for rival in rivals])
    lead, _ = leads(attack, rivals, followed.argmax(axis=0))
    missed = np.mean([one.high < 0.1 for one in lead])
    assert missed < 0.05  # of the chosen rival alone it is about one in six
    with_weak, _ = leads(attack, [*rivals, weak], followed.argmax(axis=0))
    assert [one.high for one in with_weak] == [one.high for one in lead]


def test_forty_four_percent_is_not_low() -> None:
    wide = Measurement(0.12, -0.05, 0.44, 20, "leakage", "records")
    chances = [0.02 + 0.001 * k for k in range(10)]
    many = a_threat("white-box", [wide] * 10, chances)
    assert 0.02 * comparisons(list(attacked([many]))) > ALARMS
    head = headline([many])
    assert head.level == UNSETTLED
    assert "up to 44 %" in head.sentence
    (first, *_) = head.conditions
    assert first.sentence == (
        "If you hand over your part of the model: unsettled, up to 44 % in “c0” is not ruled out; "
        "more records or seeds would say."
    )


def test_of_a_column_that_does_not_vary_or_of_three_records_nothing_is_shown() -> None:
    rng = np.random.default_rng(0)
    guess, truth = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    truth[:, 1] = 3.0
    away, moved = truth - truth.mean(axis=0), guess - guess.mean(axis=0)
    found = follow(away * moved, moved**2, away**2)
    assert found.high[0] < 1.0
    assert (found.value[1], found.low[1], found.high[1]) == (0.0, 0.0, 1.0)
    lead = gain(found, found)
    assert (lead.value[0], lead.high[0]) == (0.0, 0.0)  # the same guess adds nothing
    assert (lead.value[1], lead.high[1], lead.chance[1]) == (0.0, 1.0, 1.0)
    few = follow((away * moved)[:3], moved[:3] ** 2, away[:3] ** 2)
    assert few.high.tolist() == [1.0, 1.0]
    assert gain(few, few).high.tolist() == [1.0, 1.0]


def alike(threat: ThreatFinding, column: str) -> ThreatFinding:
    """Return a threat under which nobody attacked differs in a column: nothing was measured in it."""
    nothing = Measurement(0.0, 0.0, 1.0, 50, "leakage", "records")
    (guess,) = threat.findings
    columns = tuple(
        replace(c, adds=nothing, chance=1.0, differs=False) if c.column == column else c
        for c in guess.columns
    )
    return replace(threat, findings=(replace(guess, columns=columns),))


def test_where_nobody_attacked_differs_no_number_of_seeds_is_asked_for() -> None:
    little = Measurement(0.01, 0.0, 0.05, 50, "leakage", "records")
    wide = Measurement(0.01, 0.0, 0.6, 50, "leakage", "records")
    settled = alike(a_threat("white-box", [little, little], [0.5, 0.5]), "c1")
    head = headline([settled])
    assert (head.level, head.open_column, head.up_to) == (UNSETTLED, "c1", 1.0)
    said = "up to 100 % in “c1” is not ruled out, as nobody attacked differs in this column"
    assert head.sentence.endswith(f"{said}.")
    assert head.conditions[0].sentence.endswith(f"unsettled, {said}.")
    assert above(head, 0.3) == (
        "joining may add up to 1.000 (that is not ruled out, as nobody attacked differs in “c1”)"
    )
    told = " ".join(advice(head, [settled], []))
    assert "nobody attacked differs in this column" in told
    assert "seeds" not in told
    # Another column that is open too is not forgotten.
    both = alike(a_threat("white-box", [wide, little], [0.5, 0.5]), "c1")
    assert headline([both]).sentence.endswith(
        f"{said}, nor is up to 60 % in “c0”, of which more records or seeds would say."
    )
    # Where it is the other way round, more people say.
    few = a_threat("white-box", [Measurement(0.0, 0.0, 1.0, 3, "leakage", "records")], [1.0])
    assert headline([few]).sentence.endswith("is not ruled out; more records or seeds would say.")


def test_a_defense_says_the_same_of_such_a_column() -> None:
    leak = Measurement(0.8, 0.7, 0.9, 50, "leakage", "records")
    gone = Measurement(0.01, 0.0, 0.05, 50, "leakage", "records")
    nothing = Measurement(0.0, 0.0, 1.0, 50, "leakage", "records")
    threat = alike(a_threat("white-box", [leak, leak], [0.0, 0.0]), "c1")
    head = headline([threat])
    first = ColumnDefense("c0", leak, gone)
    pairs = (first, ColumnDefense("c1", nothing, nothing, differs=False))
    defense = replace(
        low_case().defenses[0], columns=pairs, column=first, worst=first, against=("white-box",)
    )
    told = " ".join(advice(head, [threat], [defense]))
    assert (
        "With it up to 100 % in “c1” is not ruled out, as nobody attacked differs in this column."
        in told
    )


def test_a_guess_knows_the_columns_in_which_nobody_attacked_differs() -> None:
    rng = np.random.default_rng(0)
    truth, guess = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    truth[:, 1] = 3.0
    away = truth - truth.mean(axis=0)
    nowhere = sealed_bools(np.zeros(truth.shape, dtype=bool))
    scored = Scored("half", "attack", sealed(guess - truth), 0, 0.0, 0.0, "", {}, nowhere)
    found = combine_guess({0: (scored, sealed(away))}, ["income", "rare"], None)
    assert [column.differs for column in found.columns] == [True, False]
    assert found.columns[1].adds.high == 1.0


def test_fewer_known_people_than_asked_for_are_told_in_one_note() -> None:
    sure = [Measurement(0.2, 0.15, 0.25, 50, "leakage", "records")]
    known = replace(a_threat("black-box-known", sure, [0.0]), granted=12)
    (note,) = known_notes(500, [known])
    assert note.startswith("known 500: only 12 people can be known under black-box-known")
    assert known_notes(12, [known]) == []
    hijack = replace(a_threat("split-hijack", sure, [0.0]), granted=30)
    (note,) = known_notes(40, [hijack])
    assert note == (
        "known does not change split-hijack (30 records): its adversary holds complete records of "
        "other people, a share of the table."
    )
    (line,) = [c.sentence for c in headline([hijack]).conditions if c.name == "records"]
    assert line.startswith("If your partner holds 30 records of other people: medium")
    blind = a_threat("agnostic", sure, [0.0])
    assert known_notes(25, [blind]) == []
    assert known_notes(40, [blind]) == ["known 40 changes nothing: no threat tried knows people."]
    (both,) = known_notes(500, [known, hijack])
    assert "only 12" in both
    assert "split-hijack" in both


def test_a_comparison_that_is_told_twice_counts_once() -> None:
    sure = [Measurement(0.2, 0.15, 0.25, 50, "leakage", "records")]
    one = a_threat("white-box", sure, [0.02])
    told_again = a_threat("white-box-known", sure, [0.02])
    copies = a_threat("white-box", sure * 4, [0.02] * 4)
    assert comparisons(list(attacked([one]))) == 1
    assert comparisons(list(attacked([one, told_again, copies]))) == 1
    for threats in ([one], [one, told_again], [copies]):
        assert headline(threats).level == "medium"
    other = [Measurement(0.01 * k, 0.0, 0.3, 50, "leakage", "records") for k in range(3)]
    assert comparisons(list(attacked([one, a_threat("agnostic", other, [0.5, 0.4, 0.3])]))) == 4


def test_who_sees_no_message_proves_nothing_about_a_model_handed_over() -> None:
    nothing = [Measurement(0.0, 0.0, 0.0, 50, "leakage", "records")]
    blind = a_threat("agnostic", nothing, [1.0])
    first = headline([blind]).conditions[0]
    assert (first.name, first.level) == ("model", "")
    assert "tried only by agnostic, who sees no message about a person" in first.sentence
    both = headline([blind, a_threat("white-box", nothing, [1.0])]).conditions[0]
    assert both.level == "low"


@pytest.mark.parametrize(
    ("value", "told"),
    [(0.0027, "0.3 %"), (0.0001, "under 0.1 %"), (0.996, "99.6 %"), (0.99999, "over 99.9 %")],
)
def test_sentences_and_tables_have_one_word_for_a_share(value: float, told: str) -> None:
    """Before: "0 % without joining" in the advice and "0.3 %" above the bars; 100 % beside 99.6 %."""
    assert percent(value) == wording.percent(value)
    assert percent(value) == told
