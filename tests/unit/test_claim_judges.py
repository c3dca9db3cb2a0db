"""Every judge is fed numbers for and against its claim and must answer accordingly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whatleaks.runs.record import Record
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import from_dict
from whatleaks_lab.papers.check import checks


def record(
    measurements: Mapping[str, Any], baselines: Mapping[str, Any] | None = None, **fields: Any
) -> Record:
    return Record(
        hash="0" * 64,
        work=from_dict({"dataset": "a", "share": 0.5, **fields}),
        sources="",
        status="ok",
        outcome=Outcome(measurements, baselines or {}),
        traceback="",
        environment={},
        seconds=1.0,
        attempts=1,
        created="",
    )


def verdict(claim: str, records: list[Record]) -> str:
    return checks()[claim].judge(records).verdict.value


def esa(*errors: float) -> list[Record]:
    return [
        record({"equality-solving": e, "bound": 1.0, "bound of all columns": 1.0}, dataset="a")
        for e in errors
    ]


def test_u01() -> None:
    assert verdict("U01", esa(1e-20, 1e-9)) == "holds"
    assert verdict("U01", esa(1e-20, 1e-9, 0.1)) == "partly"
    assert verdict("U01", esa(1e-20, 0.1)) == "fails"


def test_u04() -> None:
    assert verdict("U04", esa(0.3, 1.0)) == "holds"
    assert verdict("U04", esa(0.3, 1.01)) == "fails"


def test_j02() -> None:
    def run(esa_error: float, gia: float, dataset: str) -> Record:
        names = ("equality-solving", "gradient-inversion-mse", "gradient-inversion-kl")
        numbers = dict(zip(names, (esa_error, gia, gia), strict=True))
        trail = {
            "gradient-inversion-mse accuracy": 1.0,
            "gradient-inversion-mse steps": [100, 200],
            "gradient-inversion-mse error by steps": [1.0, gia],
        }
        return record({**numbers, **trail}, dataset=dataset, attack_options={"steps": 200})

    bank, robot = "bank-marketing", "wall-following-robot"
    # By another method on the same scores: told, not judged.
    other = [
        record({"gradient-inversion-kl": 1e-9}, dataset=name, attack_options={"optimiser": "lbfgs"})
        for name in (bank, robot)
    ]
    assert verdict("J02", [run(1e-9, 1e-5, bank), run(1e-9, 1e-4, robot), *other]) == "holds"
    assert verdict("J02", [run(1e-9, 1e-5, bank), run(1e-9, 0.2, robot), *other]) == "partly"
    assert verdict("J02", [run(0.1, 0.1, bank), run(1e-9, 0.2, robot), *other]) == "fails"


def test_j05() -> None:
    def run(gap: float, share: float) -> Record:
        return record(
            {"gradient-inversion-mse": 0.4, "gradient-inversion-kl": 0.4 + gap},
            {"uniform": 1.0},
            dataset="bank-marketing",
            unknown=0,
            share=share,
        )

    assert verdict("J05", [run(0.05, 0.2), run(-0.05, 0.5)]) == "holds"
    assert verdict("J05", [run(0.05, 0.2), run(0.01, 0.5), run(0.3, 0.9)]) == "partly"
    assert verdict("J05", [run(0.2, 0.2), run(0.01, 0.5), run(-0.3, 0.9)]) == "fails"


def test_l01() -> None:
    def run(columns: int, records: int, error: float | None) -> Record:
        numbers: dict[str, Any] = {"attacker columns": columns, "records": records}
        return record(numbers if error is None else {**numbers, "intermediate-recovery": error})

    assert verdict("L01", [run(9, 9, 1e-12), run(12, 9, 1e-9), run(5, 9, None)]) == "holds"
    assert verdict("L01", [run(9, 9, 1e-12), run(9, 9, 1e-12), run(9, 9, 0.1)]) == "partly"
    assert verdict("L01", [run(9, 9, 0.2), run(9, 9, 0.1)]) == "fails"


def test_l08() -> None:
    def run(committed: float, best: float) -> Record:
        named = {"relative": committed, "best relative": best, "tables": 2}
        return record({f"gram-inversion {name}": number for name, number in named.items()})

    assert verdict("L08", [run(1e-9, 1e-9)] * 2) == "holds"
    assert verdict("L08", [run(1e-9, 1e-9), run(0.4, 1e-9)]) == "partly"
    assert verdict("L08", [run(1e-9, 1e-9), run(0.4, 0.3)]) == "fails"
