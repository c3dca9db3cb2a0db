"""Threats and federations are listed in one order, whatever was imported first."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from whatleaks.auditor.plan import threats_of
from whatleaks.catalog import Card, cards, in_order

SHOW = """
import json
from whatleaks.catalog import cards
print(json.dumps([[card.name for card in cards(kind)] for kind in ("threat", "federation")]))
"""
FIRST = [
    "import whatleaks.threat.trees, whatleaks.threat.known_trees",
    "import whatleaks.threat.split, whatleaks.threat.known, whatleaks.federation.trees.run",
]


@pytest.mark.parametrize("first", FIRST)
def test_what_is_imported_first_does_not_change_the_order(first: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", first + SHOW], capture_output=True, text=True, check=True
    )
    here = [[card.name for card in cards(kind)] for kind in ("threat", "federation")]
    assert json.loads(done.stdout) == here


def test_those_who_know_people_come_after_those_who_do_not() -> None:
    assert threats_of("lr") == (
        "white-box", "black-box", "agnostic", "agnostic-earlier", "black-box-known",
        "white-box-known",
    )  # fmt: skip
    assert threats_of("tree") == (
        "white-box-tree",
        "black-box-votes",
        "votes-known",
        "white-box-tree-known",
    )
    assert threats_of("boost") == ("boost-queries", "boost-paths", "boost-known")


def test_parts_of_others_come_last_and_those_of_a_file_as_they_stand_there() -> None:
    def made(name: str, home: str) -> Card:
        return Card("threat", name, "", "", None, home=home)

    others = [made("z", "alien"), made("y", "alien")]
    own = [
        made("b", "whatleaks.threat.b"),
        made("c", "whatleaks.threat.a"),
        made("a", "whatleaks.threat.a"),
    ]
    wanted = ["c", "a", "b", "z", "y"]
    assert [card.name for card in in_order([*others, *own])] == wanted
    assert [
        card.name for card in in_order([own[1], others[0], own[0], others[1], own[2]])
    ] == wanted
