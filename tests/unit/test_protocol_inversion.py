"""Horizontal clients as runs: what one reads of the other, beside what it knew; on any table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from whatleaks.errors import SpecError, TableError
from whatleaks.runs.sweep import parse
from whatleaks_lab.papers.protocol_inversion import (
    HORIZONTAL,
    ProtocolInversion,
    inverted,
    others_tables,
    trained,
)

ASKED = ProtocolInversion(HORIZONTAL, "iris", columns=3, records=4, others=12, rounds=40)
EXAMPLE = Path(__file__).parents[2] / "examples" / "horizontal.toml"


def test_a_client_reads_the_other_from_averages_that_it_decrypted() -> None:
    done = trained(ASKED)
    told = inverted(done)
    # 40 rounds of 3 weights determine the Gram matrix, not to the last digit.
    assert told.measurements["gram error"] < 1e-6
    assert told.measurements["best"] < 1e-3
    assert told.measurements["known data ratio"] == 0.5
    assert told.baselines["own means"] > 0.05
    assert told.baselines.get("error control", 1.0) > 0.01
    # What it holds has no element of the victim's beyond those that Corollary 1 grants.
    assert (done.seen.values[~done.seen.known] == 0.0).all()
    assert done.seen.known.sum() == 6
    gram, _ = others_tables(done.exchanged)
    assert np.abs(gram - done.truth @ done.truth.T).max() > 1e-3


def test_a_file_of_runs_names_its_kind_and_a_table_of_ones_own(tmp_path: Path) -> None:
    assert [work.kind for work in parse(EXAMPLE.read_text()).works] == ["protocol-inversion"] * 2
    table = tmp_path / "clients.csv"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(size=(30, 4)), columns=list("abcy"))
    frame.to_csv(table, index=False)
    text = (
        f'kind = "protocol-inversion"\nprotocol = "horizontal"\ndataset = "{table}"\n'
        'target = "y"\ncolumns = 3\nrecords = 3\nothers = 9\nrounds = 20\n'
    )
    (mine,) = parse(text).works
    assert isinstance(mine, ProtocolInversion)
    assert len(mine.table) == 64
    assert inverted(trained(mine)).measurements["gram error"] < 1e-3
    with pytest.raises(TableError, match="no column 'yy' to predict"):
        trained(replace(mine, target="yy"))
    with pytest.raises(SpecError, match="3 columns and 30 records: 3 and 60 are asked for"):
        trained(replace(mine, records=20, others=20))
    for wrong, says in {
        text.replace("target", "targt"): "no field 'targt'. Did you mean 'target'",
        text.replace("rounds = 20", 'rounds = "x"'): "rounds must be a whole number",
        text.replace("columns = 3", ""): "protocol-inversion needs columns",
        text.replace("others = 9", ""): "others is 0: use at least 1",
        text.replace("clients.csv", "none.csv"): "cannot be read",
        text.replace("protocol-inversion", "protocol-invasion"): "unknown kind of run",
    }.items():
        with pytest.raises(SpecError, match=says):
            parse(wrong)
