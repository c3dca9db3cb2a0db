"""The audit of a set of pictures: left half against right half, every hijack, detector and defense.

The scenarios are those of an audit of a table under the same threat; what differs is how they
are summed up. A pixel is no column that somebody would ask about, so guesses are judged picture by
picture, and always beside the best guess that needs no message about the person.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whatleaks.auditor.audit import phases_of, run_trials
from whatleaks.auditor.combine import Entry
from whatleaks.auditor.picture_result import (
    PictureAudit,
    PictureFinding,
    PictureRow,
    joined_halves,
)
from whatleaks.auditor.picture_watch import (
    defense_findings,
    detector_findings,
    error_of,
    number,
)
from whatleaks.auditor.plan import SHOWN, hijacked_trials, looks_at
from whatleaks.auditor.pool import named, over_seeds
from whatleaks.auditor.worth import worth_of
from whatleaks.catalog import cards, guesser
from whatleaks.data.picture_files import OwnPictures
from whatleaks.data.picture_table import picture_table
from whatleaks.data.table import pack_table
from whatleaks.errors import AuditError, UsageError, argument
from whatleaks.runs.executors import Executor
from whatleaks.runs.provenance import code, environment, table_hash
from whatleaks.runs.runner import Display
from whatleaks.runs.secret import own_secret
from whatleaks.seeds import Streams
from whatleaks.threat.grants import sentences
from whatleaks.trial.isolation import weakest
from whatleaks.trial.plan import fits
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings

MODEL, THREAT = "split", "split-hijack"
ASKING = "split-query"  # nobody hijacks, but the trained network may be asked
STEPS = 300  # of a training; what a hijacker trains alone takes as many
QUICK = {"seeds": 1, "targets": 60, "steps": 80}
REFERENCES = ("baselines", "control", "joining")
LEAKS, KNOWN, OPEN = "leaks", "no more than known", "open"


@dataclass(frozen=True)
class PictureSpec:
    """The identity of an audit of pictures."""

    seeds: int = 3
    seed: int = 0
    targets: int = 300
    steps: int = STEPS
    defenses: bool = True
    isolated: bool = False
    show_values: bool = False
    quick: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be audited; a first look is content with less."""
        for name, most in QUICK.items() if self.quick else ():
            object.__setattr__(self, name, min(getattr(self, name), most))
        for name, least in (("seed", 0), ("seeds", 1), ("targets", 10), ("steps", 1)):
            if getattr(self, name) < least:
                raise UsageError(
                    f"{argument(name)} must be at least {least}, got {getattr(self, name)}"
                )


