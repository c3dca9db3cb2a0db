"""One party as a process of its own: its files, its keys, its programme, its results."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from whatleaks.federation.processes.party_base import PartyProcess, Tell
from whatleaks.federation.processes.party_config import (
    ADDITIVE,
    HORIZONTAL,
    JOINT_NETWORK,
    SECURE_BOOST,
    SHARED,
    SPLIT,
    TREES,
    PartyConfig,
)
from whatleaks.federation.regression.settings import LINEAR, LOGISTIC
from whatleaks.wire.transcript import Transcript

# The folder of every protocol and the class of its parties; only the own one is loaded.
_PROCESSES = {
    LINEAR.name: ("regression", "RegressionProcess"),
    LOGISTIC.name: ("regression", "RegressionProcess"),
    SECURE_BOOST: ("boost", "BoostProcess"),
    HORIZONTAL: ("horizontal", "HorizontalProcess"),
    ADDITIVE: ("additive", "AdditiveProcess"),
    JOINT_NETWORK: ("joint_network", "JointNetworkProcess"),
    TREES: ("trees", "TreesProcess"),
    SPLIT: ("split", "SplitProcess"),
    SHARED: ("sshe", "SharedProcess"),
}


def run_party(
    config: PartyConfig,
    resume: bool = False,
    transcript: Path | None = None,
    tell: Tell = print,
    join_timeout: float = 30.0,
) -> None:
    """Run one party from start to end; what it received is saved even if the run breaks.

    Without ``transcript`` no message is kept: a party's memory does not grow with its training.
    """
    heard = Transcript(None if transcript is not None else ())
    folder, name = _PROCESSES[config.plan.protocol]
    module = import_module(f"whatleaks.federation.{folder}.process")
    process: type[PartyProcess] = getattr(module, name)
    try:
        process(config, resume, heard, tell).run(join_timeout)
    finally:
        if transcript is not None:
            heard.save(transcript)
