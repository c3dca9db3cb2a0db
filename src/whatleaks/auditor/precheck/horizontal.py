"""Precheck of horizontal regression with averaged weights (Li et al., section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from whatleaks.auditor.precheck.finding import EXACT, KNOWN, OPEN, Line
from whatleaks.errors import UsageError, argument
from whatleaks.models.degrees_of_freedom import horizontal_freedom, known_data_ratio


@dataclass(frozen=True)
class Horizontal:
    """``partner`` columns (all clients have the same), ``records`` of the victim."""

    UNSAID: ClassVar[Mapping[str, str]] = {}  # what a default of nothing means

    partner: int
    records: int
    epochs: int = 20
    parties: int = 2

    def __post_init__(self) -> None:
        """Refuse settings that no training has."""
        for name, least in (("partner", 1), ("records", 1), ("epochs", 1), ("parties", 2)):
            if getattr(self, name) < least:
                raise UsageError(
                    f"{argument(name)} must be at least {least}, got {getattr(self, name)}"
                )

    def assumes(self) -> tuple[str, ...]:
        """Say what the counts take for granted."""
        return ("one local step of gradient descent on all own records in every round",)

    def lines(self) -> tuple[Line, ...]:
        """Gradient, Gram matrix, table."""
        if self.parties > 2:
            return (
                Line(
                    "one client's gradient", OPEN,
                    f"with {self.parties} clients an average shows only the sum of the others; the "
                    "arbiter sees each",
                    "Li et al., Eq 5",
                ),
            )  # fmt: skip
        gradient = Line(
            "the other client's gradient in every round", EXACT,
            "two clients: twice the average less one's own", "Li et al., Eq 5",
            stops=("three clients or more", "noise on the averaged weights"),
        )  # fmt: skip
        n, rounds = self.partner, self.partner + 2
        told = "the Gram matrix X^T X of its columns"
        if self.epochs < rounds:
            says = (
                f"{self.epochs} rounds give {max(0, self.epochs - 2)} of {n} differences of weights"
            )
            stop = (f"stop before {rounds} rounds",)
            return gradient, Line(told, OPEN, says, "Li et al., Eq 7", stops=stop)
        gram = Line(
            told, EXACT, f"{self.epochs} rounds, {rounds} are enough", "Li et al., Eq 7",
            stops=(f"stop before {rounds} rounds", "three clients or more"),
        )  # fmt: skip
        free = horizontal_freedom(self.records, n)
        ratio = known_data_ratio(free, self.records, n)
        table = Line(
            f"all {self.records} x {n} values", KNOWN if free else EXACT,
            f"{free} degrees of freedom", "Li et al., section 6.2 (KDR_h)", free, ratio,
        )  # fmt: skip
        return gradient, gram, table
