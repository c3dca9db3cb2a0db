"""Closed forms against the live protocols: the colluding arbiter, and two horizontal clients."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.crypto.keys import generate_keys
from whatleaks.errors import AttackError
from whatleaks.federation.regression.linear import plain_linear, run
from whatleaks.federation.regression.settings import SecureLinearSettings
from whatleaks.models.colluding_arbiter import table_from_gradients
from whatleaks.models.gram_rows import corollary_positions, fitting_tables
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import PASSIVE
from whatleaks.wire.transcript import Transcript
from whatleaks_lab.horizontal.gram import others_gradients, others_gram
from whatleaks_lab.horizontal.run import run_horizontal
from whatleaks_lab.horizontal.settings import HorizontalSettings

QUICK = {"key_bits": 512, "insecure_test_key": True}


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_arbiter_that_joins_the_asking_party_reads_the_table(shuffle: bool) -> None:
    rng = np.random.default_rng(2)
    own, theirs, y = rng.uniform(size=(8, 3)), rng.uniform(size=(8, 4)), rng.uniform(size=8)
    settings = SecureLinearSettings(
        epochs=8, batch_size=4, learning_rate=0.3, shuffle=shuffle, queries=False, **QUICK
    )
    transcript = Transcript([PASSIVE])
    run(own, theirs, y, settings, Streams(1), Channel(transcript))
    gradients = np.stack(
        [
            m.payload.values
            for m in transcript.received_by(PASSIVE)
            if m.kind == "gradient" and isinstance(m.payload, Plain)
        ]
    )
    # The arbiter holds the key of the residuals: it reads what the reference computes.
    residuals = plain_linear(own, theirs, y, settings, Streams(1)).residuals
    batches = [rows for epoch in range(8) for rows in settings.batches(8, epoch)]
    found = table_from_gradients(gradients, residuals, batches, 8, 0.3, settings.alpha)
    # Two consecutive batches make residuals alike; shuffled ones differ more.
    assert np.abs(found - theirs).max() < (1e-7 if shuffle else 1e-3)
    with pytest.raises(AttackError, match="5 gradients cannot determine 9 unknowns"):
        table_from_gradients(gradients[:5], residuals[:5], batches[:5], 8, 0.3, settings.alpha)


def test_two_horizontal_clients_read_each_others_gram_matrix_and_table() -> None:
    rng = np.random.default_rng(5)
    theirs = rng.uniform(size=(3, 4)), rng.uniform(size=3)
    mine = rng.uniform(size=(6, 4)), rng.uniform(size=6)
    settings = HorizontalSettings(rounds=14, learning_rate=0.3, **QUICK)
    keys = generate_keys(settings.backend, 512, insecure_test_key=True)
    done = run_horizontal([theirs, mine], settings, Streams(3), Channel(Transcript([])), keys)
    uploads = done.uploads
    averages = [done.first_weights]
    averages += [np.mean(both, axis=0) for both in zip(*uploads.values(), strict=True)]
    averages = np.stack(averages)
    own = np.stack([mine[0].T @ (mine[0] @ w - mine[1]) for w in averages[:-1]])
    gradients = others_gradients(averages, own, settings.learning_rate)
    truth = np.stack([theirs[0].T @ (theirs[0] @ w - theirs[1]) for w in averages[:-1]])
    assert np.abs(gradients - truth).max() < 1e-9
    gram = others_gram(averages, gradients)
    assert np.abs(gram - theirs[0].T @ theirs[0]).max() < 1e-6
    table = theirs[0].T  # A A^T = C for the transposed table
    fit = fitting_tables(gram, corollary_positions(table), table)
    assert min(np.abs(one - table).max() for one in fit.tables) < 1e-3
    with pytest.raises(AttackError, match="train for more rounds"):
        others_gram(averages[:4], gradients[:3])
