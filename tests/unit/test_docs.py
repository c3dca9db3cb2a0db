"""The documentation's code runs, and its claims are shown."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from whatleaks.catalog import cards
from whatleaks.crypto.keys import generate_keys
from whatleaks.federation.boost.run import predict_scores
from whatleaks.federation.boost.run import run as run_boost
from whatleaks.federation.boost.settings import SecureBoostSettings
from whatleaks.federation.regression.linear import run as run_linear
from whatleaks.federation.regression.prediction import STYLES, predict
from whatleaks.federation.regression.settings import LINEAR, SecureLinearSettings
from whatleaks.models.boosted_trees import BoostSettings
from whatleaks.seeds import Streams
from whatleaks.threat.exposures import what_was_seen
from whatleaks.wire.channel import Channel
from whatleaks_lab.horizontal.run import run_horizontal
from whatleaks_lab.horizontal.settings import HorizontalSettings

DOCS = Path(__file__).resolve().parents[2] / "docs"


TUTORIALS = {
    "adding-an-attack.md": ["own mean  0.", "one half  0.", "own-mean", "'shift': 0.1", "Report: "],
    "adding-a-defense.md": ["no defense ", "coarse-10 0.", "coarse-4", "Report: "],
    "adding-a-detector.md": ["honest -> ", "fsha -> ", "steady", "Report: "],
    "models-from-outside.md": [
        "Joining lets your partner read",
        "was trained elsewhere",
        "Report: ",
    ],
}


NEEDED = {"adding-a-detector.md": "torch", "models-from-outside.md": "skops"}


def loans(rows: int = 160) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "income": rng.lognormal(7, 0.4, rows).round(2),
            "deposit": rng.gamma(2.0, 3000.0, rows).round(2),
        }
    )
    score = frame.age / 90 + frame.deposit / 20000 + 0.2 * rng.normal(size=rows)
    return frame.assign(default=np.where(score > score.median(), "yes", "no"))


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_does_what_it_says(name: str, tmp_path: Path) -> None:
    """Write its files, run its scripts in order, then its commands."""
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    loans().to_csv(tmp_path / "loans.csv", index=False)
    text = (DOCS / name).read_text()
    found = os.pathsep.join([str(DOCS.parent / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": found, "COLUMNS": "80"}
    told = []
    for kind, block in re.findall(r"```(python|sh)\n(.*?)```", text, re.S):
        words = [shlex.split(line)[1:] for line in block.splitlines() if kind == "sh"]
        runs = [["-m", "whatleaks", *line] for line in words]
        if kind == "python":
            file = re.match(r"# (\w+\.py)\n", block)
            assert file, "every file says its name"
            (tmp_path / file[1]).write_text(block)
            assert len(block.splitlines()) < 70
            runs = [[file[1]]]
        for run in runs:
            done = subprocess.run(
                [sys.executable, *run],
                capture_output=True,
                text=True,
                cwd=tmp_path,
                env=environment,
                check=False,
            )
            assert done.returncode == 0, f"{run}: {done.stderr}"
            told.append(done.stdout)
    for words_told in TUTORIALS[name]:
        assert words_told in "".join(told), "".join(told)


def test_every_threat_is_explained() -> None:
    text = (DOCS / "threat-models.md").read_text()
    for entry in cards("threat"):
        assert f"`{entry.name}`" in text


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
    keys = generate_keys("paillier", 512, insecure_test_key=True)
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
    return channel


def test_every_kind_of_message_is_in_the_table_of_who_learns_what() -> None:
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


def test_every_test_that_the_security_page_names_exists() -> None:
    root = DOCS.parent
    text = (DOCS / "security.md").read_text()
    named = re.findall(r"(tests/\S+?\.py)(?:::(\w+))?", text)
    assert len(named) > 20
    for file, test in named:
        assert f"def {test}" in (root / file).read_text(), f"{file}::{test}"
    for benchmark in re.findall(r"benchmarks/\w+\.py", text):
        assert (root / benchmark).exists(), benchmark
