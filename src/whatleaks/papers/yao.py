"""Yao, Li, Gong, Hou, Pan 2025: malicious reconstruction and its detectors."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.metrics.intervals import wilson
from whatleaks.papers.check import check
from whatleaks.papers.claim import Judgement, Verdict
from whatleaks.papers.grouping import grid, scenario_of
from whatleaks.papers.plot import Plot, ScorePlot
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario

BASE = {
    "data": {"training_fraction": 0.7, "scale_on": "training"},
    "share": 0.5,
    "model": "split",
    "threat": "split-hijack",
    "detector": "splitguard",
    "targets": 300,
}
ROLES: tuple[tuple[str, ...], ...] = ((), ("fsha",))  # honest training, and FSHA's


def _y06_runs(profile: str) -> list[Scenario]:
    seeds = range({"fast": 1, "standard": 6, "full": 10}[profile])
    steps = {"fast": {"steps": 400}, "standard": {}, "full": {"steps": 10000}}[profile]
    runs = grid(
        {**BASE, "model_options": steps},
        dataset=("breast-cancer",) if profile == "fast" else ("breast-cancer", "digits"),
        attacks=ROLES,
        seed=seeds,
    )
    if profile != "fast":
        rows = {"standard": 6000, "full": 0}[profile]
        runs += grid(
            {**BASE, "model_options": steps, "dataset": "credit-card-default"},
            data__rows=(rows,),
            attacks=ROLES,
            seed=seeds,
        )
    return runs


def _role(record: Record) -> str:
    return "+".join(scenario_of(record).attacks) or "honest"


def _y06_plot(records: Sequence[Record]) -> Plot | None:
    curves = []
    for record in records:
        scores = record.measurements.get("detector scores")
        if record.work.seed == 0 and isinstance(scores, list) and scores:
            halted = bool(record.measurements["halted"])
            label = f"{scenario_of(record).dataset}, {_role(record)}"
            curves.append((label, tuple(scores), halted))
    return ScorePlot("SplitGuard's scores, seed 0", tuple(curves), 0.9) if curves else None


@check(
    "Y06",
    rule=(
        "Checked so far: SplitGuard on FSHA and on honest training. With AGN, URVFL, its sync variant and "
        "Gradient Scrutinizer still to come the verdict is at most partly. It fails if FSHA is halted in fewer "
        "than half of its runs or honest training in more than half of its own; else partly, and the rates "
        "are stated."
    ),
    sizes={
        "fast": "breast cancer, 400 steps, 1 seed",
        "standard": "breast cancer, digits, 6,000 rows of credit, 1,500 steps, 6 seeds each",
        "full": "the same sets whole, 10,000 steps, 10 seeds each",
    },
    runs=_y06_runs,
    draw=_y06_plot,
)
def y06(records: Sequence[Record]) -> Judgement:
    """Judge detection beside false alarms."""
    rates = {}
    for role in ("fsha", "honest"):
        runs = [r for r in records if _role(r) == role]
        rates[role] = wilson(
            sum(bool(r.measurements["halted"]) for r in runs), len(runs), "rate", "seeds"
        )
    fails = rates["fsha"].value < 0.5 or rates["honest"].value > 0.5
    return Judgement(
        Verdict.FAILS if fails else Verdict.PARTLY,
        f"SplitGuard halts FSHA in {rates['fsha'].value:.0%} of {rates['fsha'].n} runs and honest training in "
        f"{rates['honest'].value:.0%} of {rates['honest'].n}",
        value=rates["honest"],
        note="The paper's figures show no false halt of honest training; the value is the false-halt rate.",
    )
