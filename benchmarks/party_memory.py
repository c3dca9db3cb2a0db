"""How much a party's memory grows with every epoch, as a real process without a transcript.

    python benchmarks/party_memory.py [--records 400] [--epochs 60]

Three processes train an encrypted linear regression (keys of 512 bits: sizes of messages scale with
the key, what is kept does not). The resident memory of each is read when it says that an epoch is
over; the slope over the second half is what one more epoch costs. It was 0.22 MB at 400 records.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "contract"))

from test_processes import SMALL, Files, Processes

from whatleaks.crypto.certificates import make_certificates


def resident(process: int) -> int:
    """Return the kilobytes that a process holds in memory."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


class Quiet(Processes):
    """Parties that are not asked for a transcript."""

    def start(self, name: str, *flags: str) -> subprocess.Popen[str]:
        """Start a party as a user does."""
        named = ["--role", name, "--name", name, "--config", "party.toml"]
        return subprocess.Popen(
            [sys.executable, "-u", "-m", "whatleaks.cli", "party", *named, *flags],
            cwd=self.folder / name,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def main() -> None:
    """Train, read, fit a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=400)
    parser.add_argument("--epochs", type=int, default=60)
    chosen = parser.parse_args()
    rng = np.random.default_rng(0)
    ids = [f"r{i}" for i in range(chosen.records)]
    y = (rng.uniform(size=chosen.records) > 0.5).astype(float)
    files: dict[str, Files | None] = {
        "active": Files(rng.uniform(size=(chosen.records, 5)), ids, y),
        "passive": Files(rng.uniform(size=(chosen.records, 5)), ids),
        "arbiter": None,
    }
    settings = replace(
        SMALL, epochs=chosen.epochs, batch_size=100, learning_rate=1e-4, queries=False
    )
    kept = {key: value for key, value in vars(settings).items() if value is not None}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        keys = folder / "keys"
        make_certificates(keys, {name: name for name in files})
        parties = Quiet(folder, keys, {"protocol": "linear"}, kept, files)
        with parties.started() as running:
            seen: dict[str, list[int]] = {"active": [], "arbiter": []}
            told = running["active"].stdout
            assert told is not None
            for line in told:
                if ": epoch " in line:
                    for name, numbers in seen.items():
                        numbers.append(resident(running[name].pid))
            if len(seen["active"]) < chosen.epochs:
                sys.exit(running["active"].communicate()[1])
    for name, numbers in seen.items():
        half = numbers[len(numbers) // 2 :]
        slope = np.polyfit(np.arange(len(half)), half, 1)[0]
        print(
            f"{name}: {len(numbers)} epochs of {chosen.records} records, {numbers[0] / 1024:.1f} MB "
            f"after the first, {numbers[-1] / 1024:.1f} MB after the last; "
            f"{slope / 1024:+.4f} MB an epoch over the second half"
        )


if __name__ == "__main__":
    main()
