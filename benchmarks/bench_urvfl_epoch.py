"""An epoch of URVFL on halves of MNIST against honest training plus the hijacker's own networks alone.

Goal: within 1.3 times of the two together, so that messages and copies are not what costs, and under 2 GiB.

    python benchmarks/bench_urvfl_epoch.py                     # 6,400 pictures: 100 steps of 64
    python benchmarks/bench_urvfl_epoch.py --records 54000     # the whole epoch: 843 steps

Processor time of one thread. What URVFL trains before the first batch is left out on both sides; the
synchronous variant trains all along.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.hijack.urvfl import Urvfl
from whatleaks.attacks.hijack.urvfl_sync import UrvflSync
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.federation.roles import Batch
from whatleaks.federation.schedule import agreed_batches
from whatleaks.federation.split.run import auxiliary_records, seat_of, train_split
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.seeds import Streams
from whatleaks.trial.pictures import picture_holdings
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

BATCH, GOAL, MOST = 64, 1.3, 2.0
NOBODY = sealed_ints([])


def timed(work: Callable[[], Any]) -> float:
    """Return the processor seconds of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def alone(hijacker: Any, holdings: Holdings, rows: Rows, settings: SplitSettings) -> float:
    """Return the seconds of the hijacker's own networks over as many batches, without a federation."""
    rng = np.random.default_rng(0)
    schedule = agreed_batches(len(rows.training), settings, rng)
    granted = (auxiliary_records(holdings, rows, ("active",)),)
    seat = seat_of(holdings, rows, settings, schedule, probed=False, granted=granted)
    player = hijacker.player(seat, rng)
    sent = sealed(rng.normal(size=(len(schedule[0]), sum(seat.widths))).astype(np.float32))
    return timed(lambda: [player.respond(Batch(batch, sent, None)) for batch in schedule])


def main() -> None:
    """Print times, their ratio and the peak memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=6400, help="pictures that train")
    records = parser.parse_args().records
    torch.set_num_threads(1)
    auxiliary = records // 10
    scenario = Scenario(
        "mnist", data=Settings({"prepare": "pictures", "rows": records + auxiliary}), share=0.5
    )
    holdings, training, *_ = picture_holdings(scenario, Streams(0))
    rows = Rows(training[:records], NOBODY, NOBODY, training[records:], NOBODY)
    settings = SplitSettings(
        steps=records // BATCH,
        batch=BATCH,
        learning_rate=1e-3,
        network="cnn",
        height=28,
        scaling="pixels",
        precision="float32",
    )

    def trained(hijacker: Any) -> float:
        channel = Channel(Transcript([]))
        return timed(
            lambda: train_split(holdings, rows, settings, Streams(0), channel, hijacker=hijacker)
        )

    trained(None)  # load what is loaded once
    honest = trained(None)
    print(f"{records:,} pictures, {settings.steps} steps of {BATCH}; seconds of one thread")
    print(f"honest training                {honest:8.2f}")
    for hijacker in (Urvfl(pretraining=1), UrvflSync()):
        own, whole = alone(hijacker, holdings, rows, settings), trained(hijacker)
        ratio = whole / (honest + own)
        print(f"{hijacker.name + ', its networks alone':<30} {own:8.2f}")
        print(
            f"{hijacker.name + ', the epoch':<30} {whole:8.2f}   {ratio:.2f} of both together "
            f"(goal {GOAL}: {'met' if ratio <= GOAL else 'missed'})"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GiB (goal {MOST}: {'met' if peak <= MOST else 'missed'})")


if __name__ == "__main__":
    main()
