"""A limit on queries: a defense of SecureBoost's predictions against a search for thresholds."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense
from whatleaks.errors import UsageError


@defense(
    "query-limit-2",
    title="At most 2 queries of made-up records",
    paper="whatleaks",
    needs="boosted trees whose owners answer at prediction",
    settings={"queries": 2},
    family=("query-limit", "queries"),
)
@dataclass(frozen=True)
class QueryLimit(TrainingDefense):
    """``queries`` messages, of as many records as a query may have. The sides of real records stay."""

    queries: int = 2

    def __post_init__(self) -> None:
        """Refuse what limits nothing."""
        if self.queries < 1:
            raise UsageError(f"a limit of {self.queries} queries has no meaning: use 1 or more")

    @property
    def name(self) -> str:
        """The defense and its limit."""
        return f"query-limit-{self.queries}"

    def adapt(self, settings: Any) -> Any | None:
        """Limit the queries where a federation answers any."""
        if "most_queries" not in {f.name for f in fields(settings)}:
            return None
        return replace(settings, most_queries=self.queries)
