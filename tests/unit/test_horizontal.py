"""Horizontal regression: both ways of averaging equal plain maths, and single weights stay hidden."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.arrays import Floats
from whatleaks.codec import encode
from whatleaks.errors import CryptoError, SpecError, TableError
from whatleaks.seeds import Streams
from whatleaks.threat.exposures import what_was_seen
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Cipher, Plain
from whatleaks_lab.horizontal.run import HorizontalRun, plain_horizontal, run_horizontal
from whatleaks_lab.horizontal.settings import HorizontalSettings
from whatleaks_lab.horizontal.sharing import combine, from_halves, numbers_for, share, to_halves

FAST = HorizontalSettings(rounds=4, learning_rate=0.02, key_bits=512, insecure_test_key=True)
STREAMS = Streams(3)


def tables(clients: int = 2, columns: int = 3) -> list[tuple[Floats, Floats]]:
    rng = np.random.default_rng(1)
    sizes = [5 + i for i in range(clients)]
    return [(rng.uniform(size=(n, columns)), rng.normal(size=n)) for n in sizes]


def train(clients: int = 2, **changes: Any) -> HorizontalRun:
    return run_horizontal(tables(clients), replace(FAST, **changes), STREAMS, Channel())


# A round errs by the rounding of each weight once: 2**-49 encrypted, 2**-41 shared.
@pytest.mark.parametrize(("averaging", "error"), [("encrypted", 2.0**-49), ("shared", 2.0**-41)])
@pytest.mark.parametrize("clients", [2, 4])
@pytest.mark.parametrize("local_steps", [1, 3])
def test_averaging_equals_the_plain_maths(
    averaging: str, error: float, clients: int, local_steps: int
) -> None:
    chosen = replace(FAST, averaging=averaging, local_steps=local_steps, alpha=0.1)
    secure = run_horizontal(tables(clients), chosen, STREAMS, Channel())
    plain = plain_horizontal(tables(clients), chosen, STREAMS)
    # Steps contract here, so errors of rounds only add up; 1e-14 is for the doubles.
    assert np.abs(secure.weights - plain).max() <= chosen.rounds * error + 1e-14


def test_two_clients_with_one_step_descend_along_the_mean_gradient() -> None:
    (x_a, y_a), (x_b, y_b) = tables()
    done = train(rounds=1)
    w = done.first_weights
    gradient = (x_a.T @ (x_a @ w - y_a) + x_b.T @ (x_b @ w - y_b)) / 2
    np.testing.assert_allclose(done.weights, w - FAST.learning_rate * gradient, atol=1e-14)


@pytest.mark.parametrize("averaging", ["encrypted", "shared"])
def test_equation_5_gives_the_other_clients_gradient(averaging: str) -> None:
    # Averaging hides nothing between two: the leak that the paper builds on is there.
    (x_a, y_a), (x_b, y_b) = tables()
    done = train(rounds=1, averaging=averaging)
    w, eta = done.first_weights, FAST.learning_rate
    g_b = x_b.T @ (x_b @ w - y_b)
    g_a = 2 * (w - done.weights) / eta - g_b
    np.testing.assert_allclose(g_a, x_a.T @ (x_a @ w - y_a), atol=1e-9)


@pytest.mark.parametrize("averaging", ["encrypted", "shared"])
def test_no_single_clients_weights_are_on_the_wire(averaging: str) -> None:
    done = train(clients=3, averaging=averaging)
    secrets = np.concatenate([w for uploads in done.uploads.values() for w in uploads])
    for party in ("arbiter", "client-1", "client-2", "client-3"):
        messages = done.transcript.received_by(party)
        everything = b"".join(encode(message) for message in messages)
        assert not any(np.float64(w).tobytes() in everything for w in secrets)
        if averaging == "encrypted" and party == "arbiter":
            assert all(isinstance(m.payload, Cipher) for m in messages)


def test_a_share_by_itself_is_uniform_whatever_the_value() -> None:
    count = 4000
    means = []
    for value in (0.0, 1000.0):
        rows = share(np.full(count, value), 3)
        for row in rows:
            unit = row / 2.0**64
            # The mean of n uniforms has standard error sqrt(1 / 12 n): six of them.
            assert abs(unit.mean() - 0.5) < 6 * np.sqrt(1 / 12 / count)
            means.append(unit.mean())
    assert len(set(means)) == 6


@given(
    values=st.lists(st.floats(-1e5, 1e5), min_size=1, max_size=5),
    parties=st.integers(2, 7),
)
@settings(max_examples=60, deadline=None)
def test_shares_add_up(values: list[float], parties: int) -> None:
    x = np.array(values)
    rows = share(x, parties)
    assert rows.shape == (parties, len(x))
    np.testing.assert_array_equal(from_halves(to_halves(rows)), rows)
    assert np.abs(combine(rows, parties) - x).max() <= numbers_for(parties).error + 1e-11


def test_values_too_large_to_add_are_refused() -> None:
    largest = 2.0 ** numbers_for(4).whole
    with pytest.raises(CryptoError, match="does not fit"):
        share(np.array([largest]), 4)
    rows = np.stack([share(np.array([np.nextafter(largest, 0)]), 4).sum(axis=0) for _ in range(4)])
    assert combine(rows, 4)[0] > 3.9 * largest  # four of the largest do not wrap around
    with pytest.raises(CryptoError, match="damaged"):
        from_halves(np.array([[0.5, 0.0]]))


def test_the_transcript_view_names_equation_5() -> None:
    for averaging in ("encrypted", "shared"):
        transcript = train(averaging=averaging).transcript
        assert any("Eq 5" in seen.exposes for seen in what_was_seen(transcript, "client-1"))
        assert not any("unknown" in s.exposes for s in what_was_seen(transcript, "client-1"))
        assert not any("Eq 5" in seen.exposes for seen in what_was_seen(transcript, "arbiter"))


def test_tables_and_settings_that_cannot_train_are_refused() -> None:
    with pytest.raises(TableError, match="at least 2 clients"):
        run_horizontal(tables(1), FAST, STREAMS, Channel())
    bad = tables()
    with pytest.raises(TableError, match="client-2 has 2 columns"):
        run_horizontal([bad[0], (bad[1][0][:, :2], bad[1][1])], FAST, STREAMS, Channel())
    with pytest.raises(SpecError, match="Did you mean 'shared'"):
        replace(FAST, averaging="share")


def test_plain_payloads_are_floats_for_the_arbiter() -> None:
    messages = train(averaging="shared").transcript.received_by("arbiter")
    assert {m.kind for m in messages} == {"share-sum"}
    assert all(isinstance(m.payload, Plain) for m in messages)
