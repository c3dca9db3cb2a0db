"""A trained federation on the stage of a threat model, for benchmarks of attacks alone."""

from __future__ import annotations

from typing import Any

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import OPEN
from whatleaks.federation.protocol import Federation
from whatleaks.seeds import Streams
from whatleaks.threat.model import ThreatModel
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.stage import Stage
from whatleaks.trial.trial import stage_of, train
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE, PASSIVE
from whatleaks.wire.transcript import Transcript


def staged(
    federation: Federation,
    settings: Any,
    tables: tuple[Floats, Floats, Ints],
    rows: tuple[Ints, Ints],
    threat: ThreatModel[Any],
    streams: Streams,
) -> Stage:
    """Train on the first rows and stage the others; tables are active, passive and labels."""
    active, passive, labels = tables
    names = {
        ACTIVE: tuple(f"a{i}" for i in range(active.shape[1])),
        PASSIVE: tuple(f"p{i}" for i in range(passive.shape[1])),
    }
    columns = {ACTIVE: sealed(active), PASSIVE: sealed(passive)}
    holdings = Holdings(columns, names, sealed_ints(labels), int(labels.max()) + 1)
    training, targets = (sealed_ints(part) for part in rows)
    chosen = Rows(training, targets, sealed_ints([]), sealed_ints([]), targets)
    trained = federation.train(holdings, chosen, settings, streams, Channel(Transcript([])))
    view = threat.view_for(federation.shows, federation.offers(settings))
    assert view is not None
    return Stage(holdings, chosen, trained, None, threat, view, (ACTIVE,), streams, OPEN)


def stage_for(scenario: Scenario) -> Stage:
    """Train what a scenario says and stage it, as its trial does."""
    parts = plan(scenario)
    training = train(scenario, parts, None)
    assert not isinstance(training, str), training
    return stage_of(scenario, parts, training)
