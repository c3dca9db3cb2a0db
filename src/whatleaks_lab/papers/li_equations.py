"""Li et al.: degrees of freedom (L03, L04) and positions of known elements (L05), as runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.errors import AttackError
from whatleaks.models.degrees_of_freedom import degrees_of_freedom, jacobian_freedom
from whatleaks.models.gram_rows import corollary_positions, fitting_tables
from whatleaks.runs.grouping import value
from whatleaks.runs.record import Record
from whatleaks.runs.work import work
from whatleaks.seeds import Streams
from whatleaks.trial.outcome import Outcome
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict
from whatleaks_lab.papers.grouping import rate_of, share_of
from whatleaks_lab.papers.own_work import OwnWork

SOLVED = 1e-6


@work
@dataclass(frozen=True)
class EquationCount(OwnWork):
    """Tables of ``columns`` columns and several numbers of rows, drawn by the seed."""

    kind: ClassVar[str] = "equation-count"

    columns: int
    weights_known: bool = False
    seed: int = 0

    @classmethod
    def perform_group(
        cls, works: Sequence[EquationCount], table: bytes | None
    ) -> Iterator[tuple[Outcome, bytes]]:
        """Draw the tables and count; nothing about them is private."""
        del table
        for one in works:
            yield _counted(one), b""


def _counted(one: EquationCount) -> Outcome:
    n, rng = one.columns, Streams(one.seed).rng("tables")
    sizes = range(max(1, n - 1), n + 8)
    agree = solved = others = 0
    for m in sizes:
        table = rng.uniform(size=(m, n))
        weights = rng.normal(size=n) if one.weights_known else None
        told = (n - 1) * (n - 2) // 2 if one.weights_known else n * (n - 1) // 2
        agree += jacobian_freedom(table, weights) == told
        known = corollary_positions(table, weights)
        outputs = None if weights is None else table @ weights
        try:
            fit = fitting_tables(table @ table.T, known, table, weights, outputs)
            solved += min(float(np.abs(t - table).max()) for t in fit.tables) < SOLVED
        except AttackError:
            pass
        # The same number of elements, anywhere.
        count = degrees_of_freedom(m, n, one.weights_known)
        anywhere = np.zeros(m * n, dtype=np.bool_)
        anywhere[rng.permutation(m * n)[:count]] = True
        others += jacobian_freedom(table, weights, anywhere.reshape(m, n)) == 0
    corner = rng.uniform(size=(3, 3))
    first = np.zeros((3, 3), dtype=np.bool_)
    first[:, 0] = True
    return Outcome(
        {
            "tables": len(sizes),
            "counts that agree": agree,
            "solved from the corollary's positions": solved,
            "determined by as many elsewhere": others,
            "open in the counter-example": jacobian_freedom(corner, None, first),
        }
    )


def _runs(weights_known: bool, profile: str) -> list[EquationCount]:
    widest = {"fast": 5, "standard": 9, "full": 12}[profile]
    # 10 to 39 were, or could have been, those of the first verdicts.
    seeds = range(80, 80 + {"fast": 1, "standard": 10, "full": 30}[profile])
    return [EquationCount(n, weights_known, s) for n in range(2, widest + 1) for s in seeds]


def _sizes() -> dict[str, str]:
    return {
        "fast": "2 to 5 columns, 8 or 9 numbers of rows each, 1 seed",
        "standard": "2 to 9 columns, 8 or 9 numbers of rows each, 10 seeds",
        "full": "2 to 12 columns, 30 seeds",
    }


def _counts(records: Sequence[Record]) -> Judgement:
    agree = int(sum(value(r, "counts that agree") for r in records))
    tables = int(sum(value(r, "tables") for r in records))
    verdict = Verdict.HOLDS if agree == tables else Verdict.FAILS
    return Judgement(
        verdict, f"the count agrees in {share_of(agree, tables, 'tables')}", rate_of(agree, tables)
    )


RULE = "Holds if the rank of the equations' Jacobian gives that number for every table; else fails."


@check("L03", rule=RULE, sizes=_sizes(), runs=lambda profile: _runs(False, profile))
def l03(records: Sequence[Record]) -> Judgement:
    """Judge Theorem 1."""
    return _counts(records)


@check("L04", rule=RULE, sizes=_sizes(), runs=lambda profile: _runs(True, profile))
def l04(records: Sequence[Record]) -> Judgement:
    """Judge Theorem 2."""
    return _counts(records)


@check(
    "L05",
    rule=(
        f"Solved means that a table within {SOLVED:g} of the truth is among those found. Holds if every "
        "table is solved from the corollary's positions and the 3 x 3 example leaves something open; "
        "partly if one of the two; else fails."
    ),
    sizes=_sizes(),
    runs=lambda profile: _runs(False, profile),
)
def l05(records: Sequence[Record]) -> Judgement:
    """Judge Corollary 1 and the counter-example."""
    tables = int(sum(value(r, "tables") for r in records))
    solved = int(sum(value(r, "solved from the corollary's positions") for r in records))
    others = int(sum(value(r, "determined by as many elsewhere") for r in records))
    left = all(value(r, "open in the counter-example") > 0 for r in records)
    kept = (solved == tables) + left
    verdict = (Verdict.FAILS, Verdict.PARTLY, Verdict.HOLDS)[kept]
    return Judgement(
        verdict,
        f"solved in {share_of(solved, tables, 'tables')} from the corollary's positions; as many elements "
        f"at random places determine {others} of them; the counter-example stays open in "
        f"{'every' if left else 'not every'} run",
        rate_of(solved, tables),
    )
