"""The precheck against what was measured on real engines, and against the protocols' own sizes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import whatleaks
from whatleaks.auditor.precheck import PROTOCOLS, Line, precheck
from whatleaks.cli import app
from whatleaks.errors import UsageError, WhatleaksError


def line(protocol: str, words: str, **setting: object) -> Line:
    found = [one for one in precheck(protocol, **setting) if words in one.what]
    assert len(found) == 1, [one.what for one in found]
    return found[0]


def test_enough_own_columns_give_z_and_too_few_ask_for_padding() -> None:
    short = line("linear", "z of every", own=11, partner=20, batch=32)
    assert (short.has, short.needs, short.so) == (11, 32, "exact after padding")
    assert any("refuse gradients longer than 11" in end for end in short.ends)
    enough = line("logistic", "z of every", own=11, partner=20, batch=10)
    assert (enough.has, enough.needs, enough.so) == (11, 10, "exact")


def test_adam_at_the_arbiter_is_undone_by_one_column_more() -> None:
    setting = {"own": 11, "partner": 20, "batch": 10, "optimiser": "adam"}
    assert line("linear", "z of every", **setting).needs == 11
    assert line("linear", "z of every", **setting).so == "exact"
    assert line("linear", "z of every", **{**setting, "own": 10}).so == "exact after padding"
    assert line("linear", "your label", **setting).so == "exact"
    assert not [one for one in precheck("linear", **setting) if "Gram" in one.what]


@pytest.mark.parametrize(
    ("partner", "known", "state"),
    [
        (1, 0, "exact"),
        (2, 0, "exact"),
        (3, 1, "needs known values"),
        (52, 1275, "needs known values"),
    ],
)
def test_known_values_of_the_table_follow_theorem_2(partner: int, known: int, state: str) -> None:
    found = line("linear", " values of the partner", own=60, partner=partner, batch=55, epochs=60)
    assert (found.known, found.so) == (known, state)


def test_without_prediction_it_is_theorem_1() -> None:
    found = line("linear", " values of the partner", own=9, partner=4, batch=9, queries=False)
    assert found.known == 6
    assert "Theorem 1" in found.source


def test_epochs_that_determine_the_gram_matrix_on_one_batch_and_on_batches_in_turn() -> None:
    one = {"own": 9, "partner": 4, "batch": 9}
    assert line("linear", "Gram", epochs=5, **one).so == "exact"
    assert line("linear", "Gram", epochs=4, **one).so == "not determined"
    turns = {"own": 9, "partner": 2, "batch": 9, "records": 36}
    # 4 e - 1 steps for 16 unknowns but for 2: the limit of the attack on batches in turn.
    assert line("linear", "Gram", epochs=4, **turns).so == "exact"
    assert line("linear", "Gram", epochs=3, **turns).so == "not determined"
    assert line("linear", "Gram", shuffle=True, **turns).so == "theorem does not apply"


def test_passes_and_known_records_place_a_table_in_its_dimensions() -> None:
    setting = {"own": 11, "partner": 20, "batch": 32, "records": 569}
    found = line("logistic", "over 31 passes", epochs=31, **setting)
    assert (found.has, found.needs, found.known) == (20, 20, 400)
    assert line("logistic", "over 31 passes", epochs=31, known=30, **setting).so == "in part"
    few = line("logistic", "over 5 passes", epochs=5, known=30, **setting)
    assert (few.has, few.so) == (5, "in part")


def test_masks_close_the_colluding_arbiter_and_steps_open_it() -> None:
    setting = {"own": 3, "partner": 4, "batch": 5, "records": 20}
    assert line("linear", "arbiter joins", epochs=5, **setting).so == "not determined"
    assert line("linear", "arbiter joins", epochs=6, **setting).so == "exact"
    assert line("linear", "arbiter joins", epochs=6, masked=True, **setting).so == "not determined"


@pytest.mark.parametrize(
    ("partner", "classes", "state"),
    [(3, 4, "exact"), (4, 4, "needs known values"), (1, 2, "exact")],
)
def test_equality_solvings_threshold(partner: int, classes: int, state: str) -> None:
    assert line("scores", "every scored record", partner=partner, classes=classes).so == state


def test_bits_rule_knows_grids_digits_and_free_columns() -> None:
    ten = (2,) * 10
    assert line("scores", "few values", partner=10, classes=2, levels=ten).so == "exact"
    coarse = line("scores", "few values", partner=10, classes=2, levels=ten, digits=2)
    assert coarse.so == "not determined"
    mixed = line("scores", "few values", partner=11, classes=2, levels=(*ten, 0))
    assert mixed.so == "not determined"
    assert mixed.has == 0  # the free column takes every equation


def test_queries_for_secureboost() -> None:
    found = line("boost", "thresholds", nodes=102, trees=20, depth=4, width=2.0, epsilon=1e-7)
    assert (found.needs, found.so) == (306, "costs queries")
    assert "at most 35" in line("boost", "thresholds", trees=5, depth=3).what


def test_horizontal_rounds_and_clients() -> None:
    assert line("horizontal", "x 11 values", partner=11, records=4).known == 6
    assert line("horizontal", "Gram", partner=11, records=4, epochs=12).so == "not determined"
    assert len(precheck("horizontal", partner=11, records=4, parties=3)) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_line_names_its_theorem(protocol: str) -> None:
    sizes = {"linear": {"own": 3, "partner": 2, "batch": 3}, "boost": {}}
    sizes |= {"logistic": sizes["linear"], "horizontal": {"partner": 3, "records": 4}}
    sizes |= {"scores": {"partner": 3, "classes": 2}}
    for one in precheck(protocol, **sizes[protocol]):
        assert one.source
        assert one.unit
        assert one.what


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lineer"], "Did you mean 'linear'?"),
        (["linear", "--own", "3"], "linear needs --partner and --batch"),
        (["boost", "--own", "3"], "--own says nothing about boost"),
        (
            ["linear", "--own", "3", "--partner", "0", "--batch", "2"],
            "--partner must be at least 1",
        ),
        (
            ["linear", "--own", "3", "--partner", "2", "--batch", "9", "--records", "4"],
            "less than one batch",
        ),
        (
            ["scores", "--partner", "3", "--classes", "2", "--levels", "2,2"],
            "--levels takes 3 numbers",
        ),
        (
            ["scores", "--partner", "1", "--classes", "2", "--levels", "x"],
            "--levels takes whole numbers",
        ),
        (["boost", "--epsilon", "0"], "must be a positive number"),
    ],
)
def test_wrong_use_is_one_line(words: list[str], says: str) -> None:
    done = CliRunner().invoke(app, ["precheck", *words])
    assert isinstance(done.exception, WhatleaksError)
    assert says in str(done.exception)
    assert "\n" not in str(done.exception)
    assert not done.stdout


def test_json_holds_what_the_text_says() -> None:
    words = ["precheck", "linear", "--own", "9", "--partner", "2", "--batch", "9"]
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    text = CliRunner().invoke(app, words).stdout
    for one in told:
        assert f"[{one['so']}] {one['what']}" in text
        assert f"{one['has']} of {one['needs']} {one['unit']}" in text


def test_python_speaks_of_arguments() -> None:
    with pytest.raises(UsageError, match="partner and batch"):
        precheck("linear", own=3)


def test_the_pages_commands_run_and_name_every_state() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "precheck.md").read_text()
    commands = re.findall(r"^whatleaks (precheck .*)$", page, re.M)
    assert len(commands) == 4
    told = "".join(CliRunner().invoke(app, command.split()).stdout for command in commands)
    for state in set(re.findall(r"^\[(.*?)\]", told, re.M)):
        assert f"| {state} |" in page
    assert whatleaks.precheck("scores", partner=3, classes=2)
