"""Stored audits: two side by side, and one page to sign."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from whatleaks.errors import StoreError
from whatleaks.report.comparison import CHANGED, ONLY_B, WITHIN, compare, lines
from whatleaks.report.signoff import render
from whatleaks.report.stored import load_audit, worst_by_column


def share(value: float) -> dict[str, Any]:
    return {"value": value, "low": value - 0.05, "high": value + 0.05, "n": 200, "unit": "share"}


def guess(role: str, leaks: dict[str, float]) -> dict[str, Any]:
    columns = [{"column": name, "leakage": share(leak)} for name, leak in leaks.items()]
    mean = sum(leaks.values()) / len(leaks)
    return {"name": role, "role": role, "leakage": share(mean), "columns": columns}


def audit(columns: int = 3, defenses: int = 2) -> dict[str, Any]:
    leaks = {f"column {i} <b>": 0.9 / (1 + i) for i in range(columns)}
    return {
        "headline": {
            "level": "high",
            "sentence": "A partner follows the first column. " * 20,
            "leakage": share(0.9),
            "column": "column 0",
        },
        "threats": [
            {"name": "white-box", "findings": [guess("limit", leaks), guess("attack", leaks)]},
            {"name": "no-attack", "findings": [guess("limit", leaks)]},
        ],
        "defenses": [
            {
                "name": f"defense-{i}",
                "title": "A defense",
                "leakage_before": share(0.9),
                "leakage": share(0.5),
                "accuracy_before": share(0.8),
                "accuracy": share(0.7),
            }
            for i in range(defenses)
        ],
        "advice": ["Keep the model to yourself. " * 30] * 9,
        "accuracy": share(0.9),
        "accuracy_alone": share(0.8),
        "table": {"name": "people.csv", "sha256": "a" * 64},
        "code": {"version": "1", "sha256": "b" * 64},
        "spec": {"seeds": 3, "model": "lr"},
        "seeds": [0, 1, 2],
        "rows": 900,
        "created": "2026-01-02T03:04:05+00:00",
    }


def test_an_audit_beside_itself_has_not_changed() -> None:
    found = compare(audit(), audit())
    assert (found["table"], found["code"], found["settings"]) == ("same", "same", {})
    every = [found["headline"], *found["columns"].values(), *found["defenses"].values()]
    assert {pair["verdict"] for pair in every} == {WITHIN}
    assert "The same table, the same code, the same settings." in lines(found)


def test_what_differs_is_said() -> None:
    other = deepcopy(audit())
    other["headline"].update(leakage=share(0.1), level="low")
    other["table"]["sha256"] = "0" * 64
    other["spec"]["seeds"] = 99
    found = compare(audit(defenses=0), other)
    assert found["table"] == "differs"
    assert found["settings"] == {"seeds": [3, 99]}
    assert found["headline"]["verdict"] == CHANGED
    assert {pair["verdict"] for pair in found["defenses"].values()} == {ONLY_B}
    told = "\n".join(lines(found))
    assert "The table differs" in told
    assert "high in A, low in B" in told
    json.dumps(found, allow_nan=False)


def test_the_worst_attack_of_each_column() -> None:
    values = [leak["value"] for leak in worst_by_column(audit(5)).values()]
    assert values == sorted(values, reverse=True)
    assert len(values) == 5


@pytest.mark.parametrize("size", [1, 200])
def test_one_page_to_sign(size: int) -> None:
    page = render(audit(size, size))
    assert "<script" not in page
    assert "http" not in page
    assert "<b>" not in page
    assert "signature" in page
    assert "no attack fits" in page
    assert page.count("<tr>") < 30  # what fits on a page
    assert len(page) < 12_000


def test_what_is_no_audit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no file"):
        load_audit(tmp_path)
    (tmp_path / "audit.json").write_text("[1]")
    with pytest.raises(StoreError, match="is no audit"):
        load_audit(tmp_path)
    (tmp_path / "audit.json").write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        load_audit(tmp_path / "audit.json")
