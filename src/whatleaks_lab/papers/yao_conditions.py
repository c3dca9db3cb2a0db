"""Yao et al.: what the reconstruction depends on (Y09 to Y13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import over_seeds, scenario_of
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement
from whatleaks_lab.papers.comparison import (
    OPEN_IS_NOT_FAILED,
    above,
    below,
    ratio,
    told,
    weighed,
    weighed_words,
)
from whatleaks_lab.papers.plot import Bar, BarPlot
from whatleaks_lab.papers.yao_attacks import PICTURE_SIZES, TABLE_SIZES
from whatleaks_lab.papers.yao_setup import (
    BAR,
    CIFAR,
    CREDIT,
    IOT,
    LATER_SEED,
    PICTURE_BAR,
    bar_of,
    hijacked,
    pictures,
    seeds,
    table,
)

PASSIVE = ("PAY_3", "PAY_6", "BILL_AMT2", "BILL_AMT5", "PAY_AMT1", "PAY_AMT4", "AGE")  # 30 %
OWN = (  # the adversary's, in the order in which it is given more of them
    "LIMIT_BAL",
    "BILL_AMT1",
    "SEX",
    "PAY_0",
    "BILL_AMT3",
    "EDUCATION",
    "PAY_AMT2",
    "PAY_2",
    "MARRIAGE",
    "BILL_AMT4",
    "PAY_AMT3",
    "PAY_4",
    "BILL_AMT6",
    "PAY_5",
    "PAY_AMT5",
    "PAY_AMT6",
)
SHARES = {2: "10 %", 8: "35 %", 16: "70 %"}
SIZES = (0.02, 0.1, 0.5)
WORDS = {
    BAR: "a regression on the same auxiliary pictures",
    PICTURE_BAR: "the better of a regression and a small decoder on the same auxiliary pictures",
}
CLIENTS = {"fast": (1, 2), "standard": (1, 2, 4), "full": (1, 2, 3, 4, 5)}


def _y09_runs(profile: str) -> list[Scenario]:
    return [
        run
        for base in (table(profile, CREDIT), pictures(profile))
        for plain in (False, True)
        for run in hijacked(
            {**base, **({"attack_options": {"labelled": False}} if plain else {})},
            "urvfl",
            seed=seeds(profile),
        )
    ]


def _labelled(records: Sequence[Record], labelled: bool) -> list[Record]:
    return [r for r in records if scenario_of(r).attack_options.get("labelled", True) is labelled]


def _by_set(records: Sequence[Record]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        prepared = scenario_of(record).prepared("prepare")
        groups.setdefault("MNIST" if prepared == "pictures" else "Credit", []).append(record)
    return groups


@check(
    "Y09",
    rule=(
        "Statements: on Credit and on MNIST the cosine distance between the victim's embeddings and the encoder's is "
        "lower with the auxiliary classifier than with a plain discriminator, all else alike (ratio paired by seed). "
        "Holds if both are shown (interval below 1)." + OPEN_IS_NOT_FAILED
    ),
    sizes={name: f"{TABLE_SIZES[name]}; {PICTURE_SIZES[name]}" for name in TABLE_SIZES},
    runs=_y09_runs,
    draw=lambda records: BarPlot(
        "Distance to the encoder's embeddings",
        "cosine distance",
        tuple(
            Bar(f"{name}, {word}", over_seeds(_labelled(group, flag), "urvfl embedding cosine"))
            for name, group in _by_set(records).items()
            for flag, word in ((True, "with classifier"), (False, "plain"))
        ),
    ),
)
def y09(records: Sequence[Record]) -> Judgement:
    """Judge the two discriminators."""
    name = "urvfl embedding cosine"
    ratios = {
        key: ratio(_labelled(group, True), name, _labelled(group, False))
        for key, group in _by_set(records).items()
    }
    shown, leaning = (
        [test(r) for r in ratios.values()]
        for test in (lambda r: below(r, 1.0), lambda r: r.value < 1.0)
    )
    told_errors = "; ".join(
        f"{key}: error with the classifier over without "
        + told(ratio(_labelled(group, True), "urvfl", _labelled(group, False)))
        for key, group in _by_set(records).items()
    )
    return Judgement(
        weighed(shown, leaning),
        "distance with the classifier over without: "
        + ", ".join(f"{key} {told(r)}" for key, r in ratios.items()),
        value=next(iter(ratios.values())),
        note=f"{weighed_words(shown, leaning)} {told_errors}.",
    )


def _y10_runs(profile: str) -> list[Scenario]:
    base = table(profile, CREDIT)
    if profile == "fast":
        return [
            run
            for share in (0.6, 0.3)
            for run in hijacked({**base, "share": share}, "urvfl", seed=seeds(profile, LATER_SEED))
        ]
    runs = []
    for count in SHARES:
        left = {key: value for key, value in base.items() if key != "share"}
        data = {**base["data"], "drop": list(OWN[count:])}
        given = {**left, "passive": list(PASSIVE), "data": data}
        runs += hijacked(given, "urvfl", seed=seeds(profile, LATER_SEED))
    return runs


def _own_columns(record: Record) -> int:
    """Return a number that grows with the adversary's columns."""
    scenario = scenario_of(record)
    if scenario.share:
        return round(100 * (1 - scenario.share))
    return len(OWN) - len(scenario.prepared("drop"))


