"""The result of an audit as plain records: what audit.json holds and what the report draws.

Nothing here computes. No raw value of a party is stored unless the user asked for it
(``samples``), and then only next to what the attack guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.metrics.measurement import Measurement


@dataclass(frozen=True, slots=True)
class People:
    """How many people are recovered: shares of records with Wilson's interval.

    ``named``: the value itself, once the guess is moved to what the column can hold; of a
    one-hot column the category. ``within``: guesses off by at most 1, 5 and 10 % of the range.
    ``tolerance``: a round number in the column's own units, zero where it has none, and ``inside``
    the share of guesses off by at most that. ``named_without`` and ``inside_without``: the same by
    the best guess without joining: the control, baselines, the regressor on own columns alone, and
    one value for everybody. ``named_more``: by how much joining adds to the people named, with
    ``chance``: how often luck alone shows as much.
    """

    named: Measurement
    named_without: Measurement
    within: tuple[Measurement, ...]
    tolerance: float
    inside: Measurement
    inside_without: Measurement | None = None
    named_more: Measurement | None = None
    chance: float = 1.0


TRAINS = "the federation that trains is"  # in notes on a threat to another model than the one named
FOLLOWED, NAMED = "followed", "named"  # the two scales of what joining adds


@dataclass(frozen=True, slots=True)
class Added:
    """What joining adds to one column on one scale, and how often luck alone shows as much.

    ``followed``: differences between people that are followed. ``named``: people whose exact
    value is named.
    """

    scale: str
    measured: Measurement
    chance: float


@dataclass(frozen=True, slots=True)
class ColumnFinding:
    """What one attack (or baseline, or the limit) gets of one passive column.

    ``leakage`` is the share of the differences between people that the guesses follow: the
    squared correlation of guess and truth. Zero: nobody is told apart. One: whoever knows the
    column's average and spread knows every value. ``control`` is the same of the control or, where
    that follows more, of a baseline that sees something. ``adds`` is the difference, at most what
    ``alone`` leaves open: the share that a regressor follows from the own columns, who has learnt
    from complete records of other people. ``chance``: how often luck alone shows as much. ``recovered`` is stricter
    than leakage: 1 - error / variance, at least 0; one means that the guesses themselves are
    the values. ``by``: of the limit, which guess it is. ``differs``: whether any two of the people
    attacked differ in the column; where none do, nothing was measured. ``carried``: by about how many
    people its differences are made; one person apart from all others makes them alone.
    """

    column: str
    error: Measurement
    leakage: Measurement
    recovered: Measurement
    control: Measurement
    adds: Measurement
    alone: float = 0.0
    chance: float = 1.0
    people: People | None = None
    by: str = ""
    differs: bool = True
    carried: int = 0

    @property
    def known(self) -> float:
        """What is followed without joining: the leakage less what joining adds."""
        return max(self.leakage.value - self.adds.value, 0.0)

    @property
    def scales(self) -> tuple[Added, ...]:
        """What joining adds on every scale that was measured."""
        followed = Added(FOLLOWED, self.adds, self.chance)
        if self.people is None or self.people.named_more is None:
            return (followed,)
        return followed, Added(NAMED, self.people.named_more, self.people.chance)

    @property
    def worse(self) -> Added:
        """What joining adds on the scale on which it adds more."""
        return max(self.scales, key=lambda added: added.measured.value)

    @property
    def strength(self) -> tuple[float, float, float]:
        """By what the strongest attack is found: what it adds, then whom it names, then what it follows.

        What can be added is bounded, so several attacks may reach all of it.
        """
        named = 0.0 if self.people is None else self.people.named.value
        return self.worse.measured.value, named, self.leakage.value


@dataclass(frozen=True)
class GuessFinding:
    """One attack, baseline or limit: its error over all columns and column by column.

    ``leakage`` and ``adds`` are means over columns. The role "learner" is a regressor trained
    on other people's truth with all that the adversary sees, "alone" the same with the
    adversary's own columns only. ``people`` counts whole records: every column at once.
    """

    name: str
    title: str
    role: str  # "attack", "control", "baseline", "limit", "learner" or "alone"
    paper: str
    error: Measurement
    leakage: Measurement
    adds: Measurement
    recovered: Measurement
    columns: tuple[ColumnFinding, ...]
    over_seeds: Measurement | None
    alternatives: int
    isolated: str  # sandbox, process, or empty: beside the evaluator
    seconds: float
    settings: dict[str, Any] = field(default_factory=dict)
    people: People | None = None

    @cached_property
    def strengths(self) -> Floats:
        """Every column's strength, one below the other: ``ColumnFinding.strength``, all at once."""
        people = [column.people for column in self.columns]
        more = [
            -np.inf if p is None or p.named_more is None else p.named_more.value for p in people
        ]
        return np.array(
            [
                np.maximum([column.adds.value for column in self.columns], more),
                [0.0 if p is None else p.named.value for p in people],
                [column.leakage.value for column in self.columns],
            ]
        ).T


