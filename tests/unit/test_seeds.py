"""Named streams: stable, independent, one-way."""

from __future__ import annotations

import numpy as np

from whatleaks.seeds import Streams, torch_seed


def test_the_same_name_gives_the_same_numbers() -> None:
    assert np.array_equal(Streams(5).rng("split").random(9), Streams(5).rng("split").random(9))


def test_names_roots_and_families_are_independent() -> None:
    draws = [
        Streams(5).rng("split").random(2000),
        Streams(5).rng("attack").random(2000),
        Streams(6).rng("split").random(2000),
        Streams(5).under("trial/0").rng("split").random(2000),
        Streams(5).under("trial/1").rng("split").random(2000),
    ]
    correlation = np.corrcoef(draws) - np.eye(len(draws))
    assert np.abs(correlation).max() < 0.1  # 4.5 standard errors at n=2000


def test_a_stream_is_pinned() -> None:
    # A change of this number would silently change every stored result.
    assert int(Streams(0).rng("pinned").integers(2**32)) == 1242962424
    assert 0 <= torch_seed(Streams(0).rng("torch")) < 2**63


def test_what_a_stream_spawns_is_its_own() -> None:
    names = [(root, name) for root in (0, 1) for name in ("a", "b")]
    drawn = {Streams(root).rng(name).spawn(1)[0].random() for root, name in names}
    assert len(drawn) == 4
    again = Streams(1).rng("b").spawn(1)[0].random()
    assert again in drawn
