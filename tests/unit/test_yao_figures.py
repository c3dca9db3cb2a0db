"""The figures beside the verdicts on Yao et al.: drawn from stored results, and shown on the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.hijack.urvfl import Urvfl
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.errors import StoreError
from whatleaks.federation.split.run import train_split
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.torch_network import Layers
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.expected import read_plain
from whatleaks.wire.transcript import Transcript
from whatleaks_lab.papers import yao_auxiliary, yao_gallery
from whatleaks_lab.papers.check import checks
from whatleaks_lab.papers.ledger import STORED, read
from whatleaks_lab.papers.yao_game import Match, game_table
from whatleaks_lab.papers.yao_setup import BREAKING, HIJACKS
from whatleaks_lab.report import yao_figures

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_shows_every_figure_that_is_drawn_from_the_stored_numbers() -> None:
    gallery = json.loads((STORED / "gallery" / "yao.json").read_text("utf-8"))
    assert set(gallery["pictures"]) == {"truth", *HIJACKS}
    sizes = json.loads((STORED / "gallery" / "yao-auxiliary.json").read_text("utf-8"))
    assert {name for course in gallery["courses"].values() for name in course} == set(BREAKING)
    watched = read(STORED / "standard" / "Y06.json", checks()["Y06"]).records
    page = (ROOT / "docs" / "papers" / "yao.md").read_text("utf-8")
    for name, figure in yao_figures.drawn(gallery, watched, sizes).items():
        assert f"yao/{name}" in page, name
        assert (ROOT / "docs" / "papers" / "yao" / name).read_text("utf-8") == figure, name
    assert yao_figures.with_table(page, game_table(gallery, watched)) == page
    for dataset, errors in sizes["errors"].items():
        assert yao_auxiliary.pays_from(errors) == sizes["pays from"][dataset]
    assert sizes["rule"] == yao_auxiliary.RULE


def errors_at(*ratios: float) -> dict[str, dict[str, list[float]]]:
    """Return errors of three seeds a little apart, at sizes 10, 20 and so on."""
    near = (0.99, 1.0, 1.01)
    return {
        str(10 * place): {"hijack": [ratio * x for x in near], "bar": [1.0, 1.0, 1.0]}
        for place, ratio in enumerate(ratios, start=1)
    }


def test_a_hijack_pays_from_a_size_on_if_it_pays_at_all_larger_ones() -> None:
    assert yao_auxiliary.pays_from(errors_at(2.0, 0.8, 0.5)) == 20
    assert yao_auxiliary.pays_from(errors_at(0.8, 2.0, 0.5)) == 30
    assert yao_auxiliary.pays_from(errors_at(0.8, 0.5, 2.0)) is None
    assert yao_auxiliary.pays_from(errors_at(0.8, 0.5, 0.999)) is None  # within chance


def test_a_match_counts_what_was_told_when_the_halt_came() -> None:
    match = Match((True, False, True), (40, 400, 60), (0.5, 9.0, 0.5), (1.0, 1.0, 0.25))
    assert match.ended == [0, 2]
    assert match.over_bar() == [0.5, 2.0]  # the second was not halted
    assert Match((False,), (400,), (1.0,), (1.0,)).over_bar() == []


def test_without_stored_numbers_it_says_how_to_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHATLEAKS_RESULTS", str(tmp_path))
    with pytest.raises(StoreError, match=r"run python -m whatleaks_lab\.papers\.yao_gallery"):
        yao_figures.main([str(tmp_path)])


def test_a_short_training_is_the_beginning_of_a_longer_one() -> None:
    steps = {(name, at) for _, name, at, _ in yao_gallery.course_runs()}
    assert steps == {(name, at) for name in BREAKING for at in yao_gallery.TIMES}
    rng = np.random.default_rng(1)
    columns = {party: sealed(rng.normal(size=(50, 3))) for party in ("active", "passive")}
    names = {party: tuple(f"{party}{i}" for i in range(3)) for party in columns}
    held = Holdings(columns, names, sealed_ints(rng.integers(0, 2, 50)), 2)
    none = sealed_ints([])
    rows = Rows(sealed_ints(range(36)), none, none, sealed_ints(range(36, 50)), none)
    heard = []
    for steps in (8, 5):
        channel = Channel(Transcript(["active"]))
        settings = SplitSettings(steps=steps, batch=8, bottom=Layers((4,), 3))
        train_split(held, rows, settings, Streams(2), channel, hijacker=Urvfl(pretraining=2))
        sent = channel.transcript.received_by("active")
        heard.append([read_plain(message.payload) for message in sent])
    longer, shorter = heard
    assert (len(longer), len(shorter)) == (8, 5)
    for one, other in zip(longer, shorter, strict=False):
        assert np.abs(one - other).max() < 1e-12
