"""The check before collaboration (Luo et al., section VII, pre-processing).

Two questions: do the classes outnumber the passive party's columns, so that a linear
model's scores give every value away; and which passive columns go so closely with the
active ones that a partner can infer them. The paper computes the correlations by a secure
protocol; here they are computed where both tables are, and only the verdicts should leave.
"""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.arrays import Bools, Floats, sealed
from whatleaks.catalog import defense
from whatleaks.defenses.protocol import DataDefense
from whatleaks.errors import TableError, UsageError
from whatleaks.models.pearson import correlations

STATISTICS = ("mean", "max")


@dataclass(frozen=True)
class Collaboration:
    """What the check found. ``correlation`` and ``kept`` have one entry per passive column."""

    classes: int
    columns: int
    correlation: Floats
    kept: Bools

    @property
    def solvable(self) -> bool:
        """Whether exact scores of a linear model determine every passive value (U IV-A)."""
        return self.columns <= self.classes - 1

    @property
    def solvable_after(self) -> bool:
        """The same when only the kept columns are contributed: a filter can open this door."""
        return int(self.kept.sum()) <= self.classes - 1


@defense(
    "correlation-max-0.5",
    title="Columns left out that correlate above 0.5 with a column of the partner",
    paper="Luo et al. 2021",
    needs="a way to compare both parties' columns before joining",
    family=("correlation-max", "threshold"),
)
@dataclass(frozen=True)
class CorrelationFilter(DataDefense):
    """Leaves out passive columns whose correlation with the active ones exceeds ``threshold``.

    ``statistic``: "mean" is the paper's own measure (Eq 16); "max" looks at the closest
    active column, which is the one a partner would use.
    """

    threshold: float = 0.5
    statistic: str = "max"

    def __post_init__(self) -> None:
        """Refuse what no correlation can be compared with."""
        if not 0.0 <= self.threshold <= 1.0:
            raise UsageError(
                f"the correlation threshold must lie between 0 and 1, got {self.threshold}"
            )
        if self.statistic not in STATISTICS:
            raise UsageError(
                f"the correlation filter takes the mean or max, got {self.statistic!r}"
            )

    @property
    def name(self) -> str:
        """The filter, its statistic and its threshold."""
        return f"correlation-{self.statistic}-{self.threshold:g}"

    def measure(self, active: Floats, passive: Floats) -> Floats:
        """Return every passive column's absolute correlation with the active columns."""
        r = abs(correlations(active, passive))
        return sealed(r.max(axis=0) if self.statistic == "max" else r.mean(axis=0))

    def keep(self, active: Floats, passive: Floats) -> Bools:
        """Say for every passive column whether it stays: its correlation is at most the threshold."""
        return self.measure(active, passive) <= self.threshold

    def filtered(self, active: Floats, passive: Floats) -> Floats:
        """Return the passive table without the columns that go too closely with the active ones."""
        kept = self.keep(active, passive)
        if not kept.any():
            raise TableError(
                f"every passive column exceeds a {self.statistic} correlation of "
                f"{self.threshold:g} with the active ones: nothing is left to contribute"
            )
        return sealed(passive[:, kept])


def check_collaboration(
    active: Floats, passive: Floats, classes: int, rule: CorrelationFilter | None = None
) -> Collaboration:
    """Answer both questions for two tables of the same records."""
    rule = rule if rule is not None else CorrelationFilter()
    if classes < 2:
        raise UsageError(f"a check needs at least 2 classes, got {classes}")
    measured = rule.measure(active, passive)
    return Collaboration(classes, passive.shape[1], measured, measured <= rule.threshold)
