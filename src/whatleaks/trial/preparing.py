"""From a scenario to who holds what: load the table, draw the columns, encode, scale, split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Bools, sealed, sealed_ints
from whatleaks.data.groups import grouped
from whatleaks.data.holdings import Holdings
from whatleaks.data.preparation import Prepared
from whatleaks.defenses.protocol import DataDefense
from whatleaks.errors import SpecError
from whatleaks.models.adapters.given import GivenModel
from whatleaks.seeds import Streams
from whatleaks.trial.given import as_the_model_reads, gap_notes, over_columns, training_rows
from whatleaks.trial.pictures import picture_holdings
from whatleaks.trial.ready import Ready, numbered, of_prepared
from whatleaks.trial.scenario import Scenario
from whatleaks.wire.parties import ACTIVE, passive_names

if TYPE_CHECKING:
    import pandas as pd


def ready(
    scenario: Scenario,
    table: pd.DataFrame | None,
    streams: Streams,
    given: GivenModel | None = None,
) -> Ready:
    """Prepare the scenario's table with the streams of its seed, and the model that is given."""
    if scenario.prepared("prepare") == "pictures":
        holdings, training, pool, strangers = picture_holdings(scenario, streams)
        return Ready(holdings, training, pool, {}, auxiliary=strangers)
    frame, label = _load(scenario, table)
    most = scenario.prepared("rows")
    if 0 < most < len(frame):
        frame = frame.iloc[streams.rng("rows").permutation(len(frame))[:most]]
        frame = _without_single_classes(frame, label).reset_index(drop=True)
    if scenario.prepared("prepare") == "numbers":
        return _numbers(scenario, frame, label, streams)
    if scenario.given and given is None:
        raise SpecError(f"{scenario.model} is a model of the user's own: give it along")
    trained = None
    if scenario.prepared("trained_on"):
        frame, trained = training_rows(frame, scenario.prepared("trained_on"))
    if given is not None:
        frame = as_the_model_reads(frame, given, scenario.prepared("missing"))
    drop = scenario.prepared("drop")
    features = [str(c) for c in frame.columns if c != label and c not in drop]
    parties = _parties(scenario, features, streams)
    prepared = _prepared(scenario, frame, label, parties, streams, trained)
    found = of_prepared(prepared, parties)
    by = scenario.prepared("by")
    if by:
        groups, named = grouped(frame.iloc[prepared.rows], by)
        found = replace(found, groups=groups, group_names=named)
    if given is not None:
        told = gap_notes(frame, given) if scenario.prepared("missing") == "median" else ()
        core = over_columns(given, prepared, found.holdings, frame)
        found = replace(found, given=core, notes=(*found.notes, *told))
    return found if scenario.shown or not scenario.table else numbered(found)


def _without_single_classes(frame: pd.DataFrame, label: str) -> pd.DataFrame:
    """Leave out records of a draw that are alone in their class: none is left to be judged by.

    Only where classes are words; a number is no class yet.
    """
    from pandas.api.types import is_numeric_dtype

    if label not in frame or is_numeric_dtype(frame[label]):
        return frame
    return frame[frame.groupby(label, observed=True)[label].transform("size") > 1]


def _prepared(
    scenario: Scenario,
    frame: pd.DataFrame,
    label: str,
    parties: Sequence[Sequence[str]],
    streams: Streams,
    trained: Bools | None = None,
) -> Prepared:
    from whatleaks.data.preparation import prepare

    chosen: dict[str, Any] = {
        key: scenario.prepared(key)
        for key in (
            "missing",
            "categories",
            "drop",
            "encode_text",
            "constant",
            "scale_on",
            "training_fraction",
        )
    }
    everybody = [name for columns in parties for name in columns]
    bins = scenario.prepared("bins") or None
    rng = streams.rng("split")
    return prepare(frame, label, everybody, rng=rng, bins=bins, trained=trained, **chosen)


