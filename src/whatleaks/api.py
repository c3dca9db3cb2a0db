"""The public face: audit a table, evaluate an attack of one's own.

``report = whatleaks.audit(frame, label="default", passive=["income"])``
``outcome = whatleaks.evaluate(MyAttack(), whatleaks.Scenario("wine", share=0.3))``
"""

from __future__ import annotations

import html
import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whatleaks.auditor.result import AuditResult
from whatleaks.catalog import adopted, cards, fingerprint
from whatleaks.errors import AttackError, UsageError, argument
from whatleaks.files import check_writable, write_atomically
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import Scenario
from whatleaks.wire.parties import passive_names

if TYPE_CHECKING:
    from whatleaks.runs.executors import Executor
    from whatleaks.runs.runner import Display

MARK = "(trained on)"  # the column that a mask becomes


@dataclass(frozen=True)
class AuditReport:
    """What an audit found, ready to be read, drawn or stored."""

    result: AuditResult

    def summary(self) -> str:
        """Return the findings as plain text."""
        from whatleaks.report.terminal import summary

        return summary(self.result)

    def to_html(self, path: str | Path) -> Path:
        """Write the self-contained report page and return its path."""
        from whatleaks.report.html import write

        return write(self.result, path)

    def to_json(self, path: str | Path) -> Path:
        """Write audit.json: spec, hashes, versions, seeds, grants, measurements."""
        path = Path(path)
        text = json.dumps(self.result.to_dict(), indent=1, allow_nan=False, ensure_ascii=False)
        write_atomically(path, text.encode(), mode=0o600 if self.result.samples else 0o644)
        return path

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own: its style stays its own."""
        from whatleaks.report.html import render

        page = html.escape(render(self.result), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:48em;border:0"></iframe>'


def audit(
    frame: Any,
    label: Hashable,
    passive: Sequence[Hashable] | Sequence[Sequence[Hashable]] | Mapping[str, Sequence[Hashable]],
    *,
    model: Any = "lr",
    trained_on: Any = None,
    threats: str | Sequence[str] = (),
    attacks: Sequence[Any] = (),
    defenses: bool = True,
    compare_defenses: bool = False,
    quick: bool = False,
    seeds: int | None = None,
    seed: int = 0,
    targets: int = 300,
    known: int = 25,
    hidden: Sequence[int] = (),
    inversion_steps: int = 3000,
    missing: str = "refuse",
    categories: str = "ordinal",
    scale_on: str = "training",
    drop: Sequence[Hashable] = (),
    drop_constant: bool = False,
    encode_text: bool = False,
    bins: int | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    na: Sequence[str] = (),
    by: str = "",
    protect: str = "",
    isolated: bool = False,
    show_values: bool = False,
    name: str = "table",
    out: str | Path | None = None,
    workers: int | None = 1,
    on: str = "local",
    address: str = "",
    progress: bool | None = None,
    notes: Sequence[str] = (),
    command: str = "",
) -> AuditReport:
    """Audit a pandas or polars frame: what can the holder of the label learn of ``passive``?

    With ``protect="label"`` the other way round: what can the holder of ``passive`` learn of the
    label?

    ``passive`` are the partner's columns; with several partners a list of each one's columns, or
    a dict from their names to the columns. ``decimal``, ``thousands`` and ``na`` (words that mean
    a missing value, or ``column=value``) say how numbers are written where words hold them.
    Whatever is wrong with the table is listed at once, with a call that would run.

    ``model`` is one of ``whatleaks.model_names()``, or a fitted classifier over the frame's
    columns (docs/models-from-outside.md lists the kinds): it is then audited as it was trained,
    on columns scaled by the whole table and encoded as its own encoders do.
    ``trained_on`` says which rows trained it: a column's name, or true and false for every row.
    ``threats`` is one name or several, by default all
    curious ones that look at the model. ``attacks`` are attacks of your own, tried beside the
    catalog's. With ``out``, finished trials are kept below that folder until the audit is
    complete, so that an interrupted one resumes. ``workers`` processes share the work (0: one
    per core, None: as many as pay), on this machine or ``on="ray"``. ``progress``: None shows it where somebody can
    see it. ``compare_defenses`` tries more settings of each defense and recommends one.
    ``seeds``: how often all is repeated; None: three times, and once more without defenses where no more
    than 60 columns are to be protected. ``quick`` is for a first look: one seed, fewer records, steps and attacks. ``by``: a
    column by whose groups people are counted apart.
    """
    from whatleaks.auditor.audit import run_audit
    from whatleaks.auditor.spec import MORE_SEEDS, SEEDS, AuditSpec
    from whatleaks.data.table import HandedOver, from_frame
    from whatleaks.models.adapters.reading import about, read_model

    if attacks and on != "local":
        raise UsageError(f"attacks that are handed over run here: leave {argument('on')} out")
    for what, words, of in (
        ("passive", passive, "column names"),
        ("drop", drop, "column names"),
        ("na", na, "words"),
        ("hidden", hidden, "whole numbers"),
        ("threats", (threats,) if isinstance(threats, str) else threats, "names"),
        ("attacks", attacks, "attacks"),
    ):
        if isinstance(words, str):
            raise UsageError(f"{what} must be a list of {of}, got the word {words!r}")
        if not isinstance(words, Iterable):
            raise UsageError(f"{what} must be a list of {of}, got {words!r}")
    table, marked = from_frame(frame), ""
    if trained_on is not None:
        table, marked = _marked(table, trained_on)
    if out is not None:
        check_writable(Path(out))
    given = None
    if not isinstance(model, str):
        left_out = {str(label), marked, *(str(column) for column in drop)}
        given = read_model(model, [c for c in table.columns if c not in left_out])
        if categories == "target-mean":
            raise UsageError(f"{argument('categories')} has no meaning here: the model has its own")
        model, categories, scale_on = given.core.form, "one-hot", "all"
        notes = (*notes, *about(given, bool(marked)))
    parties, told = _parties(passive)
    with adopted(attacks) as own:
        spec = AuditSpec(
            label=str(label),
            passive=tuple(column for columns in parties for column in columns),
            parties=parties if len(parties) > 1 else (),
            model=model,
            given="" if given is None else given.digest(),
            trained_on=marked,
            threats=(threats,) if isinstance(threats, str) else tuple(threats),
            seeds=SEEDS if seeds is None else seeds,
            more_seeds=MORE_SEEDS if seeds is None else 0,
            seed=seed,
            targets=targets,
            known=known,
            hidden=tuple(hidden),
            inversion_steps=inversion_steps,
            missing=missing,
            categories=categories,
            scale_on=scale_on,
            drop=tuple(str(column) for column in drop),
            drop_constant=drop_constant,
            encode_text=encode_text,
            bins=bins,
            by=str(by),
            defenses=defenses,
            compare_defenses=compare_defenses,
            isolated=isolated,
            show_values=show_values,
            quick=quick,
            decimal=decimal,
            thousands=thousands,
            na=tuple(na),
            protect=protect,
        )
        handed_over = HandedOver(table)
        del table
        with _display(progress) as display:
            result = run_audit(
                handed_over.take(),
                spec,
                # A part that was only handed over is known to this process alone.
                _executor(on, 1 if own else workers, address),
                name,
                Path(out) if out is not None else None,
                display,
                (*told, *notes),
                command,
                own,
                given,
            )
    return AuditReport(result)


def _marked(table: Any, trained_on: Any) -> tuple[Any, str]:
    """Return the table with a column that says which rows trained, and the column's name."""
    if isinstance(trained_on, str | int):
        return table, str(trained_on)
    rows = list(trained_on)  # read as a column would be: a gap or another word is refused
    if len(rows) != len(table):
        raise UsageError(f"trained_on has {len(rows)} values, the frame {len(table)} rows")
    return table.assign(**{MARK: rows}), MARK


