"""Jiang et al., section 5.2.2: networks in the white box (J08 to J11)."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.runs.grouping import grouped
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.claim import Judgement
from whatleaks_lab.papers.grouping import grid
from whatleaks_lab.papers.jiang_setup import (
    BANK,
    GIA,
    GRN,
    ROBOT,
    SATELLITE,
    SETS,
    SHORT,
    base,
    beside,
    by_cells,
    cells_check,
    mean,
    seeds,
    steps_of,
)


def _j08_runs(profile: str) -> list[Scenario]:
    shares = {"fast": (0.5,), "standard": (0.1, 0.5), "full": (0.1, 0.3, 0.5, 0.7, 0.9)}[profile]
    fields = {**base(profile, [GIA, GRN]), "model": "network"}
    return grid(fields, dataset=SETS, share=shares, seed=seeds(profile))


@cells_check(
    "J08",
    rule=(
        "Inversion's error is below the generative network's in every cell of set and share; at 10 % of the columns "
        "(cells of their own) it is below 0.02; and its attack accuracy is not lower by more than 0.01 (cells again)."
    ),
    standard="four sets, 10 and 50 % of the columns, two hidden layers",
    runs=_j08_runs,
)
def j08(records: Sequence[Record]) -> Judgement:
    """Judge inversion against the generative regression network."""
    cells, words = {}, []
    for (dataset, share), runs in grouped(records, "dataset", "share").items():
        cell = f"{SHORT[dataset]} {share:g}"
        ours, theirs, half = (mean(runs, n) for n in (GIA, GRN, "half"))
        cells[cell] = ours < theirs
        cells[f"{cell} accuracy"] = (
            mean(runs, f"{GIA} accuracy") >= mean(runs, f"{GRN} accuracy") - 0.01
        )
        if share == 0.1:
            cells[f"{cell} near zero"] = ours < 0.02
        words.append(f"{cell} {ours:.3f}/{theirs:.3f}/{half:.3f}")
    return by_cells(
        cells,
        "Errors of inversion, generative network and one half: " + ", ".join(words) + ".",
        f"After {steps_of(records)}. " + beside(records, ("dataset", "share")),
    )


def _j09_runs(profile: str) -> list[Scenario]:
    fields = {**base(profile, [GIA, GRN]), "model": "network", "share": 0.5}
    return grid(fields, dataset=(BANK, SATELLITE), targets=(2, 10, 100), seed=seeds(profile))


@cells_check(
    "J09",
    rule=(
        "From 100 to 10 and to 2 records the generative network's attack accuracy falls by at least 0.05 and inversion's by "
        "less than 0.05; a cell is a set, a number of records and one of the two statements. (2 stands for the paper's 1: "
        "a single record has no differences to score.)"
    ),
    standard="bank and satellite, 50 % of the columns; 2, 10 and 100 records",
    runs=_j09_runs,
)
def j09(records: Sequence[Record]) -> Judgement:
    """Judge how both attacks do with few records."""
    cells, words = {}, []
    for (dataset,), group in grouped(records, "dataset").items():
        by = {n: runs for (n,), runs in grouped(group, "targets").items()}
        for n in (2, 10):
            falls = {
                a: mean(by[100], f"{a} accuracy") - mean(by[n], f"{a} accuracy") for a in (GIA, GRN)
            }
            cells[f"{SHORT[dataset]} {n} generative"] = falls[GRN] >= 0.05
            cells[f"{SHORT[dataset]} {n} inversion"] = falls[GIA] < 0.05
        words += [
            f"{SHORT[dataset]} {n}: {mean(by[n], f'{GIA} accuracy'):.2f}/{mean(by[n], f'{GRN} accuracy'):.2f}"
            for n in sorted(by)
        ]
    return by_cells(
        cells,
        "Attack accuracy of inversion and generative network: " + ", ".join(words) + ".",
        "With 2 records an attack accuracy is a multiple of one half per seed. Inversion: "
        + beside(records, ("dataset", "targets"))
        + " Generative network: "
        + beside(records, ("dataset", "targets"), GRN),
    )


def _j10_runs(profile: str) -> list[Scenario]:
    fields = {**base(profile, [GIA]), "model": "network", "share": 0.5}
    layers = ((8,), (8, 8), (8, 8, 8))
    return grid(
        fields, dataset=(ROBOT, SATELLITE), model_options__hidden=layers, seed=seeds(profile)
    )


@cells_check(
    "J10",
    rule=(
        "Per set, the error does not fall from 1 to 2 and from 2 to 3 hidden layers (two cells), and with each number of "
        "layers it is below the uniform guess's (three cells)."
    ),
    standard="robot and satellite, 50 % of the columns, 1 to 3 hidden layers of 8",
    runs=_j10_runs,
)
def j10(records: Sequence[Record]) -> Judgement:
    """Judge depth."""
    cells, words = {}, []
    for (dataset,), group in grouped(records, "dataset").items():
        by = {len(h): runs for (h,), runs in grouped(group, "model_options.hidden").items()}
        errors = {n: mean(by[n], GIA) for n in sorted(by)}
        cells[f"{SHORT[dataset]} 2 layers"] = errors[2] >= errors[1]
        cells[f"{SHORT[dataset]} 3 layers"] = errors[3] >= errors[2]
        for n in by:
            cells[f"{SHORT[dataset]} {n} below uniform"] = errors[n] < mean(by[n], "uniform")
        words.append(
            f"{SHORT[dataset]} "
            + " ".join(f"{e:.3f}" for e in errors.values())
            + f" (uniform {mean(by[1], 'uniform'):.3f}, half {mean(by[1], 'half'):.3f})"
        )
    return by_cells(
        cells,
        "Errors with 1, 2, 3 layers: " + "; ".join(words) + ".",
        f"After {steps_of(records)}. " + beside(records, ("dataset", "model_options.hidden")),
    )


def _j11_runs(profile: str) -> list[Scenario]:
    fields = {**base(profile, [GIA]), "model": "network", "share": 0.5}
    kinds = ("sigmoid", "tanh", "relu")
    return grid(
        fields, dataset=(ROBOT, SATELLITE), model_options__activation=kinds, seed=seeds(profile)
    )


@cells_check(
    "J11",
    rule=(
        "Per set, the largest of the three errors is at most 1.5 times the smallest (a cell), and relu's is the largest "
        "(a cell)."
    ),
    standard="robot and satellite, 50 % of the columns, three activations",
    runs=_j11_runs,
)
def j11(records: Sequence[Record]) -> Judgement:
    """Judge activations."""
    cells, words = {}, []
    for (dataset,), group in grouped(records, "dataset").items():
        errors = {
            a: mean(runs, GIA) for (a,), runs in grouped(group, "model_options.activation").items()
        }
        cells[f"{SHORT[dataset]} similar"] = max(errors.values()) <= 1.5 * min(errors.values())
        cells[f"{SHORT[dataset]} relu largest"] = errors["relu"] == max(errors.values())
        words.append(f"{SHORT[dataset]} " + ", ".join(f"{a} {e:.3f}" for a, e in errors.items()))
    return by_cells(
        cells,
        "Errors: " + "; ".join(words) + ".",
        f"After {steps_of(records)}. " + beside(records, ("dataset", "model_options.activation")),
    )
