"""Committed verdicts follow from their committed numbers, by rules that still stand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from whatleaks.data.location import find
from whatleaks.data.registry import card
from whatleaks.errors import StoreError
from whatleaks.runs.executors.inline import InlineExecutor
from whatleaks.runs.grouping import scenario_of, value
from whatleaks.runs.record import Record
from whatleaks.runs.runner import plan, run
from whatleaks.trial.outcome import Quantity
from whatleaks_lab.papers.check import PROFILES, checks
from whatleaks_lab.papers.claim import Verdict, claims
from whatleaks_lab.papers.jiang_defenses import ATTACKS as DEFENDED
from whatleaks_lab.papers.jiang_setup import ESA, GIA, SHADOW
from whatleaks_lab.papers.ledger import STORED as RESULTS
from whatleaks_lab.papers.ledger import Entry, judge, libraries, listing, moved, read, stale, write
from whatleaks_lab.papers.luo_setup import FOREST_GRN, GRN
from whatleaks_lab.papers.varasteh_setup import COLUMNS, study_of
from whatleaks_lab.report.claims_page import write_pages
from whatleaks_lab.report.verdicts import verdict_lines, verdicts

COMMITTED = sorted(path for name in PROFILES for path in RESULTS.glob(f"{name}/*.json"))
STANDARD = {path.stem: path for path in COMMITTED if path.parent.name == "standard"}


def committed(name: str) -> Entry:
    return read(STANDARD[name], checks()[name])


@pytest.mark.parametrize("path", COMMITTED, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_committed_verdict_follows_from_its_numbers(path: Path) -> None:
    check = checks()[path.stem]
    entry = read(path, check)
    assert stale(entry, check) == ""
    assert entry.sizes == check.sizes[path.parent.name]
    assert entry.judgement.verdict != Verdict.NOT_RUN
    assert path.stat().st_size < 1_000_000


def test_every_check_has_a_committed_verdict_or_says_why_not() -> None:
    assert set(STANDARD) == {name for name, check in checks().items() if not check.awaits}


@pytest.mark.parametrize("name", checks(), ids=str)
@pytest.mark.parametrize("profile", PROFILES)
def test_every_check_declares_runs_that_can_be_planned(name: str, profile: str) -> None:
    names = plan(checks()[name].runs(profile))
    assert names
    assert len(set(names)) == len(names)
    assert name in claims()


def test_a_forged_verdict_a_changed_rule_and_changed_runs_are_noticed(tmp_path: Path) -> None:
    check = checks()["U01"]
    text = STANDARD["U01"].read_text()
    forged = tmp_path / "U01.json"
    forged.write_text(json.dumps({**json.loads(text), "verdict": "fails"}))
    assert "give holds, not fails" in stale(read(forged, check), check)
    forged.write_text(json.dumps({**json.loads(text), "measured": "zero leaks"}))
    assert "its words" in stale(read(forged, check), check)
    forged.write_text(json.dumps({**json.loads(text), "rule": "whatever fits"}))
    assert "another rule" in stale(read(forged, check), check)
    tree = json.loads(text)
    tree["runs"][0]["hash"] = "0" * 64
    forged.write_text(json.dumps(tree))
    assert "no longer those" in stale(read(forged, check), check)
    tree = json.loads(text)
    tree["runs"][0]["work"]["seed"] = 99  # under the name of another run
    forged.write_text(json.dumps(tree))
    assert "no longer those" in stale(read(forged, check), check)
    tree["runs"].pop()
    forged.write_text(json.dumps(tree))
    assert "no longer those" in stale(read(forged, check), check)


def test_a_verdict_whose_work_does_not_read_is_refused_by_name(tmp_path: Path) -> None:
    tree = json.loads(STANDARD["U01"].read_text())
    tree["runs"][0]["work"]["datset"] = "adult"
    path = tmp_path / "U01.json"
    path.write_text(json.dumps(tree))
    with pytest.raises(StoreError, match=r"U01\.json.*'datset'"):
        read(path, checks()["U01"])


def test_a_missing_run_gives_no_verdict() -> None:
    check = checks()["U01"]
    entry = judge(check, "fast", (), 4)
    assert entry.judgement.verdict == Verdict.NOT_RUN
    assert "4 of 4" in entry.judgement.note


def test_a_written_verdict_reads_back_as_it_was(tmp_path: Path) -> None:
    entry = committed("U02")
    assert read(write(tmp_path, entry), checks()["U02"]) == entry


def cheapest(seconds: float) -> list[str]:
    """Name the claims whose fast runs took the least, as many as go into these seconds."""
    took = {path.stem: read(path, checks()[path.stem]).seconds for path in RESULTS.glob("fast/*")}
    names: list[str] = []
    for name in sorted(took, key=lambda name: (took[name], name)):
        seconds -= took[name]
        if seconds < 0.0:
            break
        names.append(name)
    return names


@pytest.mark.parametrize("name", cheapest(30.0))
def test_the_fast_runs_of_the_cheapest_claims_give_their_numbers_again(name: str) -> None:
    entry = read(RESULTS / "fast" / f"{name}.json", checks()[name])
    works = [record.work for record in entry.records]
    sets = {getattr(work, "dataset", "") for work in works} - {""}
    lacking = [one for one in sets if not card(one).embedded and find(card(one), None) is None]
    if lacking:
        pytest.skip(f"no data: set WHATLEAKS_DATA to the folder with {', '.join(lacking)}")
    again = [record for record in run(works, None, InlineExecutor()).records if record is not None]
    assert moved(entry, checks()[name], again) == ""


def test_a_number_that_moved_is_named_and_a_verdict_without_fast_numbers_says_so(
    tmp_path: Path,
) -> None:
    check = checks()["U02"]
    entry = read(write(tmp_path, read(RESULTS / "fast" / "U02.json", check)), check)
    assert entry.libraries == libraries()
    assert moved(entry, check, entry.records) == ""
    assert moved(entry, check, entry.records[1:]).endswith(", is None")
    other = contradicted(entry.records[0], {"deposit": 8011.9})
    assert "deposit was 8011.8" in moved(entry, check, [other, *entry.records[1:]])
    elsewhere = replace(entry, libraries={"numpy": "1.0"})
    assert moved(elsewhere, check, [other, *entry.records[1:]]) == ""
    other = contradicted(entry.records[0], {"deposit": 9000.0})
    assert "verdict was holds" in moved(elsewhere, check, [other, *entry.records[1:]])
    (tmp_path / "fast" / "U02.json").unlink()
    write(tmp_path, committed("U02"))
    (listed,) = [one for one in listing(tmp_path) if one.claim.id == "U02"]
    said = "not checked: no fast runs are stored"
    assert listed.to_dict()["unchecked"] == said
    for printed in (verdict_lines, verdicts):
        assert said in " ".join(printed([listed.to_dict()]).split())
    write_pages([listed], tmp_path)
    assert said in (tmp_path / "U.html").read_text()
    write(tmp_path, entry)
    assert not [one.unchecked for one in listing(tmp_path) if one.unchecked]


Numbers = Mapping[str, Quantity]


def larger_with_more(record: Record) -> Numbers:
    return {GRN: scenario_of(record).part}


def follows_the_error(record: Record) -> Numbers:
    error = record.measurements[f"{GRN} by column"]
    return {"own correlation by column": error, "score correlation by column": error}


def sensitive(record: Record) -> Numbers:
    return {GRN: 1.0 if scenario_of(record).defense else 0.1}


def lower_with_dropout(record: Record) -> Numbers:
    return {GRN: 0.1 if "dropout" in scenario_of(record).model_options else 1.0}


def flagged_wrongly(record: Record) -> Numbers:
    solvable = value(record, "unknown") < value(record, "classes")
    lower = 0.1 if scenario_of(record).defense else 1.0
    return {GRN: lower, "equality-solving": 1.0 if solvable else 0.0}


def option(record: Record, name: str) -> str:
    return str(scenario_of(record).model_options[name])


def hidden_of(record: Record) -> tuple[object, ...]:
    hidden = scenario_of(record).model_options["hidden"]
    assert isinstance(hidden, tuple)
    return hidden


def structure(record: Record) -> str:
    return str(scenario_of(record).attack_options["structure"])


def attacked(leak: float, accuracy: float) -> Numbers:
    """Every attack of the defenses' claims leaks as much, at this accuracy of the model."""
    return {"accuracy": accuracy, **{f"{attack} accuracy": leak for attack in DEFENDED}}


