"""Encrypted regression on real data: the active party recovers its partner's two columns.

Motor temperature (9 + 2 columns, 9 records; Table 2 of Li et al.) if WHATLEAKS_DATA or the
folder ../shared/data has it, else breast cancer from scikit-learn (28 + 2 columns, 28 records).
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.attacks.gram_inversion import GramInversion
from whatleaks.attacks.intermediate_recovery import recover_intermediate
from whatleaks.federation.regression.linear import plain_linear, run
from whatleaks.federation.regression.settings import SecureLinearSettings
from whatleaks.seeds import Streams
from whatleaks.threat.encrypted import ENCRYPTED
from whatleaks.threat.grants import Queries, Ranges, hand_out
from whatleaks.threat.model import Memory
from whatleaks.threat.views.encrypted import EncryptedLinearView
from whatleaks.wire.channel import Channel


def load() -> tuple[str, Floats, Floats, int]:
    """Return a name, columns scaled to [0, 1] over the whole set, the target, the records to use."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("WHATLEAKS_DATA", shared)) / "motor-temperature"
    if folder.is_dir():
        guest = np.loadtxt(folder / "motor_hetero_guest.csv.gz", delimiter=",", skiprows=1)
        host = np.loadtxt(folder / "motor_hetero_host.csv.gz", delimiter=",", skiprows=1)
        name, x, y, records = "motor", np.c_[guest[:, [1, 3, 4, 5]], host[:, 1:]], guest[:, 2], 9
    else:
        from sklearn.datasets import load_breast_cancer

        x, y = load_breast_cancer(return_X_y=True)
        name, records = "breast-cancer", x.shape[1] - 2
    return name, (x - x.min(axis=0)) / np.ptp(x, axis=0), y.astype(np.float64), records


name, x, y, m = load()
own, secret, y = x[:m, :-2], x[:m, -2:], y[:m]
settings = SecureLinearSettings(epochs=12, learning_rate=1.0 / float(np.square(x[:m]).sum()))
training = run(own, secret, y, settings, Streams(7), Channel())

offer = (Ranges(sealed(np.zeros(2)), sealed(np.ones(2))), Queries(*training.asked["passive"]))
received = training.transcript.received_by("active")
granted = hand_out(ENCRYPTED.grants, offer)
kept = training.active
memory = Memory(kept.columns, kept.columns, sealed_ints([]), 2, (kept,))
view = ENCRYPTED.project(received, memory, granted, EncryptedLinearView)
guess = GramInversion().infer(view, np.random.default_rng(0))

z = np.stack(plain_linear(own, secret, y, settings, Streams(7)).outputs, axis=1)
z_error = np.abs(recover_intermediate(view) - z).mean() / np.abs(z).mean()
error = np.abs(guess.values - secret).mean() / secret.mean()
print(f"{name}, {settings.key_bits}-bit keys: z error {z_error:.1e}, table error {error:.1e}")
print(f"{len(guess.alternatives)} other table(s) fit as well")
