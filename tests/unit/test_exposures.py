"""The view of a transcript: what a role saw and what that lets it compute."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from whatleaks.federation.regression.linear import run
from whatleaks.federation.regression.settings import SecureLinearSettings
from whatleaks.seeds import Streams
from whatleaks.threat.exposures import what_was_seen
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Plain
from whatleaks.wire.transcript import Transcript

SETTINGS = SecureLinearSettings(
    epochs=2, batch_size=5, learning_rate=0.01, key_bits=512, insecure_test_key=True
)


def trained(**changes: Any) -> Transcript:
    rng = np.random.default_rng(0)
    x, other, y = rng.uniform(size=(8, 4)), rng.uniform(size=(8, 2)), rng.uniform(size=8)
    return run(x, other, y, replace(SETTINGS, **changes), Streams(0), Channel()).transcript


def exposed(transcript: Transcript, party: str) -> dict[str, str]:
    return {f"{s.kind}/{s.form}": s.exposes for s in what_was_seen(transcript, party)}


def test_columns_against_batch_decide_what_the_active_party_solves() -> None:
    # 4 columns; batches of 5 and 3 records: only the second of each epoch can be solved.
    assert "in 2 of 4 steps: there" in exposed(trained(), "active")["gradient/plain"]
    assert "in 4 of 4 steps" in exposed(trained(fake_columns=1), "active")["gradient/plain"]
    large = exposed(trained(batch_size=None), "active")["gradient/plain"]
    assert "in 0 of 2 steps" in large
    assert "4 fake columns would be enough" in large


def test_masks_do_not_protect_from_the_owner_of_the_gradient() -> None:
    seen = exposed(trained(mask_gradients=True), "active")
    assert "in 2 of 4 steps: there" in seen["masked-gradient/plain"]


def test_counts_sizes_and_forms() -> None:
    transcript = trained()
    rows = {(s.sender, s.kind, s.form): s for s in what_was_seen(transcript, "arbiter")}
    row = rows["passive", "encrypted-gradient", "cipher, holds the key"]
    (traffic,) = [
        t for t in transcript.traffic() if (t.sender, t.receiver) == ("passive", "arbiter")
    ]
    # Two columns, packed into one ciphertext.
    assert (row.count, row.size, row.shapes, row.steps) == (4, traffic.size, ((1,),), (0, 3))
    forms = {(s.kind, s.form) for s in what_was_seen(transcript, "active")}
    assert forms == {("intermediate", "cipher"), ("intermediate", "plain"), ("gradient", "plain")}


def test_a_kind_without_a_row_is_never_called_safe() -> None:
    channel = Channel()
    channel.send(0, "active", "passive", "gossip", Plain(np.zeros(1)))
    (seen,) = what_was_seen(channel.transcript, "passive")
    assert seen.exposes.startswith("unknown")
