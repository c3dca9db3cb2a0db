"""Li et al., Table 4 and Figures 9, 10: horizontal clients and the colluding arbiter (L09, L10)."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.runs.grouping import value
from whatleaks.runs.record import Record
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict
from whatleaks_lab.papers.grouping import has, rate_of, share_of
from whatleaks_lab.papers.protocol_inversion import COLLUDING, HORIZONTAL, ProtocolInversion

INVERTED, PRINTED = 1e-2, 1e-10
# Data set, columns, the victim's records, the attacker's.
TABLE_4 = (
    ("fish-market", 5, 5, 27),
    ("motor-temperature", 11, 11, 60),
    ("wine-quality", 11, 4, 120),
    ("boston-housing", 6, 3, 24),
)


def _seeds(profile: str) -> range:
    """Return fresh seeds: 10 and 11 were run before a bug of the solver was found, 20 and 21 after it."""
    return range(80, 80 + {"fast": 1, "standard": 2, "full": 5}[profile])


@check(
    "L09",
    rule=(
        f"Inverted means a relative error below {INVERTED:g}. Holds if the one table that is committed to is right "
        "in every run; partly if in at least half of the runs the truth is among the tables that fit; else fails."
    ),
    sizes={
        "fast": "the four rows of Table 4, 600 rounds, 1 seed, 512-bit keys",
        "standard": "the same, 2 seeds",
        "full": "the same, 5 seeds",
    },
    runs=lambda profile: [
        ProtocolInversion(HORIZONTAL, name, n, m, others, seed)
        for name, n, m, others in TABLE_4
        for seed in _seeds(profile)
    ],
)
def l09(records: Sequence[Record]) -> Judgement:
    """Judge Table 4."""
    done = [r for r in records if has(r, "error")]
    right = sum(value(r, "error") < INVERTED for r in done)
    among = sum(value(r, "best") < INVERTED for r in done)
    n = len(records)
    partly = Verdict.PARTLY if 2 * among >= n else Verdict.FAILS
    lines = []
    for record in records:
        asked = record.work.to_dict()
        told = f"KDR {value(record, 'known data ratio'):.1%}, Gram matrix to {value(record, 'gram error'):.0e}"
        if has(record, "error"):
            told += f", table {value(record, 'error'):.0e}, best of {int(value(record, 'tables'))} {value(record, 'best'):.0e}"
        lines.append(f"{asked['dataset']} {asked['columns']}/{asked['records']}: {told}")
    return Judgement(
        Verdict.HOLDS if right == n else partly,
        f"the committed table is right in {share_of(right, n, 'runs')}, the truth is among those that fit in "
        f"{among}: {'; '.join(lines)}",
        rate_of(right, n),
    )


@check(
    "L10",
    rule=(
        f"Holds if every run's relative error is below {PRINTED:g}, as printed; partly if at least half are below "
        f"{INVERTED:g}; else fails."
    ),
    sizes={
        "fast": "red wine, 4 and 8 records, 2 and 5 columns of the victim, 1 seed, 512-bit keys",
        "standard": "red wine and motor, 4, 8, 16 and 32 records, 2 and 5 columns, 2 seeds",
        "full": "the same, 5 seeds",
    },
    runs=lambda profile: [
        ProtocolInversion(COLLUDING, name, n, m, 0, seed)
        for name in (
            ("wine-quality",) if profile == "fast" else ("wine-quality", "motor-temperature")
        )
        for m in ((4, 8) if profile == "fast" else (4, 8, 16, 32))
        for n in (2, 5)
        for seed in _seeds(profile)
    ],
)
def l10(records: Sequence[Record]) -> Judgement:
    """Judge the colluding arbiter."""
    errors = [value(r, "error") for r in records]
    printed, right = (sum(e < most for e in errors) for most in (PRINTED, INVERTED))
    n = len(errors)
    partly = Verdict.PARTLY if 2 * right >= n else Verdict.FAILS
    lines = []
    for m in sorted({int(r.work.to_dict()["records"]) for r in records}):
        some = [r for r in records if r.work.to_dict()["records"] == m]
        worst = max(value(r, "error") for r in some)
        least = int(min(value(r, "directions of the residuals") for r in some))
        lines.append(
            f"{m} records: error up to {worst:.0e}, at least {least} directions of residuals"
        )
    return Judgement(
        Verdict.HOLDS if printed == n else partly,
        f"below {PRINTED:g} in {share_of(printed, n, 'runs')}, below {INVERTED:g} in {right}. {'; '.join(lines)}",
        rate_of(right, n),
        note="The system is linear with as many unknowns as records; residuals of gradient descent on one "
        "batch resolve few directions in doubles.",
    )
