"""Pictures of the user's own: what is refused, how halves are divided, one whole audit."""

from __future__ import annotations

import html
import io
import json
import stat
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imsave
from typer.testing import CliRunner

from whatleaks.auditor.picture_result import PictureFinding, joined_halves
from whatleaks.auditor.pictures import (
    KNOWN,
    LEAKS,
    OPEN,
    PictureSpec,
    _headline,
    picture_scenarios,
)
from whatleaks.catalog import cards
from whatleaks.cli import app, main
from whatleaks.data.picture_files import OwnPictures, of_arrays, read_pictures
from whatleaks.data.picture_table import picture_table, pictures_of
from whatleaks.errors import SpecError, StoreError, TableError
from whatleaks.metrics.measurement import Measurement
from whatleaks.report.picture_page import side_by_side
from whatleaks.report.stored import load_audit
from whatleaks.seeds import Streams
from whatleaks.trial.pictures import halves, picture_holdings

RNG = np.random.default_rng(0)
LABELS = np.arange(80) % 2
# Bright or dark, with a ramp from left to right: the right half follows from the left.
LEVEL = np.where(LABELS == 1, 150, 40)[:, None, None] + RNG.integers(0, 40, (80, 1, 1))
PIXELS = (LEVEL + np.arange(8) * 5 + RNG.integers(0, 10, (80, 8, 8))).astype(np.uint8)


@pytest.mark.parametrize("doubtful", [0.03, 0.05])
def test_a_hijack_beyond_chance_makes_the_headline_whoever_adds_more(doubtful: float) -> None:
    def found(name: str, value: float, low: float) -> PictureFinding:
        number = Measurement(0.1, 0.1, 0.1, 30, "error", "records")
        adds = Measurement(value, low, 2 * value - low, 30, "error", "records")
        return PictureFinding(name, name, "attack", number, number, number, adds)

    said, level = _headline([found("lucky", doubtful, -0.01), found("sure", 0.045, 0.04)], 80)
    assert "sure" in said
    assert level == LEAKS
    said, level = _headline([found("lucky", doubtful, -0.01)], 80)
    assert (level, "chance" in said) == (OPEN, True)


def test_a_hijack_that_draws_well_in_some_trainings_only_is_no_comfort() -> None:
    number = Measurement(0.4, 0.1, 0.7, 90, "error", "records and seeds")
    adds = Measurement(-0.2, -0.9, 0.5, 90, "error", "records and seeds")
    wild = PictureFinding(
        "wild", "wild", "attack", number, number, number, adds, ahead=2, trainings=3
    )
    said, level = _headline([wild], 300)
    assert (level, "in 2 of 3 trainings" in said) == (OPEN, True)
    said, level = _headline([replace(wild, ahead=0)], 300)
    assert level == KNOWN


def saved(folder: Path, **arrays: Any) -> Path:
    path = folder / "set.npz"
    np.savez(path, **arrays)
    return path


def small(pixels: Any = PIXELS, labels: Any = LABELS) -> OwnPictures:
    return of_arrays({"x": pixels, "y": labels}, "set")


def refused(*words: str) -> tuple[int, str]:
    """Return the exit code and the line of an audit that cannot begin."""
    told = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(told):
        patch.setattr("sys.argv", ["whatleaks", "audit", *words])
        with pytest.raises(SystemExit) as stop:
            main()
    assert isinstance(stop.value.code, int)
    return stop.value.code, told.getvalue()


def test_an_archive_and_a_folder_of_the_same_pictures_are_the_same_set(tmp_path: Path) -> None:
    coloured = RNG.integers(0, 256, (60, 6, 8, 3)).astype(np.uint8)
    labels = np.array(["cat", "dog"])[np.arange(60) % 2]
    order = np.argsort(labels, kind="stable")
    for number, place in enumerate(order):
        folder = tmp_path / "pictures" / labels[place]
        folder.mkdir(parents=True, exist_ok=True)
        imsave(folder / f"{number:03}.png", coloured[place])
    read = read_pictures(tmp_path / "pictures")
    other = read_pictures(saved(tmp_path, x=coloured[order], y=labels[order]))
    assert read.classes == other.classes == ("cat", "dog")
    assert np.array_equal(read.pixels, other.pixels)
    assert np.array_equal(read.labels, other.labels)
    assert (read.height, read.colours) == (6, 3)


def test_fractions_and_whole_numbers_are_the_same_pictures() -> None:
    assert np.array_equal(small(PIXELS / 255.0).pixels, small().pixels)
    assert np.array_equal(small(PIXELS.astype(np.int64)).pixels, small().pixels)


