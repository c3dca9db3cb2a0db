"""Letting an attack loose: on a copy by bytes, in this process or in a fresh one.

In the same process Python can always reach other objects (``gc``), so the copy by bytes
guards against mistakes, not against malice. ``isolated`` starts a new interpreter that gets
the view on its standard input and nothing else from us: in a sandbox where the system has one,
else as a process in an empty folder. The answer says which.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from whatleaks.codec import decode, encode
from whatleaks.errors import AttackError, IsolationError, WhatleaksError
from whatleaks.federation.roles import ActiveSeat
from whatleaks.threat.guess import (
    BranchGuess,
    Guess,
    IntervalGuess,
    OutputGuess,
    PictureGuess,
    ValueGuess,
)
from whatleaks.trial.truth import Committed, Plain
from whatleaks.wire.expected import Post, Programme
from whatleaks.wire.sandbox import PROCESS, SANDBOX, finished, homes_of, load_homes

GUESSES = ValueGuess | IntervalGuess | BranchGuess | OutputGuess | PictureGuess
REFUSED = 3  # the child's exit code when the attack itself says that it cannot


def commit(
    attack: Any, view: Any, rng: np.random.Generator, *, isolated: bool = False
) -> Committed:
    """Run one attack on a byte copy of its view and return its answer."""
    data = encode(view)
    start = time.perf_counter()
    if isolated:
        guess, walls = _in_child(attack, data, type(view), rng)
    else:
        guess, walls = _here(attack, data, rng), ""
    seconds = time.perf_counter() - start
    return Committed(attack.name, guess, seconds, walls, settings_of(attack))


def stream_of(threat: str, attack: Any) -> str:
    """Name the stream of an attack's luck: its name's, or one that it shares with a sibling.

    Attacks that make different answers of one search name the same ``stream``.
    """
    return f"attack/{threat}/{getattr(attack, 'stream', attack.name)}"


def settings_of(attack: Any) -> dict[str, Plain]:
    """Return the plain settings of an attack, to stand beside its result."""
    if not is_dataclass(attack):
        return {}
    named = ((f.name, getattr(attack, f.name)) for f in fields(attack) if f.name != "name")
    return {name: value for name, value in named if isinstance(value, str | int | float | bool)}


def _here(attack: Any, view: bytes, rng: np.random.Generator) -> Guess:
    """Run in this process; the answer comes back by bytes too: no object of the attack survives."""
    guess = attack.infer(decode(view), rng)
    if not isinstance(guess, GUESSES):
        raise IsolationError(f"{attack.name} returned {type(guess).__name__}, which is no guess")
    copy: Guess = decode(encode(guess))
    return copy


def weakest(kinds: Sequence[str]) -> str:
    """Return how the least isolated of several runs was isolated."""
    return min(kinds, key=("", PROCESS, SANDBOX).index, default="")


def is_foreign(part: Any) -> bool:
    """Say whether a part is somebody else's: a plugin, a script, a notebook."""
    return not type(part).__module__.startswith("whatleaks.")


def _in_child(attack: Any, view: bytes, shown: type, rng: np.random.Generator) -> tuple[Guess, str]:
    homes = homes_of(type(attack), shown)
    task = encode(
        {
            "homes": homes,
            "attack": encode(attack),
            "view": view,
            "state": rng.bit_generator.state,
        }
    )
    done = finished("whatleaks.trial.isolation", "child", task, homes)
    if done.code == REFUSED:
        raise AttackError(done.said)
    if done.code != 0:
        raise IsolationError(f"the isolated attack {attack.name} failed: {done.said}")
    guess = decode(done.answer)
    if not isinstance(guess, GUESSES):
        raise IsolationError(f"the isolated attack {attack.name} did not return a guess")
    return guess, done.isolated


def child() -> None:
    """Run in the fresh interpreter: read a task, write a guess."""
    task = decode(sys.stdin.buffer.read())
    load_homes(task["homes"])
    bits = np.random.PCG64()
    bits.state = task["state"]
    try:
        guess = decode(task["attack"]).infer(decode(task["view"]), np.random.Generator(bits))
    except AttackError as refused:
        print(refused, file=sys.stderr)
        sys.exit(REFUSED)
    except WhatleaksError as error:
        sys.exit(str(error))
    sys.stdout.buffer.write(encode(guess))


class IsolatedHijacker:
    """A hijacker whose programme runs in a fresh interpreter; messages are passed on as bytes."""

    def __init__(self, hijacker: Any) -> None:
        self._hijacker = hijacker
        self.name: str = hijacker.name

    def programme(self, seat: ActiveSeat, post: Post, rng: np.random.Generator) -> Programme[Any]:
        """Play the active party from another process."""
        from whatleaks.federation.isolated import isolated_programme

        programme: Programme[Any] = isolated_programme(self._hijacker, seat, post, rng)
        return programme
