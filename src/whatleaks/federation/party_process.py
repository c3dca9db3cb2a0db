"""One party as a process of its own: its files, its keys, its programme, its results."""

from __future__ import annotations

from pathlib import Path

from whatleaks.federation.boost_process import BoostProcess
from whatleaks.federation.horizontal_process import HorizontalProcess
from whatleaks.federation.party_base import PartyProcess, Tell
from whatleaks.federation.party_config import HORIZONTAL, SECURE_BOOST, PartyConfig
from whatleaks.federation.regression_process import RegressionProcess
from whatleaks.wire.transcript import Transcript

_PROCESSES: dict[str, type[PartyProcess]] = {
    SECURE_BOOST: BoostProcess,
    HORIZONTAL: HorizontalProcess,
}


def run_party(
    config: PartyConfig,
    resume: bool = False,
    transcript: Path | None = None,
    tell: Tell = print,
    join_timeout: float = 30.0,
) -> None:
    """Run one party from start to end; what it received is saved even if the run breaks."""
    heard = Transcript()
    process = _PROCESSES.get(config.plan.protocol, RegressionProcess)
    try:
        process(config, resume, heard, tell).run(join_timeout)
    finally:
        if transcript is not None:
            heard.save(transcript)
