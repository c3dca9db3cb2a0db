"""The encrypted linear regression under the active party's curiosity (Li et al.).

The class number is the target of the regression. One batch of training records is used,
as large as the attack can solve: as many records as the active party has columns, with
fake columns added where it has few (section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.attacks.baselines import BASELINES, Nothing
from whatleaks.attacks.gram_inversion import GramInversion
from whatleaks.attacks.intermediate_recovery import IntermediateRecovery
from whatleaks.auditor.evaluator import Evaluator
from whatleaks.auditor.isolation import commit
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.units import ThreatScores, UnitResult
from whatleaks.data.preparation import Prepared
from whatleaks.errors import AttackError
from whatleaks.federation.secure_linear import ACTIVE, SecureLinearSettings, plain_linear, run
from whatleaks.seeds import Streams
from whatleaks.threat.encrypted import ENCRYPTED, own_regression
from whatleaks.threat.grants import Offer, hand_out
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

FEDERATION = "encrypted"
THREATS = ("encrypted",)
FEWEST, MOST = 10, 40
EPOCHS = 12


def run_encrypted(
    prepared: Prepared, spec: AuditSpec, seed: int, streams: Streams, tell: Callable[[str], None]
) -> UnitResult:
    """Train on real ciphertexts, then let the active party work on its own gradients."""
    own_columns, unknown = prepared.active.shape[1], prepared.passive.shape[1]
    size = min(max(FEWEST, min(own_columns, MOST)), len(prepared.training))
    rows = streams.rng("batch").permutation(prepared.training)[:size]
    rank = int(np.linalg.matrix_rank(prepared.active[rows]))
    settings = SecureLinearSettings(
        epochs=EPOCHS,
        fake_columns=size - min(size, rank),  # as many as the equations lack
        # Gradients are sums over the batch and values lie in [0, 1]: this rate is always stable.
        learning_rate=1.0 / (size * (own_columns + size + unknown)),
    )
    target = sealed(prepared.labels[rows] / (len(prepared.classes) - 1))
    own, passive = sealed(prepared.active[rows]), sealed(prepared.passive[rows])
    channel = Channel(Transcript([ACTIVE]))
    tell(f"training on ciphertexts of {settings.key_bits} bits")
    done = run(own, passive, target, settings, streams, channel)
    offer = Offer(
        ranges=(sealed(np.zeros(unknown)), sealed(np.ones(unknown))), queries=done.queries
    )
    view = ENCRYPTED.project(
        channel.transcript.received_by(ACTIVE),
        own_regression(done.active, unknown),
        hand_out(ENCRYPTED.grants, offer),
    )
    tell("attacking under the encrypted threat")
    notes = []
    outputs = np.stack(plain_linear(own, passive, target, settings, streams).outputs, axis=1)
    rng = streams.rng("attack/intermediate-recovery")
    try:
        answer = commit(IntermediateRecovery(), view, rng, isolated=spec.isolated)
        miss, _ = Evaluator(sealed(outputs), sealed(outputs[:0])).relative_errors(answer)
        notes.append(
            f"On real {settings.key_bits}-bit ciphertexts, with {size} records in the batch, the "
            "active party computes the partner's intermediate values from its own gradients with a "
            f"relative error of {miss:.0e}."
        )
    except AttackError as refused:
        notes.append(f"The partner's intermediate values were not recovered: {refused}")
    evaluator = Evaluator(passive, passive[:0])
    scored = []
    try:
        answer = commit(
            GramInversion(), view, streams.rng("attack/gram-inversion"), isolated=spec.isolated
        )
        scored.append(evaluator.score(answer, "attack"))
        if scored[0].alternatives:
            notes.append(
                f"{1 + scored[0].alternatives} tables fit the transcript equally well (a mirror "
                "image remains); the attack commits to one of them."
            )
    except AttackError as refused:
        notes.append(f"The partner's table was not inverted: {refused}")
    for baseline in BASELINES:
        rng = streams.rng(f"baseline/{baseline.name}")
        scored.append(evaluator.score(commit(baseline, Nothing(size, unknown), rng), "baseline"))
    evidence = view.evidence()
    scored.append(evaluator.limit(evidence, evidence[:0], streams.rng("limit")))
    scored.append(evaluator.limit(own, own[:0], streams.rng("limit"), "alone"))
    notes.append(f"The limit is learnt from {size} records only, so it is a weak one here.")
    together = np.concatenate([prepared.active, prepared.passive], axis=1)
    return UnitResult(
        FEDERATION,
        seed,
        prepared.passive_columns,
        (ThreatScores(ENCRYPTED.name, evaluator.spread(), tuple(scored), tuple(notes)),),
        (),
        _hits(prepared, together, rows, settings.alpha),
        _hits(prepared, prepared.active, rows, settings.alpha),
        size,
    )


def _hits(prepared: Prepared, columns: Floats, rows: Ints, alpha: float) -> Ints:
    """Say for every target whether the loss's minimum on the batch classes it right.

    A dozen epochs leak the table but do not finish the training; the minimum is where more
    epochs would lead, so it is the fair measure of what joining is worth.
    """
    top = len(prepared.classes) - 1
    x, y = columns[rows], prepared.labels[rows] / top
    weights = np.linalg.solve(x.T @ x + alpha * np.eye(x.shape[1]), x.T @ y)
    guess = np.clip(np.rint(columns[prepared.targets] @ weights * top), 0, top)
    return sealed_ints(guess == prepared.labels[prepared.targets])
