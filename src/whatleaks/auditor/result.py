"""The result of an audit as plain records: what audit.json holds and what the report draws.

Nothing here computes. No raw value of a party is stored unless the user asked for it
(``samples``), and then only next to what the attack guessed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from whatleaks.metrics.measurement import Measurement


@dataclass(frozen=True)
class ColumnFinding:
    """What one attack (or baseline, or the limit) gets of one passive column.

    ``leakage`` is the share of the differences between people that the guesses follow: the
    squared correlation of guess and truth. Zero: nobody is told apart. One: whoever knows the
    column's average and spread knows every value. ``recovered`` is stricter: 1 - error /
    variance, at least 0; one means that the guesses themselves are the values.
    """

    column: str
    error: Measurement
    leakage: Measurement
    recovered: Measurement


@dataclass(frozen=True)
class GuessFinding:
    """One attack, baseline or limit: its error over all columns and column by column.

    ``leakage`` is the mean over columns. The role "alone" is the limit without a federation:
    a regressor trained on other people's truth that sees the adversary's own columns only.
    """

    name: str
    title: str
    role: str  # "attack", "baseline", "limit" or "alone"
    paper: str
    error: Measurement
    leakage: Measurement
    recovered: Measurement
    columns: tuple[ColumnFinding, ...]
    over_seeds: Measurement | None
    alternatives: int
    isolated: bool
    seconds: float
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ThreatFinding:
    """All guesses under one threat model; ``notes`` say what no number can."""

    name: str
    sentence: str
    conduct: str
    grants: tuple[str, ...]
    federation: str
    findings: tuple[GuessFinding, ...]
    notes: tuple[str, ...] = ()

    def of(self, role: str) -> tuple[GuessFinding, ...]:
        """Return the findings of one role."""
        return tuple(finding for finding in self.findings if finding.role == role)


@dataclass(frozen=True)
class DefenseFinding:
    """One defense tried: the leak and the model's accuracy with it, beside those without it."""

    name: str
    title: str
    acts_on: str
    threat: str
    attack: str
    leakage_before: Measurement
    leakage: Measurement
    limit: Measurement  # what a supervised regressor still gets with the defense in place
    accuracy_before: Measurement
    accuracy: Measurement
    remark: str = ""


@dataclass(frozen=True)
class ColumnCard:
    """A column of the table: who holds it, what kind it is, how it was encoded."""

    name: str
    kind: str
    owner: str  # "active", "passive" or "label"
    encoded_as: tuple[str, ...]


@dataclass(frozen=True)
class Headline:
    """How bad is it: one sentence, and where the worst is. ``level`` is low, medium, high or complete.

    ``beyond_guessing`` is false if guesses that use nothing do as well on some column by chance:
    with many columns and few records the largest of many small numbers looks like a leak.
    """

    sentence: str
    level: str
    leakage: Measurement
    threat: str
    attack: str
    column: str
    beyond_guessing: bool = True


@dataclass(frozen=True)
class SampleRow:
    """One record of the first seed's worst column, shown only with ``--show-values``."""

    truth: float
    guess: float
    column: str
    attack: str


@dataclass(frozen=True)
class AuditResult:
    """Everything that an audit found, with all that is needed to run it again."""

    headline: Headline
    threats: tuple[ThreatFinding, ...]
    defenses: tuple[DefenseFinding, ...]
    advice: tuple[str, ...]
    columns: tuple[ColumnCard, ...]
    classes: tuple[str, ...]
    rows: int
    training_rows: int
    target_rows: int
    accuracy: Measurement
    accuracy_alone: Measurement
    spec: dict[str, Any]
    table: dict[str, Any]  # name, sha256
    code: dict[str, Any]  # version, sha256
    environment: dict[str, Any]  # python, platform, package versions
    seeds: tuple[int, ...]
    seconds: float
    created: str
    notes: tuple[str, ...] = ()
    samples: tuple[SampleRow, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists and scalars for audit.json."""
        return asdict(self)
