"""Yao et al.: how well the attacks reconstruct (Y01 to Y05)."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.runs.grouping import over_seeds, value
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement
from whatleaks_lab.papers.comparison import (
    OPEN_IS_NOT_FAILED,
    below,
    ratio,
    told,
    weighed,
    weighed_words,
)
from whatleaks_lab.papers.plot import Plot
from whatleaks_lab.papers.yao_setup import (
    ASKING,
    BAR,
    BARRED_SEED,
    CIFAR,
    CREDIT,
    IOT,
    LATER_SEED,
    MNIST,
    OTHERS,
    OURS,
    PICTURE_BAR,
    TINY,
    all_attacks,
    bar_of,
    error_bars,
    mean,
    of_attack,
    pictures,
    table,
)

BEST_RULE = (
    "Statements: the error of {measured} of URVFL, and that of its synchronous variant, is below that of each of "
    "the six other attacks (ratio paired by seed; twelve statements). Holds if all are shown (the 95 % interval of the "
    "ratio over seeds lies below 1)." + OPEN_IS_NOT_FAILED
)
TABLE_SIZES = {
    "fast": "breast cancer, 60 steps, 1 seed",
    "standard": "6,000 rows, 1,000 steps at rate 1e-3, 400 targets, 3 seeds",
    "full": "all rows, 15,000 steps at rate 1e-3, all targets, 5 seeds",
}
PICTURE_SIZES = {
    "fast": "220 pictures, 20 steps, 1 seed",
    "standard": "3,300 pictures, 300 steps at rate 1e-3, 400 targets, 3 seeds",
    "full": "all pictures, 8,500 steps at rate 1e-3, all test pictures, 5 seeds",
}


WORDS = {
    BAR: "a regression from own columns on the same auxiliary records",
    PICTURE_BAR: "the better of a regression and a small decoder on the same auxiliary pictures from own halves "
    "(chosen by some of them left out)",
}


def _lowest(records: Sequence[Record], suffix: str) -> Judgement:
    """Judge whether the paper's two attacks have the lowest error of all."""
    ratios = {
        (ours, other): ratio(
            of_attack(records, ours),
            f"{ours} {suffix}",
            of_attack(records, other),
            f"{other} {suffix}",
        )
        for ours in OURS
        for other in OTHERS
    }
    shown = [below(r, 1.0) for r in ratios.values()]
    leaning = [r.value < 1.0 for r in ratios.values()]
    errors = {name: mean(records, name, suffix) for name in (*OURS, *OTHERS)}
    ordered = sorted(errors, key=lambda name: errors[name].value)
    held = bar_of(of_attack(records, OURS[0]))
    bar = {
        ours: ratio(
            of_attack(records, ours),
            f"{ours} {suffix}",
            of_attack(records, ours),
            f"{held} {suffix}",
        )
        for ours in OURS
    }
    return Judgement(
        weighed(shown, leaning),
        "error " + ", ".join(f"{name} {told(errors[name], 3)}" for name in ordered),
        value=errors["urvfl"],
        note=weighed_words(shown, leaning)
        + f" Over {WORDS[held]}, without any message: "
        + ", ".join(f"{name} {told(r)}" for name, r in bar.items())
        + f"; above 1 the hijack tells less than the auxiliary records alone. {_bars(records, suffix)}",
    )


def _bars(records: Sequence[Record], suffix: str) -> str:
    """Tell what the auxiliary records are worth, without messages and with an honest network's answers."""
    plain = of_attack(records, OURS[0])
    alone, chosen = [BAR], ""
    if bar_of(plain) == PICTURE_BAR:
        alone.append("auxiliary-decoder")
        same = sum(
            value(r, f"{PICTURE_BAR} {suffix}") == value(r, f"{BAR} {suffix}") for r in plain
        )
        chosen = f" (the regression was chosen in {same} of {len(plain)} seeds)"
    return (
        "Error without any message: "
        + ", ".join(f"{name} {told(over_seeds(plain, f'{name} {suffix}'), 3)}" for name in alone)
        + f"{chosen}; with the answers of an honestly trained network: "
        + ", ".join(f"{name} {told(mean(records, name, suffix), 3)}" for name in ASKING)
        + "."
    )


def _table_check(claim: str, dataset: str, title: str) -> None:
    def runs(profile: str) -> list[Scenario]:
        return all_attacks(table(profile, dataset), profile, also=ASKING, first=LATER_SEED)

    def draw(records: Sequence[Record]) -> Plot:
        return error_bars(
            records, "standardised", title, "mean squared error, variance 1", log=True
        )

    @check(
        claim,
        rule=BEST_RULE.format(measured="reconstruction (columns scaled to variance 1)"),
        sizes=TABLE_SIZES,
        runs=runs,
        draw=draw,
    )
    def judge(records: Sequence[Record]) -> Judgement:
        return _lowest(records, "standardised")


_table_check("Y01", CREDIT, "Eight attacks on Credit")
_table_check("Y02", IOT, "Eight attacks on RT-IoT2022")


# Large pictures cost more: the standard profile takes fewer on Tiny ImageNet, of which our copy has 1,600.
FEWER = {"rows": 1600, "steps": 120, "targets": 120, "asking": 300}
TINY_SIZES = {
    **PICTURE_SIZES,
    "standard": (
        f"{FEWER['rows']:,} pictures, {FEWER['steps']} steps at rate 1e-3 ({FEWER['asking']} of attacks that ask the "
        f"trained network), {FEWER['targets']} targets, 3 seeds"
    ),
}


def _picture_runs(dataset: str, profile: str) -> list[Scenario]:
    base = pictures(profile, dataset)
    first = BARRED_SEED if dataset == MNIST else LATER_SEED
    asking = None
    if dataset == TINY and profile == "standard":
        base["data"] = {**base["data"], "rows": FEWER["rows"]}
        base["model_options"] = {**base["model_options"], "steps": FEWER["steps"]}
        base["targets"] = FEWER["targets"]
        asking = {"steps": FEWER["asking"], "shadow_steps": FEWER["asking"]}
    return all_attacks(base, profile, asking, ASKING, first)


def _picture_check(claim: str, dataset: str, title: str) -> None:
    def draw(records: Sequence[Record]) -> Plot:
        return error_bars(records, "pixels", title, "mean squared error, -1 to 1")

    @check(
        claim,
        rule=BEST_RULE.format(measured="reconstruction (pixels on the scale -1 to 1)")
        + " PSNR and SSIM are told beside it.",
        sizes=TINY_SIZES if dataset == TINY else PICTURE_SIZES,
        runs=lambda profile: _picture_runs(dataset, profile),
        draw=draw,
    )
    def judge(records: Sequence[Record]) -> Judgement:
        made = _lowest(records, "pixels")
        alike = "; ".join(
            f"{name} {told(mean(records, name, 'psnr'), 1)} dB, {told(mean(records, name, 'ssim'))}"
            for name in (*OURS, "fsha", "sdar", "pcat")
        )
        note = f"{made.note} PSNR, SSIM: {alike}."
        return Judgement(made.verdict, made.measured, made.value, note)


_picture_check("Y03", MNIST, "Eight attacks on halves of MNIST")
_picture_check("Y04", CIFAR, "Eight attacks on halves of CIFAR-10")
_picture_check("Y05", TINY, "Eight attacks on halves of Tiny ImageNet")
