"""The joint network in the audit: its attack, its defenses, its sizes."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_wine

from auditing import audited
from whatleaks.auditor.spec import AuditSpec
from whatleaks.errors import UsageError


def test_it_is_attacked_and_defended() -> None:
    frame = load_wine(as_frame=True).frame
    passive = tuple(frame.columns[8:13])
    spec = AuditSpec(
        "target",
        passive,
        model="joint-network",
        hidden=(12, 6),
        quick=True,
        threats=("white-box",),
        targets=20,
    )
    result = audited(frame, spec)
    (threat,) = result.threats
    tried = {g.name.split(" after ")[0] for g in threat.of("attack")}
    assert tried == {
        "candidate-search",
        "generative-regression",
        "generative-regression-snapped",
        "half-star-layers",
        "score-residual",
        "score-residual-falling",
        "score-rest",
        "score-rest-falling",
    }
    assert "dropout-0.5" in [d.name for d in result.defenses]
    assert {d.acts_on for d in result.defenses} == {"release", "training"}
    assert any(
        note.startswith("Seed 0: correlation-max-0.5: it would leave out") for note in threat.notes
    )


def test_sizes_are_the_papers_unless_given() -> None:
    assert AuditSpec("y", ("a",), model="joint-network").hidden == (600, 300, 100)
    assert AuditSpec("y", ("a",), model="network").hidden == (8, 8)
    assert AuditSpec("y", ("a",)).hidden == ()
    with pytest.raises(UsageError, match="hidden has no meaning"):
        AuditSpec("y", ("a",), hidden=(3,))
    with pytest.raises(UsageError, match="at least 1 unit"):
        AuditSpec("y", ("a",), model="network", hidden=(3, 0))
