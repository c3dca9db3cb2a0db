"""Joint trees under the white-box threats: the released class of a tree, the votes of a forest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.baselines import BASELINES, Nothing
from whatleaks.attacks.path_restriction import PathRestriction
from whatleaks.attacks.protocol import Attack
from whatleaks.attacks.random_path import RandomPath
from whatleaks.auditor.evaluator import BranchScored, Evaluator, Scored
from whatleaks.auditor.filtered import without_close_columns
from whatleaks.auditor.isolation import commit
from whatleaks.auditor.prediction_unit import build_attacks
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.stage import Rows, Stage, choose_rows, classed_right
from whatleaks.auditor.units import ThreatScores, UnitResult
from whatleaks.data.preparation import Prepared
from whatleaks.defenses.registry import data_defenses, release_defenses
from whatleaks.errors import UsageError
from whatleaks.federation.joint_trees import FOREST, TREE, JointTrees, trees_of
from whatleaks.metrics.branching import branching_advantage, branching_rate
from whatleaks.metrics.measurement import Measurement
from whatleaks.models.tree import Tree
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Offer
from whatleaks.threat.guess import BranchGuess
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

FEDERATION = "joint-trees"
THREATS = ("white-box-tree", "white-box-forest")


def run_trees(
    prepared: Prepared, spec: AuditSpec, seed: int, streams: Streams, tell: Callable[[str], None]
) -> UnitResult:
    """Grow once, attack under the threat that fits the model, then try every defense that fits."""
    rows = choose_rows(prepared, spec.targets, streams.rng("targets"))
    tell(f"growing the joint {spec.model}")
    federation = grow(prepared, prepared.passive, rows, spec, streams)
    world = TreeWorld(prepared, streams, rows, federation, spec, seed)
    threat = next(name for name in spec.threats if name in THREATS)
    tell(f"attacking under the {threat} threat")
    attacks = build_attacks(spec, threat)
    found = world.attack(threat, attacks, baselines=True)
    defenses = []
    # Defenses are compared by the strongest attack on values: without one, none is tried.
    if spec.defenses and any(scored.role == "attack" for scored in found.scored):
        for defense in release_defenses():
            tell(f"trying {defense.name}")
            federation.with_defenses([defense])
            scores = world.attack(threat, attacks, baselines=False)
            defenses.append(world.defended(defense.name, scores))
        federation.with_defenses([])
        for rule in data_defenses():
            tell(f"trying {rule.name}")
            left = without_close_columns(prepared, rule)
            if isinstance(left, str):
                found = replace(found, notes=(*found.notes, f"Seed {seed}: {left}"))
                continue
            regrown = grow(left, left.passive, rows, spec, streams)
            other = replace(world, prepared=left, federation=regrown)
            scores = other.attack(threat, attacks, baselines=False)
            defenses.append(other.defended(rule.name, scores))
    alone = grow(prepared, sealed(prepared.passive[:, :0]), rows, spec, streams)
    return UnitResult(
        FEDERATION,
        seed,
        prepared.passive_columns,
        (found,),
        tuple(defenses),
        world.correct(),
        classed_right(alone, prepared, rows),
        len(rows.training),
    )


def grow(
    prepared: Prepared, passive: Floats, rows: Rows, spec: AuditSpec, streams: Streams
) -> JointTrees:
    """Train joint trees; with no passive columns they are what the active party has alone."""
    federation = JointTrees(
        prepared.active,
        passive,
        prepared.labels,
        len(prepared.classes),
        TREE if spec.model == "tree" else FOREST,
        streams,
        Channel(Transcript([])),
    )
    federation.train(rows.training)
    return federation


@dataclass
class TreeWorld(Stage[JointTrees]):
    """Grown trees, staged for attacks on their release."""

    spec: AuditSpec
    seed: int

    def _offer(self, ranges: tuple[Floats, Floats]) -> Offer:
        return Offer(trees=self.federation.model(), ranges=ranges)

    def attack(
        self, threat_name: str, attacks: list[Attack[Any]], *, baselines: bool
    ) -> ThreatScores:
        """Let every attack commit once and score it: values as values, paths as branches."""
        evaluator = self.evaluator()
        view = self.view(threat_name, self.rows.targets)
        scored: list[Scored] = []
        paths: list[BranchScored] = []
        model = self.federation.model()
        for attack in attacks:
            rng = self.streams.rng(f"attack/{threat_name}/{attack.name}")
            answer = commit(attack, view, rng, isolated=self.spec.isolated)
            if isinstance(answer.guess, BranchGuess) and isinstance(model, Tree):
                paths.append(evaluator.score_branches(answer, "attack", model))
            else:
                scored.append(evaluator.score(answer, "attack"))
        if baselines:
            scored += self.baselines(evaluator)
        scored += self.limits(evaluator, threat_name, view, alone=baselines)
        notes: list[str] = []
        if baselines:
            notes.append(self._tested())
        if baselines and paths and isinstance(model, Tree):
            rival = [
                evaluator.score_branches(
                    commit(attack, view, self.streams.rng(f"baseline/{attack.name}")),
                    "baseline",
                    model,
                )
                for attack in (RandomPath(), PathRestriction(use_release=False))
            ]
            notes.append(self._branches(paths[0], *rival))
        return ThreatScores(threat_name, evaluator.spread(), tuple(scored), tuple(notes))

    def branches(self, threat_name: str, attacks: Sequence[Attack[Any]]) -> list[BranchScored]:
        """Let every attack on a tree commit to a path per record, and count its branches."""
        model = self.federation.model()
        if not isinstance(model, Tree):
            raise UsageError("paths are guessed through one tree, this federation has a forest")
        evaluator = Evaluator(sealed(self.prepared.passive[self.rows.targets]), _nothing())
        view = self.view(threat_name, self.rows.targets)
        return [
            evaluator.score_branches(
                commit(attack, view, self.streams.rng(f"attack/{threat_name}/{attack.name}")),
                "attack",
                model,
            )
            for attack in attacks
        ]

    def values_and_branches(
        self, threat_name: str, guessers: Sequence[Attack[Any]]
    ) -> list[tuple[Scored, BranchScored]]:
        """Score guessed values as values and by the branches that they take (U Figs 7 and 8).

        Baselines are let loose on nothing but the table's shape.
        """
        truth = sealed(self.prepared.passive[self.rows.targets])
        evaluator = Evaluator(truth, _nothing())
        view = self.view(threat_name, self.rows.targets)
        own = sealed(self.prepared.active[self.rows.targets])
        found = []
        for guesser in guessers:
            blind = guesser in BASELINES
            kind = "baseline" if blind else "attack"
            stream = f"{kind}/{guesser.name}" if blind else f"{kind}/{threat_name}/{guesser.name}"
            shown = Nothing(*truth.shape) if blind else view
            answer = commit(guesser, shown, self.streams.rng(stream))
            scored = evaluator.score(answer, kind)
            trees = trees_of(self.federation.model())
            found.append((scored, evaluator.branches_of_values(answer, kind, trees, own)))
        return found

    def _tested(self) -> str:
        """Say which of the passive party's columns the model looks at."""
        model = self.federation.model()
        tested = np.unique(np.concatenate([t.feature[t.passive] for t in trees_of(model)]))
        names = [self.prepared.passive_columns[j - model.active_columns] for j in tested]
        return (
            f"Seed {self.seed}: the joint {self.spec.model} tests {len(names)} of your "
            f"{len(self.prepared.passive_columns)} columns"
            + (f": {', '.join(names)}." if names else ".")
        )

    def _branches(self, found: BranchScored, chance: BranchScored, own: BranchScored) -> str:
        """Put the branching rate, its baseline and their difference into one sentence."""
        try:
            rates = [
                branching_rate(s.nodes, s.right, self.streams.rng(f"branching/{s.name}"))
                for s in (found, chance, own)
            ]
            gain = branching_advantage(
                found.nodes,
                found.right,
                chance.nodes,
                chance.right,
                self.streams.rng("branching/gain"),
            )
        except UsageError as nothing:
            return f"Seed {self.seed}: {nothing}."
        empty = int((found.nodes == 0).sum())
        return (
            f"Seed {self.seed}: path restriction answers {_share(rates[0])} of the tests on your "
            f"columns right, a random path {_share(rates[1])}; the difference per record is "
            f"{100 * gain.value:.1f} points (95 % interval {100 * gain.low:.1f} to "
            f"{100 * gain.high:.1f}). Without the released class the partner's own columns alone give "
            f"{_share(rates[2])}. {empty} of {len(found.nodes)} records are left out: their "
            "guessed path tests none of your columns."
        )


def _nothing() -> Floats:
    """Return no other records: no limit is asked for."""
    return sealed(np.zeros((0, 0)))


def _share(rate: Measurement) -> str:
    return f"{rate.value:.1%} (95 % interval {rate.low:.1%} to {rate.high:.1%})"