def test_a_table_of_pictures_reads_back() -> None:
    pixels, labels = pictures_of(picture_table(small()))
    assert np.array_equal(pixels, small().pixels)
    assert np.array_equal(labels, LABELS)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": PIXELS}, "has no array y: save the labels under that name (it holds x)"),
        ({"images": PIXELS, "y": LABELS}, "has no array x"),
        ({"x": PIXELS, "y": LABELS[:3]}, "give one label for each"),
        ({"x": PIXELS, "y": LABELS * 0}, "are of one class (0)"),
        ({"x": PIXELS[:20], "y": LABELS[:20]}, "has 20 pictures: give at least 60"),
        ({"x": PIXELS, "y": np.r_[LABELS[:79], 7]}, "class 7 of set.npz has one picture"),
        ({"x": PIXELS[:, 0], "y": LABELS}, "has the shape (80, 8)"),
        ({"x": PIXELS[..., None, None], "y": LABELS}, "has the shape"),
        ({"x": PIXELS / 100.0, "y": LABELS}, "runs from"),
        ({"x": np.full((80, 8, 8), np.nan), "y": LABELS}, "no table of finite numbers"),
        ({"x": PIXELS.astype(str), "y": LABELS}, "no table of finite numbers"),
        ({"x": np.zeros((80, 80, 8), np.uint8), "y": LABELS}, "at most 64 x 64"),
        ({"x": np.zeros((80, 8, 2), np.uint8), "y": LABELS}, "at least 4 x 4"),
        ({"x": np.zeros((80, 8, 8), np.uint8), "y": LABELS}, "the same one"),
        ({"x": PIXELS[:0], "y": LABELS[:0]}, "holds no pictures"),
    ],
)
def test_an_archive_that_cannot_be_audited_is_refused_on_one_line(
    arrays: dict[str, Any], words: str, tmp_path: Path
) -> None:
    code, told = refused("--images", str(saved(tmp_path, **arrays)))
    assert code == 2
    assert words in told
    assert len(told.strip().splitlines()) == 1


def test_a_folder_that_cannot_be_audited_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="there is no file or folder"):
        read_pictures(tmp_path / "nowhere")
    table = tmp_path / "t.csv"
    table.write_text("a,b\n")
    with pytest.raises(TableError, match=r"is no folder and no \.npz"):
        read_pictures(table)
    pickled = tmp_path / "p.npz"
    for data in (b"PK no archive", b"a,b\n1,2\n", b""):
        pickled.write_bytes(data)
        with pytest.raises(TableError, match=r"is no \.npz of plain arrays") as told:
            read_pictures(pickled)
        assert "pickle" not in str(told.value)  # nobody is advised to load it unsafely
    home = tmp_path / "set"
    home.mkdir()
    imsave(home / "loose.png", PIXELS[0])
    with pytest.raises(TableError, match=r"has no labels \(1 pictures, no folders in it\)"):
        read_pictures(home)
    (home / "a").mkdir()
    with pytest.raises(TableError, match="hold no pictures"):
        read_pictures(home)
    imsave(home / "a" / "1.png", PIXELS[0])
    (home / "a" / "2.png").write_text("no picture")
    with pytest.raises(TableError, match=r"2.png cannot be read as a picture"):
        read_pictures(home)
    imsave(home / "a" / "2.png", PIXELS[0][:6])
    with pytest.raises(TableError, match=r"1.png is 8 x 8 in colour, .*2.png is 6 x 8 in colour"):
        read_pictures(home)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--label", "y"], "--label has no meaning with --images"),
        (["--threat", "black-box"], "--images is audited under --threat split-hijack"),
        (["table.csv"], "give a table to audit, or pictures with --images"),
        (["--seeds", "0"], "--seeds must be at least 1"),
    ],
)
def test_flags_that_do_not_fit_pictures_are_refused(
    flags: list[str], words: str, tmp_path: Path
) -> None:
    path = saved(tmp_path, x=PIXELS, y=LABELS)
    code, told = refused(*flags, "--images", str(path))
    assert code == 2
    assert words in told
    assert "give a table" in refused()[1]


def test_every_class_trains_and_is_attacked_and_nobody_is_both() -> None:
    rare = np.r_[np.zeros(75, int), np.ones(3, int), [2, 2]]
    found = small(labels=rare)
    (scenario, *_) = picture_scenarios(PictureSpec(seeds=1), found, "0" * 64)
    held, train, pool, strangers = picture_holdings(scenario, Streams(0), picture_table(found))
    assert np.array_equal(np.sort(np.r_[train, pool]), np.arange(80))
    assert set(held.labels[train]) == set(held.labels[pool]) == {0, 1, 2}
    assert len(train) == 45 + 2 + 1
    assert not len(strangers)
    with pytest.raises(SpecError, match="give them along"):
        picture_holdings(scenario, Streams(0), None)


