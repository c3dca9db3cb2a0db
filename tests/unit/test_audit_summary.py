"""From trials to sentences: pooling over seeds, headlines, advice, and what stays secret."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import whatleaks
from auditing import audited
from whatleaks.arrays import sealed
from whatleaks.auditor.advice import advice, headline
from whatleaks.auditor.audit import run_audit
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.pool import combine_guess, left_open, widened
from whatleaks.auditor.result import ColumnDefense, DefenseFinding
from whatleaks.auditor.spec import AuditSpec
from whatleaks.data.holdings import choose_rows
from whatleaks.errors import UsageError
from whatleaks.metrics.column_association import Gained
from whatleaks.metrics.intervals import clipped, mean_over_seeds
from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.executors import InlineExecutor
from whatleaks.runs.record import Record
from whatleaks.runs.runner import Display
from whatleaks.runs.store import Store
from whatleaks.seeds import Streams
from whatleaks.threat.guess import ValueGuess
from whatleaks.trial.evaluator import Evaluator
from whatleaks.trial.preparing import ready
from whatleaks.trial.ready import Ready
from whatleaks.trial.scorers.values import Scored
from whatleaks.trial.truth import Committed, Truth


def scored(truth: np.ndarray, guess: np.ndarray) -> tuple[Scored, np.ndarray]:
    evaluator = Evaluator(Truth(sealed(truth)))
    return evaluator.score(
        Committed("a", ValueGuess(sealed(guess)), 0.0, ""), "attack"
    ), evaluator.apart()


def test_all_seeds_count_and_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    truth = [rng.normal(size=(200, 1)) for _ in range(3)]
    guess = [t + s * rng.normal(size=t.shape) for t, s in zip(truth, (0.1, 1.0, 3.0), strict=True)]
    parts = [scored(t, g) for t, g in zip(truth, guess, strict=True)]
    found = combine_guess(dict(enumerate(parts)), ["x"], Streams(0))
    assert found.error.n == 600
    assert found.error.value == pytest.approx(np.mean([p.squared.mean() for p, _ in parts]))
    single = combine_guess({0: parts[0]}, ["x"], Streams(0)).columns[0].leakage
    assert single.value > 0.95
    pooled = found.columns[0].leakage
    assert pooled.over == "records and seeds"
    assert pooled.low == 0.0  # leakages near 1, 0.5 and 0.1: three seeds say little
    assert pooled.high == 1.0


def test_one_seed_keeps_the_interval_over_records() -> None:
    ends = [np.array([end, end]) for end in (0.5, 0.4, 0.6)]
    found = Gained(*ends, np.zeros(2), 100)
    for one in widened(found, np.full((1, 2), 0.5)):
        assert one == Measurement(0.5, 0.4, 0.6, 100, one.unit, "records")
    assert widened(found, np.full((3, 2), 0.5))[1].low == 0.4


def test_the_interval_over_seeds_is_that_of_every_column_by_itself() -> None:
    shares = np.random.default_rng(3).random((4, 5))
    found = Gained(shares.mean(axis=0), shares.mean(axis=0), shares.mean(axis=0), np.zeros(5), 100)
    for j, one in enumerate(widened(found, shares)):
        alone = clipped(mean_over_seeds(shares[:, j], one.unit), 0.0, 1.0)
        assert (one.low, one.high) == pytest.approx((alone.low, alone.high), abs=1e-12)
        assert one.over == "records and seeds"


def noise(rows: int, columns: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        rng.normal(size=(rows, columns)), columns=[f"c{i}" for i in range(columns)]
    )
    frame["y"] = rng.integers(0, 2, rows)
    return frame


def test_a_threat_that_reads_no_message_adds_nothing() -> None:
    # Labels and columns are independent, many columns, few records.
    report = whatleaks.audit(
        noise(40, 12, 0), label="y", passive=[f"c{i}" for i in range(9)], quick=True, targets=10,
        threats=["agnostic"], defenses=False,
    )  # fmt: skip
    head = report.result.headline
    assert not head.beyond_guessing
    assert head.level == "low"
    assert head.adds.value == 0.0
    assert "could be told from luck" in head.sentence


def test_targets_and_the_limits_records_are_disjoint() -> None:
    data = first_ready(AuditSpec("y", ("c0",)), noise(80, 4, 0))
    rows = choose_rows(data.training, data.pool, 10, np.random.default_rng(0))
    parts = [set(part.tolist()) for part in (rows.training, rows.targets, rows.others)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 80
    assert len(rows.targets) == 10


def first_ready(spec: AuditSpec, frame: pd.DataFrame) -> Ready:
    """Prepare a table as the first trial of an audit does."""
    return ready(scenarios(spec, "mine", "hash")[0], frame, Streams(0))


def test_a_defense_is_advised_only_against_the_threat_it_was_tried_on() -> None:
    frame = noise(60, 4, 1)
    result = whatleaks.audit(
        frame, label="y", passive=["c0"], quick=True, targets=20, inversion_steps=5
    ).result
    head = headline(result.threats)
    assert head.level != "low"
    sure = Measurement(0.9, 0.9, 0.9, 20, "leakage", "records")
    none = Measurement(0.0, 0.0, 0.0, 20, "leakage", "records")
    accuracy = Measurement(0.9, 0.8, 1.0, 20, "accuracy", "records")
    pair = ColumnDefense("c0", sure, none)
    magic = DefenseFinding(
        "d", "Magic", "release", "elsewhere", "a", (pair,), pair, pair, sure, none, none,
        accuracy, accuracy,
    )  # fmt: skip
    assert not any("Magic" in line for line in advice(head, result.threats, [magic]))
    same = replace(magic, against=(head.threat,))
    assert any("Magic" in line for line in advice(head, result.threats, [same]))


def test_values_of_the_passive_party_do_not_name_columns() -> None:
    frame = noise(60, 3, 2)
    frame["city"] = np.array(["Oslo", "Rome", "Bern"])[np.arange(60) % 3]
    common = {"categories": "one-hot", "seeds": 1, "threats": ("black-box",), "defenses": False}
    hidden = audited(frame, AuditSpec("y", ("city",), **common))
    names = [f"city (category {k})" for k in (1, 2, 3)]
    assert [c.column for c in hidden.threats[0].findings[0].columns] == names
    (card,) = [c for c in hidden.columns if c.name == "city"]
    assert list(card.encoded_as) == names
    assert "Oslo" not in json.dumps(hidden.to_dict())
    shown = audited(frame, AuditSpec("y", ("city",), show_values=True, **common))
    assert any("Oslo" in c.column for c in shown.threats[0].findings[0].columns)


def test_unfinished_work_is_readable_by_its_owner_only_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[str, int] = {}
    real = Store.remove

    def look(self: Store) -> None:
        folder = tmp_path / "unfinished"
        kept["folder"] = stat.S_IMODE(folder.stat().st_mode)
        kept.update({p.name: stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()})
        real(self)

    monkeypatch.setattr(Store, "remove", look)
    whatleaks.audit(
        noise(60, 4, 3), label="y", passive=["c0"], seeds=1, targets=10, threats="agnostic",
        defenses=False, out=tmp_path,
    )  # fmt: skip
    assert kept.pop("folder") == 0o700
    assert set(kept.values()) == {0o600}
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_audit_resumes_with_the_same_numbers(tmp_path: Path) -> None:
    frame = noise(60, 4, 4)
    threats = ("black-box", "agnostic", "black-box-known")
    spec = AuditSpec("y", ("c0",), threats=threats, seeds=2, targets=10, defenses=False)
    whole = audited(frame, spec)

    class Interrupted(Exception):
        """Stands for a lost machine after the first trials."""

    class Stopping(Display):
        left = 3

        def finished(self, record: Record) -> None:
            self.left -= 1
            if not self.left:
                raise Interrupted

    with pytest.raises(Interrupted):
        run_audit(frame, spec, InlineExecutor(), out=tmp_path, display=Stopping())
    seen: list[int] = []

    class Counting(Display):
        def started(self, total: int, reused: int) -> None:
            seen.append(reused)

    again = run_audit(frame, spec, InlineExecutor(), out=tmp_path, display=Counting())
    assert seen == [3]
    assert again.headline == whole.headline
    assert [t.findings[0].error for t in again.threats] == [
        t.findings[0].error for t in whole.threats
    ]


def test_a_stream_carries_no_root() -> None:
    rng = Streams(123456789).rng("attack")
    assert "123456789" not in repr(rng.bit_generator.seed_seq)
    assert 123456789 not in rng.bit_generator.seed_seq.entropy


def test_threats_are_counted_once_and_seeds_are_not_negative() -> None:
    assert AuditSpec("y", ("c0",), threats=("black-box", "black-box")).threats == ("black-box",)
    with pytest.raises(UsageError, match=r"^seed must be at least 0"):
        AuditSpec("y", ("c0",), seed=-1)


def test_of_very_wide_tables_fewer_records_are_attacked_and_the_report_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("whatleaks.auditor.audit.CELLS", 240)
    chosen = {"quick": True, "targets": 80, "threats": ("agnostic",), "defenses": False}
    wide = audited(noise(400, 6, 1), AuditSpec("y", ("c0", "c1", "c2", "c3"), **chosen))
    assert wide.target_rows == wide.spec["targets"] == 60
    assert any(note.startswith("At most 60 records are attacked per seed") for note in wide.notes)
    few = audited(noise(400, 6, 1), AuditSpec("y", ("c0", "c1", "c2"), **chosen))
    assert few.target_rows == 80
    assert not any("records are attacked per seed" in note for note in few.notes)


def test_what_the_own_columns_leave_open_is_uncertain_too() -> None:
    adds = Measurement(0.8, 0.6, 0.9, 100, "leakage", "records")
    bounded = left_open(adds, Measurement(0.6, 0.5, 0.7, 100, "leakage", "records"))
    assert (bounded.value, bounded.low, bounded.high) == pytest.approx((0.4, 0.3, 0.5))
    free = left_open(adds, Measurement(0.05, 0.0, 0.1, 100, "leakage", "records"))
    assert free == adds


def test_the_gain_is_the_difference_of_the_two_accuracies_beside_it() -> None:
    chosen = {"seeds": 3, "targets": 20, "threats": ("agnostic",), "defenses": False}
    worth = audited(noise(90, 6, 2), AuditSpec("y", ("c0", "c1"), **chosen)).worth
    between = worth.accuracy.value - worth.accuracy_alone.value
    assert worth.accuracy_gain.value == pytest.approx(between, abs=1e-12)
    assert worth.accuracy_gain.n < 3 * 36  # people, not people times seeds
    assert worth.auc_gain.value == pytest.approx(worth.auc.value - worth.auc_alone.value, abs=1e-12)
