"""The audit of a user's own table: plan the scenarios, run them, sum up."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whatleaks.auditor.advice import advice, headline, silent
from whatleaks.auditor.again import contenders, joined, strongest_again
from whatleaks.auditor.combine import Entry, Made, combine_threats, with_shared
from whatleaks.auditor.combine_defenses import Kept, combine_defenses
from whatleaks.auditor.compare import compare_defenses
from whatleaks.auditor.digits import digits_of
from whatleaks.auditor.estimate import LONG, estimated_seconds, in_words, workers_that_pay
from whatleaks.auditor.notes import copy_notes, counted_again, known_notes, value_notes
from whatleaks.auditor.people import groups_of, too_small
from whatleaks.auditor.plan import installed, scenarios, untried_threats
from whatleaks.auditor.result import (
    TRAINS,
    AuditResult,
    ColumnCard,
    DefenseFinding,
    Headline,
    SampleRow,
    ThreatFinding,
    Unmeasured,
)
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.worth import worth_of
from whatleaks.codec import decode, encode
from whatleaks.data.checking import check_table
from whatleaks.data.naming import listed
from whatleaks.data.table import pack_table, storable
from whatleaks.errors import AuditError, choice
from whatleaks.files import alone_in
from whatleaks.models.adapters.given import GivenModel
from whatleaks.runs.executors import Executor, choose
from whatleaks.runs.executors.inline import one_thread
from whatleaks.runs.provenance import code, environment, table_hash
from whatleaks.runs.runner import Display, run
from whatleaks.runs.secret import own_secret
from whatleaks.runs.store import Store
from whatleaks.seeds import Streams
from whatleaks.trial.limit import WIDE
from whatleaks.trial.phases import Phases
from whatleaks.trial.prepared_before import forget, ready_once
from whatleaks.trial.records import PerRecord
from whatleaks.trial.scenario import Scenario
from whatleaks.wire.parties import passive_names

if TYPE_CHECKING:
    import pandas as pd

CELLS = 125_000  # attacked records x columns of one seed that are kept apart: about 2 GiB in all
FEWEST_ATTACKED = 50
VERY_LONG = 200_000  # rows: with more, what is known of single records waits in the store
VERY_WIDE = 1000  # passive columns, as they are encoded: with more, defenses are tried on one seed
WIDE_TABLE = "with so many columns more would not fit into memory."
FEWER_AGAIN = (
    f"With more than {WIDE} columns, slow attacks that lead without a defense were tried again on one "
    "seed, and only with the defenses that the others had not undone: what is said to be left by the "
    "others may be too little, never too much."
)
ONE_DEFENDED = (
    f"With more than {VERY_WIDE:,} columns defenses were tried on the first seed only, and are compared "
    "with what was read without them there."
)
SOME_DEFENDED = "Defenses were tried on the first {} of {} seeds, and are compared with what was read without them there."
DOUBTED = (
    "columns may hold a value that stands for a missing one (`whatleaks check` names it): it stretches "
    "the range, and leaks look other than they are."
)
UNFINISHED = "unfinished/trials.db"  # below the report's folder, until the audit is complete


def run_audit(
    frame: pd.DataFrame,
    spec: AuditSpec,
    executor: Executor | None,
    name: str = "table",
    out: Path | None = None,
    display: Display | None = None,
    notes: Sequence[str] = (),
    command: str = "",
    attacks: Sequence[str] = (),
    given: GivenModel | None = None,
) -> AuditResult:
    """Run every trial that is not finished yet, then combine.

    With ``out``, finished trials are kept there in a store that only its owner can read, so
    that an interrupted audit resumes. ``executor``: None takes as many processes as pay.
    ``attacks`` names attacks of the user's own, ``given`` is the model that the spec names by its
    hash.
    """
    start = time.perf_counter()
    # Refused here, before anything is written: whatever is wrong with the table is wrong for all.
    clock = Phases()
    with clock("check"):
        arguments = spec.arguments()
        if spec.trained_on in map(str, frame.columns):  # it marks rows and is no feature
            arguments["drop"] = (*arguments["drop"], spec.trained_on)
        if given is not None:
            arguments["as_is"] = _as_the_model_knows_them(frame, given)
        checked = check_table(frame, arguments)
        checked.refuse()
    if display is not None:
        for doubt in checked.doubts:
            display.warned(doubt)
    frame, told_before = storable(checked.frame), checked.notes
    if checked.doubts:  # without the values, which a report does not show
        told_before = (*told_before, f"{len(checked.doubts)} {DOUBTED}")
    told_before = (*told_before, *copy_notes(frame))
    table = {"name": name, "hmac_sha256": table_hash(frame, own_secret())}
    planned, _ = installed(scenarios(spec, name, table["hmac_sha256"], attacks))
    rows, width = frame.shape
    packed = pack_table(frame, b"" if given is None else encode(given))
    first = _first(planned[0], frame, given, packed)
    del frame, checked  # the trials read the packed one: a large table is not held twice
    slow = any("whole" in scenario.model_options for scenario in planned)  # on ciphertexts
    if first.passive > WIDE or slow:  # a seed more costs as much as all defenses of a small table
        spec = replace(spec, more_seeds=0)
    fewer = min(spec.targets, max(FEWEST_ATTACKED, CELLS // max(1, first.passive)))
    one_defended = first.passive > VERY_WIDE and spec.defenses and spec.seeds > 1
    if fewer < spec.targets:  # errors are kept record by record and column by column
        spec = replace(spec, targets=fewer)
        told_before = (*told_before, f"At most {fewer} records are attacked per seed: {WIDE_TABLE}")
    if one_defended:
        told_before = (*told_before, ONE_DEFENDED)
    some = 1 if one_defended else None
    everything = scenarios(spec, name, table["hmac_sha256"], attacks, defended_seeds=some)
    planned, not_tried = installed(everything)
    untried = untried_threats(spec, planned, not_tried)
    for scenario in planned:
        scenario.check()
    seeds = tuple(sorted({scenario.seed for scenario in planned}))
    defended = tuple(sorted({scenario.seed for scenario in planned if scenario.defense}))
    if 0 < len(defended) < len(seeds) and not one_defended:
        told_before = (*told_before, SOME_DEFENDED.format(len(defended), len(seeds)))
    if executor is None:
        alone = estimated_seconds(planned, rows, width, 1)
        executor = choose(workers=workers_that_pay(alone, rows * width), inline=True)
    if executor.name != "inline":  # there what was prepared serves the first trial too
        forget()
    expected = estimated_seconds(planned, rows, width, executor.width)
    if display is not None and expected > LONG:
        first_look = "" if spec.quick else f"; a first look is quicker with {choice('quick', True)}"
        display.warned(f"this audit takes {in_words(expected)}{first_look}")
    if not spec.show_values:
        classes = tuple(f"class {k}" for k, _ in enumerate(first.classes, start=1))
        first = replace(first, classes=classes)

    large = first.passive > VERY_WIDE or rows > VERY_LONG
    streams = Streams(spec.seed).under("summary")
    with alone_in(out), executor.lasting() as workers:
        summed = _rounds(
            spec,
            planned,
            untried,
            lambda works: run_trials(works, packed, workers, out, display, leave=large),
            first.passive > WIDE,
            streams,
            clock,
        )
    entries, threats, head = summed.entries, summed.threats, summed.head
    defenses = summed.defenses
    digits = digits_of(entries)
    classed = [e for e in entries if e.plain and len(e.records.correct) and len(e.records.alone)]
    if not classed:
        raise AuditError("nobody predicts in this federation, so what joining is worth is unknown")
    classed = [e for e in classed if e.scenario.threat == classed[0].scenario.threat]
    told = [*notes, *told_before, *_parties(spec), *(one.note for one in summed.unmeasured)]
    told += [FEWER_AGAIN] if summed.fewer_again else []
    told += value_notes(entries, spec.label, first.target_range)
    told += known_notes(spec.known, threats)
    told += counted_again(threats, rows)
    told += _other_models(spec, planned)
    if len({e.scenario.branch for e in entries}) > 1:
        told.append(
            f"Accuracy and the number of training records are those of the {classed[0].scenario.branch} federation."
        )
    records = classed[0].records
    # Known people are not attacked, so threats may differ: the number is that of the headline's.
    under = [e for e in entries if e.plain and e.guessed and e.scenario.threat == head.threat]
    attacked_in = under[0] if under else classed[0]
    told += too_small(spec.by, under)
    silenced = silent(summed.unmeasured, head.threat)
    worth = worth_of(classed, streams, first.target_range[1] - first.target_range[0])
    return AuditResult(
        headline=head,
        threats=threats,
        defenses=defenses,
        advice=advice(head, threats, defenses, digits, worth, silenced),
        columns=tuple(ColumnCard(c.name, c.kind, c.owner, c.encoded_as) for c in first.columns),
        classes=first.classes,
        rows=rows,
        training_rows=records.training_rows,
        target_rows=attacked_in.records.asked,
        worth=worth,
        spec=spec.to_dict() | ({"command": command} if command else {}),
        table=table,
        code=code(),
        environment=environment(),
        seeds=seeds,
        seconds=time.perf_counter() - start,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=tuple(dict.fromkeys([*told, *first.notes])),
        samples=_samples(entries, head),
        phases=phases_of(clock.seconds, entries),
        digits=digits,
        groups=groups_of(entries, head),
        comparison=compare_defenses(defenses, head.threat, silenced)
        if spec.compare_defenses
        else None,
        defended_seeds=defended,
        unmeasured=summed.unmeasured,
        not_tried=not_tried,
        untried=untried,
    )


@dataclass(frozen=True)
class _Summed:
    """All trials of an audit, and what they say together."""

    entries: list[Entry]
    threats: tuple[ThreatFinding, ...]
    head: Headline
    defenses: tuple[DefenseFinding, ...]
    unmeasured: tuple[Unmeasured, ...]
    fewer_again: bool  # slow attacks were tried again with some defenses only


def _rounds(
    spec: AuditSpec,
    planned: Sequence[Scenario],
    untried: Sequence[str],
    run_them: Callable[[Sequence[Scenario]], list[Entry]],
    wide: bool,
    streams: Streams,
    clock: Phases,
) -> _Summed:
    """Run what is planned and sum up; then slow attacks that lead, with the defenses, and again.

    One more round is enough, except on ``wide`` tables: there only the defenses in question are
    tried with them, and an attack that undoes one puts the next in question.
    """

    def performed(works: Sequence[Scenario]) -> list[Entry]:
        try:
            return run_them(works)
        finally:
            forget()

    entries = with_shared(performed(planned))
    made: Made = {}
    kept: Kept = {}
    asked: set[str] = set()
    while True:
        with clock("sum up"), nothing_collected(), one_thread():
            threats = combine_threats(entries, spec.model, streams, made)
            head = headline(threats, untried)
        with clock("sum up defenses"), nothing_collected(), one_thread():
            defenses, unmeasured = combine_defenses(entries, head, threats, kept)
        only = contenders(head, defenses) if wide else None
        more = strongest_again(spec, entries, threats, head, only)
        more = [scenario for scenario in more if scenario.label not in asked]
        if not more or (asked and not wide):
            return _Summed(entries, threats, head, defenses, unmeasured, wide and bool(asked))
        asked |= {scenario.label for scenario in more}
        entries = joined(entries, performed(more))


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Hold Python's search for cycles back: summing up makes a million small records, and no cycle."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@dataclass(frozen=True)
class _First:
    """What a report says of the table as it was prepared for the first trial."""

    columns: tuple[Any, ...]
    classes: tuple[str, ...]
    notes: tuple[str, ...]
    target_range: tuple[float, float]
    passive: int  # columns as they are encoded


def _as_the_model_knows_them(frame: pd.DataFrame, given: GivenModel) -> set[str]:
    """Name the columns whose words a given model's encoder reads, and those that hold numbers."""
    coded = {coding.column for coding in given.codings}
    held = {str(name): frame.dtypes.iloc[i].kind for i, name in enumerate(frame.columns)}
    return coded | {name for name in given.columns if held.get(name, "") in tuple("iuf")}


