"""A defense is held against the same bars as no defense, under every threat that it covers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from whatleaks.arrays import sealed, sealed_bools, sealed_ints
from whatleaks.auditor.advice import effective, headline
from whatleaks.auditor.again import contenders, joined, strongest_again
from whatleaks.auditor.combine import Entry, combine_threats, with_shared
from whatleaks.auditor.combine_defenses import combine_defenses
from whatleaks.auditor.result import ColumnDefense, DefenseFinding
from whatleaks.auditor.spec import AuditSpec
from whatleaks.metrics.measurement import Measurement
from whatleaks.seeds import Streams
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.records import PerRecord, no_records
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.scorers.values import Scored
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

RECORDS = 200


def guess(
    name: str, role: str, truth: np.ndarray, share: float, rng: np.random.Generator
) -> Scored:
    """Return the scores of a guess that follows about this share of the differences."""
    noise = rng.normal(size=truth.shape) * truth.std() * np.sqrt((1 - share) / max(share, 1e-9))
    nowhere = sealed_bools(np.zeros(truth.shape, dtype=bool))
    return Scored(name, role, sealed(noise), 0, 0.0, 0.0, "", {}, nowhere)


def entries(unchanged: bool) -> list[Entry]:
    """Equality solving under white-box; known people tell nearly as much by themselves."""
    rng = np.random.default_rng(3)
    truth = rng.random((RECORDS, 1))
    apart = sealed(truth - truth.mean(axis=0))
    solved = guess("equality-solving", "attack", truth, 0.5, rng)
    control = guess("equality-solving control", "control", truth, 1e-6, rng)
    bar = guess("auxiliary-regression", "baseline", truth, 0.45, rng)
    other = solved if unchanged else guess("equality-solving", "attack", truth, 1e-6, rng)
    limit = guess("limit", "limit", truth, 0.6, rng)
    ones = sealed_ints(np.ones(RECORDS))

    def entry(threat: str, defense: str, *scored: Scored) -> Entry:
        scenario = Scenario("mine", share=0.5, threat=threat, defense=defense, attacks=("equality-solving",))  # fmt: skip
        records = PerRecord(("a",), apart, scored, (), ones, ones, RECORDS, 100)
        return Entry(scenario, Outcome({}), records)

    return [
        entry("white-box", "", solved, control, limit),
        entry("white-box-known", "", bar, limit),
        entry("white-box-known", "rounding-3", other, control, bar, limit),
    ]


@pytest.mark.parametrize("unchanged", [True, False])
def test_a_defense_that_changes_nothing_is_not_called_effective(unchanged: bool) -> None:
    shared = with_shared(entries(unchanged))
    threats = combine_threats(shared, "lr", Streams(0))
    head = headline(threats)
    assert head.adds.value > 0.3
    ((found,), _) = combine_defenses(shared, head, threats)
    assert found.column is not None
    assert "white-box" in found.against
    if unchanged:
        assert found.column.after.value == pytest.approx(found.column.before.value, abs=1e-12)
    assert effective(found) is not unchanged


def test_the_same_defense_under_two_threats_is_told_twice() -> None:
    first = entries(True)
    again = [replace(e, scenario=replace(e.scenario, threat="black-box")) for e in first[:1]]
    again += [replace(e, scenario=replace(e.scenario, threat="black-box")) for e in first[2:]]
    shared = [*first, *again]
    threats = combine_threats(shared, "lr", Streams(0))
    found, _ = combine_defenses(shared, headline(threats), threats)
    assert [d.threat for d in found] == ["white-box-known", "black-box"]
    assert {d.adds.n for d in found} == {RECORDS}


def test_a_control_is_as_isolated_as_its_attack() -> None:
    scenario = Scenario(
        "wine",
        share=0.3,
        attacks=("half-star",),
        targets=20,
        references=("control",),
        isolated=True,
    )
    walls = {scored.name: scored.isolated for scored in run_trial(scenario).records.scored}
    assert walls["half-star"]
    assert walls["half-star control"] == walls["half-star"]


def test_people_who_are_made_up_train_apart() -> None:
    made = Scenario("wine", share=0.3, threat="black-box-known", known_from="uniform", targets=18)
    plain = replace(made, threat="black-box")
    assert made.training_key() != plain.training_key()
    assert plain.training_key() == replace(plain, known_from="").training_key()


def test_elements_that_were_given_are_a_bar_of_their_own() -> None:
    options = Settings({"key_bits": 512, "insecure_test_key": True, "epochs": 3})
    scenario = Scenario(
        "wine", unknown=4, model="encrypted", model_options=options, threat="encrypted-values"
    )
    found = run_trial(scenario).outcome.baselines
    assert 0.0 < found["known-values"].value < found["half"].value


@pytest.mark.parametrize(("slow", "again"), [(0.51, False), (0.7, True)])
def test_a_slow_attack_that_leads_in_any_column_is_tried_with_the_defense(
    slow: float, again: bool
) -> None:
    rng = np.random.default_rng(5)
    truth = rng.random((RECORDS, 2))
    apart = sealed(truth - truth.mean(axis=0))
    noise = rng.normal(size=truth.shape)

    def scored(name: str, role: str, shares: tuple[float, float]) -> Scored:
        # The same noise, so that who leads is no matter of luck.
        loud = np.sqrt([(1 - s) / s for s in shares]) * truth.std(axis=0)
        nowhere = sealed_bools(np.zeros(truth.shape, dtype=bool))
        return Scored(name, role, sealed(noise * loud), 0, 0.0, 0.0, "", {}, nowhere)

    quick = scored("half-star", "attack", (0.9, 0.5))
    leading = scored("generative-regression", "attack", (0.2, slow))
    blind = scored("half-star control", "control", (1e-6, 1e-6))
    limit = scored("limit", "limit", (0.9, 0.7))
    ones = sealed_ints(np.ones(RECORDS))

    def entry(defense: str, *found: Scored) -> Entry:
        names = tuple(one.name for one in found if one.role == "attack")
        scenario = Scenario("mine", share=0.5, threat="white-box", defense=defense, attacks=names)
        return Entry(scenario, Outcome({}), PerRecord(("a", "b"), apart, found, (), ones, ones, RECORDS, 100))  # fmt: skip

    first = [entry("", quick, blind, leading), entry("rounding-3", quick, blind, limit)]
    threats = combine_threats(first, "lr", Streams(0))
    head = headline(threats)
    assert (head.attack, head.column) == ("half-star", "a")
    more = strongest_again(AuditSpec("y", ("a", "b")), first, threats, head)
    assert [s.attacks for s in more] == ([("generative-regression",)] if again else [])
    # With many columns: only with the defenses that are named, on the first seed that was guessed.
    spec = AuditSpec("y", ("a", "b"))
    assert strongest_again(spec, first, threats, head, ()) == []
    later = [replace(e, scenario=replace(e.scenario, seed=1)) for e in first if e.scenario.defense]
    empty = [replace(e, records=no_records()) for e in first if e.scenario.defense]
    plain = [e for e in first if not e.scenario.defense]
    for entries, seeds in ((first, [0]), ([*first, *later], [0]), ([*plain, *empty, *later], [1])):
        asked = strongest_again(spec, entries, threats, head, ("rounding-3",))
        assert [scenario.seed for scenario in asked] == (seeds if again else [])
    findings, _ = combine_defenses(first, head, threats)
    assert "generative-regression" in findings[0].remark  # it leads, if only by little
    if again:
        both = joined(first, [entry("rounding-3", leading)])
        findings, _ = combine_defenses(both, head, threats)
        assert findings[0].remark == ""
        assert findings[0].columns[1].after.value > 0.6
        # What was tried again is not asked for once more.
        assert not strongest_again(AuditSpec("y", ("a", "b")), both, threats, head, ("rounding-3",))


def test_defenses_in_question_are_those_that_hold_or_else_the_closest() -> None:
    def finding(name: str, own: float, worst: float, against: str = "white-box") -> DefenseFinding:
        def adds(value: float) -> Measurement:
            return Measurement(value, value, value, 100, "share", "records")

        columns = (
            ColumnDefense("a", adds(0.5), adds(own)),
            ColumnDefense("b", adds(0.5), adds(worst)),
        )
        right = adds(0.9)
        return DefenseFinding(
            name, name, "release", "white-box", "half-star", columns, columns[0], columns[1],
            adds(0.5), adds(own), adds(worst), right, right, "", (against,),
        )  # fmt: skip

    head = SimpleNamespace(threat="white-box")
    leaks, holds = finding("leaks", 0.2, 0.3), finding("holds", 0.05, 0.08)
    closest = finding("closest", 0.15, 0.2)
    elsewhere = finding("elsewhere", 0.0, 0.0, "black-box")
    assert contenders(head, [leaks, holds, closest, elsewhere]) == ["holds"]
    assert contenders(head, [leaks, closest, elsewhere]) == ["closest"]
    assert contenders(head, [elsewhere]) == []
    out = replace(finding("leaves it out", 0.05, 0.08), column=None)
    assert contenders(head, [leaks, closest, out]) == ["leaves it out"]
