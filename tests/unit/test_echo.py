"""The echo: equal embeddings, different people, and who can tell them apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack
from whatleaks.attacks.hijack.urvfl import Urvfl
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.detectors.echo import Echo, distinct_share
from whatleaks.detectors.protocol import Halt, Probe, Received
from whatleaks.errors import UsageError
from whatleaks.federation.split.run import SplitFederation, SplitTrained
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.torch_network import Layers
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks_lab.papers.ledger import STORED
from whatleaks_lab.papers.yao_echo import BLURRED, HIJACKED, HONEST, STEPS, judged, runs
from whatleaks_lab.papers.yao_setup import BREAKING

RNG = np.random.default_rng(0)
ROOT = Path(__file__).resolve().parents[2]


def test_answers_are_counted_once() -> None:
    two = np.array([[1.0, 0.0], [0.0, 2.0]])
    assert distinct_share(np.repeat(two, 4, axis=0)) == 2 / 8
    assert distinct_share(two[[0] * 8]) == 1 / 8
    assert distinct_share(np.arange(1.0, 9.0)[:, None]) == 1.0
    assert distinct_share(np.array([[5.0], [1e-6], [2e-6], [0.0]])) == 1.0  # short ones differ too
    assert distinct_share(np.zeros((8, 2))) is None  # nothing is left to learn: no alarm
    rounded = np.ones((8, 1)) + 1e-7 * np.arange(8.0)[:, None]
    assert distinct_share(rounded) == 1 / 8


def test_it_halts_on_the_mean_of_a_window_and_looks_at_probes_only() -> None:
    watch = Echo(window=2).start()
    same, other = (Received(sealed(a), sealed([])) for a in (np.ones((4, 1)), RNG.random((4, 1))))
    assert watch.observe(0, same, None, RNG).score is None
    assert watch.observe(1, other, Probe(anchor=0), RNG).score == 1.0
    assert watch.observe(2, same, Probe(anchor=0), RNG).score == 0.25  # the mean is 0.625
    stop = watch.observe(3, same, Probe(anchor=0), RNG)
    assert isinstance(stop, Halt)
    assert "is 0.250, under 0.5" in stop.reason


@pytest.mark.parametrize(
    "wrong", [{"share": 0.0}, {"threshold": 1.0}, {"window": 0}, {"start_after": -1}]
)
def test_settings_that_judge_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="must"):
        Echo(**wrong)


def trained(hijacker: Any = None) -> SplitTrained:
    """Train for thirty steps of sixteen records, half of which are probes."""
    rng = np.random.default_rng(1)
    tables = {"active": rng.normal(size=(90, 3)), "passive": rng.normal(size=(90, 3))}
    labels = (tables["active"][:, 0] + tables["passive"][:, 0] > 0).astype(int)
    names = {party: tuple(f"{party}{i}" for i in range(t.shape[1])) for party, t in tables.items()}
    columns = {party: sealed(t) for party, t in tables.items()}
    none = sealed_ints([])
    rows = Rows(sealed_ints(range(64)), none, none, sealed_ints(range(64, 80)), none)
    return SplitFederation().train(
        Holdings(columns, names, sealed_ints(labels), 2),
        rows,
        SplitSettings(steps=30, batch=16, bottom=Layers((6,), 4)),
        Streams(5),
        Channel(),
        hijacker=hijacker,
        detector=Echo(share=0.5, start_after=2),
    )


def test_answers_without_own_columns_are_caught_and_honest_ones_are_not() -> None:
    honest = trained()
    assert honest.stop is None
    assert honest.facts()["detector scores"]
    assert min(honest.facts()["detector scores"]) > 0.8  # type: ignore[type-var,arg-type]
    for hijacker, most in ((FeatureSpaceHijack(), 1), (Urvfl(pretraining=3), 2)):
        caught = trained(hijacker)
        assert caught.stop is not None
        scores = caught.facts()["detector scores"]
        assert isinstance(scores, list)
        assert max(scores) <= most / 16  # one answer, or one for each class


def test_the_study_pools_sets_and_judges_both_sides() -> None:
    def counts(false: int, caught: int) -> dict[str, Any]:
        return {
            dataset: {
                "honest": {"halted": false, "of": HONEST[dataset], "steps": []},
                **{
                    role: {"halted": caught, "of": HIJACKED[dataset], "steps": []}
                    for role in (*BREAKING, BLURRED)
                },
            }
            for dataset in HONEST
        }

    assert judged(counts(0, 4))["found"]
    assert not judged(counts(1, 4))["found"]
    assert not judged(counts(0, 1))["found"]
    planned = [(dataset, role, run.seed) for dataset, role, run in runs()]
    assert len(planned) == len(set(planned)) == 90 + 5 * 16
    assert min(seed for _, _, seed in planned) == 10


def test_what_is_stored_follows_from_its_counts_by_the_rule() -> None:
    stored = json.loads((STORED / "gallery" / "yao-echo.json").read_text("utf-8"))
    again = judged(stored["counts"])
    assert (stored["rule"], stored["found"]) == (again["rule"], again["found"])
    for role, rate in again["rates"].items():
        assert stored["rates"][role] == pytest.approx(rate, abs=1e-9)
    for dataset, shares in stored["apart"].items():  # false halts: where own columns tell few apart
        steps = stored["counts"][dataset]["honest"]["steps"]
        assert [share < 0.5 for share in shares] == [count < STEPS for count in steps]
