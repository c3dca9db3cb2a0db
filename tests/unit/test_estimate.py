"""An estimate of the time: more of anything takes longer, and it reads as people would say it."""

from __future__ import annotations

import pytest

from whatleaks.auditor.estimate import estimated_seconds, in_words
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.spec import AuditSpec


def seconds(rows: int = 569, columns: int = 30, width: int = 1, **options: object) -> float:
    spec = AuditSpec("y", ("a", "b"), **options)  # type: ignore[arg-type]
    return estimated_seconds(scenarios(spec, "t", "hash"), rows, columns, width)


def test_more_of_anything_takes_longer() -> None:
    plain = seconds()
    assert seconds(rows=1_000_000) > plain
    assert seconds(columns=500) > plain
    assert seconds(seeds=6) > plain
    assert seconds(defenses=False) < plain
    assert seconds(width=2) == pytest.approx(plain / 2)


def test_it_is_near_what_was_measured() -> None:
    # benchmarks/bench_audit_cost.py, in processor time: within a factor of two
    for asked, measured in MEASURED:
        assert measured / 2 < seconds(**asked) < 2 * measured


MEASURED: list[tuple[dict[str, object], float]] = [
    ({"rows": 178, "columns": 13, "quick": True}, 11.0),
    ({}, 40.0),
    ({"rows": 2_000, "columns": 500}, 226.0),
]


def test_it_is_said_in_words() -> None:
    assert in_words(4.0) == "about 10 s"
    assert in_words(62.0) == "about 60 s"
    assert in_words(240.0) == "about 4 minutes"
