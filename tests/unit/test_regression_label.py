"""A label that is a number: cut into classes for the attacks, its error told in its own units."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import whatleaks
from whatleaks.crypto.keys import generate_keys
from whatleaks.federation.regression import linear
from whatleaks.report.html import render
from whatleaks.report.terminal import summary

QUICK = {"quick": True, "targets": 30, "inversion_steps": 20, "defenses": False, "progress": False}


def houses(rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.random((rows, 4)), columns=["rooms", "age", "garden", "income"])
    frame["price"] = 1e5 * (1 + frame.rooms + 2 * frame.income + 0.05 * rng.normal(size=rows))
    return frame


@pytest.mark.parametrize("model", ["lr", "encrypted"])
def test_an_audit_with_a_price_as_label(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    short = generate_keys("paillier", 512, insecure_test_key=True)  # test_key_sizes: no matter
    monkeypatch.setattr(linear, "generate_keys", lambda *_, **__: short)
    result = whatleaks.audit(houses(), "price", ["garden", "income"], model=model, **QUICK).result
    assert len(result.classes) == 4
    assert any("'price' is a number with 300 values" in note for note in result.notes)
    (note,) = (note for note in result.notes if "The value of 'price'" in note)
    misses = [float(word.replace(",", "")) for word in re.findall(r"by ([\d,]+\d)", note)]
    assert 1e3 < misses[0] < misses[1] < 1e5
    worth = result.worth
    assert worth.value_error is not None
    assert worth.value_error_alone is not None
    assert worth.value_error_gain is not None
    assert worth.value_error.value == pytest.approx(misses[0], rel=1e-3)
    assert 1.1 * worth.value_error.value < worth.value_error_alone.value < misses[1]
    assert worth.value_error_gain.low > 0
    for text in (summary(result), render(result)):
        assert "Error for the value" in text
    assert result.to_dict()["worth"]["value_error"]["unit"] == "units of the label"
