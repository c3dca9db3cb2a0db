"""An estimate of the time: more of anything takes longer, and it reads as people would say it."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_breast_cancer

import whatleaks
from whatleaks.auditor import audit
from whatleaks.auditor.estimate import (
    FITS,
    MOST_WORKERS,
    PAYS,
    START,
    estimated_seconds,
    in_words,
    workers_that_pay,
)
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
    assert seconds(width=2) == pytest.approx(START + (plain - START) / 2)


def test_it_is_near_what_was_measured() -> None:
    # benchmarks/bench_audit_cost.py, in processor time: docs/reading-a-report.md has the table
    for asked, measured in MEASURED:
        assert measured / 1.2 < seconds(**asked) < 1.2 * measured


MEASURED: list[tuple[dict[str, object], float]] = [
    ({"rows": 178, "columns": 13, "quick": True}, 19.0),
    ({}, 56.0),
    ({"rows": 2_000, "columns": 500}, 187.0),
    ({"rows": 1_000_000, "columns": 50}, 361.0),
    ({"threats": ("encrypted",), "quick": True, "defenses": False}, 46.0),  # 330 records train
    (
        {"rows": 5_000, "columns": 10, "threats": ("encrypted",), "quick": True, "defenses": False},
        45.0,
    ),
]


class Begun(Exception):
    """The first trial would run now."""


@pytest.mark.parametrize("options", [{}, {"quick": True, "seeds": 1}])
def test_it_is_said_before_anything_runs_without_a_terminal_too(
    options: dict[str, bool], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def begin(*_: object) -> None:
        raise Begun

    monkeypatch.setattr(audit, "_rounds", begin)
    frame = load_breast_cancer(as_frame=True).frame
    with pytest.raises(Begun):
        whatleaks.audit(frame, "target", list(frame.columns[:15]), progress=True, **options)
    said = capsys.readouterr().err
    if options:
        assert said == ""  # a first look is short
    else:
        assert (
            said
            == "warning: this audit takes about 60 s; a first look is quicker with quick=True\n"
        )


def test_it_is_said_in_words() -> None:
    assert in_words(4.0) == "about 10 s"
    assert in_words(62.0) == "about 60 s"
    assert in_words(240.0) == "about 4 minutes"


def test_processes_are_started_where_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert workers_that_pay(PAYS - 1, 1_000) == 1  # over before a second one has started
    assert workers_that_pay(PAYS + 1, FITS + 1) == 1  # each would hold the table
    assert workers_that_pay(PAYS + 1, 1_000) == 2
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    assert workers_that_pay(PAYS + 1, 1_000) == MOST_WORKERS
    monkeypatch.setattr("os.cpu_count", lambda: None)  # where nobody knows
    assert workers_that_pay(PAYS + 1, 1_000) == 1


@pytest.mark.parametrize(("asked", "width"), [(None, 2), (1, 1)])
def test_an_audit_takes_as_many_unless_somebody_says(
    asked: int | None, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def begin(*given: object) -> None:
        raise Begun

    def noted(planned: object, rows: int, columns: int, workers: int) -> float:
        seen.append(workers)
        return 60.0

    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(audit, "estimated_seconds", noted)
    monkeypatch.setattr(audit, "_rounds", begin)
    frame = load_breast_cancer(as_frame=True).frame
    with pytest.raises(Begun):
        whatleaks.audit(frame, "target", list(frame.columns[:15]), workers=asked)
    assert seen[-1] == width