@dataclass(frozen=True)
class Recovered:
    """How well the weighted sum of the passive columns is recovered, of every record that trained.

    ``error`` is relative, the largest over the seeds; ``records`` are those of one seed.
    """

    attack: str
    records: int
    error: float


@dataclass(frozen=True)
class ThreatFinding:
    """All guesses under one threat model; ``notes`` say what no number can.

    ``granted``: how many complete records of others the adversary holds. ``recovered``: by attacks
    that read what the passive party sends and no column of it.
    """

    name: str
    sentence: str
    conduct: str
    malicious: bool
    grants: tuple[str, ...]
    federation: str
    findings: tuple[GuessFinding, ...]
    notes: tuple[str, ...] = ()
    granted: int = 0
    recovered: tuple[Recovered, ...] = ()

    def of(self, role: str) -> tuple[GuessFinding, ...]:
        """Return the findings of one role."""
        return tuple(finding for finding in self.findings if finding.role == role)


@dataclass(frozen=True)
class NotTried:
    """A part that an audit left out: its extra is not installed."""

    kind: str
    name: str
    title: str
    extra: str


@dataclass(frozen=True)
class Unmeasured:
    """A defense of which it is not known what it leaves under a threat, and why.

    ``silent``: no attack that was tried finds an answer with it.
    """

    name: str
    title: str
    threat: str
    why: str
    silent: bool = False

    @property
    def note(self) -> str:
        """One line."""
        return f"{self.name}: {self.why}."


@dataclass(frozen=True)
class ColumnDefense:
    """What joining adds in one column by the strongest attack, without a defense and with it.

    Each on the scale on which it adds more: differences followed, or people named.
    """

    column: str
    before: Measurement
    after: Measurement
    differs: bool = True  # whether any two of the people attacked with it do
    bounded: bool = False  # whether what is left is all that own columns leave open


@dataclass(frozen=True)
class DefenseFinding:
    """One defense tried: what joining adds and the model's accuracy with it, beside without it.

    ``columns`` holds every column that stays, ``column`` is the one of the headline (or none,
    where the defense leaves it out) and ``worst`` the one that leaks most with the defense.
    ``adds`` is the mean over columns. ``attack`` is the strongest with the defense in place.
    """

    name: str
    title: str
    acts_on: str
    threat: str
    attack: str
    columns: tuple[ColumnDefense, ...]
    column: ColumnDefense | None
    worst: ColumnDefense
    adds_before: Measurement
    adds: Measurement
    limit: Measurement  # the best of all guesses with the defense in place, over all columns
    accuracy_before: Measurement
    accuracy: Measurement
    remark: str = ""
    against: tuple[str, ...] = ()  # the threats whose adversaries hold no more than the one tried


@dataclass(frozen=True)
class Trade:
    """One setting in the comparison: what it leaks in the worst column, what the model is worth.

    ``front``: no other setting leaks no more and is worth no less. An empty name: no defense.
    """

    name: str
    title: str
    leak: Measurement
    accuracy: Measurement
    front: bool


@dataclass(frozen=True)
class Comparison:
    """Every setting against one threat; ``recommended`` names one, or none, and ``why`` says why."""

    threat: str
    points: tuple[Trade, ...]
    recommended: str
    why: str


@dataclass(frozen=True)
class Worth:
    """What joining is worth to the model, on all records that did not train, record by record.

    The gains are paired: together less alone, so that more is better. Log loss and AUC are
    missing where a model gives classes only. The value error is how far a numeric label is missed
    on average, in its own units.
    """

    accuracy: Measurement
    accuracy_alone: Measurement
    accuracy_gain: Measurement
    auc: Measurement | None = None
    auc_alone: Measurement | None = None
    auc_gain: Measurement | None = None
    log_loss: Measurement | None = None
    log_loss_alone: Measurement | None = None
    log_loss_gain: Measurement | None = None
    value_error: Measurement | None = None
    value_error_alone: Measurement | None = None
    value_error_gain: Measurement | None = None

    @property
    def gains(self) -> tuple[tuple[str, Measurement], ...]:
        """The paired gain by every measure that there is, with the measure's name."""
        named = {
            "accuracy": self.accuracy_gain,
            "AUC": self.auc_gain,
            "log loss": self.log_loss_gain,
            "the label’s value": self.value_error_gain,
        }
        return tuple((name, gain) for name, gain in named.items() if gain is not None)


