"""From units to sentences: pooling over seeds, headlines, advice, and what stays secret."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import whatleaks
from whatleaks.arrays import sealed
from whatleaks.auditor.advice import advice, headline
from whatleaks.auditor.combine import combine_guess, widened
from whatleaks.auditor.evaluator import Evaluator, Scored
from whatleaks.auditor.isolation import Committed
from whatleaks.auditor.result import DefenseFinding
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.stage import choose_rows
from whatleaks.auditor.table_audit import prepare_for
from whatleaks.auditor.workshop import Workshop
from whatleaks.errors import UsageError
from whatleaks.metrics.measurement import Measurement
from whatleaks.seeds import Streams
from whatleaks.threat.guess import ValueGuess


def scored(truth: np.ndarray, guess: np.ndarray) -> tuple[Scored, np.ndarray]:
    evaluator = Evaluator(sealed(truth), sealed(truth[:0]))
    return evaluator.score(
        Committed("a", ValueGuess(sealed(guess)), 0.0, False), "attack"
    ), evaluator.spread()


def test_all_seeds_count_and_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    truth = [rng.normal(size=(200, 1)) for _ in range(3)]
    guess = [t + s * rng.normal(size=t.shape) for t, s in zip(truth, (0.1, 1.0, 3.0), strict=True)]
    parts = [scored(t, g) for t, g in zip(truth, guess, strict=True)]
    found = combine_guess(parts, ["x"], Streams(0))
    assert found.error.n == 600
    assert found.error.value == pytest.approx(np.mean([p.squared.mean() for p, _ in parts]))
    single = combine_guess(parts[:1], ["x"], Streams(0)).columns[0].leakage
    assert single.value > 0.95
    pooled = found.columns[0].leakage
    assert pooled.over == "records and seeds"
    assert pooled.low == 0.0  # leakages near 1, 0.5 and 0.1: three seeds say little
    assert pooled.high == 1.0


def test_one_seed_keeps_the_interval_over_records() -> None:
    one = Measurement(0.5, 0.4, 0.6, 100, "leakage", "records")
    assert widened(one, [0.5]) is one
    assert widened(one, [0.5, 0.5, 0.5]).low == 0.4


def noise(rows: int, columns: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        rng.normal(size=(rows, columns)), columns=[f"c{i}" for i in range(columns)]
    )
    frame["y"] = rng.integers(0, 2, rows)
    return frame


def test_noise_is_not_called_a_leak_more_often_than_luck_allows() -> None:
    # Labels and columns are independent, many columns, few records: five tables, fixed seeds.
    beyond = 0
    for seed in range(5):
        frame = noise(40, 12, seed)
        report = whatleaks.audit(
            frame, label="y", passive=list(frame.columns[:9]), seeds=1, targets=10,
            threats=["agnostic"], defenses=False,
        )  # fmt: skip
        head = report.result.headline
        beyond += head.beyond_guessing
        if not head.beyond_guessing:
            assert head.level == "low"
            assert "better than guessing" in head.sentence
    assert beyond <= 4


def test_targets_and_the_limits_records_are_disjoint() -> None:
    frame = noise(80, 4, 0)
    spec = AuditSpec("y", ("c0",))
    prepared = prepare_for(frame, spec, Streams(0))
    rows = choose_rows(prepared, 10, np.random.default_rng(0))
    parts = [set(part.tolist()) for part in (rows.training, rows.targets, rows.others)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == 80
    assert len(rows.targets) == 10


def test_a_defense_is_advised_only_against_the_threat_it_was_tried_on() -> None:
    frame = noise(60, 4, 1)
    frame["c0"] = frame.y + 0.01 * frame.c0
    result = whatleaks.audit(
        frame, label="y", passive=["c0"], seeds=1, targets=20, inversion_steps=5
    ).result
    head = headline(result.threats)
    sure = Measurement(0.9, 0.9, 0.9, 20, "leakage", "records")
    none = Measurement(0.0, 0.0, 0.0, 20, "leakage", "records")
    accuracy = Measurement(0.9, 0.8, 1.0, 20, "accuracy", "records")
    other = DefenseFinding(
        "d", "Magic", "release", "elsewhere", "a", sure, none, none, accuracy, accuracy
    )
    assert not any("Magic" in line for line in advice(head, result.threats, [other], 2, 1))
    same = DefenseFinding(
        "d", "Magic", "release", head.threat, "a", sure, none, none, accuracy, accuracy
    )
    assert any("Magic" in line for line in advice(head, result.threats, [same], 2, 1))


def test_values_of_the_passive_party_do_not_name_columns() -> None:
    frame = noise(60, 3, 2)
    frame["city"] = np.array(["Oslo", "Rome", "Bern"])[np.arange(60) % 3]
    hidden = prepare_for(frame, AuditSpec("y", ("city",), categories="one-hot"), Streams(0))
    assert hidden.passive_columns == tuple(f"city (category {k})" for k in (1, 2, 3))
    assert set(hidden.sources.values()) == {"c0", "c1", "c2", "city"}
    shown = prepare_for(
        frame, AuditSpec("y", ("city",), categories="one-hot", show_values=True), Streams(0)
    )
    assert any("Oslo" in name for name in shown.passive_columns)


def test_unfinished_work_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    kept = []
    original = Workshop.clear

    def look(self: Workshop) -> None:
        kept.extend(
            (p, stat.S_IMODE(p.stat().st_mode)) for p in (tmp_path / "unfinished").iterdir()
        )
        original(self)

    Workshop.clear = look
    try:
        whatleaks.audit(
            noise(60, 4, 3), label="y", passive=["c0"], seeds=1, targets=10, threats=["agnostic"],
            defenses=False, out=tmp_path,
        )  # fmt: skip
    finally:
        Workshop.clear = original
    assert [mode for _, mode in kept] == [0o600]


def test_a_stream_carries_no_root() -> None:
    rng = Streams(123456789).rng("attack")
    assert "123456789" not in repr(rng.bit_generator.seed_seq)
    assert rng.bit_generator.seed_seq.entropy == 0


def test_threats_are_counted_once_and_seeds_are_not_negative() -> None:
    assert AuditSpec("y", ("c0",), threats=("black-box", "black-box")).threats == ("black-box",)
    with pytest.raises(UsageError, match="--seed must be at least 0"):
        AuditSpec("y", ("c0",), seed=-1)
