"""A split federation staged for attack: honest or hijacked, watched or not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryMean, AuxiliaryRegression
from whatleaks.attacks.baselines import BASELINES, Nothing
from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack, FshaSettings
from whatleaks.auditor.evaluator import Evaluator, Scored
from whatleaks.auditor.isolation import commit
from whatleaks.data.preparation import Prepared
from whatleaks.detectors.protocol import Detector
from whatleaks.federation.honest_active import HonestActive, HonestSettings
from whatleaks.federation.split import ACTIVE, SplitRun, SplitSettings, run_split
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Auxiliary, Offer, hand_out
from whatleaks.threat.model import Own
from whatleaks.threat.split import SPLIT_HIJACK
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

AUXILIARY_SHARE = 0.1  # Yao et al. VI-A: one auxiliary record to ten that train
FEWEST_AUXILIARY = 10


@dataclass(frozen=True)
class Hijacked:
    """A hijacked training: what the attack, the baselines and the limit got, and whether it was halted."""

    run: SplitRun
    scored: tuple[Scored, ...]
    spread: Floats


@dataclass(frozen=True)
class Honest:
    """An honest training: which targets it classes right, and whether it was halted by mistake."""

    run: SplitRun
    correct: Ints


@dataclass(frozen=True)
class SplitWorld:
    """The table cut into records that train, records granted to the adversary, and targets."""

    prepared: Prepared
    training: Ints
    auxiliary: Ints
    targets: Ints
    others: Ints
    streams: Streams
    settings: SplitSettings

    def hijack(
        self, detector: Detector | None, *, isolated: bool = False, limits: bool = True
    ) -> Hijacked:
        """Train with an FSHA hijacker in the active role, then let it and the baselines guess."""
        columns = self.prepared.passive
        granted = hand_out(SPLIT_HIJACK.grants, Offer(auxiliary=self._records(self.auxiliary)))
        role = FeatureSpaceHijack(
            granted.auxiliary,
            FshaSettings(encoder=self.settings.bottom),
            self.streams.rng("hijacker"),
        )
        run = self._run(role, detector)
        view = self._view(run, granted, self.targets)
        evaluator = Evaluator(sealed(columns[self.targets]), sealed(columns[self.others]))
        scored = [
            evaluator.score(
                commit(role.attack(), view, self.streams.rng("attack"), isolated=isolated), "attack"
            )
        ]
        for guess in (AuxiliaryMean(), AuxiliaryRegression()):
            scored.append(
                evaluator.score(commit(guess, view, self.streams.rng(guess.name)), "baseline")
            )
        nothing = Nothing(len(self.targets), columns.shape[1])
        for baseline in BASELINES:
            rng = self.streams.rng(f"baseline/{baseline.name}")
            scored.append(evaluator.score(commit(baseline, nothing, rng), "baseline"))
        if limits:
            seen = view.evidence()
            others = (
                self._view(run, granted, self.others).evidence() if len(self.others) else seen[:0]
            )
            scored.append(evaluator.limit(seen, others, self.streams.rng("limit")))
            own, other_own = (self.prepared.active[rows] for rows in (self.targets, self.others))
            scored.append(evaluator.limit(own, other_own, self.streams.rng("limit"), "alone"))
        return Hijacked(run, tuple(scored), evaluator.spread())

    def honest(self, detector: Detector | None) -> Honest:
        """Train with an honest active role."""
        prepared = self.prepared
        role = HonestActive(
            sealed(prepared.active[self.training]),
            sealed_ints(prepared.labels[self.training]),
            len(prepared.classes),
            self.settings.bottom.output,
            HonestSettings(),
            self.streams.rng("honest"),
        )
        run = self._run(role, detector)
        scores = role.scores(
            sealed(prepared.active[self.targets]), run.passive.embed(prepared.passive[self.targets])
        )
        return Honest(run, sealed_ints(scores.argmax(axis=1) == prepared.labels[self.targets]))

    def _run(self, role: Any, detector: Detector | None) -> SplitRun:
        passive = sealed(self.prepared.passive[self.training])
        channel = Channel(Transcript([]))  # no threat here asks for training messages afterwards
        return run_split(passive, role, self.settings, self.streams, channel, detector)

    def _view(self, run: SplitRun, granted: Any, rows: Ints) -> Any:
        """Have the embeddings of ``rows`` sent on a channel of their own and project the view."""
        channel = Channel(Transcript([ACTIVE]))
        replace(run, channel=channel).emit(sealed(self.prepared.passive[rows]))
        own = Own(
            sealed(self.prepared.active[rows]),
            sealed(self.prepared.active[self.training]),
            sealed_ints(self.prepared.labels[self.training]),
            self.prepared.passive.shape[1],
        )
        return SPLIT_HIJACK.project(channel.transcript.received_by(ACTIVE), own, granted)

    def _records(self, rows: Ints) -> Auxiliary:
        return Auxiliary(
            sealed(self.prepared.active[rows]),
            sealed(self.prepared.passive[rows]),
            sealed_ints(self.prepared.labels[rows]),
        )


def stage(
    prepared: Prepared, targets: Ints, others: Ints, streams: Streams, settings: SplitSettings
) -> SplitWorld:
    """Set some of the training records apart as the adversary's auxiliary ones."""
    order: Ints = streams.rng("auxiliary").permutation(prepared.training)
    count = max(
        FEWEST_AUXILIARY, int(np.ceil(len(order) * AUXILIARY_SHARE / (1 + AUXILIARY_SHARE)))
    )
    count = min(count, len(order) - 1)
    return SplitWorld(
        prepared,
        sealed_ints(order[count:]),
        sealed_ints(order[:count]),
        targets,
        others,
        streams,
        settings,
    )
