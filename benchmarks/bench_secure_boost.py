"""How close SecureBoost comes to the arithmetic that it must do.

Trains 5 trees of depth 3 on a public set (credit cards: 30,000 x 23; the passive party holds
the second half of the columns) and counts every operation on ciphertexts. In the same run, and
on the same key, it measures one encryption, randomisation, addition, shift and decryption. The floor is
count times rate of these; subtractions and everything else, from messages to gains, are
overhead. The ratio is of processor times, which neighbours on the machine disturb
little; the limit in seconds is by the clock. Prints one line per fact and fails if a limit
is broken.

    python benchmarks/bench_secure_boost.py [--backend okamoto-uchiyama] [--data breast-cancer]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from whatleaks.arrays import Bools, Buckets, Ints
from whatleaks.codec import encode
from whatleaks.crypto.additive import PublicKey
from whatleaks.crypto.ciphers import Ciphers
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.crypto.keys import generate_keys
from whatleaks.data import load
from whatleaks.federation.boost.run import run
from whatleaks.federation.boost.settings import PairFormat, SecureBoostSettings
from whatleaks.models.boosted_trees import BoostSettings, train_joined
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

RATIO, SECONDS, GIB = 1.5, 180.0, 2.0


class Counting:
    """A scheme that counts its operations per element before it does them."""

    def __init__(self, ciphers: Ciphers) -> None:
        self._ciphers = ciphers
        self.scheme = ciphers.scheme
        self.key_bytes = ciphers.key_bytes
        self.largest = ciphers.largest
        self.done: Counter[str] = Counter()

    def encrypt(self, integers: BigInts) -> Any:
        """Count encryptions."""
        self.done["encryptions"] += len(integers)
        return self._ciphers.encrypt(integers)

    def add(self, left: Any, right: Any) -> Any:
        """Count additions."""
        self.done["additions"] += left.shape[0]
        return self._ciphers.add(left, right)

    def add_plain(self, vector: Any, integers: BigInts) -> Any:
        """Count additions of plain numbers: what drowns everything above the agreed size."""
        self.done["plain additions"] += len(integers)
        return self._ciphers.add_plain(vector, integers)

    def matmul_plain(self, matrix: BigInts, vector: Any) -> Any:
        """Not part of this protocol."""
        raise NotImplementedError("SecureBoost multiplies by no plain matrix")

    def subtract(self, left: Any, right: Any) -> Any:
        """Count subtractions."""
        self.done["subtractions"] += left.shape[0]
        return self._ciphers.subtract(left, right)

    def take(self, vector: Any, places: Ints) -> Any:
        """Copy; nothing to count."""
        return self._ciphers.take(vector, places)

    def pack(self, vector: Any, places: Ints, bits: int) -> Any:
        """Count what Horner's rule is made of: a shift and an addition for all but one row."""
        for name in ("shifts", "additions"):
            self.done[name] += places.size - places.shape[1]
        return self._ciphers.pack(vector, places, bits)

    def bucket_sums(
        self, vector: Any, buckets: Buckets, count: int, groups: list[Bools]
    ) -> list[Any]:
        """Count one addition per member and column, and one per bucket to accumulate."""
        columns = buckets.shape[1]
        members = sum(int(group.sum()) for group in groups)
        self.done["additions"] += columns * (members + count * len(groups))
        return self._ciphers.bucket_sums(vector, buckets, count, groups)

    def rerandomise(self, vector: Any, to_owner: bool = True) -> Any:
        """Count randomisations."""
        self.done["randomisations"] += vector.shape[0]
        return self._ciphers.rerandomise(vector, to_owner)

    def to_bytes(self, vector: Any) -> bytes:
        """Write; nothing to count."""
        return self._ciphers.to_bytes(vector)

    def from_bytes(self, data: bytes, count: int) -> Any:
        """Read; nothing to count."""
        return self._ciphers.from_bytes(data, count)