@dataclass(frozen=True)
class DigitsFinding:
    """How many digits of a score name whole records: ``exact`` is the share for each of ``digits``.

    ``columns`` are those that can hold certain values only. ``hidden``: bits of one record's
    such columns; ``released``: bits that the scores carry. ``without``: the share that the best
    guess without joining names. ``enough``: the fewest digits that name at least 99 of 100 of the
    other records; none if no number of digits does, or if there are no others.
    """

    threat: str
    columns: tuple[str, ...]
    digits: tuple[int, ...]
    exact: tuple[Measurement, ...]
    released: tuple[float, ...]
    hidden: float
    enough: int | None
    without: Measurement | None = None


@dataclass(frozen=True)
class GroupFinding:
    """Some people of the headline's column under its attack: how many of them are recovered."""

    name: str
    within: Measurement  # off by at most 5 % of the range
    named: Measurement
    within_without: Measurement | None = None  # the same by the best guess without joining
    named_without: Measurement | None = None


@dataclass(frozen=True)
class ColumnCard:
    """A column of the table: who holds it, what kind it is, how it was encoded."""

    name: str
    kind: str
    owner: str  # "active", "passive" or "label"
    encoded_as: tuple[str, ...]


@dataclass(frozen=True)
class Condition:
    """What joining adds under a condition that the reader decides: one line of the headline.

    ``up_to``: the largest upper end of its intervals, which is not ruled out.
    """

    name: str  # "model", "kept" or "records"
    sentence: str
    level: str  # empty where no attack ran
    adds: Measurement | None = None
    threat: str = ""
    attack: str = ""
    column: str = ""
    up_to: float = 1.0
    scale: str = FOLLOWED


@dataclass(frozen=True)
class Learnt:
    """What a regressor follows who has learnt from complete records of other people, in one column.

    ``follows``: with all that the adversary sees. ``alone``: with its own columns only. ``adds``:
    the difference, record by record.
    """

    column: str
    threat: str
    follows: float
    alone: float
    adds: Measurement


@dataclass(frozen=True)
class FollowedAlready:
    """A column of which most differences are followed without joining, and not the exact values."""

    column: str
    share: float


@dataclass(frozen=True)
class Headline:
    """How bad is it: one sentence, and where the worst is.

    ``level`` goes by what joining adds: low, medium, high or complete; "unsettled" if little was
    found but an interval reaches further than low (the column is then the one whose interval
    reaches furthest); "unknown" if no attack ran.
    ``adds`` is on the scale that decides, ``scale``: differences followed or people named.
    ``beyond_guessing`` is false if the largest of many small numbers is what luck gives.
    ``already``: columns whose values the partner has without joining; ``followed``: those whose
    differences it follows, and not the values. ``up_to``: the largest upper end of
    all intervals, in ``open_column``: more than that is ruled out, less is not. ``learnt``: where
    whoever learns from complete records of others follows much more than the attacks tried.
    ``differs``: whether any two of the people attacked differ in that column.
    """

    sentence: str
    level: str
    leakage: Measurement
    adds: Measurement
    threat: str
    attack: str
    column: str
    beyond_guessing: bool = True
    conditions: tuple[Condition, ...] = ()
    already: tuple[str, ...] = ()
    up_to: float = 1.0
    open_column: str = ""
    scale: str = FOLLOWED
    followed: tuple[FollowedAlready, ...] = ()
    learnt: Learnt | None = None
    differs: bool = True


@dataclass(frozen=True)
class SampleRow:
    """One record of the first seed's worst column, shown only with ``show_values``."""

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
    worth: Worth
    spec: dict[str, Any]
    table: dict[str, Any]  # name, hmac_sha256
    code: dict[str, Any]  # version, sha256
    environment: dict[str, Any]  # python, platform, package versions
    seeds: tuple[int, ...]
    seconds: float
    created: str
    notes: tuple[str, ...] = ()
    samples: tuple[SampleRow, ...] = ()
    phases: dict[str, float] = field(default_factory=dict)  # processor seconds by phase
    digits: DigitsFinding | None = None
    groups: tuple[GroupFinding, ...] = ()
    comparison: Comparison | None = None
    defended_seeds: tuple[int, ...] = ()  # those on which defenses were tried
    unmeasured: tuple[Unmeasured, ...] = ()
    not_tried: tuple[NotTried, ...] = ()
    untried: tuple[str, ...] = ()  # threats against which no attack could be run for that reason

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists and scalars for audit.json."""
        made = _plain(self)
        assert isinstance(made, dict)
        return made


def _plain(value: Any) -> Any:
    """Return what ``dataclasses.asdict`` does, without copying every number on its own."""
    if isinstance(value, str | float | int | None):
        return value
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
