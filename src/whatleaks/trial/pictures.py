"""Picture sets for a split federation: the left half is the active party's, the right the passive's.

Every pixel is a column on a scale from 0 to 1 (height x width x colours, row by row); networks see
them from -1 to 1 with ``scaling = "pixels"``. Training pictures train, test pictures are attacked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.data.holdings import Holdings
from whatleaks.errors import SpecError
from whatleaks.seeds import Streams
from whatleaks.trial.scenario import Scenario
from whatleaks.wire.parties import ACTIVE, PASSIVE

if TYPE_CHECKING:
    from whatleaks.data.images import Images, Pixels


def halves(pictures: Pixels) -> tuple[Floats, Floats]:
    """Cut pictures in the middle; return left and right, a row of numbers from 0 to 1 each."""
    shaped = pictures.reshape(*pictures.shape[:3], -1) / 255.0
    middle = shaped.shape[2] // 2
    left, right = shaped[:, :, :middle], shaped[:, :, middle : 2 * middle]
    return sealed(left.reshape(len(left), -1)), sealed(right.reshape(len(right), -1))


def picture_holdings(scenario: Scenario, streams: Streams) -> tuple[Holdings, Ints, Ints, Ints]:
    """Return who holds what, who may train, who may be attacked, whose records are auxiliary.

    ``data.rows`` training pictures are drawn and as many test pictures, if there are. The
    auxiliary ones are drawn from those that train unless ``data.strangers`` names another set,
    of which as many are taken as would have been: pictures of another kind.
    """
    from whatleaks.data.loading import load_images

    if scenario.share != 0.5 or scenario.parties != 1:
        raise SpecError("pictures are cut in the middle for one passive party: say share = 0.5")
    images = load_images(scenario.dataset)
    most = scenario.prepared("rows") or len(images.training)
    train = streams.rng("rows").permutation(len(images.training))[:most]
    test = streams.rng("rows/test").permutation(len(images.test))[:most]
    parts = [images.training[train], images.test[test]]
    labels = [images.training_labels[train], images.test_labels[test]]
    counts = [len(train), len(test)]
    if scenario.prepared("strangers"):
        count = int(np.ceil(len(train) * scenario.auxiliary / (1 + scenario.auxiliary)))
        pictures, kinds = _strangers(scenario, images, count, streams)
        parts.append(pictures)
        labels.append(kinds)
        counts.append(len(pictures))
    ends = np.cumsum([0, *counts])
    rows = [sealed_ints(range(ends[i], ends[i + 1])) for i in range(len(counts))]
    held = _cut(np.concatenate(parts), np.concatenate(labels), len(images.classes))
    return held, rows[0], rows[1], rows[2] if len(rows) > 2 else sealed_ints([])


def _cut(pictures: Pixels, labels: Ints, classes: int) -> Holdings:
    """Hand each party its half, and the active one the labels."""
    left, right = halves(pictures)
    names = {
        ACTIVE: tuple(f"left {i}" for i in range(left.shape[1])),
        PASSIVE: tuple(f"right {i}" for i in range(right.shape[1])),
    }
    return Holdings({ACTIVE: left, PASSIVE: right}, names, sealed_ints(labels), classes)


def _strangers(
    scenario: Scenario, images: Images, count: int, streams: Streams
) -> tuple[Pixels, Ints]:
    """Draw pictures of another set, brought to the size of this one by averaging whole blocks."""
    from whatleaks.data.loading import load_images

    other = load_images(scenario.prepared("strangers"))
    drawn = streams.rng("strangers").permutation(len(other.training))[:count]
    pictures = other.training[drawn]
    high, wide = images.training.shape[1:3]
    times = pictures.shape[1] // high
    if pictures.shape[3:] != images.training.shape[3:] or times * high != pictures.shape[1]:
        raise SpecError(f"pictures of {other.name} do not fit those of {images.name}")
    blocks = pictures.reshape(len(pictures), high, times, wide, times, -1).mean(axis=(2, 4))
    shaped = blocks.reshape(len(pictures), *images.training.shape[1:]).astype(np.uint8)
    # Their classes mean something else: only how many there are must be the same.
    return shaped, sealed_ints(other.training_labels[drawn] % len(images.classes))
