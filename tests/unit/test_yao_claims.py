"""Checks of Yao et al.: fresh seeds, what is compared with what, and the page that tells it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from whatleaks.runs.record import Record
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.check import checks
from whatleaks_lab.papers.claim import Verdict
from whatleaks_lab.papers.ledger import STORED
from whatleaks_lab.papers.yao_setup import ASKING, BARRED_SEED, FIRST_SEED, LATER_SEED
from whatleaks_lab.report.claims_page import draw

MINE = [name for name in checks() if name.startswith("Y")]


def scenarios(name: str, profile: str = "standard") -> list[Scenario]:
    runs = checks()[name].runs(profile)
    assert all(isinstance(run, Scenario) for run in runs)
    return [run for run in runs if isinstance(run, Scenario)]


@pytest.mark.parametrize("name", MINE)
def test_standard_runs_have_at_least_three_fresh_seeds(name: str) -> None:
    seeds = {run.seed for run in scenarios(name)}
    assert min(seeds) >= FIRST_SEED == 10
    assert len(seeds) >= 3


BARRED = {
    **dict.fromkeys(("Y03", "Y14", "Y16"), BARRED_SEED),
    **dict.fromkeys(("Y01", "Y02", "Y04", "Y05", "Y10", "Y12", "Y15"), LATER_SEED),
}


@pytest.mark.parametrize(("name", "first"), BARRED.items())
def test_what_is_held_against_the_bar_has_seeds_that_it_has_not_seen(name: str, first: int) -> None:
    assert {run.seed for run in scenarios(name)} == set(range(first, first + 3))


@pytest.mark.parametrize("name", ["Y01", "Y02", "Y03", "Y04", "Y05"])
def test_an_honest_network_is_asked_on_the_same_records_as_the_attacks(name: str) -> None:
    asked = [run for run in scenarios(name) if set(ASKING) <= set(run.attacks)]
    assert len(asked) == 3
    assert {run.threat for run in asked} == {"split-query"}


def test_runs_of_a_seed_that_differ_in_one_thing_share_the_rest() -> None:
    """Eight attacks on the same rows, columns and targets: six programmes, two that query."""
    runs = scenarios("Y01")
    assert {name for run in runs for name in run.attacks} == {
        "agn",
        "fsha",
        "urvfl",
        "urvfl-sync",
        "pcat",
        "sdar",
        "grna-embeddings",
        "gia-embeddings",
        *ASKING,
    }
    alike = {(run.dataset, run.data, run.share, run.targets, run.auxiliary) for run in runs}
    assert len(alike) == 1


def test_the_document_says_what_the_committed_results_say() -> None:
    from whatleaks_lab.report.paper_document import figure_of, own_entries, results_part, rewritten

    root = Path(__file__).resolve().parents[2]
    path = root / "docs" / "papers" / "yao.md"
    entries = own_entries("Y", STORED)
    text = path.read_text("utf-8")
    assert rewritten(text, results_part(entries, "yao")) == text
    for entry in entries:
        if entry.records and figure_of(entry):
            figure = path.parent / "yao" / f"{entry.claim.id}.svg"
            assert figure.read_text("utf-8") == figure_of(entry)
            assert figure.stat().st_size < 100_000


Numbers = Callable[[Scenario], dict[str, Any]]


def verdict(name: str, numbers: Numbers) -> Verdict:
    """Judge runs of the standard profile with numbers of our making, a little apart by seed."""
    made = []
    for work in scenarios(name):
        values = {
            key: number if isinstance(number, bool) else number * (1 + 0.001 * (work.seed % 3))
            for key, number in numbers(work).items()
        }
        outcome = Outcome(values)
        made.append(Record(f"{len(made):064d}", work, "", "ok", outcome, "", {}, 0.0, 1, ""))
    check = checks()[name]
    judged = check.judge(made)
    assert judged.measured
    plot = check.draw(made) if check.draw else None
    assert plot is None or draw(plot).startswith("<svg")
    return judged.verdict


def errors(best: Sequence[str], low: float, high: float) -> Numbers:
    """Give some attacks one error and all others another, in every unit that a check reads."""

    def numbers(run: Scenario) -> dict[str, Any]:
        found: dict[str, Any] = {}
        bars = ["auxiliary-regression", "auxiliary-mean"]
        if run.seed >= BARRED_SEED:
            bars += ["auxiliary-decoder", "auxiliary-best"]
        for name in (*run.attacks, *bars):
            error = low if name in best else high
            for kind in ("standardised", "pixels"):
                found[f"{name} {kind}"] = error
            found |= {f"{name} psnr": 20.0, f"{name} ssim": 0.5}
        return found

    return numbers


OURS = ("urvfl", "urvfl-sync")


@pytest.mark.parametrize("name", ["Y01", "Y02", "Y03", "Y04", "Y05"])
def test_the_lowest_of_eight(name: str) -> None:
    assert verdict(name, errors(OURS, 0.1, 0.5)) == Verdict.HOLDS
    assert verdict(name, errors(OURS, 0.5, 0.1)) == Verdict.FAILS
    assert verdict(name, errors(("urvfl",), 0.1, 0.5)) == Verdict.PARTLY


def halted(caught: Sequence[str], false: bool = False) -> Numbers:
    return lambda run: {
        "halted": any(name in caught for name in run.attacks) if run.attacks else false
    }


@pytest.mark.parametrize(
    ("name", "caught"),
    [("Y06", ("agn", "fsha")), ("Y08", ("agn", "fsha")), ("Y17", OURS)],
)
def test_what_is_halted_and_what_is_not(name: str, caught: tuple[str, ...]) -> None:
    assert verdict(name, halted(caught)) == Verdict.HOLDS
    others = tuple({"agn", "fsha", *OURS} - set(caught))
    assert verdict(name, halted(others, True)) == Verdict.FAILS


def test_a_detector_that_does_not_work_on_credit() -> None:
    assert verdict("Y07", halted(("agn", "fsha"))) == Verdict.FAILS
    assert verdict("Y07", halted(("agn", "fsha"), True)) == Verdict.HOLDS
    assert verdict("Y07", halted(())) == Verdict.HOLDS


def by(key: Callable[[Scenario], float], *names: str) -> Numbers:
    return lambda run: dict.fromkeys(names, key(run))


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("Y09", lambda run: 0.1 if run.attack_options.get("labelled", True) else 0.3),
        ("Y10", lambda run: 1.0 + len(run.prepared("drop"))),
        ("Y11", lambda run: 0.1 if run.attack_options["encoder"] == "same" else 0.3),
        ("Y13", lambda run: float(run.parties)),
    ],
)
def test_more_or_less_of_one_thing(name: str, right: Callable[[Scenario], float]) -> None:
    keys = (
        "urvfl",
        "urvfl pixels",
        "urvfl embedding cosine",
        "urvfl standardised",
        "auxiliary-regression standardised",
    )
    assert verdict(name, by(right, *keys)) == Verdict.HOLDS
    assert verdict(name, by(lambda run: 1.0 / right(run), *keys)) == Verdict.FAILS


@pytest.mark.parametrize(
    ("name", "stops"),
    [
        ("Y14", ("nopeek-1",)),
        ("Y15", ("embedding-noise-0.3", "embedding-noise-0.7")),
        ("Y16", ("gradient-noise-0.1",)),
    ],
)
def test_defenses_that_stop_it_and_cost_something(name: str, stops: tuple[str, ...]) -> None:

    def numbers(strong: bool) -> Numbers:
        def found(run: Scenario) -> dict[str, Any]:
            acts = (run.defense in stops) is strong
            return {
                "accuracy": 0.5 if acts else 0.9,
                "urvfl pixels": 0.5 if acts else 0.1,
                "auxiliary-regression pixels": 0.3,
                "auxiliary-best pixels": 0.3,
            }

        return found

    assert verdict(name, numbers(True)) == Verdict.HOLDS
    assert verdict(name, numbers(False)) == Verdict.FAILS
