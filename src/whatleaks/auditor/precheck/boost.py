"""Precheck of SecureBoost: the queries that thresholds cost, and what training shows anyway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from whatleaks.auditor.precheck.finding import COSTS, EXACT, LENIENT, Line
from whatleaks.errors import UsageError, argument
from whatleaks.models.threshold_queries import queries_per_node


@dataclass(frozen=True)
class Boost:
    """``nodes`` of the partner; 0: at most those of ``trees`` of a ``depth``."""

    UNSAID: ClassVar[Mapping[str, str]] = {
        "nodes": "all that such trees have",
        "records": "any number",
    }  # what a default of nothing means

    trees: int = 5
    depth: int = 3
    nodes: int = 0
    per_query: int = 401
    width: float = 1.0
    epsilon: float = 1e-6
    records: int = 0

    def __post_init__(self) -> None:
        """Refuse settings that no model has."""
        for name in ("trees", "depth"):
            if getattr(self, name) < 1:
                raise UsageError(f"{argument(name)} must be at least 1, got {getattr(self, name)}")
        for name in ("nodes", "records"):
            if getattr(self, name) < 0:
                raise UsageError(f"{argument(name)} must be 0 or more, got {getattr(self, name)}")
        if self.nodes > self.most:
            raise UsageError(
                f"{argument('nodes')} {self.nodes} is more than the {self.most} that "
                f"{self.trees} trees of depth {self.depth} have"
            )
        queries_per_node(self.width, self.epsilon, self.per_query)

    @property
    def most(self) -> int:
        """How many inner nodes the trees can have."""
        return self.trees * (int(2**self.depth) - 1)

    def assumes(self) -> tuple[str, ...]:
        """Say what the counts take for granted."""
        return (
            "every column has the public range that is given",
            "made-up records can be enrolled in the partner's table; an engine that looks its "
            "columns up by id does not allow it",
        )

    def lines(self) -> tuple[Line, ...]:
        """Count queries by the paper's formula, and name what needs none."""
        each = queries_per_node(self.width, self.epsilon, self.per_query)
        nodes = self.nodes or self.most
        most = "" if self.nodes else "at most "
        search = Line(
            f"the thresholds of {most}{nodes} nodes, each within {self.epsilon:g}", COSTS,
            f"{each} queries of {self.per_query} records for each node: {most}{nodes * each} in all "
            f"({nodes * each * self.per_query} made-up records)",
            "Li et al., section 5.2: n_v ceil(log_{m-1}((UB - LB) / eps))",
            stops=(
                "refuse records that the partner has not enrolled",
                f"limit queries: each leaves an interval {self.per_query - 1} times narrower",
            ),
        )  # fmt: skip
        routing = Line(
            "which records lie left and right of each of the partner's nodes", EXACT,
            "the parties must divide the records of a node, so the label holder sees every split",
            "Li et al., section 2.3 (B knows how A divides items)",
            stops=("fewer or shallower trees",),
        )  # fmt: skip
        engine = Line(
            "FATE's and SecretFlow's prediction", LENIENT,
            "both answer about nodes off a record's real path: 5,690 of 5,690 and 6,369 of 6,369 bits "
            "were read in one run each, of which 2,301 lie on real paths in the second",
            "FATE 2.2 updated_pos, SecretFlow 1.14 SGB leaf matrices",
            stops=("answer only along the real path of a record",),
        )  # fmt: skip
        return (routing, search, engine)
