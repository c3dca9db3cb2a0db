"""The judges of Luo et al.: constructed numbers give each verdict that the rules name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from whatleaks.errors import DataError, WhatleaksError
from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import scenario_of
from whatleaks.runs.record import Record
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import Scenario, from_dict
from whatleaks_lab.papers import comparison
from whatleaks_lab.papers.check import PROFILES, checks
from whatleaks_lab.papers.claim import Verdict
from whatleaks_lab.papers.ledger import STORED
from whatleaks_lab.papers.luo_setup import BANK, CREDIT, DRIVE, FOREST_GRN, GRN, NEWS
from whatleaks_lab.report.claims_page import draw

HOLDS, PARTLY, FAILS = Verdict.HOLDS, Verdict.PARTLY, Verdict.FAILS
Numbers = Callable[[Any], Mapping[str, Any]]  # of a scenario, or of a worked example
LUO = [name for name in checks() if name[0] == "U"]


def records(claim: str, numbers: Numbers) -> list[Record]:
    """Give every run of the standard profile numbers of our making, a little apart by seed."""
    made: list[Record] = []
    for work in checks()[claim].runs("standard"):
        values = {}
        for name, number in numbers(work).items():
            keep = isinstance(number, bool | int | list | str)
            values[name] = number if keep else number * (1 + 0.001 * (work.seed % 3))
        made.append(
            Record(f"{len(made):064d}", work, "", "ok", Outcome(values), "", {}, 0.0, 1, "")
        )
    return made


def verdict(claim: str, numbers: Numbers) -> Verdict:
    found = records(claim, numbers)
    judged = checks()[claim].judge(found)
    assert judged.measured
    figure = checks()[claim].draw
    assert figure is not None
    plot = figure(found)
    assert plot is not None
    assert draw(plot).startswith("<svg")
    return judged.verdict


GUESSES = {"uniform": 0.2, "gaussian": 0.18, "half": 0.1}


# U03: equality solving beyond its threshold ------------------------------------------------
def solving(error: Callable[[Scenario], float], unknown: int = 20) -> Numbers:
    return lambda run: {
        "equality-solving": error(run), "unknown": unknown, "classes": 2, **GUESSES
    }  # fmt: skip


def test_u03_holds_when_better_and_growing() -> None:
    assert verdict("U03", solving(lambda s: 0.05 + 0.1 * s.share)) is HOLDS


def test_u03_is_partly_when_one_set_does_not_grow() -> None:
    assert (
        verdict("U03", solving(lambda s: 0.05 + (0 if s.dataset == NEWS else 0.1) * s.share))
        is PARTLY
    )


def test_u03_fails_when_no_better_than_random() -> None:
    assert verdict("U03", solving(lambda s: 0.3 + s.share)) is FAILS
    assert verdict("U03", solving(lambda s: 0.1 - 0.1 * s.share)) is FAILS  # grows nowhere


def test_u03_does_not_count_shares_below_the_threshold() -> None:
    def numbers(run: Scenario) -> Mapping[str, Any]:
        exact = run.dataset == DRIVE and run.share == 0.2
        error = 9.0 if exact else 0.05 + 0.1 * run.share
        return {"equality-solving": error, "unknown": 10 if exact else 20, "classes": 11, **GUESSES}

    assert verdict("U03", numbers) is HOLDS


# U05: the worked tree -----------------------------------------------------------------------
def worked(**changed: Any) -> Numbers:
    from whatleaks_lab.papers.luo_trees import ALPHA, BETA

    right = {
        "beta": BETA, "alpha": ALPHA, "paths": 5, "paths by own columns": 2,
        "paths by class too": 1, "leaf": 4, "deposit above": 5000, "deposit up to": 10000,
    }  # fmt: skip
    return lambda _: {**right, **changed}


def test_u05_holds_only_for_the_printed_vectors_and_path() -> None:
    assert verdict("U05", worked()) is HOLDS
    assert verdict("U05", worked(beta=[1] * 15)) is FAILS
    assert verdict("U05", worked(**{"paths by class too": 2})) is FAILS
    assert verdict("U05", worked(leaf=8)) is FAILS


# U06: path restriction ----------------------------------------------------------------------
def branching(gain: float, fall: Callable[[Scenario], float]) -> Numbers:
    def numbers(run: Scenario) -> Mapping[str, Any]:
        rate = 0.9 - fall(run) * run.share
        return {
            "path-restriction": rate, "path-restriction pooled": rate, "random-path": rate - gain,
            "random-path pooled": rate - gain, "advantage": gain,
        }  # fmt: skip

    return numbers


def test_u06_all_three_verdicts() -> None:
    told = branching(0.1, lambda s: -0.1 if s.dataset == DRIVE else 0.5)
    assert verdict("U06", told) is HOLDS
    assert verdict("U06", branching(0.1, lambda _: 0.5)) is PARTLY  # falls on drive too
    assert verdict("U06", branching(-0.1, lambda s: 0.0 if s.dataset == DRIVE else 0.5)) is FAILS


def test_u06_leaves_out_runs_without_a_rate() -> None:
    told = branching(0.1, lambda s: -0.1 if s.dataset == DRIVE else 0.5)

    def numbers(run: Scenario) -> Mapping[str, Any]:
        return {"unknown": 2} if run.seed == 4 else told(run)

    assert verdict("U06", numbers) is HOLDS


# U07: three models --------------------------------------------------------------------------
def three(lr: float, rf: float, nn: float) -> Numbers:
    by = {"lr": (GRN, lr), "forest": (FOREST_GRN, rf), "joint-network": (GRN, nn)}
    return lambda run: {by[run.model][0]: by[run.model][1], **GUESSES}


def test_u07_all_three_verdicts() -> None:
    assert verdict("U07", three(0.12, 0.12, 0.09)) is HOLDS
    assert verdict("U07", three(0.09, 0.12, 0.12)) is PARTLY  # NN does not leak most
    assert verdict("U07", three(0.3, 0.3, 0.09)) is FAILS  # beats random on one model of three


def test_u07_says_where_only_random_numbers_are_beaten() -> None:
    note = checks()["U07"].judge(records("U07", three(0.12, 0.12, 0.09))).note
    assert "one half in 12 of 36 cells" in note
    assert "not than one half: bank RF 20, 40, 60 %; " in note


# U08: the ablation --------------------------------------------------------------------------
def ablation(full: float, own: float, noise: float, penalty: float, generator: float) -> Numbers:
    def numbers(run: Scenario) -> Mapping[str, Any]:
        off = {
            "use_own": ("no-own", own),
            "use_noise": ("no-noise", noise),
            "use_variance_penalty": ("no-variance-penalty", penalty),
            "use_generator": ("no-generator", generator),
        }
        for key, (name, error) in off.items():
            if key in run.attack_options:
                return {f"{GRN}-{name}": error, **GUESSES}
        return {GRN: full, **GUESSES}

    return numbers


def test_u08_all_three_verdicts() -> None:
    assert verdict("U08", ablation(0.12, 0.17, 0.15, 0.15, 0.28)) is HOLDS
    assert verdict("U08", ablation(0.12, 0.17, 0.11, 0.15, 0.28)) is PARTLY
    assert verdict("U08", ablation(0.12, 0.11, 0.11, 0.11, 0.15)) is FAILS


# U09: branches in the forest ----------------------------------------------------------------
def forest(rate: float, tenth: float, chance: float = 0.5) -> Numbers:
    def numbers(run: Scenario) -> Mapping[str, Any]:
        guesses = {f"{name} branches": chance for name in GUESSES}
        return {f"{FOREST_GRN} branches": tenth if run.share == 0.1 else rate, **guesses}

    return numbers


def test_u09_all_three_verdicts() -> None:
    assert verdict("U09", forest(0.7, 0.85)) is HOLDS
    assert verdict("U09", forest(0.7, 0.75)) is PARTLY
    assert verdict("U09", forest(0.4, 0.45)) is FAILS


# U10: the number of predictions -------------------------------------------------------------
def predictions(gain: Callable[[Scenario], float]) -> Numbers:
    return lambda run: {GRN: 0.15 - gain(run) * run.part, "half": 0.1}


def test_u10_all_three_verdicts() -> None:
    assert verdict("U10", predictions(lambda _: 0.1)) is HOLDS
    assert (
        verdict("U10", predictions(lambda s: 0.1 if s.dataset in (BANK, CREDIT) else -0.1))
        is PARTLY
    )
    assert verdict("U10", predictions(lambda _: -0.1)) is FAILS


# U11: correlations --------------------------------------------------------------------------
def correlated(own: float, scores: float) -> Numbers:
    def numbers(run: Scenario) -> Mapping[str, Any]:
        rng = np.random.default_rng(run.seed)
        errors = rng.uniform(0.0, 0.2, 8)
        return {
            f"{GRN} by column": errors.tolist(),
            "own correlation by column": (0.5 + own * errors).tolist(),
            "score correlation by column": (0.5 + scores * errors).tolist(),
            "variance by column": [0.1] * 8,
        }

    return numbers


def test_u11_all_three_verdicts() -> None:
    assert verdict("U11", correlated(-1.0, -1.0)) is HOLDS
    assert verdict("U11", correlated(-1.0, 1.0)) is PARTLY
    assert verdict("U11", correlated(1.0, 1.0)) is FAILS


def test_the_rank_correlation_matches_scipy_and_its_interval_covers_zero_for_noise() -> None:
    from scipy.stats import spearmanr

    from whatleaks_lab.papers.luo_conditions import spearman

    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        x, y = rng.normal(size=(2, 30))
        measured = spearman(x.tolist(), y.tolist())
        assert measured.value == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
        covered += measured.low <= 0.0 <= measured.high
    assert 0.91 <= covered / 400 <= 0.99  # 95 % of 400, three standard errors and a little


# U12 and U13: rounding ----------------------------------------------------------------------
def rounded(name: str, exact: float, one: float, three_digits: float) -> Numbers:
    by = {"": exact, "rounding-1": one, "rounding-3": three_digits}
    return lambda run: {name: by[run.defense], "unknown": 20, "classes": 2, **GUESSES}


def test_u12_all_three_verdicts() -> None:
    name = "equality-solving"
    assert verdict("U12", rounded(name, 0.1, 0.4, 0.1)) is HOLDS
    assert verdict("U12", rounded(name, 0.1, 0.4, 0.15)) is PARTLY
    assert verdict("U12", rounded(name, 0.1, 0.15, 0.1)) is FAILS


def test_u13_all_three_verdicts() -> None:
    def numbers(on_bank: float, on_drive: float) -> Numbers:
        return lambda s: {
            GRN: 0.1 * ((on_bank if s.dataset == BANK else on_drive) if s.defense else 1), **GUESSES
        }  # fmt: skip

    assert verdict("U13", numbers(1.02, 0.97)) is HOLDS
    assert verdict("U13", numbers(1.02, 1.5)) is PARTLY
    assert verdict("U13", numbers(0.6, 1.5)) is FAILS


# U14: dropout -------------------------------------------------------------------------------
def test_u14_all_three_verdicts() -> None:
    def numbers(times: float) -> Numbers:
        return lambda s: {
            GRN: 0.1 * (times if s.model_options.get("dropout") else 1), "accuracy": 0.9, **GUESSES
        }  # fmt: skip

    assert verdict("U14", numbers(1.1)) is HOLDS
    assert verdict("U14", numbers(1.6)) is PARTLY  # raised, but not a little
    assert verdict("U14", numbers(0.9)) is FAILS


# U15: the check before ----------------------------------------------------------------------
def checked(after: float, solvable: bool, esa: float, opens: bool = False) -> Numbers:
    def numbers(run: Scenario) -> Mapping[str, Any]:
        few = solvable or (opens and bool(run.defense))
        shared = {"unknown": 3 if few else 20, "classes": 5, "equality-solving": esa, **GUESSES}
        return {**shared, GRN: after} if run.defense else {**shared, GRN: 0.1, f"{GRN} kept": after}

    return numbers


def test_u15_all_three_verdicts() -> None:
    assert verdict("U15", checked(0.13, True, 0.0)) is HOLDS
    assert verdict("U15", checked(0.09, True, 0.0)) is PARTLY
    assert verdict("U15", checked(0.13, True, 0.2)) is PARTLY  # flagged, and not exact
    assert verdict("U15", checked(0.09, False, 0.0)) is FAILS  # exact, and not flagged


def test_u15_counts_the_federations_that_the_filter_opens() -> None:
    note = checks()["U15"].judge(records("U15", checked(0.13, False, 0.2, opens=True))).note
    assert "The filter brought 10 of 10 federations under" in note
    note = checks()["U15"].judge(records("U15", checked(0.13, True, 0.0))).note
    assert "The filter brought 0 of 10 federations under" in note


def test_u15_leaves_out_federations_in_which_the_filter_does_nothing() -> None:
    told = checked(0.13, True, 0.0)

    def numbers(run: Scenario) -> Mapping[str, Any]:
        return {} if run.defense and run.seed == 10 else told(run)

    judged = checks()["U15"].judge(records("U15", numbers))
    assert judged.verdict is HOLDS
    assert "right in 18 of 18 cases" in judged.measured


# U16: the gate ------------------------------------------------------------------------------
def gated(withheld: float, simulated: float, other: float) -> Numbers:
    names = ("equality-solving", "equality-solving-clipped", "half-star")

    def numbers(run: Scenario) -> Mapping[str, Any]:
        errors = dict.fromkeys(names, 0.1)
        if not run.defense:
            return {**errors, **{f"{name} below": 0.3 for name in names}}
        below = zip(names, (simulated, other, 0.0), strict=True)
        return {**errors, **{f"{name} below": share for name, share in below}, "withheld": withheld}

    return numbers


def test_u16_all_three_verdicts() -> None:
    assert verdict("U16", gated(0.3, 0.0, 0.0)) is HOLDS
    assert verdict("U16", gated(0.3, 0.0, 0.05)) is PARTLY
    assert verdict("U16", gated(0.3, 0.01, 0.0)) is FAILS
    assert verdict("U16", gated(0.0, 0.0, 0.0)) is FAILS  # it never acted


# What all share -----------------------------------------------------------------------------
def test_every_claim_of_the_paper_has_a_check_with_a_figure() -> None:
    assert [f"U{i:02d}" for i in range(1, 17)] == LUO
    assert all(checks()[name].draw is not None for name in LUO)


@pytest.mark.parametrize("name", LUO)
@pytest.mark.parametrize("profile", PROFILES)
def test_no_run_is_declared_twice(name: str, profile: str) -> None:
    runs = checks()[name].runs(profile)
    assert len(set(runs)) == len(runs) > 0


def test_one_pair_has_no_interval_and_several_do() -> None:
    single = comparison.averaged([0.9], "ratio")
    assert comparison.below(single, 1.0)
    wide = comparison.averaged([0.5, 1.4, 0.8], "ratio")
    assert wide.value < 1.0
    assert not comparison.below(wide, 1.0)
    assert not comparison.above(wide, 1.0)
    assert comparison.told(Measurement(0.5, 0.4, 0.6, 3, "ratio", "seeds")) == "0.50 [0.40, 0.60]"


def test_a_ratio_is_the_geometric_mean_and_its_inverse_agrees() -> None:
    def numbers(run: Scenario) -> Mapping[str, Any]:
        return {GRN: (0.1, 0.2, 0.8)[run.seed % 3] / (1 + 0.001 * (run.seed % 3)), "half": 1}

    every = [(scenario_of(r), r) for r in records("U13", numbers)]
    runs = [r for run, r in every if run.dataset == BANK and not run.defense][:3]
    found = comparison.ratio(runs, GRN, runs, "half")
    back = comparison.ratio(runs, "half", runs, GRN)
    assert found.value == pytest.approx((0.1 * 0.2 * 0.8) ** (1 / 3), rel=1e-12)
    assert found.low > 0.0
    assert found.low == pytest.approx(1 / back.high, rel=1e-12)
    logs = np.log([0.1, 0.2, 0.8])
    half = 4.302652729749462 * logs.std(ddof=1) / np.sqrt(3)  # Student's t, 2 degrees of freedom
    assert found.high == pytest.approx(np.exp(logs.mean() + half), rel=1e-9)


def test_runs_that_cannot_be_paired_are_refused() -> None:
    found = records("U08", ablation(0.1, 0.1, 0.1, 0.1, 0.1))
    with pytest.raises(ValueError, match="several runs"):
        comparison.paired(found, found)


def test_generated_sets_are_the_same_twice_and_have_the_papers_shape() -> None:
    from whatleaks_lab.data.generated import GENERATED, generated

    for name, (rows, columns, classes) in GENERATED.items():
        table = generated(name)
        assert table.shape == (rows, columns + 1)
        assert table["class"].nunique() == classes
        assert table.equals(generated(name))
    with pytest.raises(DataError, match="synthetic-1"):
        generated("synthetic-11")


def test_scenarios_that_cannot_run_are_refused() -> None:
    base = {"dataset": "synthetic-1", "attacks": [GRN], "share": 0.4}

    def refused(match: str, **changed: Any) -> None:
        with pytest.raises(WhatleaksError, match=match):
            from_dict({**base, **changed}).check()

    from_dict(base).check()
    refused("'white-box' does not look at model 'forest'", model="forest")
    refused("equality-solving needs", attacks=["equality-solving"], model="joint-network")
    refused(r"more than the 0\.2", part=0.5)
    refused("no setting 'dropout'", model_options={"dropout": 0.5})
    refused("give one of passive, share or unknown", share=0.0)
    refused("between 0 and 1", defense="correlation-max-1.5")
    refused("must be above 0", defense="gate-0")
    refused("unknown defense 'corelation-max-0.7'", measures=["kept-corelation-max-0.7"])
    refused("rounding-1 keeps no columns back", measures=["kept-rounding-1"])
    refused("needs a number", measures=["below-half"])


def test_the_document_says_what_the_committed_results_say() -> None:
    from whatleaks_lab.report.paper_document import figure_of, own_entries, results_part, rewritten

    root = Path(__file__).resolve().parents[2]
    path = root / "docs" / "papers" / "luo.md"
    entries = own_entries("U", STORED)
    text = path.read_text("utf-8")
    assert rewritten(text, results_part(entries, "luo")) == text
    for entry in entries:
        if entry.records:
            figure = path.parent / "luo" / f"{entry.claim.id}.svg"
            assert figure.read_text("utf-8") == figure_of(entry)
            assert figure.stat().st_size < 100_000