def _in_order(
    records: Sequence[Record], key: Callable[[Record], float]
) -> list[tuple[float, list[Record]]]:
    groups: dict[float, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return sorted(groups.items())


@check(
    "Y10",
    rule=(
        "URVFL on Credit, the same seven target columns, the adversary holding 2, 8 and 16 of the other sixteen. "
        "Statement: the error with 16 is below that with 2 (ratio paired by seed). Holds if it is shown (interval "
        "below 1) and the three means fall in order; fails if the ratio is not below 1; else partly. 0 % cannot be "
        "run: here an active party holds at least one column."
    ),
    sizes={**TABLE_SIZES, "fast": "breast cancer, shares of 60 and 30 %, 60 steps, 1 seed"},
    runs=_y10_runs,
    draw=lambda records: BarPlot(
        "URVFL by the adversary's columns, Credit",
        "mean squared error, variance 1",
        tuple(
            Bar(f"{count:g} own", over_seeds(group, "urvfl standardised"))
            for count, group in _in_order(records, _own_columns)
        ),
    ),
)
def y10(records: Sequence[Record]) -> Judgement:
    """Judge whether more own columns help."""
    groups = _in_order(records, _own_columns)
    name = "urvfl standardised"
    means = [over_seeds(group, name) for _, group in groups]
    most = _ratio_by_seed(groups[-1][1], groups[0][1], name)
    falling = all(b.value < a.value for a, b in pairwise(means))
    bars = [over_seeds(group, f"{BAR} standardised") for _, group in groups]
    shown = [below(most, 1.0) and falling]
    return Judgement(
        weighed(shown, [most.value < 1.0]),
        ", ".join(
            f"{count:g} own: {told(m, 3)}" for (count, _), m in zip(groups, means, strict=True)
        )
        + f"; most over fewest {told(most)}",
        value=most,
        note="Regression on the auxiliary records alone: "
        + ", ".join(told(b, 3) for b in bars)
        + ". Where it falls as fast, it is the own columns that tell, not the hijack.",
    )


def _ratio_by_seed(top: Sequence[Record], bottom: Sequence[Record], name: str) -> Measurement:
    return ratio(sorted(top, key=_seed), name, sorted(bottom, key=_seed))


def _seed(record: Record) -> int:
    return scenario_of(record).seed


def _y12_runs(profile: str) -> list[Scenario]:
    base, chosen = pictures(profile), seeds(profile, LATER_SEED)
    runs = [
        run for size in SIZES for run in hijacked({**base, "auxiliary": size}, "urvfl", seed=chosen)
    ]
    strangers = {**base, "data": {**base["data"], "strangers": "fashion-mnist"}}
    return runs + hijacked(strangers, "urvfl", seed=chosen)


def _y12_key(record: Record) -> float:
    scenario = scenario_of(record)
    return 0.0 if scenario.prepared("strangers") else scenario.auxiliary


@check(
    "Y12",
    rule=(
        "URVFL on MNIST with 2, 10 and 50 auxiliary pictures for every 100 that train, and with 10 of Fashion-MNIST "
        "instead. Statements: (1) the error at 10 is below that at 2 (interval of the ratio below 1); (2) from 10 to "
        "50 the error falls by a smaller factor than from 2 to 10; (3) with Fashion-MNIST the error is below the "
        "error of the mean of MNIST's own auxiliary pictures, so something leaks (interval of the ratio below 1). Holds "
        "if all three are so." + OPEN_IS_NOT_FAILED
    ),
    sizes=PICTURE_SIZES,
    runs=_y12_runs,
    draw=lambda records: BarPlot(
        "URVFL by auxiliary pictures, MNIST",
        "mean squared error, -1 to 1",
        tuple(
            Bar(f"{key:.0%}" if key else "Fashion-MNIST", over_seeds(group, "urvfl pixels"))
            for key, group in _in_order(records, _y12_key)
        ),
    ),
)
def y12(records: Sequence[Record]) -> Judgement:
    """Judge size and kind of auxiliary pictures."""
    groups = dict(_in_order(records, _y12_key))
    name = "urvfl pixels"
    few, some, many = (groups[size] for size in SIZES)
    first = _ratio_by_seed(some, few, name)
    second = _ratio_by_seed(many, some, name)
    strange = ratio(groups[0.0], name, some, "auxiliary-mean pixels")
    shown = [below(first, 1.0), second.value > first.value, below(strange, 1.0)]
    leaning = [first.value < 1.0, second.value > first.value, strange.value < 1.0]
    errors = ", ".join(
        f"{f'{key:.0%}' if key else 'Fashion-MNIST'} {told(over_seeds(group, name), 3)}"
        for key, group in groups.items()
    )
    bar = bar_of(some)
    bars = ", ".join(
        f"{key:.0%} {told(ratio(groups[key], name, groups[key], f'{bar} pixels'))}" for key in SIZES
    )
    return Judgement(
        weighed(shown, leaning),
        f"error {errors}; 10 over 2: {told(first)}, 50 over 10: {told(second)}; Fashion-MNIST over the mean of "
        f"MNIST: {told(strange)}",
        value=first,
        note=f"{weighed_words(shown, leaning)} Error over that of {WORDS[bar]}: {bars}.",
    )


def _y13_runs(profile: str) -> list[Scenario]:
    base = table(profile, IOT)
    return [
        run
        for parties in CLIENTS[profile]
        for run in hijacked({**base, "parties": parties}, "urvfl", seed=seeds(profile))
    ]


@check(
    "Y13",
    rule=(
        "URVFL on RT-IoT2022, half of the columns dealt to 1, 2 and 4 passive parties. Statement: the error with most "
        "parties is above that with one (ratio paired by seed). Holds if it is shown (interval above 1) and the means "
        "rise in order; fails if the ratio is not above 1; else partly. The hijacker has one encoder for each party "
        "(the paper's has one for all)."
    ),
    sizes={**TABLE_SIZES, "standard": f"{TABLE_SIZES['standard']}; 1, 2 and 4 parties"},
    runs=_y13_runs,
    draw=lambda records: BarPlot(
        "URVFL by passive parties, RT-IoT2022",
        "mean squared error, variance 1",
        tuple(
            Bar(f"{count:g}", over_seeds(group, "urvfl standardised"))
            for count, group in _in_order(records, lambda r: scenario_of(r).parties)
        ),
    ),
)
def y13(records: Sequence[Record]) -> Judgement:
    """Judge whether more victims are harder to read."""
    groups = _in_order(records, lambda r: scenario_of(r).parties)
    name = "urvfl standardised"
    means = [over_seeds(group, name) for _, group in groups]
    most = _ratio_by_seed(groups[-1][1], groups[0][1], name)
    rising = all(b.value > a.value for a, b in pairwise(means))
    return Judgement(
        weighed([above(most, 1.0) and rising], [most.value > 1.0]),
        ", ".join(f"{count:g}: {told(m, 3)}" for (count, _), m in zip(groups, means, strict=True))
        + f"; most over one {told(most)}",
        value=most,
    )


def _y11_runs(profile: str) -> list[Scenario]:
    base = pictures(profile, CIFAR)
    return [
        run
        for encoder in ("same", "layers")
        for run in hijacked(
            {**base, "attack_options": {"encoder": encoder}}, "urvfl", seed=seeds(profile)
        )
    ]


@check(
    "Y11",
    rule=(
        "URVFL on CIFAR-10 against three residual blocks. Statement: the error with an encoder of the same structure is "
        "below that with three linear layers (ratio paired by seed). Holds if the interval lies below 1, fails if the "
        "ratio is not below 1; else partly. Encoders of one and of five blocks are not tried."
    ),
    sizes=PICTURE_SIZES,
    runs=_y11_runs,
)
def y11(records: Sequence[Record]) -> Judgement:
    """Judge what knowing the structure is worth."""
    same, layers = (
        [r for r in records if scenario_of(r).attack_options["encoder"] == kind]
        for kind in ("same", "layers")
    )
    worth = _ratio_by_seed(same, layers, "urvfl pixels")
    return Judgement(
        weighed([below(worth, 1.0)], [worth.value < 1.0]),
        f"error with the same structure {told(over_seeds(same, 'urvfl pixels'), 3)}, with layers "
        f"{told(over_seeds(layers, 'urvfl pixels'), 3)}; the one over the other {told(worth)}",
        value=worth,
    )
