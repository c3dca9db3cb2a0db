"""A hijacker in a fresh interpreter: it gets its seat and its messages as bytes, and nothing else.

In one process Python can always reach other objects (``gc``). An isolated hijacker runs in an
empty directory, without our environment; every message it sends or receives crosses a pipe.
Here it is a programme like any other, so the federation cannot tell the difference.

On the pipe every record is preceded by its length. From us: the task, then the payloads it
waited for. From the child: ``Sending`` and ``Waiting``, and in the end ``Finished`` or
``Refused``.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from whatleaks.codec import decode, encode, travels
from whatleaks.errors import AttackError, IsolationError, WhatleaksError, WireError
from whatleaks.federation.roles import ActiveSeat, Hijacker
from whatleaks.wire.expected import Expected, Post, Programme
from whatleaks.wire.message import Message, Payload
from whatleaks.wire.parties import ACTIVE
from whatleaks.wire.sandbox import command, environment, homes_of, load_homes

_LARGEST = 1 << 34  # bytes of one record: a longer one is nonsense


@travels
@dataclass(frozen=True)
class Sending:
    """The child hands in a message."""

    message: Message


@travels
@dataclass(frozen=True)
class Waiting:
    """The child waits for a message."""

    step: int
    sender: str
    kind: str
    shape: tuple[int, ...]
    readable: bool


@travels
@dataclass(frozen=True)
class Finished:
    """The child is done: this is the attack that reads the embeddings."""

    reading: Any


@travels
@dataclass(frozen=True)
class Refused:
    """The hijacker gave up, for a reason of one line."""

    reason: str


def isolated_programme(
    hijacker: Hijacker, seat: ActiveSeat, post: Post, rng: np.random.Generator
) -> Programme[Any]:
    """Relay a hijacker's messages between its own interpreter and ``post``; return its attack.

    A hijacker that says that it cannot is an ``AttackError``, one that dies or answers
    nonsense an ``IsolationError``.
    """
    task = {
        "homes": homes_of(type(hijacker)),
        "hijacker": encode(hijacker),
        "seat": encode(seat),
        "state": rng.bit_generator.state,
    }
    with _child(hijacker) as (inbox, outbox):
        _write(outbox, encode(task))
        while True:
            said = _said(inbox, hijacker.name)
            if isinstance(said, Sending):
                sent = said.message
                if sent.sender != ACTIVE or sent.receiver not in seat.passives:
                    way = f"from {sent.sender!r} to {sent.receiver!r}"
                    raise _nonsense(hijacker.name, f"a message {way}")
                post.send(sent.step, ACTIVE, sent.receiver, sent.kind, sent.payload)
            elif isinstance(said, Waiting):
                shape = tuple(said.shape)
                due = Expected(said.step, said.sender, said.kind, shape, said.readable)
                payload = yield due
                _write(outbox, encode(payload))
            elif isinstance(said, Finished):
                return said.reading
            elif isinstance(said, Refused):
                raise AttackError(said.reason)
            else:
                raise _nonsense(hijacker.name, "a record that is no part of the protocol")


@contextmanager
def _child(hijacker: Hijacker) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Start the fresh interpreter; whatever happens, it ends with this block."""
    name = hijacker.name
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command("whatleaks.federation.isolated", "child", homes_of(type(hijacker))),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=empty,
            env=environment(),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdout.read(1)  # whether its walls stand: the reading's own answer tells
            yield process.stdout, process.stdin
        except EOFError:
            process.wait()
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
            why = last[0] if last else f"it left with code {process.returncode}"
            raise IsolationError(f"the isolated hijacker {name} died: {why}") from None
        finally:
            process.kill()
            process.wait()
            for end in (process.stdin, process.stdout):
                try:
                    end.close()
                except BrokenPipeError:
                    continue


def _said(inbox: IO[bytes], name: str) -> Any:
    """Read one record of the child; bytes that are none are refused."""
    try:
        return decode(_read(inbox))
    except WireError as error:
        raise _nonsense(name, str(error)) from None


def _nonsense(name: str, why: str) -> IsolationError:
    return IsolationError(f"the isolated hijacker {name} answered nonsense: {why}")


def _read(inbox: IO[bytes]) -> bytes:
    header = inbox.read(8)
    if len(header) < 8:
        raise EOFError
    (size,) = struct.unpack("<Q", header)
    if size > _LARGEST:
        raise WireError(f"a record of {size} bytes is announced")
    data = inbox.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _write(outbox: IO[bytes], data: bytes) -> None:
    try:
        outbox.write(struct.pack("<Q", len(data)) + data)
        outbox.flush()
    except BrokenPipeError:
        raise EOFError from None


class _Pipe:
    """The child's post: a message goes up the pipe."""

    def __init__(self, outbox: IO[bytes]) -> None:
        self._outbox = outbox

    def send(self, step: int, sender: str, receiver: str, kind: str, payload: Payload) -> None:
        """Hand one message to the parent."""
        message = Message(step, sender, receiver, kind, payload)
        _write(self._outbox, encode(Sending(message)))


def child() -> None:
    """Run in the fresh interpreter: read a task, play it, tell the attack that came of it."""
    # What the hijacker prints must not get between the records.
    inbox, outbox = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    task = decode(_read(inbox))
    load_homes(tuple(tuple(home) for home in task["homes"]))
    hijacker, seat = decode(task["hijacker"]), decode(task["seat"])
    bits = np.random.PCG64()
    bits.state = task["state"]
    try:
        said = encode(Finished(_play(hijacker, seat, np.random.Generator(bits), inbox, outbox)))
    except WhatleaksError as error:
        said = encode(Refused(str(error)))
    _write(outbox, said)


def _play(
    hijacker: Hijacker,
    seat: ActiveSeat,
    rng: np.random.Generator,
    inbox: IO[bytes],
    outbox: IO[bytes],
) -> Any:
    programme = hijacker.programme(seat, _Pipe(outbox), rng)
    try:
        due = next(programme)
        while True:
            waiting = Waiting(due.step, due.sender, due.kind, due.shape, due.readable)
            _write(outbox, encode(waiting))
            due = programme.send(decode(_read(inbox)))
    except StopIteration as end:
        return end.value
