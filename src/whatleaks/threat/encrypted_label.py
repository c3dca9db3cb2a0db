"""The other direction of encrypted training: a passive party that is curious about the label."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.catalog import threat
from whatleaks.errors import WireError
from whatleaks.models.regression_history import OwnSteps
from whatleaks.threat.grants import Granted, Schema
from whatleaks.threat.model import (
    LABEL,
    Conduct,
    Memory,
    ThreatModel,
    must_remember,
    plain_messages,
)
from whatleaks.threat.views.encrypted_label import EncryptedLabelView
from whatleaks.wire.message import Message
from whatleaks.wire.parties import PASSIVE


def _own_gradients(
    received: Sequence[Message],
    memory: Memory,
    granted: Granted,
    view: type[EncryptedLabelView],
) -> EncryptedLabelView:
    held = must_remember(memory, OwnSteps, "history: it trained no linear regression")
    came = len(plain_messages(received, "gradient", "masked-gradient"))
    if came != len(held.weights):
        raise WireError(
            f"the passive party took {len(held.weights)} steps and received {came} gradients"
        )
    return view(held, granted[Schema].grids, memory.unknown)


ENCRYPTED_LABEL = threat(
    ThreatModel(
        name="encrypted-label",
        conduct=Conduct.CURIOUS,
        sees=(
            "its own gradient of every training step, decrypted for it by the arbiter (and "
            "without the mask, where it put one on); it holds no label and is after it"
        ),
        grants=frozenset({Schema}),
        reads=frozenset({"gradient"}),
        views=(EncryptedLabelView,),
        project=_own_gradients,
        adversary=(PASSIVE,),
        wants=LABEL,
    )
)
