"""900 nasty tables: each is read or refused in lines of ours, in bounded time, and nothing is written."""

from __future__ import annotations

import json
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import whatleaks
from nasty_tables import Nasty, make
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.spec import AuditSpec
from whatleaks.data.checking import check_table
from whatleaks.data.problems import DEFAULTS, TableProblems
from whatleaks.data.sources import open_source
from whatleaks.data.table import pack_table, storable, unpack_table
from whatleaks.errors import WhatleaksError
from whatleaks.runs.provenance import table_hash
from whatleaks.seeds import Streams
from whatleaks.trial.preparing import ready

SEEDS = range(900)
MOST_SECONDS = 5.0  # processor time of the worst table


def until_training(nasty: Nasty) -> None:
    """Do all that an audit does before it trains."""
    source = open_source(str(nasty.path), nasty.label, nasty.passive, drop=nasty.drop)
    source.name.encode()
    chosen = {"label": source.label, "passive": source.passive, **DEFAULTS, **nasty.choices}
    chosen["drop"] = source.drop
    spec = AuditSpec(seeds=1, **chosen)
    checked = check_table(source.frame, spec.arguments(), thorough=True)
    if checked.problems and checked.ready is not None:
        again = check_table(source.frame, checked.ready, thorough=True)
        assert again.problems == (), "the ready call does not run"
    checked.refuse()
    frame = storable(checked.frame)
    for scenario in scenarios(spec, source.name, table_hash(frame, b"secret"))[:1]:
        made = ready(scenario, unpack_table(pack_table(frame)), Streams(0))
        for values in made.holdings.columns.values():
            assert np.isfinite(values).all()


def test_900_nasty_tables(tmp_path: Path) -> None:
    ended: Counter[str] = Counter()
    slowest = (0.0, "")
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        nasty = make(seed, folder)
        before = nasty.path.read_bytes()
        start = time.process_time()
        told: list[str] = []
        try:
            until_training(nasty)
            ended["read"] += 1
        except TableProblems as error:
            told = [problem.text for problem in error.problems]
            ended["several problems" if len(told) > 1 else "one problem"] += 1
        except WhatleaksError as error:
            told = [str(error)]
            ended["refused"] += 1
        except Exception:  # noqa: BLE001  # what must not happen is counted and shown
            ended["not ours"] += 1
            print(nasty.what, traceback.format_exc(limit=-3))
        assert all(len(line.splitlines()) == 1 for line in told), (nasty.what, told)
        slowest = max(slowest, (time.process_time() - start, nasty.what))
        assert [p.name for p in folder.iterdir()] == [nasty.path.name]
        assert nasty.path.read_bytes() == before
    print(json.dumps(ended), f"slowest {slowest[0]:.2f} s: {slowest[1]}")
    assert ended["not ours"] == 0, ended
    assert min(ended[kind] for kind in ("read", "several problems", "refused")) > 40, ended
    assert slowest[0] < MOST_SECONDS, slowest


@pytest.mark.parametrize("value", [1e45, 1.7e308, 5e-324])
def test_a_value_of_odd_size_is_audited(value: float) -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((60, 4)), columns=list("abcd"))
    frame["y"] = (frame.a + frame.c > 1).astype(int)
    for column in ("b", "c"):
        odd = frame.copy()
        odd.loc[7, column] = value
        quick = {"seeds": 1, "targets": 15, "inversion_steps": 5, "defenses": False, "quick": True}
        result = whatleaks.audit(odd, "y", ["c", "d"], **quick, progress=False).result
        json.dumps(result.to_dict(), allow_nan=False)
