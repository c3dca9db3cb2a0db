"""Luo et al.: the generative regression network on LR, forests and networks (U07, U08, U09)."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.runs.grouping import grouped, over_seeds, scenario_of, value
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict
from whatleaks_lab.papers.comparison import (
    OPEN_IS_NOT_FAILED,
    above,
    below,
    difference,
    ratio,
    run_by_run,
    told,
    weighed,
    weighed_words,
)
from whatleaks_lab.papers.grouping import has, share_of
from whatleaks_lab.papers.luo_setup import (
    BANK,
    DRIVE,
    FOREST_GRN,
    GRN,
    SETS,
    SHARES,
    SHORT,
    along,
    column_by_column,
    grn_on_lr,
    guesses_of,
    on_forest,
    seeds,
)
from whatleaks_lab.papers.plot import Bar, BarPlot, LinePlot, PanelPlot, Plot

MODELS = {"lr": "LR", "forest": "RF", "joint-network": "NN"}
ERROR = {"LR": GRN, "RF": FOREST_GRN, "NN": GRN}  # the attack's name on each model


def network(
    profile: str, dataset: str, shares: Sequence[float], dropout: Sequence[float] = ()
) -> list[Scenario]:
    """Return runs of the attack on the joint network 600-300-100."""
    axes = {"model_options__dropout": dropout} if dropout else {}
    return column_by_column(
        profile, dataset, model=("joint-network",), share=shares, seed=seeds(profile), **axes
    )


def _shares(profile: str) -> tuple[float, ...]:
    return {"fast": (0.4,), "standard": (0.2, 0.4, 0.6), "full": SHARES}[profile]


def _forests(profile: str) -> list[Scenario]:
    sets = (BANK, DRIVE) if profile == "fast" else tuple(SETS)
    return [
        run
        for dataset in sets
        for run in on_forest(profile, dataset, share=_shares(profile), seed=seeds(profile))
    ]


def _u07_runs(profile: str) -> list[Scenario]:
    runs = _forests(profile)
    for dataset in (BANK, DRIVE) if profile == "fast" else SETS:
        runs += grn_on_lr(profile, dataset, share=_shares(profile), seed=seeds(profile))
        runs += network(profile, dataset, _shares(profile))
    return runs


def _by_model(records: Sequence[Record]) -> dict[str, list[Record]]:
    return {MODELS[model]: runs for (model,), runs in grouped(records, "model").items()}


def _u07_panel(dataset: str, records: Sequence[Record]) -> LinePlot:
    by = _by_model(records)
    return LinePlot(
        SHORT[dataset],
        "share of passive columns",
        "mean squared error",
        tuple(along(runs, "share", ERROR[model], model) for model, runs in by.items()),
        tuple(
            along(by["LR"], "share", name, "limit, LR" if name == "limit" else name)
            for name in guesses_of(by["LR"])
        ),
    )


def _u07_plot(records: Sequence[Record]) -> Plot:
    if len(grouped(records, "share")) > 1:
        return PanelPlot(
            "Generative regression on three models",
            tuple(_u07_panel(d, runs) for (d,), runs in grouped(records, "dataset").items()),
        )
    bars = []
    for (dataset,), group in grouped(records, "dataset").items():
        by = _by_model(group)
        for model, runs in by.items():
            bars.append(Bar(f"{SHORT[dataset]}, {model}", over_seeds(runs, ERROR[model])))
        bars += [
            Bar(f"{SHORT[dataset]}, {g}", over_seeds(by["LR"], g), True)
            for g in ("uniform", "gaussian", "half")
        ]
    return BarPlot("Generative regression on three models", "mean squared error", tuple(bars))


def _named(cells: Sequence[tuple[str, str, float]]) -> str:
    """List cells by set and model, with their shares: bank RF 20, 40 %."""
    shares: dict[str, list[str]] = {}
    for dataset, model, share in cells:
        shares.setdefault(f"{SHORT[dataset]} {MODELS[model]}", []).append(f"{100 * share:.0f}")
    return "; ".join(f"{name} {', '.join(found)} %" for name, found in shares.items())


@check(
    "U07",
    rule=(
        "In a cell (set, model, share) the attack beats a guess if the geometric mean over seeds of its error over the guess's "
        "has its whole interval below 1 (one seed: the number). NN leaks most if, paired by set, share and seed, "
        "NN's error over LR's and over RF's both have their intervals below 1. Holds if the attack beats the uniform "
        "and the Gaussian guess in every cell and NN leaks most." + OPEN_IS_NOT_FAILED
    ),
    sizes={
        "fast": "bank and drive, 40 % of the columns, 200 records, 1 seed, brief training",
        "standard": "all four sets, 20, 40 and 60 % of the columns, 500 records, 5 seeds",
        "full": "all four sets, 10 to 60 % of the columns, half of the test records, 10 seeds",
    },
    runs=_u07_runs,
    draw=_u07_plot,
)
def u07(records: Sequence[Record]) -> Judgement:
    """Judge the attack on three models."""
    cells = grouped(records, "dataset", "model", "share")
    against = {
        guess: {key: ratio(runs, ERROR[MODELS[key[1]]], runs, guess) for key, runs in cells.items()}
        for guess in ("uniform", "gaussian", "half")
    }
    beats = {
        guess: [key for key, m in found.items() if below(m, 1.0)]
        for guess, found in against.items()
    }
    both = [key for key in beats["uniform"] if key in beats["gaussian"]]
    by = _by_model(records)
    over = {model: ratio(by["NN"], GRN, by[model], ERROR[model]) for model in ("LR", "RF")}
    most = all(below(m, 1.0) for m in over.values())
    lower = [
        all(against[guess][key].value < 1.0 for guess in ("uniform", "gaussian")) for key in cells
    ]
    verdict = weighed([key in both for key in cells], lower)
    if verdict is Verdict.HOLDS and not most:
        verdict = Verdict.PARTLY
    lost = _named([key for key in cells if key not in both])
    only = _named([key for key in both if key not in beats["half"]])
    note = weighed_words([key in both for key in cells], lower)
    note += f" It beats one half in {share_of(len(beats['half']), len(cells), 'cells')}."
    for model, runs in by.items():
        counts = run_by_run(runs, ERROR[model], ("uniform", "gaussian", "half"))
        note += f" {model}: {counts}"
    if only:
        note += f" Better than random numbers but not than one half: {only}."
    if lost:
        note += f" Not better than both random guesses: {lost}."
    return Judgement(
        verdict,
        f"beats both random guesses in {share_of(len(both), len(cells), 'cells')}; NN's error over LR's "
        f"{told(over['LR'])}, over RF's {told(over['RF'])}",
        value=over["LR"],
        note=note,
    )


CASES = {
    "full": {},
    "no own columns": {"attack_options__use_own": (False,)},
    "no noise": {"attack_options__use_noise": (False,)},
    "no penalty": {"attack_options__use_variance_penalty": (False,)},
    "no generator": {"attack_options__use_generator": (False,)},
}


def _case(record: Record) -> tuple[str, str]:
    """Return a run's row of Table III and the name of its error."""
    options = scenario_of(record).attack_options
    for case, axes in CASES.items():
        for key in axes:
            name = key.removeprefix("attack_options__")
            if options.get(name) is False:
                off = name.removeprefix("use_").replace("_", "-")
                return case, f"{GRN}-no-{off}"
    return "full", GRN


