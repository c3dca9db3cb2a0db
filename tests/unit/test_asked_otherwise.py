"""What advice says of coarse releases: asked again with other own columns, they tell the exact score."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sample_audit import high_case

from whatleaks.arrays import Bools, Floats, sealed
from whatleaks.auditor.advice import ASKED_AGAIN, ASKED_OTHERWISE, advice
from whatleaks.auditor.result import AuditResult
from whatleaks.defenses.label_only import LabelOnly
from whatleaks.defenses.rounding import Rounding
from whatleaks.models.additive import Additive
from whatleaks.models.linear import Linear
from whatleaks.report.page import untested

ANSWERS = 30


@pytest.mark.parametrize("defense", [LabelOnly(), Rounding(1)])
def test_thirty_answers_with_other_own_columns_undo_a_coarse_release(
    defense: LabelOnly | Rounding,
) -> None:
    rng = np.random.default_rng(0)
    theirs, weights = rng.random((50, 4)), np.array([[0.7], [-1.1], [0.45], [0.9]])
    own = Linear(sealed([[9.0]]), sealed([-4.0]))
    model = Additive(own, Linear(sealed(weights), sealed([0.0])))

    def answered(place: Floats) -> Bools:
        scores = defense.release(model.scores(place[:, None], theirs), rng)
        return np.asarray(scores[:, 1] >= 0.5)

    low, high = np.zeros(50), np.ones(50)
    for _ in range(ANSWERS):
        middle = (low + high) / 2
        up = answered(middle)
        low, high = np.where(up, low, middle), np.where(up, middle, high)
    part = 4.0 - 9.0 * high  # where own part and partner's part are in balance
    assert np.abs(part - (theirs @ weights)[:, 0]).max() < 9.0 * 2.0**-ANSWERS * 1.01


def asked_again(case: AuditResult) -> AuditResult:
    """Return the audit as one of a partner that asks again."""
    name = "white-box-asking"
    return replace(
        case,
        headline=replace(case.headline, threat=name),
        threats=(replace(case.threats[0], name=name, malicious=True),),
        defenses=tuple(replace(one, against=(name,)) for one in case.defenses),
    )


def test_advice_and_report_say_what_was_measured_where_somebody_asked_again() -> None:
    honest = high_case()
    asking = asked_again(honest)
    assert ASKED_OTHERWISE not in untested(asking)
    for case, said in ((honest, False), (asking, True)):
        lines = advice(case.headline, case.threats, case.defenses)
        assert any(line == ASKED_AGAIN for line in lines) is said
        assert any(line.startswith("Not tried against it") for line in lines) is not said


def test_a_report_with_defenses_on_scores_says_that_this_was_not_tested() -> None:
    assert ASKED_OTHERWISE in untested(high_case())