def _numbers(scenario: Scenario, frame: pd.DataFrame, label: str, streams: Streams) -> Ready:
    from whatleaks.data.numbers import prepare_numbers

    if not scenario.unknown or scenario.parties > 1:
        raise SpecError('data.prepare = "numbers" draws for one party: give unknown')
    made = prepare_numbers(frame, label, streams.rng("columns"))
    if len(made.names) <= scenario.unknown:
        raise SpecError(
            f"{scenario.dataset} has {len(made.names)} columns: leave some to the attacker"
        )
    cut = scenario.unknown
    passive, own = sealed(made.values[:, :cut]), sealed(made.values[:, cut:])
    party = passive_names(1)[0]
    holdings = Holdings(
        {ACTIVE: own, party: passive},
        {ACTIVE: made.names[cut:], party: made.names[:cut]},
        made.labels,
        2,
        made.target,
    )
    everybody = sealed_ints(np.arange(len(made.target)))
    return Ready(holdings, everybody, sealed_ints([]), {name: name for name in made.names})


def filtered(ready: Ready, defense: DataDefense) -> Ready | str:
    """Leave out the passive columns that a defense keeps at home, or say why it does nothing.

    A column of the table goes as a whole, even if only one of its encoded parts has to.
    """
    holdings = ready.holdings
    victims = holdings.passives
    names = holdings.joined_names(victims)
    within = defense.keep(holdings.joined((ACTIVE,)), holdings.joined(victims))
    out = {ready.sources.get(n, n) for n, kept in zip(names, within, strict=True) if not kept}
    kept: Bools = np.array([ready.sources.get(name, name) not in out for name in names])
    if not out:
        return f"{defense.name}: none of your columns goes that closely with one of the partner's."
    if not kept.any():
        return f"{defense.name}: it would leave out every column of yours, and nothing to join for."
    return replace(ready, holdings=holdings.keeping(victims, kept))


def _load(scenario: Scenario, table: pd.DataFrame | None) -> tuple[pd.DataFrame, str]:
    from whatleaks.data.loading import load, parser_options

    label = scenario.prepared("label")
    if scenario.table:
        if table is None:
            table = _own_file(scenario)
        return table, label
    dataset = load(scenario.dataset, **parser_options(scenario.prepared("parser")))
    return dataset.frame, label or dataset.label


def _own_file(scenario: Scenario) -> pd.DataFrame:
    """Read the file that a sweep names; the runs before may have had another one of that name."""
    from whatleaks.data.table import file_hash, is_file_name

    if not is_file_name(scenario.dataset):
        raise SpecError(f"{scenario.dataset} is a table of the user's own: give it along")
    if not scenario.prepared("label"):
        raise SpecError(f'{scenario.dataset} needs a label: add data.label = "..."')
    if file_hash(scenario.dataset) != scenario.table:
        raise SpecError(f"{scenario.dataset} has changed since the sweep was read: start it again")
    frame, _ = read_own_file(scenario)
    return frame


def read_own_file(scenario: Scenario) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read the file that a sweep names as a table; return what was done to read it, too."""
    from whatleaks.data.table import open_table
    from whatleaks.data.written import read_written

    opened = open_table(
        scenario.dataset,
        scenario.prepared("encoding") or None,
        scenario.prepared("sheet") or None,
    )
    frame, notes, problems = read_written(
        opened.frame,
        scenario.prepared("decimal") or None,
        scenario.prepared("thousands") or None,
        scenario.prepared("na"),
        scenario.prepared("encode_text"),
    )
    for problem in problems:
        if problem.column not in scenario.prepared("drop"):
            raise problem.error()
    return frame, (*opened.notes, *notes)


def _parties(
    scenario: Scenario, features: Sequence[str], streams: Streams
) -> tuple[tuple[str, ...], ...]:
    """Return each passive party's columns; drawn ones are dealt out in the order of the table."""
    from whatleaks.data.partition import random_passive

    if scenario.passive:
        return scenario.passive
    rng = streams.rng("columns")
    if scenario.unknown:
        drawn = tuple(str(name) for name in rng.permutation(list(features))[: scenario.unknown])
    else:
        drawn = tuple(str(name) for name in random_passive(features, scenario.share, rng))
    if scenario.parties > len(drawn):
        raise SpecError(f"{len(drawn)} columns cannot be dealt to {scenario.parties} parties")
    cuts = np.array_split(np.arange(len(drawn)), scenario.parties)
    return tuple(tuple(drawn[i] for i in cut) for cut in cuts)
