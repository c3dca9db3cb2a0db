"""No number of an encrypted training depends on the key: studies may use short ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

# The smallest row of the tables of Li et al.: two columns, two records.
ROW = Scenario(
    "iris",
    unknown=2,
    data=Settings({"prepare": "numbers"}),
    model="encrypted-logistic",
    threat="encrypted-values",
    attacks=("intermediate-recovery", "gram-inversion-known"),
    measures=("relative",),
    references=(),
    seed=80,
)
OPTIONS = {"records": 2, "fake_columns": -1, "epochs": 8, "learning_rate": 0.5}


def measured(bits: int) -> dict[str, object]:
    options = {**OPTIONS, "key_bits": bits, "insecure_test_key": bits < 2048}
    return run_trial(replace(ROW, model_options=Settings(options))).outcome.to_dict()


@pytest.mark.parametrize("bits", [2048])
def test_a_longer_key_gives_the_same_numbers_to_the_last_bit(bits: int) -> None:
    short = measured(512)
    assert "gram-inversion-known relative" in str(short)
    assert measured(bits) == short
