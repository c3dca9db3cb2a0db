"""The figures beside the verdicts on Yao et al.: drawn from stored results, and shown on the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whatleaks.errors import StoreError
from whatleaks.papers import yao_gallery
from whatleaks.papers.check import checks
from whatleaks.papers.ledger import read
from whatleaks.papers.yao_setup import BREAKING, HIJACKS
from whatleaks.report import yao_figures
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_shows_every_figure_that_is_drawn_from_the_stored_numbers() -> None:
    gallery = json.loads((ROOT / "results" / "gallery" / "yao.json").read_text("utf-8"))
    assert set(gallery["pictures"]) == {"truth", *HIJACKS}
    assert set(gallery["courses"]) == set(BREAKING)
    watched = read(ROOT / "results" / "standard" / "Y06.json", checks()["Y06"]).records
    page = (ROOT / "docs" / "papers" / "yao.md").read_text("utf-8")
    for name, figure in yao_figures.drawn(gallery, watched).items():
        assert f"yao/{name}" in page, name
        assert (ROOT / "docs" / "papers" / "yao" / name).read_text("utf-8") == figure, name


def test_without_stored_numbers_it_says_how_to_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHATLEAKS_RESULTS", str(tmp_path))
    with pytest.raises(StoreError, match=r"run python -m whatleaks\.papers\.yao_gallery"):
        yao_figures.main([str(tmp_path)])


def test_a_short_training_is_the_beginning_of_a_longer_one() -> None:
    steps = {(name, at) for name, at, _ in yao_gallery.course_runs()}
    assert steps == {(name, at) for name in BREAKING for at in yao_gallery.TIMES}
    base = Scenario(
        "breast-cancer",
        share=0.5,
        model="split",
        model_options=Settings({"steps": 12}),
        threat="split-hijack",
        attacks=("urvfl",),
        attack_options=Settings({"pretraining": 3}),
        detector="splitguard",
        detector_options=Settings({"start_after": 1, "fake_share": 0.5}),
        targets=10,
        seed=3,
    )
    long, short = (
        run_trial(replace(base, model_options=Settings({"steps": count}))).outcome.measurements
        for count in (12, 7)
    )
    longer, shorter = long["detector scores"], short["detector scores"]
    assert isinstance(longer, list)
    assert isinstance(shorter, list)
    assert 0 < len(shorter) < len(longer)
    assert np.abs(np.array(longer[: len(shorter)]) - shorter).max() < 1e-9