def _first(
    scenario: Scenario, frame: pd.DataFrame, given: GivenModel | None, packed: bytes
) -> _First:
    """Prepare the table as the first trial does; return only what the report says of it."""
    made = ready_once(scenario, frame, given, packed)
    width = sum(len(c.encoded_as) or 1 for c in made.columns if c.owner == "passive")
    return _First(tuple(made.columns), made.classes, tuple(made.notes), made.target_range, width)


def phases_of(checked: Mapping[str, float], entries: Sequence[Entry]) -> dict[str, float]:
    """Add up where the processor time of all trials went, the most first."""
    total = dict(checked)
    for entry in entries:
        for name, seconds in entry.records.phases:
            total[name] = total.get(name, 0.0) + seconds
    most = sorted(total.items(), key=lambda item: -item[1])
    return {name: round(seconds, 3) for name, seconds in most}


def _other_models(spec: AuditSpec, planned: Sequence[Scenario]) -> list[str]:
    """Name the threats that look at another federation than the one that the user named."""
    others = {(s.threat, s.model): None for s in planned if s.model != spec.model}
    return [
        f"Under {threat} {TRAINS} {model}, not {spec.model}: what is said there holds for {model}."
        for threat, model in others
    ]


def _parties(spec: AuditSpec) -> list[str]:
    """Say whose columns are whose, where there are several passive parties."""
    names = passive_names(len(spec.parties))
    return [
        f"{party} holds {listed(columns, at_most=len(columns))}"
        for party, columns in zip(names, spec.parties, strict=True)
    ]


