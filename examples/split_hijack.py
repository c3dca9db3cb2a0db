"""A hijacker in split training, and the detector that watches for it (breast cancer).

The active party holds every other column and the diagnosis; the passive party the rest. FSHA
breaks the protocol to read the passive columns; SplitGuard, at the passive party, may halt.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryMean, AuxiliaryRegression
from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack, FshaSettings
from whatleaks.detectors.splitguard import SplitGuard
from whatleaks.federation.honest_active import HonestActive, HonestSettings
from whatleaks.federation.split import SplitSettings, run_split
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Auxiliary, Offer, hand_out
from whatleaks.threat.model import Own
from whatleaks.threat.split import SPLIT_HIJACK

streams = Streams(0)
data = load_breast_cancer()
x = (data.data - data.data.min(axis=0)) / np.ptp(data.data, axis=0)
own, passive, labels = x[:, ::2], x[:, 1::2], data.target
order = streams.rng("split").permutation(len(x))
train, other, target = order[:350], order[350:450], order[450:]
auxiliary = Auxiliary(sealed(own[other]), sealed(passive[other]), sealed_ints(labels[other]))
granted = hand_out(SPLIT_HIJACK.grants, Offer(auxiliary=auxiliary))
print(repr(SPLIT_HIJACK))


def hijacker() -> FeatureSpaceHijack:
    return FeatureSpaceHijack(granted.auxiliary, FshaSettings(), streams.rng("fsha"))


role = hijacker()
run = run_split(passive[train], role, SplitSettings(), streams)
run.emit(passive[target])
mine = Own(sealed(own[target]), sealed(own[train]), sealed_ints(labels[train]), passive.shape[1])
view = SPLIT_HIJACK.project(run.channel.transcript.received_by("active"), mine, granted)
print(f"\nmean squared error on {len(target)} records that never trained, no detector")
for attack in (role, AuxiliaryRegression(), AuxiliaryMean()):
    guess = attack.infer(view, streams.rng(attack.name)).values
    print(f"  {attack.name:22s}{((guess - passive[target]) ** 2).mean():.4f}")
print(f"  {'half':22s}{((0.5 - passive[target]) ** 2).mean():.4f}")

detector = SplitGuard(classes=2)
print("\nSplitGuard is given " + "; ".join(grant.value for grant in detector.grants))
honest = HonestActive(own[train], labels[train], 2, 16, HonestSettings(), streams.rng("honest"))
for name, watched in (("honest", honest), ("fsha", hijacker())):
    run = run_split(passive[train], watched, SplitSettings(), streams, detector=detector)
    verdict = (
        f"halted at step {run.halted.step}: {run.halted.reason}" if run.halted else "not halted"
    )
    print(f"  {name:8s}{verdict} ({len(run.scores)} scores)")
