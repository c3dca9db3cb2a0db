"""Every federation of the catalog keeps the promises of its card, with any number of parties."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from staging import chosen
from whatleaks.arrays import sealed, sealed_ints
from whatleaks.catalog import cards
from whatleaks.codec import encode
from whatleaks.data.holdings import Holdings
from whatleaks.defenses.protocol import OPEN
from whatleaks.federation.protocol import Federation
from whatleaks.seeds import Streams
from whatleaks.threat.grants import hand_out
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import passive_names

SOURCE = Path(__file__).resolve().parents[2] / "src"
QUICK: dict[str, dict[str, Any]] = {  # settings of a quick run; others keep their defaults
    "additive": {"steps": 10},
    "joint-network": {"steps": 10, "hidden": (6, 4)},
    "split": {"steps": 10},
    "trees": {},
    "regression": {"key_bits": 512, "insecure_test_key": True, "epochs": 2},
    "boost": {"key_bits": 512, "insecure_test_key": True, "rounds": 1, "records": 60},
}


def models() -> list[Any]:
    return [
        pytest.param(card, name, id=f"{card.name}-{name}")
        for card in cards("federation")
        for name in card.part.models
    ]


def holdings(passives: int) -> Holdings:
    rng = np.random.default_rng(0)
    parties = ("active", *passive_names(passives))
    columns = {name: sealed(rng.random((60, 3))) for name in parties}
    names = {name: tuple(f"{name} {i}" for i in range(3)) for name in parties}
    labels = sealed_ints(np.arange(60) % 3)
    return Holdings(columns, names, labels, 3)


@pytest.mark.parametrize("passives", [1, 3])
@pytest.mark.parametrize(("card", "model"), models())
def test_it_trains_and_keeps_the_promises_of_its_card(card: Any, model: str, passives: int) -> None:
    from dataclasses import replace

    federation: Federation = card.build()
    settings = replace(federation.models[model], **QUICK.get(card.name, {}))
    assert isinstance(settings, federation.settings_type)
    held = holdings(passives)
    pool = sealed_ints(range(40, 60))
    rows = chosen(range(5, 40), pool, range(5))
    rows = federation.choose_rows(held, rows, pool, settings, Streams(1))
    heard = []
    for _ in range(2):
        channel = Channel()
        trained = federation.train(held, rows, settings, Streams(1), channel)
        trained.release(rows.targets, channel, OPEN)
        for coalition in (("active",), ("active", "passive-2"))[: min(passives, 2)]:
            offer = trained.offer(coalition)
            promised = federation.offers(settings)
            assert {type(grant) for grant in offer} == promised
            assert len(hand_out(frozenset(promised), offer).given) == len(promised)
        received = channel.transcript.received_by("active")
        assert federation.shows <= {message.kind for message in received}
        readable = tuple(m for m in received if m.payload.readable)
        heard.append(encode((readable, *(encode(g) for g in trained.offer(("active",))))))
        for party in held.columns:
            encode(trained.memory(party))  # what is remembered travels
        assert isinstance(trained.notes(), tuple)
        assert isinstance(dict(trained.facts()), dict)
        classes = trained.classes(rows.judged, OPEN)
        assert classes is not None
        assert classes.shape == rows.judged.shape
        alone = federation.alone(held, rows, settings, Streams(1))
        assert alone.shape == rows.judged.shape
    assert heard[0] == heard[1]  # the same seed, the same run


def test_a_listing_loads_nothing_heavy() -> None:
    """Federations are listed on every start: their engines load when they run."""
    heavy = ("torch", "flint", "sklearn", "pandas")
    code = (
        "import importlib, pkgutil, sys, whatleaks.federation as room\n"
        "for m in pkgutil.walk_packages(room.__path__, room.__name__ + '.'):\n"
        "    if m.name.endswith('.run'): importlib.import_module(m.name)\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SOURCE)},
        check=True,
    )
    assert done.stdout.strip() == "[]"