def _u08_runs(profile: str) -> list[Scenario]:
    return [
        run
        for axes in CASES.values()
        for run in grn_on_lr(profile, BANK, share=(0.4,), seed=seeds(profile), **axes)
    ]


def _by_case(records: Sequence[Record]) -> dict[str, tuple[list[Record], str]]:
    found: dict[str, tuple[list[Record], str]] = {}
    for record in records:
        case, name = _case(record)
        found.setdefault(case, ([], name))[0].append(record)
    return found


def _u08_plot(records: Sequence[Record]) -> Plot:
    found = _by_case(records)
    bars = [Bar(case, over_seeds(runs, name)) for case, (runs, name) in found.items()]
    full = found["full"][0]
    bars += [Bar(g, over_seeds(full, g), True) for g in guesses_of(full)]
    return BarPlot("Table III: parts of the attack left out", "mean squared error", tuple(bars))


@check(
    "U08",
    rule=(
        "Five statements, each shown if the geometric mean over seeds of the ratio has its whole interval on the stated side of "
        "1 (one seed: the number): leaving out the own columns, the noise, the penalty each raises the error over the "
        "full attack's; without the generator the error exceeds the uniform guess's; the full attack's is below the "
        "uniform guess's. Holds if all five are shown. Of the first four:" + OPEN_IS_NOT_FAILED
    ),
    sizes={
        "fast": "200 records, 1 seed, brief training",
        "standard": "500 records, 5 seeds",
        "full": "half of the test records, 10 seeds",
    },
    runs=_u08_runs,
    draw=_u08_plot,
)
def u08(records: Sequence[Record]) -> Judgement:
    """Judge the ablation."""
    found = _by_case(records)
    full, _ = found["full"]
    raised = {
        case: ratio(found[case][0], found[case][1], full, GRN)
        for case in ("no own columns", "no noise", "no penalty")
    }
    naive = ratio(found["no generator"][0], found["no generator"][1], full, "uniform")
    whole = ratio(full, GRN, full, "uniform")
    parts = [above(m, 1.0) for m in (*raised.values(), naive)]
    verdict = weighed(parts, [m.value > 1.0 for m in (*raised.values(), naive)])
    if verdict is Verdict.HOLDS and not below(whole, 1.0):
        verdict = Verdict.PARTLY
    errors = ", ".join(
        f"{case} {over_seeds(runs, name).value:.3f}" for case, (runs, name) in found.items()
    )
    words = ", ".join(f"{case} {told(m)}" for case, m in raised.items())
    return Judgement(
        verdict,
        f"error over the full attack's: {words}; no generator over uniform {told(naive)}; full over uniform "
        f"{told(whole)}",
        note=f"Errors: {errors}, uniform {over_seeds(full, 'uniform').value:.3f}, half "
        f"{over_seeds(full, 'half').value:.3f}. The full attack's error over one half's is "
        f"{told(ratio(full, GRN, full, 'half'))}.",
    )


