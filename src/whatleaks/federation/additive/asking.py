"""An active party that asks about the same records again and again, each time with another own part.

The coordinator adds up what it is sent. That the active party's outputs come from its columns, and
that they are the same when it asks again, nobody can check. Everybody else follows the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.defenses.protocol import Guard
from whatleaks.federation.summed.parties import Coordinator, Holder
from whatleaks.models.asked_otherwise import OtherAnswers, Questioner
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Expected, Post, Programme, read_plain
from whatleaks.wire.mailbox import UNBOUNDED
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE, COORDINATOR


def question(outputs: Floats, classes: int, step: int, post: Post) -> Programme[Floats]:
    """Play the active party for one prediction: send these outputs, whatever its columns are."""
    post.send(step, ACTIVE, COORDINATOR, "outputs", Plain(sealed(outputs)))
    return read_plain((yield Expected(step, COORDINATOR, "scores", (len(outputs), classes), True)))


def asked_otherwise(
    holders: Mapping[str, Holder],
    tables: Mapping[str, Floats],
    coordinator: Coordinator,
    classes: int,
    questions: int,
    channel: Channel,
    guard: Guard,
) -> OtherAnswers:
    """Run so many predictions of the same records; each question follows from the answers before.

    The coordinator remembers its first answers, for a defense that repeats them.
    """
    honest = holders[ACTIVE].emit(tables[ACTIVE])
    chooses = Questioner(len(honest), classes)
    shifts, answers = [], []
    before: Floats | None = None
    for step in range(questions):
        exchange, shift = Exchange(channel, UNBOUNDED), chooses.shift()
        programmes: dict[str, Programme[Any]] = {
            name: question(honest + shift, classes, step, exchange)
            if name == ACTIVE
            else holder.release(tables[name], step, exchange)
            for name, holder in holders.items()
        }
        released = coordinator.release(len(honest), (), step, exchange, guard, before)
        ended = exchange.drive({**programmes, COORDINATOR: released})
        before = ended[COORDINATOR] if before is None else before
        chooses.hear(shift, ended[ACTIVE])
        shifts.append(shift)
        answers.append(ended[ACTIVE])
    return OtherAnswers(sealed(np.array(shifts)), sealed(np.array(answers)))
