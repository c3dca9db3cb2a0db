"""The audit of a user's own table: prepare, train, attack, score, sum up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from whatleaks.auditor.advice import advice, headline
from whatleaks.auditor.combine import accuracy, combine_threats
from whatleaks.auditor.combine_defenses import combine_defenses
from whatleaks.auditor.federations import FEDERATIONS
from whatleaks.auditor.provenance import code, environment, table_hash
from whatleaks.auditor.result import AuditResult, ColumnCard, SampleRow
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.units import UnitResult
from whatleaks.auditor.workshop import Workshop
from whatleaks.data.preparation import Prepared, prepare
from whatleaks.seeds import Streams

if TYPE_CHECKING:
    import pandas as pd

Tell = Callable[[str, int, int], None]
TRAINING_FRACTION = 0.6


def prepare_for(frame: pd.DataFrame, spec: AuditSpec, streams: Streams) -> Prepared:
    """Encode, split and scale the table for one seed."""
    prepared = prepare(
        frame,
        spec.label,
        spec.passive,
        rng=streams.rng("split"),
        missing=cast(Literal["refuse", "median", "drop-rows"], spec.missing),
        categories=cast(Literal["ordinal", "one-hot", "target-mean"], spec.categories),
        drop=spec.drop,
        encode_text=spec.encode_text,
        constant="drop" if spec.drop_constant else "refuse",
        scale_on=cast(Literal["training", "all"], spec.scale_on),
        training_fraction=TRAINING_FRACTION,
        bins=spec.bins,
    )
    return prepared if spec.show_values else _without_values(prepared)


def _without_values(prepared: Prepared) -> Prepared:
    """Number the one-hot columns of the passive party: their names hold its values."""
    renamed: dict[str, str] = {}
    for card in prepared.columns:
        if card.owner == "passive" and len(card.encoded_as) > 1:
            renamed |= {
                name: f"{card.name} (category {k})"
                for k, name in enumerate(card.encoded_as, start=1)
            }
    if not renamed:
        return prepared
    return replace(
        prepared,
        passive_columns=tuple(renamed.get(name, name) for name in prepared.passive_columns),
        sources={renamed.get(name, name): source for name, source in prepared.sources.items()},
        columns=tuple(
            replace(c, encoded_as=tuple(renamed.get(name, name) for name in c.encoded_as))
            if c.owner == "passive"
            else c
            for c in prepared.columns
        ),
    )


def run_audit(
    frame: pd.DataFrame,
    spec: AuditSpec,
    name: str = "table",
    workshop_folder: Path | None = None,
    tell: Tell | None = None,
    notes: Sequence[str] = (),
    command: str = "",
) -> AuditResult:
    """Run every unit that is not finished yet, then combine. ``tell(what, done, of)`` reports progress."""
    start = time.perf_counter()
    seeds = tuple(range(spec.seed, spec.seed + spec.seeds))
    table = {"name": name, "sha256": table_hash(frame)}
    made_by = code()
    # Refused here, before anything is written: whatever is wrong with the table is wrong for all seeds.
    first = prepare_for(frame, spec, Streams(seeds[0]))
    workshop = Workshop(
        workshop_folder,
        {"spec": spec.to_dict(), "table": table["sha256"], "code": made_by["sha256"]},
    )
    wanted = [f for f in FEDERATIONS if set(f.threats) & set(spec.threats)]
    units: list[UnitResult] = []
    jobs = [(federation, seed) for seed in seeds for federation in wanted]
    for done, (federation, seed) in enumerate(jobs):

        def report(what: str, done: int = done, seed: int = seed) -> None:
            if tell is not None:
                tell(f"seed {seed}: {what}", done, len(jobs))

        unit = workshop.load(federation.name, seed)
        if unit is None:
            streams = Streams(seed)
            prepared = prepare_for(frame, spec, streams)
            unit = federation.run(prepared, spec, seed, streams.under(federation.name), report)
            workshop.save(unit)
        units.append(unit)
    if tell is not None:
        tell("summing up", len(jobs), len(jobs))
    result = _sum_up(frame, spec, first, units, seeds, table, made_by, start, notes, command)
    workshop.clear()
    return result


def _sum_up(
    frame: pd.DataFrame,
    spec: AuditSpec,
    prepared: Prepared,
    units: Sequence[UnitResult],
    seeds: tuple[int, ...],
    table: dict[str, Any],
    made_by: dict[str, Any],
    start: float,
    notes: Sequence[str],
    command: str,
) -> AuditResult:
    streams = Streams(spec.seed).under("summary")
    threats = combine_threats(units, streams)
    defenses, unmeasured = combine_defenses(units, streams)
    notes = [*notes, *unmeasured]
    head = headline(threats)
    # Federations train different models on different records: accuracy is that of the first one.
    first = [unit for unit in units if unit.federation == units[0].federation]
    if len(first) < len(units):
        notes = [
            *notes,
            f"Accuracy and row counts are those of the {first[0].federation} federation.",
        ]
    return AuditResult(
        headline=head,
        threats=threats,
        defenses=defenses,
        advice=advice(head, threats, defenses, len(prepared.classes), prepared.passive.shape[1]),
        columns=tuple(ColumnCard(c.name, c.kind, c.owner, c.encoded_as) for c in prepared.columns),
        classes=prepared.classes,
        rows=len(frame),
        training_rows=units[0].training_rows,
        target_rows=len(units[0].correct),
        accuracy=accuracy(np.concatenate([u.correct for u in first])),
        accuracy_alone=accuracy(np.concatenate([u.correct_alone for u in first])),
        spec=spec.to_dict() | ({"command": command} if command else {}),
        table=table,
        code=made_by,
        environment=environment(),
        seeds=seeds,
        seconds=time.perf_counter() - start,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=tuple(dict.fromkeys([*notes, *prepared.notes])),
        samples=tuple(SampleRow(*pair) for u in units[:1] for pair in u.samples),
    )
