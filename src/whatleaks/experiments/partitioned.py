"""A named set, scaled and split between two parties: the first step of every task on predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whatleaks.errors import SpecError
from whatleaks.experiments.score_attack import parser_options
from whatleaks.experiments.settings import Value
from whatleaks.experiments.spec import Spec
from whatleaks.seeds import Streams

if TYPE_CHECKING:
    from whatleaks.data.preparation import Prepared

OPTIONS: dict[str, Value] = {
    "rows": 0,  # this many records of the set, drawn by the seed; 0: all
    "training_fraction": 0.8,
    "data": "",  # named options of the data set's parser, such as "classes=5"
}


def check_data(spec: Spec) -> None:
    """Refuse an unknown set and a share that is not given."""
    from whatleaks.data.generated import GENERATED
    from whatleaks.data.registry import card

    if spec.dataset not in GENERATED:
        card(spec.dataset)
    if not spec.share:
        raise SpecError("give share: which part of the columns is passive")


def partitioned(spec: Spec, streams: Streams) -> Prepared:
    """Load or make the set, draw the passive columns, scale on the whole set as the papers do.

    The draws come from the streams that task score-attack uses: with one seed both tasks
    have the same columns and the same split.
    """
    from whatleaks.data.generated import GENERATED, LABEL, generated
    from whatleaks.data.loading import load
    from whatleaks.data.partition import random_passive
    from whatleaks.data.preparation import prepare

    if spec.dataset in GENERATED:
        frame, label = generated(spec.dataset), LABEL
    else:
        dataset = load(spec.dataset, **parser_options(spec.options.text("data")))
        frame, label = dataset.frame, dataset.label
    most = spec.options.whole("rows")
    if 0 < most < len(frame):
        frame = frame.iloc[streams.rng("rows").permutation(len(frame))[:most]]
        frame = frame.reset_index(drop=True)
    features = [str(column) for column in frame.columns if column != label]
    passive = random_passive(features, spec.share, streams.rng("columns"))
    return prepare(
        frame,
        label,
        [str(name) for name in passive],
        rng=streams.rng("split"),
        categories="ordinal",
        constant="drop",
        scale_on="all",
        training_fraction=spec.options.number("training_fraction"),
    )
