"""The cards are complete and consistent."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from whatleaks.data.registry import Card, cards
from whatleaks_lab.data.parsers import PARSERS
from whatleaks_lab.data.pictures import IMAGE_PARSERS

PUBLISHED = [card for card in cards().values() if not card.embedded]
by_name = pytest.mark.parametrize("card", list(cards().values()), ids=list(cards()))


@by_name
def test_a_card_says_everything(card: Card) -> None:
    assert card.title
    assert card.licence
    assert card.target
    assert card.page.startswith("http")
    assert card.rows > 0
    assert card.features > 0
    assert card.task in ("classification", "regression", "images")
    assert card.complete or card.difference


@by_name
def test_checksums_and_addresses_have_their_form(card: Card) -> None:
    for file in (*card.files, *card.official):
        assert re.fullmatch("[0-9a-f]{64}|", file.sha256)
        assert bool(file.content) == (file.name.endswith(".gz") and bool(file.sha256))
        assert file.address == "" or file.address.startswith("http")
        assert not file.member or file.address.endswith(".zip")
    # Only what we never saw has no checksum, and what we read always has one.
    assert all(file.sha256 for file in card.files)


def test_every_published_set_has_one_parser() -> None:
    tables = {card.name for card in PUBLISHED if card.task != "images"}
    assert tables == set(PARSERS)
    assert {card.name for card in PUBLISHED if card.task == "images"} == set(IMAGE_PARSERS)


def test_the_partial_sets_are_marked() -> None:
    partial = {card.name for card in PUBLISHED if not card.complete}
    assert partial == {
        "sensorless-drive",
        "online-news",
        "cifar10",
        "tiny-imagenet",
        "motor-temperature",
    }


def test_the_room_opens_without_heavy_libraries() -> None:
    script = (
        "import sys, whatleaks.data; "
        "print([m for m in ('pandas', 'sklearn', 'pyarrow', 'pooch', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.strip() == "[]"
