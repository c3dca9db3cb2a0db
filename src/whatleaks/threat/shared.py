"""The named threat model on a regression without an arbiter: the active party and its weights."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.catalog import threat
from whatleaks.errors import WireError
from whatleaks.models.shared_history import SharedHistory
from whatleaks.threat.grants import Granted, Ranges
from whatleaks.threat.model import Conduct, Memory, ThreatModel, must_remember, plain_messages
from whatleaks.threat.views.shared import SharedRegressionView
from whatleaks.wire.message import Message


def _shared(
    received: Sequence[Message],
    memory: Memory,
    granted: Granted,
    view: type[SharedRegressionView],
) -> SharedRegressionView:
    history = must_remember(memory, SharedHistory, "weights: it trained nothing on shares")
    came = plain_messages(received, "weight-share")
    if len(came) != 2:  # of the other's first weights, and of its own last ones
        raise WireError(f"the active party received {len(came)} shares of weights instead of 2")
    return view(history, granted.get(Ranges), memory.unknown)


SHARED = threat(
    ThreatModel(
        name="shared",
        conduct=Conduct.CURIOUS,
        sees="its own weights at the end of a training on secret shares; nobody decrypts a "
        "gradient for it",
        grants=frozenset({Ranges}),
        reads=frozenset({"weight-share"}),
        views=(SharedRegressionView,),
        project=_shared,
    )
)
