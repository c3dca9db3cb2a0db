"""The regression without an arbiter of the catalog: what is left when nobody decrypts gradients.

The records, first weights, made-up columns and rate are those of the regression with an arbiter
on one batch, so that the two can be compared. Two parties only: shares are cut in two.

Streams used: ``batch``, ``active/fakes`` and ``PARTY/weights``. Keys, shares and masks are drawn
from the system's randomness: no number of the training depends on them but by a last digit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from whatleaks import catalog
from whatleaks.arrays import Floats, Ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.detectors.protocol import Detector
from whatleaks.errors import UsageError, argument
from whatleaks.federation.coalitions import victims
from whatleaks.federation.protocol import Federation, Progress
from whatleaks.federation.regression.run import records_that_train
from whatleaks.federation.regression.trained import (
    TrainedOnBatch,
    ridge_classes,
    ridge_values,
    tables_of,
)
from whatleaks.federation.roles import Hijacker
from whatleaks.federation.sshe.settings import SharedModelSettings, SharedSettings
from whatleaks.federation.summed.trained import public_ranges
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Grant, Ranges
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE

if TYPE_CHECKING:
    from whatleaks.federation.sshe.training import SharedRun


class SharedTrained(TrainedOnBatch):
    """A training on shares: each party has its own weights, and nobody has seen a gradient."""

    def __init__(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: SharedSettings,
        streams: Streams,
        run: SharedRun,
    ) -> None:
        super().__init__(holdings, rows, settings.regression, streams, settings.formula)
        self.run = run

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return the public ranges: there is no prediction phase to ask in."""
        unknown = victims(self.holdings, coalition)
        return (public_ranges(sum(self.holdings.columns[party].shape[1] for party in unknown)),)

    def memory(self, party: str) -> tuple[object, ...]:
        """Return the active party's weights, before and after."""
        return (self.run.active,) if party == ACTIVE else ()

    def notes(self) -> tuple[str, ...]:
        """Tell what one number for each record takes."""
        return (
            *super().notes(),
            "without an arbiter no gradient is decrypted: the partner's own weights at the end are "
            "equations for one number per record, and only with as many columns as records in all.",
        )


@catalog.federation(
    "shared-regression",
    title="Linear or logistic regression on secret shares and ciphertexts, without an arbiter",
    paper="the SSHE family, as hetero-SSHE regression in FATE",
)
class SharedRegressionFederation(Federation):
    """Regression of two parties without an arbiter."""

    stream = "encrypted"  # the same records and first weights as with an arbiter
    recorded = True
    pair = True
    shares = True
    settings_type = SharedModelSettings
    models: ClassVar[Mapping[str, SharedModelSettings]] = {
        "shared-linear": SharedModelSettings(),
        "shared-logistic": SharedModelSettings("logistic"),
    }
    shows = frozenset({"weight-share"})

    def offers(self, settings: SharedModelSettings) -> frozenset[type[Grant]]:
        """The public ranges, and no answers to queries."""
        del settings
        return frozenset({Ranges})

    def choose_rows(
        self,
        holdings: Holdings,
        chosen: Rows,
        pool: Ints,
        settings: SharedModelSettings,
        streams: Streams,
    ) -> Rows:
        """Train on some records and attack these; judge accuracy on all that did not train."""
        if len(holdings.passives) > 1:
            raise UsageError(
                f"a regression without an arbiter has two parties, got {len(holdings.passives)} "
                f"passive ones: use {argument('model')} encrypted, or one passive party"
            )
        return records_that_train(holdings, chosen, pool, settings.regression, streams)

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: SharedModelSettings,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> SharedTrained:
        """Train on shares and real ciphertexts of ``rows.training`` over ``channel``."""
        from whatleaks.federation.sshe.training import run_shared

        del progress
        self.refuse(hijacker, detector)
        own, (passive,), target = tables_of(holdings, rows, settings.formula)
        chosen = settings.for_batch(own, passive.shape[1])
        done = run_shared(own, passive, target, chosen, streams, channel)
        return SharedTrained(holdings, rows, chosen, streams, done)

    def alone(
        self, holdings: Holdings, rows: Rows, settings: SharedModelSettings, streams: Streams
    ) -> Ints:
        """Class by the minimum of the loss on the batch, over the own columns only."""
        del streams
        own = holdings.columns[ACTIVE]
        return ridge_classes(own, holdings, rows.training, rows.judged, settings.alpha)

    def alone_scores(
        self, holdings: Holdings, rows: Rows, settings: SharedModelSettings, streams: Streams
    ) -> Floats | None:
        """Say that there are only classes, as with an arbiter."""
        del holdings, rows, settings, streams
        return None

    def alone_values(
        self, holdings: Holdings, rows: Rows, settings: SharedModelSettings
    ) -> Floats | None:
        """Predict a numeric label itself, over the own columns only."""
        return ridge_values(holdings.columns[ACTIVE], holdings, rows, settings.alpha)