def leaks_with_gain(record: Record) -> Numbers:
    """Accuracy falls with own columns, and sets that gain more from joining leak more."""
    place = list(COLUMNS).index(study_of(record).dataset)
    size = study_of(record).size
    return {
        "accuracy": 1.0 + place,
        "accuracy alone": 0.001 * size,
        "half": 1.0,
        "agnostic": 1.0 - 0.1 * place,
    }


def delivers_others(record: Record) -> Numbers:
    return {"accuracy": 0.5 if scenario_of(record).defense else 0.6}


def defended_backwards(record: Record, *strong: str) -> Numbers:
    """Let the strong defenses help the attack and the model, and all else stop both."""
    helps = scenario_of(record).defense in strong
    return {"accuracy": 0.99 if helps else 0.5, "urvfl pixels": 0.001 if helps else 9.0}


# Numbers that contradict each claim; they take the place of those that were measured.
AGAINST: dict[str, Numbers | Callable[[Record], Numbers]] = {
    "A01": {"records": 1},
    "A02": {"half-star": 9.0},
    "A03": {"agnostic": 9.0},
    "A04": {"refined-100": 9.0},
    "A05": {"agnostic": 0.1, "refined-50": 0.2, "refined-100": 0.3},
    "A06": {"labels-100": 9.0},
    "A07": {"agnostic": 0.0, "refined-100": 9.0},
    "A08": {"agnostic": 0.0},
    "A09": leaks_with_gain,
    "A10": {"closed form off": 1.0},
    "A11": {"example 1 off": 1.0},
    "A12": {"closed form off": 1.0, "rewritten off": 1.0},
    "A13": {"case ii off": 1.0},
    "A14": {"remark 11 off": 1.0},
    "A15": {"error at 1": 0.0, "error at 5": 0.0, "error at 20": 0.001},
    "A16": {"error at 1": 0.0},
    "A17": {"error at 1": 0.0},
    "A18": delivers_others,
    "J01": {"accuracy": 0.0},
    "J02": {ESA: 1.0, GIA: 1.0},
    "J03": {GIA: 0.0},
    "J04": {GIA: 9.0},
    "J05": {GIA: 0.0, "gradient-inversion-kl": 9.0},
    "J06": {f"{GIA} accuracy": 0.0, f"{ESA} accuracy": 1.0},
    "J07": lambda r: {f"{GIA} by column": r.measurements["own correlation by column"]},
    "J08": {GIA: 9.0, f"{GIA} accuracy": 0.0, f"{GRN} accuracy": 1.0},
    "J09": lambda r: {
        f"{GIA} accuracy": float(scenario_of(r).targets == 100),
        f"{GRN} accuracy": 0.5,
    },
    "J10": lambda r: {GIA: 9.0 - len(hidden_of(r))},
    "J11": lambda r: {GIA: {"sigmoid": 9.0, "tanh": 1.0, "relu": 0.5}[option(r, "activation")]},
    "J12": lambda r: {SHADOW: float(scenario_of(r).known)},
    "J13": lambda r: {SHADOW: float(scenario_of(r).known)},
    "J14": lambda r: {
        f"{SHADOW} accuracy": 0.5 * bool(scenario_of(r).known_from),
        "uniform accuracy": 0.9,
    },
    "J15": lambda r: {SHADOW: {"8-8": 9.0, "linear": 1.0, "8": 2.0, "8-8-8": 3.0}[structure(r)]},
    "J16": {f"{ESA} psi": 9.0, f"{GIA} psi": 9.0, "wrong psi": 9},
    "J17": lambda r: attacked(float(scenario_of(r).defense != "dp-sgd-10"), 0.9),
    "J18": lambda r: attacked(0.5, 0.9),
    "J19": lambda r: attacked(0.5, 0.0 if scenario_of(r).defense else 0.9),
    "J20": lambda r: attacked(
        0.5, {"": 0.9, "purifier-real": 0.5, "purifier-random": 0.3}[scenario_of(r).defense]
    ),
    "L01": {"intermediate-recovery": 1.0},
    "L02": {"intermediate-recovery": 1.0},
    "L03": {"counts that agree": 0},
    "L04": {"counts that agree": 0},
    "L05": {"solved from the corollary's positions": 0, "open in the counter-example": 0},
    "L06": {"gram-inversion-known relative": 1.0, "gram-inversion-known best relative": 1.0},
    "L07": {"gram-inversion-known relative": 1.0, "gram-inversion-known best relative": 1.0},
    "L09": {"error": 1.0, "best": 1.0},
    "L10": {"error": 1.0},
    "L11": {"nodes found": 0, "queries": 1},
    "L12": {"nodes found": 0, "queries": 1},
    "L13": {"threshold-intervals held": 0.5},
    "L08": {"gram-inversion relative": 1.0, "gram-inversion best relative": 1.0},
    "U01": {"equality-solving": 1.0},
    "U02": {"deposit": 9000.0},
    "U03": {"equality-solving": 9.0},
    "U04": {"equality-solving": 9.0},
    "U05": {"leaf": 8},
    "U06": {"advantage": -0.1},
    "U07": {GRN: 9.0, FOREST_GRN: 9.0},
    "U08": {GRN: 9.0},
    "U09": {f"{FOREST_GRN} branches": 0.0},
    "U10": larger_with_more,
    "U11": follows_the_error,
    "U12": {"equality-solving": 0.001},
    "U13": sensitive,
    "U14": lower_with_dropout,
    "U15": flagged_wrongly,
    "U16": {"equality-solving below": 0.5},
    "Y01": {"urvfl standardised": 1e6, "urvfl-sync standardised": 1e6},
    "Y02": {"urvfl standardised": 1e6, "urvfl-sync standardised": 1e6},
    "Y03": {"urvfl pixels": 9.0, "urvfl-sync pixels": 9.0},
    "Y04": {"urvfl pixels": 9.0, "urvfl-sync pixels": 9.0},
    "Y05": {"urvfl pixels": 9.0, "urvfl-sync pixels": 9.0},
    "Y06": lambda record: {"halted": {"agn", "fsha"}.isdisjoint(scenario_of(record).attacks)},
    # The committed verdict is no already: other numbers that say it again.
    "Y07": lambda record: {"halted": bool(scenario_of(record).attacks), "steps": 7},
    "Y08": {"halted": False},
    "Y09": lambda record: {
        "urvfl embedding cosine": 0.9
        if scenario_of(record).attack_options.get("labelled", True)
        else 0.1
    },
    "Y10": lambda record: {"urvfl standardised": 20.0 - len(scenario_of(record).prepared("drop"))},
    "Y11": lambda record: {
        "urvfl pixels": 9.0 if scenario_of(record).attack_options["encoder"] == "same" else 1.0
    },
    "Y12": lambda record: {"urvfl pixels": 9.0 * (1.0 + scenario_of(record).auxiliary) ** 9},
    "Y13": lambda record: {"urvfl standardised": 1.0 / scenario_of(record).parties},
    "Y14": lambda record: defended_backwards(record, "nopeek-1"),
    "Y15": lambda record: defended_backwards(record, "embedding-noise-0.3", "embedding-noise-0.7"),
    "Y16": lambda record: defended_backwards(record, "gradient-noise-0.1"),
    "Y17": lambda record: {"halted": not scenario_of(record).attacks},
}


def contradicted(record: Record, numbers: Numbers) -> Record:
    """Put numbers into a run in place of those that it has."""
    assert record.outcome is not None

    def put(held: Mapping[str, Quantity]) -> dict[str, Quantity]:
        return {name: numbers.get(name, value) for name, value in held.items()}

    outcome = replace(
        record.outcome,
        measurements=put(record.outcome.measurements),
        baselines=put(record.outcome.baselines),
    )
    return replace(record, outcome=outcome)


@pytest.mark.parametrize("name", [n for n, check in checks().items() if not check.awaits], ids=str)
def test_every_judge_says_no_to_numbers_against_its_claim(name: str) -> None:
    """The committed runs with other numbers in them: a new claim needs a line above."""
    against = AGAINST[name]
    records = [
        contradicted(record, against(record) if callable(against) else against)
        for record in committed(name).records
    ]
    assert records != list(committed(name).records)
    assert checks()[name].judge(records).verdict is Verdict.FAILS
