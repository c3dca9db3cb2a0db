"""What keeps audits of wide and long tables affordable gives the numbers that it had without it."""

from __future__ import annotations

import os
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sample_audit import finding
from sklearn.tree import ExtraTreeRegressor
from test_withholding_defenses import trials

import whatleaks.attacks.agnostic_refined as agnostic_refined
import whatleaks.attacks.generative_regression as grn
import whatleaks.models.logistic as logistic
import whatleaks.models.pearson as pearson
from run_doubles import Double
from whatleaks.arrays import sealed, sealed_ints
from whatleaks.auditor.advice import headline
from whatleaks.auditor.again import joined, leaders
from whatleaks.auditor.audit import VERY_WIDE
from whatleaks.auditor.combine import combine_threats
from whatleaks.auditor.combine_defenses import Kept, combine_defenses
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.spec import AuditSpec
from whatleaks.data.holdings import Holdings, Rows, with_earlier, with_known
from whatleaks.models.linear import Linear
from whatleaks.runs.executors.local import LocalExecutor
from whatleaks.runs.runner import make_jobs
from whatleaks.seeds import Streams
from whatleaks.trial.limit import ENOUGH_OTHERS, MOST_OTHERS, _forest, learnt_from
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.trial import run_trial


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=6))
def test_the_leaders_are_those_of_a_plain_search(leaks: list[list[int]]) -> None:
    """Few values, so that many are equal: then the first leads."""
    made = [
        finding(f"a{i}", "", "attack", "", {f"c{j}": v / 3 for j, v in enumerate(row)})
        for i, row in enumerate(leaks)
    ]
    for j, chosen in enumerate(leaders(made).tolist()):
        assert made[chosen] is max(made, key=lambda guess: guess.columns[j].strength)


def test_defenses_added_up_again_are_those_added_up_anew() -> None:
    entries = [*trials(0, ("p", "q")), *trials(1, ("p", "q"))]
    more = []
    for entry in entries:
        if entry.scenario.defense:
            other = replace(entry.records.scored[0], name="equality-solving")
            more.append(replace(entry, records=replace(entry.records, scored=(other,))))
    kept: Kept = {}
    sizes = []
    for held in (entries, joined(entries, more), entries):
        threats = combine_threats(held, "lr", Streams(0))
        head = headline(threats)
        found, notes = combine_defenses(held, head, threats, kept)
        anew, said = combine_defenses(held, head, threats)
        assert [asdict(one) for one in found] == [asdict(one) for one in anew]
        assert notes == said
        sizes.append(len(kept))
    assert sizes[0] < sizes[1] == sizes[2] == sizes[0] + 1  # only the new one was pooled


def test_workers_last_through_rounds_on_one_table_and_end_with_them() -> None:
    works = {str(i): Double("process", seed=i) for i in range(4)}

    def processes(executor: LocalExecutor, table: bytes) -> set[float]:
        jobs = make_jobs(works, dict.fromkeys(works, ()), 2, table)
        replies = [reply for _, reply in executor.perform(jobs)]
        return {float(r.outcome.measurements["process"]) for r in replies if r.outcome}  # type: ignore[arg-type]

    table = b"one"
    with LocalExecutor(2).lasting() as lasting:
        first = processes(lasting, table)
        assert processes(lasting, table) <= first
        other = processes(lasting, b"another")
        assert not other & first
    for process in first | other:
        with pytest.raises(ProcessLookupError):
            os.kill(int(process), 0)
    alone = LocalExecutor(2)
    assert not processes(alone, table) & processes(alone, table)


def test_a_wide_forest_answers_with_the_means_of_its_leaves() -> None:
    """A plain reference: every tree's leaves one by one."""
    rng = np.random.default_rng(2)
    x, new = rng.normal(size=(90, 4)), rng.normal(size=(7, 4))
    y = np.concatenate([x @ rng.normal(size=(4, 40)), rng.normal(size=(90, 30))], axis=1)
    mixing = np.random.default_rng(5).normal(size=(70, 30)) / y.std(axis=0)[:, None]
    draw, plain = np.random.RandomState(5), np.zeros((7, 70))
    for _ in range(3):
        tree = ExtraTreeRegressor(min_samples_leaf=2, max_features=1.0, random_state=draw)
        tree.fit(x.astype(np.float32), (y - y.mean(axis=0)) @ mixing)
        trained, asked = (tree.apply(part.astype(np.float32)) for part in (x, new))
        plain += [y[trained == leaf].mean(axis=0) / 3 for leaf in asked]
    assert np.abs(_forest(x, y, new, 5, 3) - plain).max() < 1e-12


def test_the_limit_learns_from_some_of_many_and_from_all_of_few() -> None:
    rng = np.random.default_rng(0)
    few = sealed_ints(range(ENOUGH_OTHERS - 1))
    assert learnt_from(few, rng) is few
    many = sealed_ints(range(10 * MOST_OTHERS))
    chosen = learnt_from(many, rng)
    assert len(set(chosen.tolist())) == len(chosen) == MOST_OTHERS
    assert abs(float(chosen.mean()) / len(many) - 0.5) < 0.02


