"""The task behind the claims on encrypted linear regression: train on ciphertexts, recover, invert."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.errors import SpecError
from whatleaks.experiments.outcome import Outcome, Quantity
from whatleaks.experiments.settings import Value
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import task
from whatleaks.seeds import Streams

OPTIONS: dict[str, Value] = {
    "unknown": 2,  # columns of the victim
    "batch": 9,  # records in the one batch
    "fake": 0,  # fake columns of the attacker
    "epochs": 12,
    "backend": "heu-paillier",
    "key_bits": 2048,
}


def check(spec: Spec) -> None:
    """Refuse what the protocol cannot run."""
    from whatleaks.data.registry import card

    card(spec.dataset)
    for key, least in (("unknown", 1), ("batch", 2), ("fake", 0), ("epochs", 2)):
        if spec.options.whole(key) < least:
            raise SpecError(
                f"options.{key} must be at least {least}, got {spec.options.whole(key)}"
            )


@task("encrypted-regression", version=1, options=OPTIONS, uses=("dataset",), check=check)
def encrypted_regression(spec: Spec, streams: Streams) -> Outcome:
    """Train on real ciphertexts, then work on the active party's own gradients."""
    from whatleaks.attacks.gram_inversion import GramInversion
    from whatleaks.attacks.intermediate_recovery import IntermediateRecovery
    from whatleaks.auditor.evaluator import Evaluator
    from whatleaks.auditor.isolation import commit
    from whatleaks.data.loading import load
    from whatleaks.errors import AttackError
    from whatleaks.federation.secure_linear import ACTIVE, SecureLinearSettings, plain_linear, run
    from whatleaks.threat.encrypted import ENCRYPTED, own_regression
    from whatleaks.threat.grants import Offer, hand_out
    from whatleaks.wire.channel import Channel
    from whatleaks.wire.transcript import Transcript

    dataset = load(spec.dataset)
    numbers = dataset.frame.select_dtypes("number")
    features = [c for c in numbers.columns if c != dataset.label and numbers[c].nunique() > 1]
    target = dataset.frame[dataset.label]
    y_all = (
        target.to_numpy(float)
        if target.dtype.kind in "if"
        else target.astype("category").cat.codes.to_numpy(float)
    )
    unknown, batch = spec.options.whole("unknown"), spec.options.whole("batch")
    if len(features) <= unknown:
        raise SpecError(f"{spec.dataset} has {len(features)} columns: leave some to the attacker")
    rows = streams.rng("batch").permutation(len(numbers))[:batch]
    order = streams.rng("columns").permutation(features)
    x = numbers[list(order)].to_numpy(float)
    low, high = x.min(axis=0), x.max(axis=0)
    x = (x - low) / (high - low)  # on the columns' public ranges
    y_all = (y_all - y_all.min()) / (y_all.max() - y_all.min())
    passive, own = sealed(x[rows][:, :unknown]), sealed(x[rows][:, unknown:])
    y = sealed(y_all[rows])
    settings = SecureLinearSettings(
        epochs=spec.options.whole("epochs"),
        learning_rate=1.0 / (batch * (own.shape[1] + spec.options.whole("fake") + unknown)),
        fake_columns=spec.options.whole("fake"),
        backend=spec.options.text("backend"),
        key_bits=spec.options.whole("key_bits"),
    )
    channel = Channel(Transcript([ACTIVE]))
    done = run(own, passive, y, settings, streams, channel)
    view = ENCRYPTED.project(
        channel.transcript.received_by(ACTIVE),
        own_regression(done.active, unknown),
        hand_out(
            ENCRYPTED.grants,
            Offer(
                ranges=(sealed(np.zeros(unknown)), sealed(np.ones(unknown))), queries=done.queries
            ),
        ),
    )
    outputs = np.stack(plain_linear(own, passive, y, settings, streams).outputs, axis=1)
    measured: dict[str, Quantity] = {
        "attacker columns": own.shape[1] + settings.fake_columns,
        "victim columns": unknown,
        "records": batch,
    }
    notes = []
    try:
        answer = commit(IntermediateRecovery(), view, streams.rng("attack"))
        evaluator = Evaluator(sealed(outputs), sealed(outputs[:0]))
        measured["intermediate error"], _ = evaluator.relative_errors(answer)
        answer = commit(GramInversion(), view, streams.rng("attack"))
        evaluator = Evaluator(passive, passive[:0])
        measured["table error"], measured["best table error"] = evaluator.relative_errors(answer)
        measured["tables"] = 1 + len(getattr(answer.guess, "alternatives", ()))
    except AttackError as refused:
        notes.append(str(refused))
    return Outcome(
        measured,
        baselines={"half": _relative(np.full(passive.shape, 0.5), passive)},
        grants=tuple(sorted(grant.value for grant in ENCRYPTED.grants)),
        notes=tuple(notes),
    )


def _relative(guess: Floats, truth: Floats) -> float:
    """Return mean error over mean size: the paper's relative reconstruction error."""
    return float(np.abs(guess - truth).mean() / np.abs(truth).mean())
