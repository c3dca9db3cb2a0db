"""Precheck of regression without an arbiter: shares in training, and what prediction shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from whatleaks.auditor.precheck.finding import COSTS, LENIENT, OPEN, Line
from whatleaks.errors import UsageError, argument


@dataclass(frozen=True)
class Sshe:
    """``partner`` columns; ``queries``: whether prediction shows plain z."""

    UNSAID: ClassVar[Mapping[str, str]] = {}  # what a default of nothing means

    partner: int
    queries: bool = True

    def __post_init__(self) -> None:
        """Refuse settings that no training has."""
        if self.partner < 1:
            raise UsageError(f"{argument('partner')} must be at least 1, got {self.partner}")

    def assumes(self) -> tuple[str, ...]:
        """Say what the counts take for granted."""
        return ("both parties follow the protocol",)

    def lines(self) -> tuple[Line, ...]:
        """Training shows uniform shares; prediction may not."""
        training = Line(
            "anything from training", OPEN, "every share is uniform by itself",
            "docs/protocols.md, regression without an arbiter",
        )  # fmt: skip
        told = "the partner's weights, and then one equation per predicted record"
        source = "Li et al., section 4.1 (z_test = X_test W)"
        if not self.queries:
            return training, Line(told, OPEN, "no plain z at prediction", source)
        stops = ("open only the sum of both parties' shares of z", "limit queries")
        weights = Line(
            told,
            COSTS,
            f"{self.partner} made-up records or {self.partner} known rows",
            source,
            stops=stops,
        )
        engine = Line(
            "FATE's SSHE prediction", LENIENT,
            "it sends the host's z of every predicted record in plain, equal to X_h w_h to 1e-16",
            "FATE 2.2 h_pred", stops=stops,
        )  # fmt: skip
        return training, weights, engine
