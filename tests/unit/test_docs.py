"""The documentation's code runs, and its claims are shown."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from whatleaks.arrays import sealed
from whatleaks.attacks.registry import AttackCard
from whatleaks.crypto.keys import generate_keys
from whatleaks.federation.aligned_rows import (
    align_active,
    align_passive,
    hear_counts,
    tell_arbiter,
)
from whatleaks.federation.horizontal import HorizontalSettings, run_horizontal
from whatleaks.federation.regression_settings import LINEAR, SecureLinearSettings
from whatleaks.federation.secure_boost import SecureBoostSettings, predict_scores
from whatleaks.federation.secure_boost import run as run_boost
from whatleaks.federation.secure_linear import run as run_linear
from whatleaks.federation.secure_prediction import STYLES, predict
from whatleaks.models.boosted_trees import BoostSettings
from whatleaks.seeds import Streams
from whatleaks.threat.exposures import what_was_seen
from whatleaks.threat.registry import THREATS
from whatleaks.threat.views.prediction import PredictionView
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_example_attack_runs_and_is_short() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "adding-an-attack.md").read_text(), re.S)
    assert len(blocks[0].splitlines()) < 60
    module = ModuleType("example_attack")
    module.__dict__["__name__"] = "example_attack"
    import sys

    sys.modules["example_attack"] = module
    exec(compile(blocks[0], "example_attack", "exec"), module.__dict__)
    view = PredictionView(sealed([[0.2, 0.4], [1.0, 0.0]]), sealed([[0.5, 0.5]] * 2), 3)
    guess = module.OwnMean().infer(view, np.random.default_rng(0))
    assert np.allclose(guess.values, [[0.3] * 3, [0.5] * 3])
    card = eval(blocks[1], {"AttackCard": AttackCard, "OwnMean": module.OwnMean})
    assert card.build().name == card.name


def test_every_threat_is_explained() -> None:
    text = (DOCS / "threat-models.md").read_text()
    for name in THREATS:
        assert f"`{name}`" in text


def test_documents_name_no_place_of_the_authors_machine() -> None:
    root = DOCS.parent
    for path in [root / "README.md", *DOCS.rglob("*.md"), *root.glob("examples/*")]:
        text = path.read_text()
        assert "/work/" not in text, path
        assert "/tmp/" not in text, path


def everything_sent() -> Channel:
    """Run every protocol once, with every option that changes its messages."""
    rng, streams, channel = np.random.default_rng(0), Streams(0), Channel()
    x, labels = rng.uniform(size=(12, 4)), np.arange(12) % 2
    own, other, y = x[:, :2], x[:, 2:], labels.astype(np.float64)
    keys = generate_keys("phe-paillier", 512, insecure_test_key=True)
    for masked in (False, True):
        settings = SecureLinearSettings(
            epochs=1, key_bits=512, insecure_test_key=True, mask_gradients=masked
        )
        trained = run_linear(own, other, y, settings, streams, channel, keys)
    for style in STYLES:
        predict(LINEAR, {"active": own, "passive": other}, trained.weights, style, keys, channel)
    for averaging in ("encrypted", "shared"):
        chosen = HorizontalSettings(
            rounds=1, averaging=averaging, key_bits=512, insecure_test_key=True
        )
        run_horizontal([(x[:6], y[:6]), (x[6:], y[6:])], chosen, streams, channel, keys)
    boost = SecureBoostSettings(
        BoostSettings(rounds=1, max_depth=1), key_bits=512, insecure_test_key=True
    )
    grown = run_boost(own, [other], labels, boost, streams, channel)
    predict_scores(grown, own, [other], channel)
    exchange = Exchange(channel)
    tell_arbiter(2, 0, exchange)
    programmes: dict[str, Programme[Any]] = {
        "active": align_active(["a", "b"], {"passive": 3}, 0, exchange),
        "passive": align_passive("passive", ["c", "b", "a"], 2, 0, exchange),
        "arbiter": hear_counts(),
    }
    found = exchange.drive(programmes)
    assert found["active"].tolist() == [0, 1]
    assert found["passive"].tolist() == [2, 1]
    return channel


def test_every_kind_of_message_is_in_the_table_of_who_learns_what() -> None:
    pytest.importorskip("private_set_intersection.python", reason="needs openmined-psi")
    pytest.importorskip("heu", reason="needs sf-heu: pip install 'whatleaks[secure]'")
    text = (DOCS / "protocols.md").read_text().partition("## Who learns what")[2]
    cells = [line.split("|")[1:5] for line in text.splitlines() if line.startswith("| `")]
    listed = {
        (kind.strip(" `"), role, "cipher" not in form)
        for kind, _, receivers, form in cells
        for role in receivers.replace("the other", "active, passive").replace(" ", "").split(",")
    }
    transcript = everything_sent().transcript
    sent = {(t.kind, t.receiver.partition("-")[0], t.readable) for t in transcript.traffic()}
    assert sent == listed  # neither a kind left out, nor one that nobody sends
    for party in transcript.receivers():
        for seen in what_was_seen(transcript, party):
            assert "unknown" not in seen.exposes, f"{party} receives {seen.kind}"


def test_the_protocols_page_links_every_page_and_draws_every_protocol() -> None:
    text = (DOCS / "protocols.md").read_text()
    for page in (DOCS / "protocols").glob("*.md"):
        assert f"(protocols/{page.name})" in text
    assert text.count("```\n") // 2 >= 5