def audit_pictures(
    pictures: OwnPictures,
    spec: PictureSpec,
    executor: Executor,
    out: Path | None = None,
    display: Display | None = None,
    command: str = "",
) -> PictureAudit:
    """Run every trial that is not finished yet, then sum up."""
    start = time.perf_counter()
    frame = picture_table(pictures)
    table = {"name": pictures.name, "hmac_sha256": table_hash(frame, own_secret())}
    planned = picture_scenarios(spec, pictures, table["hmac_sha256"])
    for scenario in planned:
        scenario.check()
    entries = run_trials(planned, pack_table(frame), executor, out, display)
    streams = Streams(spec.seed).under("summary")
    plain = [e for e in entries if e.plain and e.guessed]
    free = [e for e in plain if e.scenario.threat == THREAT]
    findings = _findings(free)
    asked = _findings([e for e in plain if e.scenario.threat == ASKING])
    honest = [e for e in entries if e.plain and not e.scenario.attacks]
    sentence, level = _headline(findings, spec.steps)
    records = honest[0].records
    width = 2 * (pictures.pixels.shape[2] // 2)
    return PictureAudit(
        sentence=sentence,
        level=level,
        findings=findings,
        asked=tuple(one for one in asked if one.role == "attack"),
        detectors=detector_findings(entries),
        defenses=defense_findings(entries),
        worth=worth_of(honest, streams),
        threat=looks_at(MODEL, THREAT).threat.sentence(()),
        grants=sentences(looks_at(MODEL, THREAT).threat.grants),
        pictures=len(pictures.labels),
        training=records.training_rows,
        attacked=records.asked,
        granted=max(e.records.granted for e in free),
        shape=(pictures.height, width, pictures.colours),
        classes=len(pictures.classes),
        steps=spec.steps,
        spec=asdict(spec) | ({"command": command} if command else {}),
        table=table,
        code=code(),
        environment=environment(),
        seeds=tuple(range(spec.seed, spec.seed + spec.seeds)),
        seconds=time.perf_counter() - start,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=_notes(entries, pictures),
        grid=_grid(free, findings, pictures),
        phases=phases_of({}, entries),
    )


def picture_scenarios(spec: PictureSpec, pictures: OwnPictures, table: str) -> list[Scenario]:
    """Return all trials: those of any split federation, on halves of these pictures."""
    seen = looks_at(MODEL, THREAT)
    size = str(pictures.height) + (f"x{pictures.colours}" if pictures.colours > 1 else "")
    found: list[Scenario] = []
    for seed in range(spec.seed, spec.seed + spec.seeds):
        base = Scenario(
            dataset=pictures.name,
            table=table,
            data=Settings({"prepare": "pictures", "training_fraction": 0.6}),
            share=0.5,
            model=MODEL,
            model_options=Settings(
                {
                    "steps": spec.steps,
                    # As in the paper: two convolutions on grey pictures, residual blocks on others.
                    "network": "cnn" if pictures.colours == 1 else "residual",
                    "height": pictures.height,
                    "colours": pictures.colours,
                    "scaling": "pixels",
                    "precision": "float32",
                }
            ),
            threat=THREAT,
            targets=spec.targets,
            seed=seed,
            branch=seen.stream,
            isolated=spec.isolated,
            shown=SHOWN if spec.show_values else 0,
            label=f"seed {seed}",
        )
        alone = {"pretraining": spec.steps, "decoding": spec.steps}
        for trial in hijacked_trials(base, seen, alone, defenses=spec.defenses, quick=spec.quick):
            references = tuple(name for name in trial.references if name in REFERENCES)
            if trial.attacks:  # what every guess is held against
                references = tuple(dict.fromkeys((*references, "baselines", "control")))
            measures = (f"pictures-{size}",) if trial.attacks else ()
            found.append(replace(trial, references=references, measures=measures))
        found.append(replace(_asking(base, spec.steps), measures=(f"pictures-{size}",)))
    return found


def _asking(base: Scenario, steps: int) -> Scenario:
    """Return the honest training whose network is asked: what hijacking must beat to be worth it."""
    names = tuple(one.name for one in cards("attack") if fits(one, looks_at(MODEL, ASKING).view))
    known = {f.name for name in names for f in fields(guesser(name).part)}
    options: dict[str, int] = {n: steps for n in ("steps", "shadow_steps") if n in known}
    return replace(
        base,
        threat=ASKING,
        attacks=names,
        attack_options=Settings(options),
        references=("baselines", "control"),
        shown=0,
        label=f"{base.label}, nobody hijacks",
    )


def _findings(entries: Sequence[Entry]) -> tuple[PictureFinding, ...]:
    """Sum up every hijack, and every baseline once, over the seeds."""
    if not entries:
        raise AuditError("no hijack ran, so nothing is known of these pictures")
    obeys = {entry.name: entry.obeys for entry in cards("hijack")}
    found: dict[str, PictureFinding] = {}
    for role in ("attack", "baseline"):
        names = dict.fromkeys(s.name for e in entries for s in e.records.scored if s.role == role)
        for name in names:
            mine = [e for e in entries if any(s.name == name for s in e.records.scored)]
            seeds = {e.scenario.seed: e for e in reversed(mine)}
            runs = [seeds[seed] for seed in sorted(seeds)]
            psnr, ssim = (
                over_seeds([number(run, f"{name} {kind}") for run in runs])
                for kind in ("psnr", "ssim")
            )
            adds, each = None, []
            if role == "attack":
                each = [number(run, f"{name} adds") for run in runs]
                adds = over_seeds(each)
            found[name] = PictureFinding(
                name,
                named(name)[0],
                role,
                error_of(runs, name),
                psnr,
                ssim,
                adds,
                _rival(runs, name),
                obeys.get(name, False),
                weakest([s.isolated for r in runs for s in r.records.scored if s.name == name]),
                sum(one.low > 0.0 for one in each),
                len(runs),
            )
    return tuple(found.values())


def _rival(runs: Sequence[Entry], name: str) -> str:
    told = [str(run.outcome.measurements.get(f"{name} rival", "")) for run in runs]
    return ", ".join(dict.fromkeys(filter(None, told)))


def _headline(findings: Sequence[PictureFinding], steps: int) -> tuple[str, str]:
    """Say whether any hijack tells more than its holder knew before, by the one that adds most.

    One that adds beyond chance comes before one that adds more and might by luck. A hijack that fails in
    some trainings and draws well in others is no comfort: its average is not the answer then.
    """
    attacks = [(one, one.adds) for one in findings if one.role == "attack" and one.adds is not None]
    best, adds = max(attacks, key=lambda pair: (pair[1].low > 0.0, pair[1].value))
    known = best.error.value + adds.value
    share = adds.value / known if known > 0.0 else 0.0
    if adds.low > 0.0:
        return (
            f"After {steps} steps a hijack ({best.name}) draws the hidden halves with {share:.0%} less error than the best "
            "guess without the messages about that person.",
            LEAKS,
        )
    often = max((one for one, _ in attacks), key=lambda one: one.ahead)
    if often.ahead:
        return (
            f"Open: after {steps} steps a hijack ({often.name}) drew the hidden halves better than the best guess without the "
            f"messages about that person in {often.ahead} of {often.trainings} trainings, beyond chance, and not in the others.",
            OPEN,
        )
    if adds.value <= 0.0:
        return (
            f"Within {steps} steps no hijack drew the hidden halves better than the best guess without the "
            "messages about that person.",
            KNOWN,
        )
    return (
        f"Open: after {steps} steps the best hijack ({best.name}) has {share:.0%} less error than the best guess without the "
        "messages about that person, but chance could give as much here.",
        OPEN,
    )


def _notes(entries: Sequence[Entry], pictures: OwnPictures) -> tuple[str, ...]:
    told = [note for entry in entries for note in entry.outcome.notes]
    if pictures.pixels.shape[2] % 2:
        told.append("The last column of pixels is left out: the width is odd.")
    return tuple(dict.fromkeys(told))


def _grid(
    entries: Sequence[Entry], findings: Sequence[PictureFinding], pictures: OwnPictures
) -> tuple[PictureRow, ...]:
    """Return originals and, below, what each hijack makes of them, of the first seed."""
    rows: dict[str, Any] = {}
    first = min(e.scenario.seed for e in entries)
    for entry in entries:
        shown = dict(entry.records.pictures)
        if entry.scenario.seed != first or not shown:
            continue
        own = shown.pop("own")
        for label, half in shown.items():
            whole = joined_halves(own, half, pictures.height, pictures.colours)
            rows.setdefault(label, PictureRow(label, whole))
    order = ["truth", *(one.name for one in sorted(findings, key=lambda f: f.error.value))]
    return tuple(rows[name] for name in order if name in rows)