def _parties(passive: Any) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Read one party's columns, or several parties' with or without their names."""
    told: tuple[str, ...] = ()
    if isinstance(passive, Mapping):
        called = zip(passive_names(len(passive)), passive, strict=True)
        told = tuple(f"{party} stands for {name}" for party, name in called)
        passive = list(passive.values())
    several = bool(passive) and all(isinstance(columns, list | tuple) for columns in passive)
    groups = passive if several else [passive]
    return tuple(tuple(str(column) for column in columns) for columns in groups), told


def evaluate(
    attack: Any, scenario: Scenario, frame: Any = None, *, isolated: bool = False
) -> Outcome:
    """Let one attack loose on a scenario and return what it measured.

    The attack commits once; baselines and whatever else the scenario names run beside it. For
    a table of your own give ``frame`` and a scenario with ``table`` set to any word.
    """
    from whatleaks.data.table import from_frame
    from whatleaks.runs.executors.inline import one_thread
    from whatleaks.trial.trial import run_trial

    with adopted([attack]) as (name,), one_thread():
        names = tuple(dict.fromkeys((*scenario.attacks, name)))
        wanted = replace(scenario, attacks=names, isolated=isolated, own=fingerprint([name]))
        wanted.check()
        outcome = run_trial(wanted, None if frame is None else from_frame(frame)).outcome
    refused = next((note for note in outcome.notes if note.startswith(f"{name}: ")), "")
    if refused and not any(key.startswith(name) for key in outcome.measurements):
        raise AttackError(refused)
    return outcome


def model_names() -> tuple[str, ...]:
    """Return the names of the models that can be audited."""
    from whatleaks.trial.plan import models as known

    return tuple(known())


def parts(kind: str) -> dict[str, str]:
    """Return all parts of a kind (attack, hijack, baseline, defense, detector, federation, threat)."""
    from whatleaks.catalog import KINDS

    if kind not in KINDS:
        raise UsageError(f"there is no kind {kind!r}: use one of {', '.join(KINDS)}")
    return {card.name: card.title for card in cards(kind)}


def _executor(on: str, workers: int | None, address: str) -> Executor | None:
    """Return who performs the trials; None: the audit finds out how many processes pay."""
    from whatleaks.runs.executors import choose

    if workers is None and on == "local" and not address:
        return None
    return choose(on, workers or 0, address, inline=True)


@contextmanager
def _display(progress: bool | None) -> Iterator[Display | None]:
    import sys

    from whatleaks.runs.live import display_for, in_notebook

    shown = progress if progress is not None else sys.stderr.isatty() or in_notebook()
    yield display_for() if shown else None
