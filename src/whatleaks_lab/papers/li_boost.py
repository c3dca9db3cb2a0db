"""Li et al., section 5: thresholds of SecureBoost, their queries, and records' intervals (L11-L13)."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.runs.grouping import scenario_of, value
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict
from whatleaks_lab.papers.grouping import grid, rate_of, share_of

KEYS = {"key_bits": 512, "insecure_test_key": True}  # no number depends on the key
# Data set, victim's columns, width of the paper's range, rounds, records per query of Table 5.
SETS = (
    ("statlog-vehicle", 9, 2.0, 5, 401),
    ("iris", 2, 10.0, 5, 401),
    ("breast-cancer", 20, 20.0, 5, 201),
)
TABLE_5 = {"statlog-vehicle": 1e-7, "iris": 1e-2, "breast-cancer": 1e-6}
TABLE_6 = {
    "statlog-vehicle": (1e-2, 1e-4, 1e-6),
    "iris": (1e-1, 1e-4, 1e-6),
    "breast-cancer": (1e-1, 1e-3, 1e-6),
}


def _base(dataset: str, unknown: int, rounds: int, attack: str) -> dict[str, object]:
    return {
        "dataset": dataset,
        "unknown": unknown,
        "model": "boost",
        "threat": "boost-queries",
        "attacks": [attack],
        "references": [],
        "model_options": {"records": 150, "rounds": rounds, **KEYS},
    }


def _seeds(profile: str, standard: int) -> range:
    """Return fresh seeds: 10 to 19 were those of the first verdicts."""
    return range(80, 80 + {"fast": 1, "standard": standard, "full": 10}[profile])


def _l11_runs(profile: str) -> list[Scenario]:
    runs = []
    for dataset, unknown, width, rounds, records in SETS:
        base = _base(dataset, unknown, 1 if profile == "fast" else rounds, "threshold-intervals")
        options = {
            "together": (False,),
            "epsilon": (TABLE_5[dataset] / width,),
            "per_query": (records,),
        }
        axes = {f"model_options__{name}": values for name, values in options.items()}
        runs += grid(base, seed=_seeds(profile, 1), **axes)
    return runs


def _counted(records: Sequence[Record]) -> tuple[int, int, int, int]:
    """Return nodes, nodes found, and in how many runs the queries are the formula's."""
    nodes = int(sum(value(r, "nodes") for r in records))
    found = int(sum(value(r, "nodes found") for r in records))
    same = sum(value(r, "queries") == value(r, "queries by the formula") for r in records)
    return nodes, found, same, len(records)


def _verdict(records: Sequence[Record], lines: str) -> Judgement:
    nodes, found, same, runs = _counted(records)
    good = (found == nodes) + (same == runs)
    verdict = (Verdict.FAILS, Verdict.PARTLY, Verdict.HOLDS)[good]
    return Judgement(
        verdict,
        f"{share_of(found, nodes, 'thresholds')} found within epsilon; the queries are the formula's in "
        f"{share_of(same, runs, 'runs')}: {lines}",
        rate_of(found, nodes),
        note="Values lie in 0..1, so epsilon is the paper's over the width of its range. The search learns "
        "each node's column with one query more, which the algorithm takes as given.",
    )


RULE = (
    "Holds if every threshold of every run lies in the interval found, that is no wider than epsilon, and the "
    "queries of every run are as many as the formula says; partly if one of the two; else fails."
)


def _line(record: Record) -> str:
    asked = scenario_of(record)
    return (
        f"{asked.dataset}, epsilon {asked.model_options['epsilon']:g}, {int(value(record, 'nodes'))} nodes, "
        f"{int(value(record, 'queries'))} queries"
    )


@check(
    "L11",
    rule=RULE,
    sizes={
        "fast": "one round of trees, 150 records, 1 seed, 512-bit keys",
        "standard": "five rounds of trees, 150 records, 1 seed, 512-bit keys",
        "full": "the same, 10 seeds",
    },
    runs=_l11_runs,
)
def l11(records: Sequence[Record]) -> Judgement:
    """Judge Table 5."""
    return _verdict(records, "; ".join(_line(r) for r in records))


def _l12_runs(profile: str) -> list[Scenario]:
    runs = []
    for dataset, unknown, width, _, _ in SETS:
        base = _base(dataset, unknown, 1, "threshold-intervals")
        runs += grid(
            base,
            seed=_seeds(profile, 1),
            model_options__together=(False,),
            model_options__epsilon=tuple(e / width for e in TABLE_6[dataset]),
            model_options__per_query=(401,) if profile == "fast" else (11, 101, 401),
        )
    return runs


@check(
    "L12",
    rule=RULE,
    sizes={
        "fast": "three epsilons, 401 records a query, 1 seed, one round of trees",
        "standard": "three epsilons, 11, 101 and 401 records a query, 1 seed, one round of trees",
        "full": "the same, 10 seeds",
    },
    runs=_l12_runs,
)
def l12(records: Sequence[Record]) -> Judgement:
    """Judge Table 6 and Figure 11."""
    most = max(records, key=lambda r: value(r, "queries"))
    least = min(records, key=lambda r: value(r, "queries"))
    return _verdict(records, f"from {_line(least)} to {_line(most)}")


def _l13_runs(profile: str) -> list[Scenario]:
    runs = []
    for dataset, unknown, _, rounds, _ in SETS:
        base = _base(dataset, unknown, 1 if profile == "fast" else rounds, "threshold-intervals")
        runs += grid(base, seed=_seeds(profile, 2))
    return runs


@check(
    "L13",
    rule=(
        "Holds if in every run every interval of every training record holds the true value; partly if more "
        "than 99 % of them do; else fails."
    ),
    sizes={
        "fast": "one round of trees, 150 records, 1 seed, 512-bit keys",
        "standard": "five rounds of trees, 150 records, 2 seeds, 512-bit keys",
        "full": "the same, 10 seeds",
    },
    runs=_l13_runs,
)
def l13(records: Sequence[Record]) -> Judgement:
    """Judge the training records' intervals."""
    held = [value(r, "threshold-intervals held") for r in records]
    whole = sum(share == 1.0 for share in held)
    if whole == len(held):
        verdict = Verdict.HOLDS
    else:
        verdict = Verdict.PARTLY if min(held) > 0.99 else Verdict.FAILS
    told = "; ".join(
        f"{scenario_of(r).dataset}: width {value(r, 'threshold-intervals width'):.2f} of the range with "
        f"{int(value(r, 'nodes'))} nodes and {int(value(r, 'queries'))} queries "
        f"(formula {int(value(r, 'queries by the formula'))})"
        for r in records
    )
    return Judgement(
        verdict,
        f"every interval holds its value in {share_of(whole, len(held), 'runs')}. {told}",
        rate_of(whole, len(held)),
        note="All nodes are searched together here. A true interval can be wide: a column that no node tests "
        "stays as wide as its range.",
    )