def _u09_runs(profile: str) -> list[Scenario]:
    extra = [
        run
        for dataset in (BANK, DRIVE)
        for run in on_forest(profile, dataset, share=(0.1,), seed=seeds(profile))
    ]
    return list(dict.fromkeys([*_forests(profile), *extra]))


BRANCHES = f"{FOREST_GRN} branches"


def _u09_plot(records: Sequence[Record]) -> Plot:
    bars = []
    rated = [r for r in records if has(r, BRANCHES) and has(r, "uniform branches")]
    for (dataset, share), runs in grouped(rated, "dataset", "share").items():
        where = f"{SHORT[dataset]} {share:.0%}"
        bars.append(Bar(where, over_seeds(runs, BRANCHES)))
        for guess in ("uniform", "half"):
            bars.append(Bar(f"{where}, {guess}", over_seeds(runs, f"{guess} branches"), True))
    return BarPlot("Branches in the forest", "correct branching rate", tuple(bars))


@check(
    "U09",
    rule=(
        "In a cell (set, share) the attack beats a guess if the mean over seeds of its branching rate less the "
        "guess's has its whole interval above 0 (one seed: the number). Holds if it beats the uniform and the "
        "Gaussian guess in every cell and its mean rate exceeds 0.8 on bank and on drive at 10 %."
        + OPEN_IS_NOT_FAILED
    ),
    sizes={
        "fast": "bank and drive, 10 and 40 % of the columns, 3,000 rows, 200 records, 1 seed, brief training",
        "standard": "all four sets at 20, 40 and 60 %, bank and drive at 10 %, 500 records, 5 seeds",
        "full": "all four sets, 10 to 60 % of the columns, half of the test records, 10 seeds",
    },
    runs=_u09_runs,
    draw=_u09_plot,
)
def u09(records: Sequence[Record]) -> Judgement:
    """Judge the branches of guessed values."""
    rated = [r for r in records if has(r, BRANCHES) and has(r, "uniform branches")]
    cells = grouped(rated, "dataset", "share")
    beats = {
        guess: {
            key
            for key, runs in cells.items()
            if above(difference(runs, BRANCHES, runs, f"{guess} branches"), 0.0)
        }
        for guess in ("uniform", "gaussian", "half")
    }
    both = beats["uniform"] & beats["gaussian"]
    tenth = {d: over_seeds(cells[d, 0.1], BRANCHES) for d in (BANK, DRIVE) if (d, 0.1) in cells}
    high = len(tenth) == 2 and all(m.value > 0.8 for m in tenth.values())
    higher = [
        all(
            difference(runs, BRANCHES, runs, f"{guess} branches").value > 0.0
            for guess in ("uniform", "gaussian")
        )
        for runs in cells.values()
    ]
    verdict = weighed([key in both for key in cells], higher)
    if verdict is Verdict.HOLDS and not high:
        verdict = Verdict.PARTLY
    words = ", ".join(f"{SHORT[d]} {told(m)}" for d, m in tenth.items())
    return Judgement(
        verdict,
        f"above both random guesses in {share_of(len(both), len(cells), 'cells')}; rate at 10 %: {words}",
        note=f"{weighed_words([key in both for key in cells], higher)} Above one half's branches in {share_of(len(beats['half']), len(cells), 'cells')}. "
        f"{len(records) - len(rated)} of {len(records)} runs have no rate. Single runs above, of {len(rated)}: "
        + ", ".join(
            f"{g} {sum(value(r, BRANCHES) > value(r, f'{g} branches') for r in rated)}"
            for g in ("uniform", "gaussian", "half")
        )
        + ".",
    )
