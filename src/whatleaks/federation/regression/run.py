"""The encrypted regression of the catalog: the active party's curiosity about batches (Li et al.).

Without a target of its own a table's class number is the target. A batch is as large as the
attack can solve: as many records as the active party has columns, with fake columns added
where it has few (section 4.1); a passive party that is curious about the label adds its own.
One such batch trains, as in the paper, or with ``whole`` all records in batches that take
turns. What is attacked are the records that train.

Streams used: ``batch``, ``PARTY/fakes`` and ``PARTY/weights``. Keys are drawn from the
system's randomness, as keys must be: no number of the training depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from whatleaks import catalog
from whatleaks.arrays import Floats, Ints, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.detectors.protocol import Detector
from whatleaks.federation.protocol import Federation, Progress
from whatleaks.federation.regression.settings import (
    LINKS,
    LOGISTIC,
    RegressionSettings,
    SecureLinearSettings,
    with_fakes,
)
from whatleaks.federation.regression.trained import (
    RegressionTrained,
    ridge_classes,
    ridge_values,
    tables_of,
)
from whatleaks.federation.roles import Hijacker
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Grant, KnownValues, Queries, Ranges
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE


def with_spares(
    settings: RegressionSettings, chosen: SecureLinearSettings, records: int
) -> SecureLinearSettings:
    """Let the curious party make up spare columns where the arbiter runs an optimiser.

    As many again as a batch has records: they tell which roots of Adam's equation belong together
    (``models.adam_roots``). Not where the number of columns is said or agreed.
    """
    if settings.optimiser == "sgd" or settings.fake_columns >= 0 or settings.least_batch:
        return chosen
    return replace(
        chosen, fake_columns=chosen.fake_columns + min(chosen.batch_size or records, records)
    )


@catalog.federation(
    "regression",
    title="Linear or logistic regression on ciphertexts; an arbiter decrypts gradients",
    paper="Li, Bao, Xiang, Liu, Chen, Wang, Wang (secure FL), section 2.1",
)
class RegressionFederation(Federation):
    """Encrypted regression with an arbiter, with either link."""

    stream = "encrypted"
    recorded = True
    costly = True
    settings_type = RegressionSettings
    models: ClassVar[Mapping[str, RegressionSettings]] = {
        "encrypted": RegressionSettings(),
        "encrypted-logistic": RegressionSettings(link=LOGISTIC.name),
    }
    shows = frozenset({"gradient", "output"})

    def offers(self, settings: RegressionSettings) -> frozenset[type[Grant]]:
        """Answers to queries, unless the prediction phase stays closed."""
        return frozenset(
            {Ranges, KnownValues, Queries} if settings.queries else {Ranges, KnownValues}
        )

    def against(
        self, settings: RegressionSettings, adversary: tuple[str, ...]
    ) -> RegressionSettings:
        """Let the party that is curious add the fake columns: nobody else sees them."""
        return replace(settings, fakes_by=ACTIVE if ACTIVE in adversary else adversary[0])

    def choose_rows(
        self,
        holdings: Holdings,
        chosen: Rows,
        pool: Ints,
        settings: RegressionSettings,
        streams: Streams,
    ) -> Rows:
        """Train on some records and attack these; judge accuracy on all that did not train."""
        own = holdings.columns[ACTIVE].shape[1]
        count, _ = settings.sizes(own, len(chosen.training))
        batch = sealed_ints(streams.rng("batch").permutation(chosen.training)[:count])
        return Rows(batch, batch, sealed_ints([]), chosen.auxiliary, pool)

    def train(
        self,
        holdings: Holdings,
        rows: Rows,
        settings: RegressionSettings,
        streams: Streams,
        channel: Channel,
        *,
        hijacker: Hijacker | None = None,
        detector: Detector | None = None,
        progress: Progress | None = None,
    ) -> RegressionTrained:
        """Train on real ciphertexts of ``rows.training`` over ``channel``."""
        from whatleaks.federation.regression.linear import run_regression

        del progress
        self.refuse(hijacker, detector)
        link = LINKS[settings.link]
        own, passives, target = tables_of(holdings, rows, link)
        unknown = sum(table.shape[1] for table in passives)
        curious = settings.fakes_by
        if curious == ACTIVE:
            chosen = with_spares(settings, settings.for_batch(own, unknown), len(own))
        else:
            at = holdings.passives.index(curious)
            chosen = settings.for_batch(own, unknown, passives[at])
            chosen = with_spares(settings, chosen, len(own))
            passives[at] = with_fakes(passives[at], chosen, streams.rng(f"{curious}/fakes"))
            chosen = replace(chosen, fake_columns=0)
        done = run_regression(link, own, passives, target, chosen, streams, channel)
        return RegressionTrained(holdings, rows, chosen, streams, done, link, passives, curious)

    def alone(
        self, holdings: Holdings, rows: Rows, settings: RegressionSettings, streams: Streams
    ) -> Ints:
        """Class by the minimum of the loss on the batch, over the own columns only."""
        del streams
        own = holdings.columns[ACTIVE]
        link = LINKS[settings.link]
        return ridge_classes(own, holdings, rows.training, rows.judged, settings.alpha, link)

    def alone_scores(
        self, holdings: Holdings, rows: Rows, settings: RegressionSettings, streams: Streams
    ) -> Floats | None:
        """Say that there are only classes: a regression on class numbers has no probabilities."""
        del holdings, rows, settings, streams
        return None

    def alone_values(
        self, holdings: Holdings, rows: Rows, settings: RegressionSettings
    ) -> Floats | None:
        """Predict a numeric label itself, over the own columns only."""
        return ridge_values(holdings.columns[ACTIVE], holdings, rows, settings.alpha)