def run_trials(
    planned: Sequence[Scenario],
    table: bytes,
    executor: Executor,
    out: Path | None,
    display: Display | None,
    *,
    leave: bool = False,
) -> list[Entry]:
    """Run what is missing; a failed trial ends the audit with its own words.

    ``leave``: what is private stays in the store until it is read, trial by trial. That takes
    longer, and less memory.
    """
    with tempfile.TemporaryDirectory() as nowhere:
        path = (out or Path(nowhere)) / UNFINISHED
        return _stored(planned, table, executor, path, display, leave)


def _stored(
    planned: Sequence[Scenario],
    table: bytes,
    executor: Executor,
    path: Path,
    display: Display | None,
    leave: bool,
) -> list[Entry]:
    store = Store(path, private=True)
    try:
        summary = run(planned, store, executor, display, table, leave_private=leave)
        if summary.interrupted:
            raise KeyboardInterrupt
        entries = []
        privates, found = list(summary.privates), summary.records
        del summary
        for place, (scenario, record) in enumerate(zip(planned, found, strict=True)):
            private, privates[place] = privates[place], None  # bytes go as they are read
            if leave and record is not None:
                private = store.private(record.hash)
            if record is None or record.outcome is None or private is None:
                failed = "it was not run" if record is None else record.error
                raise AuditError(f"{scenario.label} failed: {failed}")
            records: Any = decode(private)
            assert isinstance(records, PerRecord)
            entries.append(Entry(scenario, record.outcome, records))
    finally:
        store.close()
    store.remove()
    return entries


def _samples(entries: Sequence[Entry], head: Any) -> tuple[SampleRow, ...]:
    """Return the shown values of the first seed, from the trial that shows the worst column."""
    shown = [e for e in entries if e.plain and e.records.samples]
    shown = [e for e in shown if e.scenario.seed == shown[0].scenario.seed]
    worst = next((e for e in shown if e.scenario.threat == head.threat), None)
    worst = worst or next(iter(shown), None)
    return () if worst is None else tuple(SampleRow(*pair) for pair in worst.records.samples)
