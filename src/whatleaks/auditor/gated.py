"""Staging the release gate: which records' scores it lets out when it simulates an attack."""

from __future__ import annotations

from typing import Any

from whatleaks.arrays import Bools, Floats, Ints, sealed
from whatleaks.attacks.protocol import Attack
from whatleaks.defenses.release_gate import ReleaseGate, Simulate
from whatleaks.federation.additive import AdditiveFederation
from whatleaks.federation.joint_network import JointNetworkFederation
from whatleaks.federation.summed import ACTIVE
from whatleaks.seeds import Streams
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxPredictionView
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Plain
from whatleaks.wire.transcript import Transcript

Scoring = AdditiveFederation | JointNetworkFederation


def simulation(
    federation: Scoring, columns: int, attack: Attack[Any], streams: Streams
) -> Simulate:
    """Return the attack as a gate simulates it on own columns and scores; ``columns`` are unknown."""
    model = federation.model()

    def simulate(own: Floats, scores: Floats) -> Floats:
        view = WhiteBoxPredictionView(sealed(own), sealed(scores), columns, model)
        guess = attack.infer(view, streams.rng("gate"))
        assert isinstance(guess, ValueGuess)
        return guess.values

    return simulate


def released(federation: Scoring, rows: Ints, gate: ReleaseGate) -> Bools:
    """Put the gate in place for one prediction; say which of ``rows`` the active party was sent."""
    channel = Channel(Transcript([ACTIVE]))
    federation.with_gate(gate)
    federation.predict(rows, channel)
    federation.with_gate(None)
    sent = channel.transcript.received_by(ACTIVE)
    told = next(m for m in sent if m.kind == "released").payload
    assert isinstance(told, Plain)
    return told.values > 0.5
