"""The additive federation under the prediction threats: white box, black box, agnostic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.attacks.protocol import Attack
from whatleaks.attacks.registry import ATTACKS
from whatleaks.auditor.evaluator import Evaluator, Scored
from whatleaks.auditor.filtered import without_close_columns
from whatleaks.auditor.gated import released, simulation
from whatleaks.auditor.isolation import Committed, commit
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.stage import Rows, Stage, choose_rows
from whatleaks.auditor.units import DefenseScores, ThreatScores, UnitResult
from whatleaks.data.preparation import Prepared
from whatleaks.defenses.registry import (
    data_defenses,
    gates,
    release_defenses,
    training_defenses,
)
from whatleaks.defenses.release_gate import ReleaseGate
from whatleaks.federation.additive import ACTIVE, AdditiveFederation, AdditiveSettings
from whatleaks.federation.joint_network import JointNetworkFederation, JointNetworkSettings
from whatleaks.metrics.association import followed
from whatleaks.models.linear import Linear
from whatleaks.models.logistic import fit_logistic
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Offer
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

FEDERATION = "additive"
THREATS = ("white-box", "black-box", "agnostic")
# Under a defense only these are tried again: they are the strongest of their kind and quick.
TRIED_AGAIN = {
    "lr": ("equality-solving", "equality-solving-clipped", "half-star"),
    "network": ("gradient-inversion-kl",),
    "joint-network": ("generative-regression",),
}

SIMULATED = "equality-solving-clipped"  # by the gate
SHOWN = 10  # records shown with --show-values

Progress = Callable[[str], None]
Answers = dict[tuple[str, str], tuple[Evaluator, Committed]]


def build_attacks(spec: AuditSpec, threat: str, names: tuple[str, ...] = ()) -> list[Attack[Any]]:
    """Return the attacks that fit a threat model and the kind of model."""
    found: list[Attack[Any]] = []
    for card in ATTACKS:
        if (
            threat in card.threats
            and spec.model in card.models
            and (not names or card.name in names)
        ):
            inversion = card.name.startswith("gradient-inversion")
            found.append(card.build(**({"steps": spec.inversion_steps} if inversion else {})))
    return found


def build_federation(
    prepared: Prepared, spec: AuditSpec, streams: Streams, dropout: float = 0.0
) -> AdditiveFederation | JointNetworkFederation:
    """Return the federation that trains the spec's kind of model, not trained yet.

    Only the joint network knows dropout: additive networks are too small to drop from.
    """
    data = (prepared.active, prepared.passive, prepared.labels, len(prepared.classes))
    channel = Channel(Transcript([ACTIVE]))
    if spec.model == "joint-network":
        joint = JointNetworkSettings(hidden=spec.hidden, dropout=dropout)
        return JointNetworkFederation(*data, joint, streams, channel)
    return AdditiveFederation(*data, AdditiveSettings(hidden=spec.hidden), streams, channel)


def in_tenths(what: str, tell: Progress) -> Callable[[int, int], None]:
    """Return a step counter that reports every tenth of a training."""

    def report(step: int, steps: int) -> None:
        if step % max(1, steps // 10) == 0:
            tell(f"{what}, {100 * step // steps} %")

    return report


def run_prediction(
    prepared: Prepared, spec: AuditSpec, seed: int, streams: Streams, tell: Progress
) -> UnitResult:
    """Train once, then attack under every prediction threat that the spec names."""
    rows = choose_rows(prepared, spec.targets, streams.rng("targets"))
    tell("training the federation")
    federation = build_federation(prepared, spec, streams)
    federation.train(rows.training, in_tenths("training the federation", tell))
    world = PredictionWorld(prepared, streams, rows, federation, spec.isolated)

    threats = []
    for name in [t for t in spec.threats if t in THREATS]:
        tell(f"attacking under the {name} threat")
        threats.append(world.attack(name, build_attacks(spec, name), baselines=True))
    answers = dict(world.answers)  # without a defense in place
    defenses: list[DefenseScores] = []
    notes: list[str] = []
    if spec.defenses and "white-box" in spec.threats:
        defenses, notes = _try_defenses(world, spec, tell)
    threats = [
        replace(found, notes=(*found.notes, *(f"Seed {seed}: {note}" for note in notes)))
        if found.threat == "white-box"
        else found
        for found in threats
    ]
    return UnitResult(
        FEDERATION,
        seed,
        prepared.passive_columns,
        tuple(threats),
        tuple(defenses),
        world.correct(),
        correct_alone(prepared, rows),
        len(rows.training),
        world.samples(threats, answers) if spec.show_values else (),
    )


def _try_defenses(
    world: PredictionWorld, spec: AuditSpec, tell: Progress
) -> tuple[list[DefenseScores], list[str]]:
    """Attack again with one defense after another in place; notes say which had nothing to do."""
    again = build_attacks(spec, "white-box", TRIED_AGAIN[spec.model])
    found: list[DefenseScores] = []
    notes: list[str] = []
    for defense in release_defenses():
        tell(f"trying {defense.name}")
        world.federation.with_defenses([defense])
        scores = world.attack("white-box", again, baselines=False)
        found.append(world.defended(defense.name, scores))
    world.federation.with_defenses([])
    for training in training_defenses() if spec.model == "joint-network" else ():
        tell(f"training again with {training.name}")
        other = _trained_again(world, spec, world.prepared, training.dropout)
        scores = other.attack("white-box", again, baselines=False)
        found.append(other.defended(training.name, scores))
    if spec.model == "lr":  # the attacks on networks are too slow to simulate them twice and more
        attack = next(attack for attack in again if attack.name == SIMULATED)
        simulate = simulation(
            world.federation, len(world.prepared.passive_columns), attack, world.streams
        )
        for gate in gates(simulate):
            tell(f"trying {gate.name}")
            found.append(_gated(world, gate, again))
    for rule in data_defenses():
        tell(f"trying {rule.name}")
        left = without_close_columns(world.prepared, rule)
        if isinstance(left, str):
            notes.append(left)
            continue
        other = _trained_again(world, spec, left)
        found.append(other.defended(rule.name, other.attack("white-box", again, baselines=False)))
    return found, notes


def _trained_again(
    world: PredictionWorld, spec: AuditSpec, prepared: Prepared, dropout: float = 0.0
) -> PredictionWorld:
    """Train another federation on the same rows."""
    federation = build_federation(prepared, spec, world.streams, dropout)
    federation.train(world.rows.training)
    return replace(world, prepared=prepared, federation=federation)


def _gated(
    world: PredictionWorld, gate: ReleaseGate, again: Sequence[Attack[Any]]
) -> DefenseScores:
    """Attack what the gate released; it has simulated one of the attacks.

    A withheld score classes nobody, so it counts as wrong. Where the gate released next to
    nothing there is nothing to attack, and no score of an attack.
    """
    targets = world.rows.targets
    mask = released(world.federation, targets, gate)
    hits = np.zeros(len(targets), dtype=np.int64)
    columns = world.prepared.passive_columns
    if mask.sum() < 2:  # one record has no differences to follow
        nothing = sealed(np.zeros((0, len(columns))))
        return DefenseScores(gate.name, "white-box", (), sealed_ints(hits), nothing, columns)
    shown = replace(world, rows=replace(world.rows, targets=sealed_ints(targets[mask])))
    scores = shown.attack("white-box", again, baselines=False)
    hits[mask] = shown.correct()
    return replace(shown.defended(gate.name, scores), correct=sealed_ints(hits))


@dataclass
class PredictionWorld(Stage[AdditiveFederation | JointNetworkFederation]):
    """A trained additive or joint network, staged for attacks on its scores."""

    isolated: bool = False
    answers: Answers = field(default_factory=dict)

    def _offer(self, ranges: tuple[Floats, Floats]) -> Offer:
        return Offer(model=self.federation.model(), ranges=ranges)

    def attack(
        self,
        threat_name: str,
        attacks: Sequence[Attack[Any]],
        *,
        baselines: bool,
        limits: bool = True,
    ) -> ThreatScores:
        """Project the view of one threat model, let every attack commit once, score, add the limit."""
        evaluator = self.evaluator()
        view = self.view(threat_name, self.rows.targets)
        scored: list[Scored] = []
        for attack in attacks:
            rng = self.streams.rng(f"attack/{threat_name}/{attack.name}")
            answer = commit(attack, view, rng, isolated=self.isolated)
            scored.append(evaluator.score(answer, "attack"))
            self.answers[threat_name, attack.name] = evaluator, answer
        if baselines:
            scored += self.baselines(evaluator)
        if limits:
            scored += self.limits(evaluator, threat_name, view, alone=baselines)
        return ThreatScores(threat_name, evaluator.spread(), tuple(scored))

    def samples(
        self, threats: Sequence[ThreatScores], answers: Answers
    ) -> tuple[tuple[float, float, str, str], ...]:
        """Show truth beside guess for a few records of the worst column: the user asked for it."""
        found = [
            (followed(s.together[:, j], s.moved[:, j], t.spread[:, j]).value, t.threat, s.name, j)
            for t in threats
            for s in t.scored
            if s.role == "attack"
            for j in range(s.squared.shape[1])
        ]
        if not found:
            return ()
        _, threat, name, column = max(found, key=lambda entry: entry[0])
        evaluator, answer = answers[threat, name]
        pairs = evaluator.samples(answer, column, SHOWN)
        return tuple((*pair, self.prepared.passive_columns[column], name) for pair in pairs)


def correct_alone(prepared: Prepared, rows: Rows) -> Ints:
    """Class the targets with the active party's own columns only: what it has without joining."""
    outputs = 1 if len(prepared.classes) == 2 else len(prepared.classes)
    shape = Linear(sealed(np.zeros((prepared.active.shape[1], outputs))), sealed(np.zeros(outputs)))
    model = fit_logistic(prepared.active[rows.training], prepared.labels[rows.training], shape)
    z = model.logits(prepared.active[rows.targets])
    guess = (z[:, 0] > 0).astype(np.int64) if outputs == 1 else z.argmax(axis=1)
    return sealed_ints(guess == prepared.labels[rows.targets])
