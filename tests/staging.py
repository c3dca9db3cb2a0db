"""Tables for tests of federations: a known data set cut between parties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import OPEN, Guard
from whatleaks.federation.additive.run import AdditiveFederation
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.federation.protocol import Federation
from whatleaks.seeds import Streams
from whatleaks.threat.model import ThreatModel
from whatleaks.trial.stage import Stage
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE, passive_names
from whatleaks.wire.transcript import Transcript


def scaled(load: Any) -> tuple[Floats, Ints]:
    """Return a scikit-learn data set with every column on 0..1."""
    x, y = load(return_X_y=True)
    return (x - x.min(0)) / (x.max(0) - x.min(0)), y


def held(
    x: Floats, y: Ints, passives: Sequence[slice], active: slice, classes: int | None = None
) -> Holdings:
    """Cut the columns between the active party and passive ones."""
    parties = (ACTIVE, *passive_names(len(passives)))
    columns = {
        name: sealed(x[:, cut]) for name, cut in zip(parties, (active, *passives), strict=True)
    }
    names = {
        name: tuple(f"{name} {i}" for i in range(table.shape[1])) for name, table in columns.items()
    }
    return Holdings(columns, names, sealed_ints(y), classes or int(y.max()) + 1)


def chosen(
    training: Sequence[int] | Ints,
    targets: Sequence[int] | Ints = (),
    auxiliary: Sequence[int] | Ints = (),
) -> Rows:
    """Say which records train, which are judged, which are granted."""
    asked = sealed_ints(np.asarray(targets, dtype=np.int64))
    return Rows(
        sealed_ints(training), asked, sealed_ints([]), sealed_ints(np.asarray(auxiliary)), asked
    )


def on_stage(
    federation: Federation,
    settings: Any,
    holdings: Holdings,
    rows: Rows,
    threat: ThreatModel[Any],
    seed: int = 0,
    guard: Guard = OPEN,
) -> Stage:
    """Train in this process and put the result on the stage of a threat model."""
    streams = Streams(seed)
    trained = federation.train(holdings, rows, settings, streams, Channel(Transcript([])))
    view = threat.view_for(federation.shows, federation.offers(settings))
    assert view is not None
    return Stage(holdings, rows, trained, None, threat, view, (ACTIVE,), streams, guard)


def linear_stage(
    load: Any, passive: int, training: int, steps: int, threat: ThreatModel[Any], seed: int = 0
) -> Stage:
    """Train logistic regression on shuffled records; the last columns are the passive party's."""
    x, y = scaled(load)
    order = np.random.default_rng(seed).permutation(len(y))
    x, y = x[order], y[order]
    holdings = held(x, y, [slice(-passive, None)], slice(None, -passive))
    rows = chosen(np.arange(training), np.arange(training, len(y)))
    settings = AdditiveSettings(steps=steps)
    return on_stage(AdditiveFederation(), settings, holdings, rows, threat, seed)
