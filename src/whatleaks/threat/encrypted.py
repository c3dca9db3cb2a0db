"""The named threat models on encrypted training: the active party and its own gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import threat
from whatleaks.errors import WireError
from whatleaks.models.regression_history import DecryptedSteps, RegressionHistory
from whatleaks.threat.grants import Granted, KnownPeople, KnownValues, Queries, Ranges, Schema
from whatleaks.threat.model import Conduct, Memory, ThreatModel, must_remember, plain_messages
from whatleaks.threat.views.colluding_arbiter import ColludingArbiterView
from whatleaks.threat.views.encrypted import EncryptedLinearView
from whatleaks.threat.views.encrypted_known import EncryptedKnownView
from whatleaks.threat.views.encrypted_outputs import EncryptedOutputsView
from whatleaks.threat.views.encrypted_values import EncryptedValuesView
from whatleaks.wire.message import Message
from whatleaks.wire.parties import ACTIVE, ARBITER


def _queries(received: Sequence[Message], granted: Granted) -> Queries | None:
    """Pair the made-up records with the answers as they came over the wire."""
    asked = granted.get(Queries)
    if asked is None:
        return None
    answers = plain_messages(received, "intermediate")
    came = sum(len(part) for part in answers)
    if came != len(asked.records) or not answers:
        raise WireError(
            f"the active party made up {len(asked.records)} records and received {came} answers"
        )
    return Queries(asked.records, sealed(np.concatenate(answers)))


def _encrypted(
    received: Sequence[Message],
    memory: Memory,
    granted: Granted,
    view: type[EncryptedLinearView],
) -> EncryptedLinearView:
    return view(**_seen(received, memory, granted))


def _encrypted_values(
    received: Sequence[Message],
    memory: Memory,
    granted: Granted,
    view: type[EncryptedValuesView],
) -> EncryptedValuesView:
    return view(**_seen(received, memory, granted), known=granted[KnownValues])


def _encrypted_outputs(
    received: Sequence[Message],
    memory: Memory,
    granted: Granted,
    view: type[EncryptedOutputsView],
) -> EncryptedOutputsView:
    outputs = plain_messages(received, "output")
    if not outputs or any(len(part) != len(memory.target) for part in outputs):
        raise WireError(f"no partner sent its output of {len(memory.target)} records")
    # Several partners each send theirs; what is known of their weights is known side by side.
    return view(
        **_seen(received, memory, granted),
        predicted=sealed(np.sum(outputs, axis=0)),
        grids=granted[Schema].grids,
    )


def _seen(received: Sequence[Message], memory: Memory, granted: Granted) -> dict[str, Any]:
    """Return what every view on the training holds."""
    history = must_remember(memory, RegressionHistory, "history: it trained no linear regression")
    # What came under a mask tells nothing by itself; the party has taken its own mask off.
    came = len(plain_messages(received, "gradient", "masked-gradient"))
    if came != len(history.weights):
        raise WireError(
            f"the active party took {len(history.weights)} steps and received {came} gradients"
        )
    return {
        "own": history.columns,
        "labels": history.targets,
        "gradients": history.gradients,
        "weights": history.weights,
        "batches": history.batches,
        "learning_rate": history.learning_rate,
        "alpha": history.alpha,
        "queries": _queries(received, granted),
        "ranges": granted.get(Ranges),
        "unknown": memory.unknown,
        "slope": history.slope,
        "offset": history.offset,
        "optimiser": history.optimiser,
    }


def _encrypted_known(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[EncryptedKnownView]
) -> EncryptedKnownView:
    known = granted[KnownPeople]
    if (memory.places < 0).any() or (known.places < 0).any():
        raise WireError("a record that is attacked or known did not train: it left no gradient")
    return view(
        own=memory.target,
        unknown=memory.unknown,
        training=_encrypted(received, memory, granted, EncryptedLinearView),
        places=memory.places,
        auxiliary=known,
        ranges=granted.get(Ranges),
    )


SEES = (
    "its own gradient of every training step, decrypted for it by the arbiter (and "
    "without the mask, where it put one on)"
)

ENCRYPTED = threat(
    ThreatModel(
        name="encrypted",
        conduct=Conduct.CURIOUS,
        sees=SEES,
        grants=frozenset({Ranges, Queries}),
        reads=frozenset({"gradient"}),
        views=(EncryptedLinearView,),
        project=_encrypted,
    )
)

ENCRYPTED_KNOWN = threat(
    ThreatModel(
        name="encrypted-known",
        conduct=Conduct.CURIOUS,
        sees=SEES,
        grants=frozenset({KnownPeople, Ranges, Queries}),
        reads=frozenset({"gradient"}),
        views=(EncryptedKnownView,),
        project=_encrypted_known,
    )
)


def _colluding(
    received: Sequence[Message],
    memory: Memory,
    granted: Granted,
    view: type[ColludingArbiterView],
) -> ColludingArbiterView:
    opened = must_remember(memory, DecryptedSteps, "key: there was no arbiter")
    if opened.gradients.shape[1] != memory.unknown:
        raise WireError(
            f"{opened.gradients.shape[1]} columns have gradients and {memory.unknown} are unknown"
        )
    training = _encrypted(received, memory, granted, EncryptedLinearView)
    return view(training, opened, granted[Ranges], memory.unknown)


COLLUDING_ARBITER = threat(
    ThreatModel(
        name="colluding-arbiter",
        conduct=Conduct.CURIOUS,
        sees=(
            f"{SEES}; the arbiter that joins it has decrypted every party's gradient, and opens "
            "the residuals too"
        ),
        grants=frozenset({Ranges, Queries}),
        reads=frozenset({"gradient"}),
        views=(ColludingArbiterView,),
        project=_colluding,
        adversary=(ACTIVE, ARBITER),
    )
)

ENCRYPTED_OUTPUTS = threat(
    ThreatModel(
        name="encrypted-outputs",
        conduct=Conduct.CURIOUS,
        sees=f"{SEES}, and the partner's plain output of every record that is predicted",
        grants=frozenset({Schema, Ranges, Queries}),
        reads=frozenset({"gradient", "output"}),
        views=(EncryptedOutputsView,),
        project=_encrypted_outputs,
    )
)

ENCRYPTED_VALUES = threat(
    ThreatModel(
        name="encrypted-values",
        conduct=Conduct.CURIOUS,
        sees=SEES,
        grants=frozenset({KnownValues, Ranges, Queries}),
        reads=frozenset({"gradient"}),
        views=(EncryptedValuesView,),
        project=_encrypted_values,
    )
)