def test_halves_put_together_are_the_picture() -> None:
    pictures = RNG.integers(0, 256, (3, 4, 6, 3)).astype(np.uint8)
    assert np.array_equal(joined_halves(*halves(pictures), 4, 3), pictures / 255.0)
    row = side_by_side(pictures[..., :1] / 255.0)
    assert row.shape == (4, 3 * 6 + 2 * 2, 3)
    assert np.array_equal(row[:, 8:14, 0], pictures[1, :, :, 0] / 255.0)
    assert (row[:, 6:8] == 1.0).all()


def test_the_whole_suite_is_planned_on_pictures() -> None:
    found = picture_scenarios(PictureSpec(seeds=1), small(), "0" * 64)
    for scenario in found:
        scenario.check()
    asked = [s for s in found if s.threat == "split-query"]
    assert len(asked) == 1  # of each seed: the honest network may be asked
    assert {"embedding-regression", "embedding-decoder"} <= set(asked[0].attacks)
    tried = {(s.attacks, s.detector, s.defense) for s in found}
    assert len(tried) == len(found)
    for hijack in cards("hijack"):
        assert ((hijack.name,), "", "") in tried
        for detector in cards("detector"):
            assert (((hijack.name,), detector.name, "") in tried) is not hijack.obeys
            assert ((), detector.name, "") in tried
    assert {s.model_options["network"] for s in found} == {"cnn"}
    coloured = small(np.repeat(PIXELS[..., None], 3, axis=3))
    assert picture_scenarios(PictureSpec(), coloured, "0" * 64)[0].model_options["colours"] == 3


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hijacks, one detector, a defense; a handful of steps."""
    kept = {"hijack": ("fsha", "pcat"), "detector": ("splitguard",), "defense": ("nopeek-0.9",)}

    def few(kind: str) -> tuple[Any, ...]:
        return tuple(c for c in cards(kind) if c.name in kept.get(kind, ()))

    monkeypatch.setattr("whatleaks.auditor.plan.cards", few)
    monkeypatch.setattr("whatleaks.auditor.pictures.QUICK", {"seeds": 1, "targets": 20, "steps": 6})


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("shown", [False, True])
def test_an_audit_of_pictures_shows_them_only_if_asked(shown: bool, tmp_path: Path) -> None:
    path, out = saved(tmp_path, x=PIXELS, y=LABELS), tmp_path / "out"
    flags = ["--quick", "--threat", "split-hijack", "--out", str(out)]
    flags += ["--show-values"] if shown else ["--no-defenses"]
    done = CliRunner().invoke(app, ["audit", "--images", str(path), *flags])
    assert done.exit_code == 0, done.output
    page = (out / "report.html").read_text()
    assert ("data:image/png" in page) is shown
    mode = stat.S_IMODE((out / "report.html").stat().st_mode)
    assert mode == (0o600 if shown else 0o644)
    tree = json.loads((out / "audit.json").read_text())
    assert tree["kind"] == "pictures"
    assert "grid" not in tree
    roles = {f["name"]: f["role"] for f in tree["findings"]}
    assert roles["fsha"] == roles["pcat"] == "attack"
    bars = ("auxiliary-regression", "auxiliary-decoder", "auxiliary-best")
    assert {roles[name] for name in bars} == {"baseline"}
    # Of the two learners only the one chosen on granted pictures is a rival.
    assert not {f["rival"] for f in tree["findings"]} & set(bars[:2])
    for found in tree["findings"]:
        assert 0.0 <= found["error"]["value"] <= 4.0
        if found["role"] == "attack":  # six steps tell nothing that a regression does not
            assert found["adds"]["value"] < 0.0
            assert found["rival"]
    assert {f["role"] for f in tree["asked"]} == {"attack"}
    assert "may ask the honestly trained network" in page
    assert tree["level"] == "no more than known"
    assert not (out / "unfinished").exists()
    with pytest.raises(StoreError, match="is an audit of pictures"):
        load_audit(out)
    if shown:
        assert page.count("<img") == 3  # the originals and two hijacks
        (detector,) = tree["detectors"]
        assert [w["hijack"] for w in detector["watched"]] == ["fsha"]
        # Six steps: before the first probe.
        assert "once it has 10 scores and gave at most 0 in 6 steps" in detector["silent"]
        assert detector["silent"] in html.unescape(page)
        assert {d["name"] for d in tree["defenses"]} == {"nopeek-0.9"}
    else:
        assert tree["detectors"] == tree["defenses"] == []
