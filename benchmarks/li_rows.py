"""Every row of Tables 2 to 6 of Li et al. beside the paper's, from the stored standard runs.

python benchmarks/li_rows.py > docs/papers/li/rows.md

Seconds are those of a whole stored run: training on ciphertexts and attack. The paper's are its
attack's, on another machine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "results" / "standard"
# Relative error and seconds, as printed, in the order of the tables.
TABLE_2 = [
    ("4.3e-4", 0.015), ("8.2e-5", 0.14), ("2.3e-3", 0.312), ("2.2e-4", 0.781), ("3.6e-6", 0.063),
    ("4.2e-4", 0.282), ("3.1e-3", 0.532), ("1.9e-4", 0.704), ("1.8e-6", 593.812),
    ("8.3e-5", 2541.02),
]  # fmt: skip
TABLE_3 = [
    ("2.4e-4", 0.062), ("8.4e-5", 3.187), ("2.9e-4", 3.344), ("1.6e-3", 10.891), ("8.4e-4", 17.125),
    ("1.6e-12", 0.015), ("4.7e-14", 0.015), ("2e-4", 0.016), ("5.2e-5", 0.016), ("3.5e-5", 0.047),
    ("2.7e-4", 0.219), ("5.7e-4", 3.922), ("1.9e-4", 16.281),
]  # fmt: skip
TABLE_4 = {
    "fish-market": ("2.8e-10", 0.219), "motor-temperature": ("1.4e-9", 1.548),
    "wine-quality": ("5.2e-12", 0.516), "boston-housing": ("1.0e-12", 0.171),
}  # fmt: skip
TABLE_5 = {"statlog-vehicle": 19311, "iris": 1857, "breast-cancer": 1896}
# By set and epsilon over the width of the range, with 401 records a query.
TABLE_6 = {
    ("statlog-vehicle", 5e-3): 6435, ("statlog-vehicle", 5e-5): 12873,
    ("statlog-vehicle", 5e-7): 19311, ("iris", 1e-2): 928, ("iris", 1e-5): 1857, ("iris", 1e-7): 2786,
    ("breast-cancer", 5e-3): 473, ("breast-cancer", 5e-5): 945, ("breast-cancer", 5e-8): 1420,
}  # fmt: skip


def runs(claim: str) -> list[dict[str, Any]]:
    """Return the stored runs of a claim."""
    found: list[dict[str, Any]] = json.loads((RESULTS / f"{claim}.json").read_text())["runs"]
    return found


def told(measured: dict[str, Any], name: str) -> str:
    """Write an error, or that there is none."""
    value = measured.get(name)
    return f"{value:.0e}" if isinstance(value, float) else "not determined"


def inversions(title: str, claim: str, paper: list[tuple[str, float]]) -> None:
    """Print Table 2 or 3."""
    print(f"\n**{title}**\n")
    print(
        "| set | victim's columns | records | error here (best that fits) | paper | s here | s paper |"
    )
    print("|---|---|---|---|---|---|---|")
    for run, (error, seconds) in zip(runs(claim), paper, strict=True):
        work, measured = run["work"], run["outcome"]["measurements"]
        name = "gram-inversion-known"
        print(
            f"| {work['dataset']} | {work['unknown']} | {work['model_options']['records']} | "
            f"{told(measured, name + ' relative')} ({told(measured, name + ' best relative')}) | "
            f"{error} | {run['seconds']:.1f} | {seconds:g} |"
        )


def horizontal() -> None:
    """Print Table 4, each stored seed in a row."""
    print("\n**Table 4, horizontal**\n")
    print(
        "| set | columns | victim's records | error here (best that fits) | paper | s here | s paper |"
    )
    print("|---|---|---|---|---|---|---|")
    for run in runs("L09"):
        work, measured = run["work"], run["outcome"]["measurements"]
        error, seconds = TABLE_4[work["dataset"]]
        print(
            f"| {work['dataset']} | {work['columns']} | {work['records']} | "
            f"{told(measured, 'error')} ({told(measured, 'best')}) | {error} | "
            f"{run['seconds']:.1f} | {seconds:g} |"
        )


def thresholds(title: str, claim: str) -> None:
    """Print Table 5 or 6; a row of Table 5 has the paper's seconds beside it."""
    print(f"\n**{title}**\n")
    print(
        "| set | epsilon (of the range) | records a query | nodes found | queries (formula) | s here | s paper |"
    )
    print("|---|---|---|---|---|---|---|")
    for run in runs(claim):
        work, measured = run["work"], run["outcome"]["measurements"]
        options = work["model_options"]
        if claim == "L11":
            paper = f"{TABLE_5[work['dataset']]}"
        else:
            at = TABLE_6.get((work["dataset"], options["epsilon"]))
            paper = f"{at}" if at is not None and options["per_query"] == 401 else ""
        print(
            f"| {work['dataset']} | {options['epsilon']:g} | {options['per_query']} | "
            f"{measured['nodes found']} of {measured['nodes']} | {measured['queries']} "
            f"({measured['queries by the formula']}) | {run['seconds']:.1f} | {paper} |"
        )


HEAD = """# Every row of Tables 2 to 6, beside the paper's

Written by `python benchmarks/li_rows.py` from the stored standard runs. Errors are relative (mean error over mean
size): of the one table that the attack commits to, and in brackets of the best that fits. Seconds here are those of a whole
stored run, training on ciphertexts included; the paper's are those of its attack, on another machine. What is not
determined, and why: [the paper's page](../li.md)."""

if __name__ == "__main__":
    print(HEAD)
    inversions("Table 2, linear regression", "L06", TABLE_2)
    inversions("Table 3, logistic regression", "L07", TABLE_3)
    horizontal()
    thresholds("Table 5, SecureBoost", "L11")
    thresholds("Table 6 and Fig 11, precision and records a query", "L12")
