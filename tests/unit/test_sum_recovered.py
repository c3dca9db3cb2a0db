"""An encrypted training that no attack on columns fits still tells a sum of them, and the headline says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import whatleaks
from whatleaks.auditor.advice import headline
from whatleaks.auditor.result import AuditResult, Recovered
from whatleaks.crypto.keys import generate_keys
from whatleaks.federation.regression import linear
from whatleaks.report.terminal import summary


@pytest.fixture(scope="module")
def audited() -> AuditResult:
    """Three columns of the partner: more than can be read from the transcript alone."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(60, 7)), columns=list("abcdefg"))
    frame["y"] = (frame["a"] + frame["g"] > 0).astype(int)
    short = generate_keys("paillier", 512, insecure_test_key=True)  # numbers do not depend on it
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "generate_keys", lambda *_, **__: short)
        report = whatleaks.audit(
            frame,
            label="y",
            passive=["e", "f", "g"],
            threats="encrypted",
            quick=True,
            defenses=False,
        )
    return report.result


def test_the_headline_says_that_a_sum_is_read_of_everybody(audited: AuditResult) -> None:
    (threat,) = audited.threats
    (found,) = threat.recovered
    assert found.attack == "intermediate-recovery"
    assert found.records == audited.training_rows
    assert found.error < 1e-9
    sentence = audited.headline.sentence
    assert "guesses your columns one by one, which says nothing about safety" in sentence
    assert f"weighted sum of them for each of the {found.records} people who trained" in sentence
    assert audited.headline.level == "unknown"


def test_the_terminal_says_how_many_trained_and_why_no_attack_ran(audited: AuditResult) -> None:
    told = " ".join(summary(audited).split())
    assert f"{audited.training_rows} of the table's 60 records trained on ciphertexts" in told
    assert "takes at most 2 columns" in told


def test_a_sum_that_is_only_estimated_is_not_told_as_read(audited: AuditResult) -> None:
    (threat,) = audited.threats
    rough = replace(threat, recovered=(Recovered("intermediate-recovery", 36, 0.3),))
    assert headline([rough]).sentence.startswith("No attack could be run")
