"""A hijacker in split training, and the detector that watches for it (breast cancer).

The active party holds every other column and the diagnosis; the passive party the rest. FSHA
breaks the protocol to read the passive columns; SplitGuard, at the passive party, may halt.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryMean, AuxiliaryRegression
from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import OPEN
from whatleaks.detectors.splitguard import SplitGuard
from whatleaks.federation.split.run import SplitFederation
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.seeds import Streams
from whatleaks.threat.grants import hand_out
from whatleaks.threat.model import Memory
from whatleaks.threat.split import SPLIT_HIJACK
from whatleaks.threat.views.split import SplitView
from whatleaks.wire.channel import Channel

streams = Streams(0)
data = load_breast_cancer()
x = (data.data - data.data.min(axis=0)) / np.ptp(data.data, axis=0)
names = {"active": tuple(data.feature_names[::2]), "passive": tuple(data.feature_names[1::2])}
columns = {"active": sealed(x[:, ::2]), "passive": sealed(x[:, 1::2])}
holdings = Holdings(columns, names, sealed_ints(data.target), 2)
order = streams.rng("split").permutation(len(x))
train, other, target = (sealed_ints(order[cut]) for cut in np.s_[:350, 350:450, 450:])
rows = Rows(train, target, sealed_ints([]), other, target)
print(repr(SPLIT_HIJACK))

federation, settings = SplitFederation(), SplitSettings()
hijacked = federation.train(
    holdings, rows, settings, streams, Channel(), hijacker=FeatureSpaceHijack()
)
channel = Channel()
hijacked.release(target, channel, OPEN)
mine = Memory(
    holdings.joined(["active"], target),
    holdings.joined(["active"], train),
    sealed_ints(data.target[train]),
    len(names["passive"]),
    (),
)
granted = hand_out(SPLIT_HIJACK.grants, hijacked.offer(("active",)))
received = channel.transcript.received_by("active")
view = SPLIT_HIJACK.project(received, mine, granted, SplitView)
truth = holdings.joined(["passive"], target)
print(f"\nmean squared error on {len(target)} records that never trained, no detector")
for attack in (hijacked.reading, AuxiliaryRegression(), AuxiliaryMean()):
    guess = attack.infer(view, streams.rng(attack.name)).values
    print(f"  {attack.name:22s}{((guess - truth) ** 2).mean():.4f}")
print(f"  {'half':22s}{((0.5 - truth) ** 2).mean():.4f}")

detector = SplitGuard(classes=2)
print("\nSplitGuard is given " + "; ".join(grant.value for grant in detector.grants))
for name, hijacker in (("honest", None), ("fsha", FeatureSpaceHijack())):
    watched = federation.train(
        holdings, rows, settings, streams, Channel(), hijacker=hijacker, detector=detector
    )
    verdict = "not halted" if watched.stop is None else f"halted at {watched.stop}"
    print(f"  {name:8s}{verdict} ({len(watched.course.scores)} scores)")