def test_people_whom_nobody_attacks_come_first_and_nobody_is_both() -> None:
    rows = Rows(*(sealed_ints(part) for part in (range(50), range(50, 70), range(70, 75), [], [])))
    for count in (3, 5, 20, 60):
        known = with_known(rows, count, np.random.default_rng(1))
        assert set(known.known[: min(count, 5)]) <= set(range(70, 75))
        assert not set(known.known) & set(known.targets)
        assert len(known.known) == count
        earlier = with_earlier(rows, count, np.random.default_rng(1)).earlier
        assert len(earlier) == min(count, 55)
        assert not set(earlier) & set(rows.targets)


def test_joined_columns_are_shared_only_where_nobody_can_change_them() -> None:
    loose = np.ones((3, 2))
    held = Holdings({"active": sealed(loose), "passive": loose}, {}, sealed_ints([0, 1, 0]), 2)
    assert held.joined(("active",)) is held.columns["active"]
    copied = held.joined(("passive",))
    assert copied is not loose
    assert loose.flags.writeable
    for part in (copied, held.joined(("passive",), sealed_ints([0]))):
        assert not part.flags.writeable


def test_correlations_in_blocks_are_those_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pearson, "BLOCK", 7)
    rng = np.random.default_rng(0)
    left, right = rng.normal(3.0, 1.0, (40, 3)), rng.normal(size=(40, 2))
    left[:, 2] = 0.1  # does not vary
    found = pearson.correlations(left, right)
    assert np.abs(found[:2] - np.corrcoef(left.T, right.T)[:2, 3:]).max() < 1e-12
    assert not found[2].any()


def test_a_penalty_chosen_on_some_records_is_that_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 3))
    labels = (x[:, 0] + rng.normal(size=4000) > 0).astype(np.int64)
    like = Linear(sealed(np.zeros((3, 1))), sealed(np.zeros(1)))
    every = logistic.fit_logistic(x, labels, like)
    monkeypatch.setattr(logistic, "MOST_TO_CHOOSE", 1000)
    monkeypatch.setattr(logistic, "_chosen", {})
    some = logistic.fit_logistic(x, labels, like)
    assert np.abs(every.weights - some.weights).max() < 0.1 * np.abs(every.weights).max()


def test_the_refined_adversary_loses_little_on_a_part_of_its_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = Scenario(
        "breast-cancer", unknown=3, threat="agnostic-earlier", attacks=("agnostic-refined",)
    )
    every = run_trial(scenario).outcome.measurements["agnostic-refined"]
    monkeypatch.setattr(agnostic_refined, "MOST_RECORDS", 200)
    some = run_trial(scenario).outcome.measurements["agnostic-refined"]
    assert some.value != every.value  # type: ignore[union-attr]
    assert some.value < 1.25 * every.value  # type: ignore[union-attr]


def test_the_directions_of_few_records_keep_their_distances() -> None:
    own = torch.rand(6, 40, generator=torch.Generator().manual_seed(0))
    turned = grn.directions(own)
    assert turned.shape == (6, 6)
    before, after = torch.cdist(own, own), torch.cdist(turned, turned)
    away = ~torch.eye(6, dtype=torch.bool)
    ratio = after[away] / before[away]
    assert float(ratio.max() / ratio.min()) < 1.001
    assert float(turned.square().mean()) == pytest.approx(float(own.square().mean()), rel=1e-5)
    assert not grn.directions(torch.ones(3, 5)).any()  # nobody differs


def test_a_generator_of_many_columns_has_few_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = []
    built = grn.generator_network

    def watched(size: int, *rest: object) -> torch.nn.Sequential:
        inputs.append(size)
        return built(size, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(grn, "generator_network", watched)
    attack = grn.GenerativeRegression(least_steps=2, epochs=1)
    rng = np.random.default_rng(0)
    own, scores = sealed(rng.random((9, 30))), sealed(rng.dirichlet([1, 1], 9))

    def released(values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        p = torch.sigmoid(values.sum(dim=1, keepdim=True))
        return torch.cat([1 - p, p], dim=1)

    for most in (1000, 100):
        monkeypatch.setattr(grn, "MOST_INPUTS", most)
        assert attack.regress(own, scores, 80, released, rng).shape == (9, 80)
    assert inputs == [30 + 80, 9 + grn.MOST_NOISE]


def test_very_wide_tables_meet_defenses_on_one_seed() -> None:
    spec = AuditSpec("y", ("a",), seeds=3)
    every = scenarios(spec, "t", "0" * 64)
    once = scenarios(spec, "t", "0" * 64, defended_seeds=1)
    assert {s.seed for s in every if s.defense} == {0, 1, 2}
    assert {s.seed for s in once if s.defense} == {0}
    assert [s for s in once if not s.defense] == [s for s in every if not s.defense]
    assert VERY_WIDE > 500  # the goal of 2,000 x 500 is met with all seeds
