"""Letting an attack loose: on a copy by bytes, in this process or in a fresh one.

In the same process Python can always reach other objects (``gc``), so the copy by bytes
guards against mistakes, not against malice. ``isolated`` starts a new interpreter in an
empty directory that gets the view on its standard input and nothing else from us.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import whatleaks
from whatleaks.attacks.protocol import Attack
from whatleaks.codec import decode, encode
from whatleaks.errors import AttackError, WhatleaksError
from whatleaks.threat.guess import BranchGuess, Guess, IntervalGuess, ValueGuess


@dataclass(frozen=True)
class Committed:
    """An attack's one answer, and how it came about."""

    name: str
    guess: Guess
    seconds: float
    isolated: bool
    settings: dict[str, str | int | float | bool] = field(default_factory=dict)


def commit(
    attack: Attack[Any], view: Any, rng: np.random.Generator, *, isolated: bool = False
) -> Committed:
    """Run one attack on a byte copy of its view and return its answer."""
    data = encode(view)
    start = time.perf_counter()
    guess = _in_child(attack, data, rng) if isolated else attack.infer(decode(data), rng)
    seconds = time.perf_counter() - start
    return Committed(attack.name, guess, seconds, isolated, _settings(attack))


def _settings(attack: Any) -> dict[str, str | int | float | bool]:
    """Return the plain settings of an attack, to stand beside its result."""
    if not is_dataclass(attack):
        return {}
    named = ((f.name, getattr(attack, f.name)) for f in fields(attack) if f.name != "name")
    return {name: value for name, value in named if isinstance(value, str | int | float | bool)}


def _in_child(attack: Attack[Any], view: bytes, rng: np.random.Generator) -> Guess:
    package_home = str(Path(whatleaks.__file__).resolve().parent.parent)
    programme = (
        f"import sys; sys.path.insert(0, {package_home!r}); "
        "from whatleaks.auditor.isolation import child; child()"
    )
    task = encode({"attack": attack, "view": view, "state": rng.bit_generator.state})
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [sys.executable, "-I", "-c", programme],
            input=task,
            capture_output=True,
            cwd=empty,
            env=keep,
            check=False,
        )
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        raise AttackError(f"the isolated attack {attack.name} failed: {last[0]}")
    guess = decode(done.stdout)
    if not isinstance(guess, ValueGuess | IntervalGuess | BranchGuess):
        raise AttackError(f"the isolated attack {attack.name} did not return a guess")
    return guess


def child() -> None:
    """Run in the fresh interpreter: read a task, write a guess."""
    import importlib
    import pkgutil

    import whatleaks.attacks
    import whatleaks.threat.views

    for room in (whatleaks.attacks, whatleaks.threat.views):
        for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
            importlib.import_module(module.name)
    task = decode(sys.stdin.buffer.read())
    bits = np.random.PCG64()
    bits.state = task["state"]
    try:
        guess = task["attack"].infer(decode(task["view"]), np.random.Generator(bits))
    except WhatleaksError as error:
        sys.exit(str(error))
    sys.stdout.buffer.write(encode(guess))
