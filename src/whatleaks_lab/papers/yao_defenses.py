"""Yao et al.: what defenses stop, and what they cost (Y14, Y15, Y16)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    difference,
    ratio,
    told,
    weighed,
    weighed_words,
)
from whatleaks_lab.papers.plot import Bar, BarPlot, Plot
from whatleaks_lab.papers.yao_attacks import PICTURE_SIZES
from whatleaks_lab.papers.yao_setup import (
    BARRED_SEED,
    LATER_SEED,
    PICTURE_BAR,
    bar_of,
    hijacked,
    honest,
    pictures,
    seeds,
)

ERROR = "urvfl pixels"
NOPEEK = ("nopeek-0.5", "nopeek-0.95", "nopeek-1")
NOISE = ("embedding-noise-0.3", "embedding-noise-0.7")
LAPLACE = ("gradient-noise-10", "gradient-noise-1", "gradient-noise-0.1")
STOPPED = (
    "A defense stops the attack if the error is not below that of the better of a regression and a small decoder "
    "(chosen by auxiliary pictures left out) on the same auxiliary pictures that see no message: then joining tells "
    "nothing more. "
)


def _runs(defenses: Sequence[str], first: int = BARRED_SEED) -> Callable[[str], list[Scenario]]:
    def runs(profile: str) -> list[Scenario]:
        base, chosen = pictures(profile), seeds(profile, first)
        return [
            run
            for defense in ("", *defenses)
            for given in ({**base, **({"defense": defense} if defense else {})},)
            for run in (*hijacked(given, "urvfl", seed=chosen), *honest(given, seed=chosen))
        ]

    return runs


def _of(records: Sequence[Record], defense: str, attacked: bool) -> list[Record]:
    return [
        r
        for r in records
        if scenario_of(r).defense == defense and bool(scenario_of(r).attacks) is attacked
    ]


def _bar(records: Sequence[Record], defense: str) -> Measurement:
    """Return the attack's error over that of the better learner without messages."""
    runs = _of(records, defense, True)
    return ratio(runs, ERROR, runs, f"{PICTURE_BAR} pixels")


def _told(records: Sequence[Record], defenses: Sequence[str]) -> str:
    return "; ".join(
        f"{name or 'none'}: error {told(over_seeds(_of(records, name, True), ERROR), 3)}, accuracy "
        f"{told(over_seeds(_of(records, name, False), 'accuracy'))}"
        for name in ("", *defenses)
    )


def _plot(title: str, defenses: Sequence[str]) -> Callable[[Sequence[Record]], Plot]:
    def draw(records: Sequence[Record]) -> Plot:
        bars = [
            Bar(name or "no defense", over_seeds(_of(records, name, True), ERROR))
            for name in ("", *defenses)
        ]
        bar = bar_of(_of(records, "", True))
        bars.append(Bar(bar, over_seeds(_of(records, "", True), f"{bar} pixels"), True))
        return BarPlot(title, "URVFL's mean squared error, -1 to 1", tuple(bars))

    return draw


def _stops(
    records: Sequence[Record], only: str, defenses: Sequence[str]
) -> tuple[list[bool], list[bool], str]:
    """Say of every defense whether it stops the attack where it should, and only there."""
    bars = {name: _bar(records, name) for name in defenses}
    shown = [above(b, 1.0) if name == only else below(b, 1.0) for name, b in bars.items()]
    leaning = [b.value > 1.0 if name == only else b.value < 1.0 for name, b in bars.items()]
    return shown, leaning, _over_bar(records, defenses)


def _over_bar(records: Sequence[Record], defenses: Sequence[str]) -> str:
    words = ", ".join(f"{name or 'none'} {told(_bar(records, name))}" for name in defenses)
    return f"Error over the bar's: {words}."


@check(
    "Y14",
    rule=(
        "URVFL on MNIST against NoPeek with weights 0.5, 0.95 and 1. "
        + STOPPED
        + "Statements: not stopped at 0.5 nor "
        "at 0.95 (interval of the ratio below 1), stopped at 1 (interval above 1), and at 1 honest accuracy is lower by "
        "more than ten points (interval of the difference below -0.1). Holds if all are shown."
        + OPEN_IS_NOT_FAILED
    ),
    sizes=PICTURE_SIZES,
    runs=_runs(NOPEEK),
    draw=_plot("NoPeek against URVFL, MNIST", NOPEEK),
)
def y14(records: Sequence[Record]) -> Judgement:
    """Judge NoPeek."""
    shown, leaning, words = _stops(records, NOPEEK[-1], NOPEEK)
    cost = difference(_of(records, NOPEEK[-1], False), "accuracy", _of(records, "", False))
    shown.append(below(cost, -0.1))
    leaning.append(cost.value < -0.1)
    return Judgement(
        weighed(shown, leaning),
        _told(records, NOPEEK),
        value=cost,
        note=f"{weighed_words(shown, leaning)} {words} The value is what weight 1 does to accuracy.",
    )


@check(
    "Y15",
    rule=(
        "URVFL on MNIST against noise of deviation 0.3 and 0.7 on embeddings. Statements: the error is above the one "
        "without noise at 0.3 and at 0.7 (intervals of the ratios above 1), honest accuracy at 0.7 is below the one "
        "without noise (interval of the difference below 0). Holds if all are shown."
        + OPEN_IS_NOT_FAILED
    ),
    sizes=PICTURE_SIZES,
    runs=_runs(NOISE, LATER_SEED),
    draw=_plot("Noise on embeddings against URVFL, MNIST", NOISE),
)
def y15(records: Sequence[Record]) -> Judgement:
    """Judge noise on embeddings."""
    free = _of(records, "", True)
    ratios = [ratio(_of(records, name, True), ERROR, free) for name in NOISE]
    cost = difference(_of(records, NOISE[-1], False), "accuracy", _of(records, "", False))
    shown = [*(above(r, 1.0) for r in ratios), below(cost, 0.0)]
    leaning = [*(r.value > 1.0 for r in ratios), cost.value < 0.0]
    return Judgement(
        weighed(shown, leaning),
        _told(records, NOISE),
        value=cost,
        note=f"{weighed_words(shown, leaning)} Error over the one without noise: "
        + ", ".join(f"{name} {told(r)}" for name, r in zip(NOISE, ratios, strict=True))
        + f". {_over_bar(records, ('', *NOISE))} The value is what 0.7 does to accuracy.",
    )


@check(
    "Y16",
    rule=(
        "URVFL on MNIST against Laplace noise on received gradients, epsilon 10, 1 and 0.1 (our scale: the mean size "
        "of the gradient's own numbers over epsilon). "
        + STOPPED
        + "Statements: not stopped at 10 nor at 1 (interval "
        "of the ratio below 1), stopped at 0.1 (interval above 1). Holds if all are shown."
        + OPEN_IS_NOT_FAILED
    ),
    sizes=PICTURE_SIZES,
    runs=_runs(LAPLACE),
    draw=_plot("Noise on gradients against URVFL, MNIST", LAPLACE),
)
def y16(records: Sequence[Record]) -> Judgement:
    """Judge noise on gradients."""
    shown, leaning, words = _stops(records, LAPLACE[-1], LAPLACE)
    return Judgement(
        weighed(shown, leaning),
        _told(records, LAPLACE),
        value=_bar(records, LAPLACE[-1]),
        note=f"{weighed_words(shown, leaning)} {words}",
    )
