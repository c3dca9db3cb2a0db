"""Roles in a split federation: what a trainer talks to, whoever plays the part.

The honest active party and a hijacker are two programmes of ``ActiveRole``. The training
loop has no hook and no flag for malice: it sends embeddings and gets gradients.
"""

from __future__ import annotations

from typing import Protocol

from whatleaks.arrays import Floats, Ints


class ActiveRole(Protocol):
    """The party with the labels: it receives embeddings and answers with their gradients."""

    def respond(self, rows: Ints, embeddings: Floats, labels: Ints | None) -> Floats:
        """Return the gradient of its loss by the embeddings of ``rows``.

        ``labels`` is None in normal batches: the role looks its own labels up by row. A
        detector with the power to change labels passes the ones to use instead.
        """
        ...


class PredictingRole(ActiveRole, Protocol):
    """An active party that also keeps the promise of the federation: it predicts."""

    def scores(self, own: Floats, embeddings: Floats) -> Floats:
        """Return one row of class probabilities per record, from both parties' shares."""
        ...
