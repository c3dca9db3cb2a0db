"""The named threat model on encrypted training: the active party and its own gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.errors import WireError
from whatleaks.models.regression_history import RegressionHistory
from whatleaks.threat.grants import Grant, Granted
from whatleaks.threat.model import Conduct, Own, ThreatModel
from whatleaks.threat.views.encrypted import EncryptedLinearView
from whatleaks.wire.message import Message, Plain


def own_regression(history: RegressionHistory, unknown: int) -> Own:
    """Return what the active party of a regression holds by itself."""
    return Own(history.columns, history.columns, sealed_ints([]), unknown, history)


def _readable(received: Sequence[Message], kind: str) -> list[Floats]:
    """Return the plain values of one kind of message, in the order in which they came."""
    return [
        message.payload.values
        for message in received
        if message.kind == kind and isinstance(message.payload, Plain)
    ]


def _queries(received: Sequence[Message], granted: Granted) -> tuple[Floats, Floats] | None:
    """Pair the made-up records with the answers as they came over the wire."""
    if granted.offer.queries is None:
        return None
    records, _ = granted.queries
    answers = _readable(received, "intermediate")
    if not answers or sum(len(part) for part in answers) != len(records):
        raise WireError(
            f"the active party made up {len(records)} records and received "
            f"{sum(len(part) for part in answers)} answers"
        )
    return records, sealed(np.concatenate(answers))


def _encrypted(received: Sequence[Message], own: Own, granted: Granted) -> EncryptedLinearView:
    history = own.regression
    if history is None:
        raise WireError("the active party kept no history: it trained no linear regression")
    # What came under a mask tells nothing by itself; the party has taken its own mask off.
    came = len(_readable(received, "gradient")) + len(_readable(received, "masked-gradient"))
    if came != len(history.weights):
        raise WireError(
            f"the active party took {len(history.weights)} steps and received {came} gradients"
        )
    return EncryptedLinearView(
        own=history.columns,
        labels=history.targets,
        gradients=history.gradients,
        weights=history.weights,
        batches=history.batches,
        learning_rate=history.learning_rate,
        alpha=history.alpha,
        queries=_queries(received, granted),
        ranges=None if granted.offer.ranges is None else granted.ranges,
        unknown=own.unknown,
    )


ENCRYPTED = ThreatModel(
    name="encrypted",
    adversary="active party",
    conduct=Conduct.CURIOUS,
    sees="its own gradient of every training step, decrypted for it by the arbiter (and "
    "without the mask, where it put one on)",
    grants=frozenset({Grant.RANGES, Grant.QUERIES}),
    view=EncryptedLinearView,
    project=_encrypted,
)
