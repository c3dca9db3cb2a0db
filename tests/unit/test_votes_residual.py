"""Votes residual: what own columns leave of a forest's votes, without the trees, up to its sign."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auditing import audited
from whatleaks.arrays import sealed
from whatleaks.attacks.votes_residual import VotesResidual
from whatleaks.auditor.spec import AuditSpec
from whatleaks.threat.views.known_trees import KnownForestView, KnownTreeView, KnownVotesView
from whatleaks.threat.views.tree import VotesView, WhiteBoxForestView, WhiteBoxTreeView

RNG = np.random.default_rng


@pytest.mark.parametrize("falling", [False, True])
def test_votes_that_are_an_own_part_and_a_partners_part_give_its_order(falling: bool) -> None:
    q = np.linalg.qr(RNG(0).normal(size=(60, 3)) - 0.1)[0]
    q = np.linalg.qr(q - q.mean(axis=0))[0]
    own, theirs = 0.5 + q[:, :2], q[:, 2]
    second = 0.5 + q[:, 0] * 0.3 + theirs * 0.4
    view = VotesView(sealed(own), sealed(np.stack([1.0 - second, second], axis=1)), 2)
    found = VotesResidual(falling).infer(view, RNG(1)).values
    sign = -1.0 if falling else 1.0
    assert np.corrcoef(found[:, 0], theirs)[0, 1] == pytest.approx(sign, abs=1e-12)
    assert np.array_equal(found[:, 0], found[:, 1])


def test_votes_that_own_columns_explain_tell_nobody_apart() -> None:
    own = RNG(0).random((50, 2))
    second = 0.2 + 0.5 * own[:, 0]
    view = VotesView(sealed(own), sealed(np.stack([1.0 - second, second], axis=1)), 1)
    assert (VotesResidual().infer(view, RNG(1)).values == 0.5).all()


def test_whoever_holds_more_holds_the_votes() -> None:
    for more in (
        WhiteBoxTreeView,
        WhiteBoxForestView,
        KnownVotesView,
        KnownTreeView,
        KnownForestView,
    ):
        assert issubclass(more, VotesView)


def test_a_forest_that_is_kept_is_attacked_by_its_votes_alone() -> None:
    draw = RNG(3)
    own, theirs = draw.normal(size=(2, 200))
    frame = pd.DataFrame({"own": own, "theirs": theirs, "y": (theirs + 0.3 * own > 0).astype(int)})
    spec = AuditSpec(
        "y", ("theirs",), model="forest", quick=True, threats=("black-box-votes",), defenses=False
    )
    head = audited(frame, spec).headline
    (kept,) = (one for one in head.conditions if one.name == "kept")
    assert kept.level == "high"
    assert kept.attack == "votes-residual"
