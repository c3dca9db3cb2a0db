"""The split network under a malicious active party, with and without a detector watching."""

from __future__ import annotations

from collections.abc import Callable

from whatleaks.auditor.prediction_unit import correct_alone
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.split_world import stage
from whatleaks.auditor.stage import choose_rows
from whatleaks.auditor.units import DefenseScores, ThreatScores, UnitResult
from whatleaks.data.preparation import Prepared
from whatleaks.detectors.registry import DETECTORS
from whatleaks.federation.split import SplitRun, SplitSettings
from whatleaks.seeds import Streams
from whatleaks.threat.split import SPLIT_HIJACK

FEDERATION = "split"
THREATS = ("split-hijack",)


def run_split_unit(
    prepared: Prepared, spec: AuditSpec, seed: int, streams: Streams, tell: Callable[[str], None]
) -> UnitResult:
    """Hijack a training, then see what each detector makes of it and of honest training."""
    rows = choose_rows(prepared, spec.targets, streams.rng("targets"))
    world = stage(prepared, rows.targets, rows.others, streams, SplitSettings())
    tell("training with a hijacker")
    free = world.hijack(None, isolated=spec.isolated)
    tell("training honestly")
    honest = world.honest(None)
    notes, defenses = [], []
    for card in DETECTORS if spec.defenses else ():
        detector = card.build(len(prepared.classes))
        tell(f"training with a hijacker, {card.name} watching")
        watched = world.hijack(detector, isolated=spec.isolated)
        tell(f"training honestly, {card.name} watching")
        fair = world.honest(detector)
        notes.append(
            f"Seed {seed}: {card.name} {_verdict(watched.run)} the hijacker and "
            f"{_verdict(fair.run)} honest training."
        )
        defenses.append(
            DefenseScores(
                card.name,
                SPLIT_HIJACK.name,
                watched.scored,
                fair.correct,
                free.spread,
                prepared.passive_columns,
                (int(watched.run.halted is not None), int(fair.run.halted is not None)),
            )
        )
    return UnitResult(
        FEDERATION,
        seed,
        prepared.passive_columns,
        (ThreatScores(SPLIT_HIJACK.name, free.spread, free.scored, tuple(notes)),),
        tuple(defenses),
        honest.correct,
        correct_alone(prepared, rows),
        len(world.training),
    )


def _verdict(run: SplitRun) -> str:
    return f"halts (step {run.halted.step})" if run.halted is not None else "does not halt"