def seconds_each(work: Callable[[], object], count: int) -> float:
    """Return the processor time of one of ``count`` operations: the median of five calls."""
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times) / count


def halves(name: str, records: int, home: Path | None) -> tuple[Any, Any, Any]:
    """Return the active and the passive party's columns and the labels."""
    data = load(name, home)
    frame = data.frame.iloc[:records]
    x = frame.drop(columns=data.label).to_numpy(dtype=np.float64)
    labels = np.unique(frame[data.label].to_numpy(), return_inverse=True)[1].astype(np.int64)
    half = x.shape[1] // 2
    return x[:, :half], x[:, half:], labels


def main() -> None:
    """Run, print, and fail on a broken limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--backend", default="paillier")
    parser.add_argument("--data", default="credit-card-default")
    parser.add_argument("--records", type=int, default=30000)
    parser.add_argument("--home", type=Path, default=None, help="folder of the data sets")
    parser.add_argument("--unpacked", action="store_true", help="one sum to a ciphertext")
    given = parser.parse_args()
    active, passive, labels = halves(given.data, given.records, given.home)
    boost = BoostSettings(rounds=5, max_depth=3)
    settings = SecureBoostSettings(boost, backend=given.backend, pack=not given.unpacked)

    public, secret = generate_keys(settings.backend, settings.key_bits)
    ciphers = public._ciphers
    sample: BigInts = np.array([int(n) << 40 for n in range(4000)], dtype=object)
    vector = ciphers.encrypt(sample)
    width = PairFormat.of(len(labels), boost.max_depth).width + 1
    slots = np.arange(500).reshape(20, 25)
    opened = public.encrypt_integers(sample[:500], 60)
    rates = {
        "encryptions": seconds_each(lambda: ciphers.encrypt(sample), len(sample)),
        "randomisations": seconds_each(lambda: ciphers.rerandomise(vector[:500]), 500),
        "additions": seconds_each(lambda: ciphers.add(vector, vector), len(sample)),
        "shifts": seconds_each(lambda: ciphers.pack(vector, slots, width), slots.size - 25),
        "decryptions": seconds_each(lambda: secret.decrypt_integers(opened), 500),
    }

    counting = Counting(ciphers)
    counted = PublicKey(counting, public.numbers)
    transcript = Transcript(listeners=())
    start, start_cpu = time.perf_counter(), time.process_time()
    trained = run(
        active, [passive], labels, settings, Streams(0), Channel(transcript), (counted, secret)
    )
    seconds, processor = time.perf_counter() - start, time.process_time() - start_cpu
    traffic = {(t.sender, t.kind): (t.count, t.size) for t in transcript.traffic()}
    # Every ciphertext that a passive party sends is randomised once, and decrypted once.
    counting.done["decryptions"] = counting.done["randomisations"]
    floor = sum(counting.done[name] * rate for name, rate in rates.items())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    plain = train_joined([active, passive], labels, boost, Streams(0))
    same = encode(trained.model) == encode(plain)

    print(
        f"{given.backend}, 2048 bits: {len(labels)} records, {active.shape[1]} + {passive.shape[1]}"
    )
    for name, count in sorted(counting.done.items()):
        rate = rates.get(name)
        print(f"  {count:9d} {name}" + (f" at {rate * 1e6:.1f} us" if rate else " (overhead)"))
    for (sender, kind), (count, size) in traffic.items():
        print(f"  {sender} sent {count} {kind!r}, {size / 1e6:.1f} MB")
    print(f"  floor {floor:.1f} s, processor {processor:.1f} s, ratio {processor / floor:.2f}")
    print(f"  by the clock {seconds:.1f} s ({os.getloadavg()[0]:.1f} processes wanted a processor)")
    print(f"  peak memory {peak:.2f} GiB; same trees as in the clear: {same}")
    broken = processor > RATIO * floor or seconds > SECONDS or peak > GIB or not same
    raise SystemExit("a limit is broken" if broken else 0)


if __name__ == "__main__":
    main()
