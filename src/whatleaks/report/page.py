"""An audit result laid out as the page reads it: which bar, which words, in which order.

Nothing here measures. Every number comes from the result; this file only picks, sorts,
scales to the width of a track and puts into words.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace

from whatleaks.auditor.result import (
    AuditResult,
    ColumnFinding,
    DefenseFinding,
    GuessFinding,
    ThreatFinding,
)
from whatleaks.metrics.measurement import Measurement
from whatleaks.report.wording import (
    EXACT,
    count,
    number,
    number_range,
    percent,
    percent_range,
    plain_value,
    points,
)

LEVELS = {
    "low": "The attacks tried learn little about a person beyond the average.",
    "medium": "Part of what tells people apart can be recovered.",
    "high": "Most of what tells people apart can be recovered.",
    "complete": "Practically every value of this column can be recovered.",
}

LEAKAGE = (
    "Leakage is the share of a column’s differences between people that an attacker’s guesses "
    "follow (their squared correlation with the truth). At 0 % nobody can be told apart; at "
    "100 % whoever also knows the column’s average and spread knows every value."
)

_BASELINES = {
    "uniform": "A random value between 0 and 1 for everyone. Beating only this is no leak.",
    "gaussian": "A random value around the middle of the range for everyone.",
    "half": "The middle of the range for everyone: the bar to beat for whoever knows only the range.",
    "auxiliary-mean": "The average of the other people’s records that the attacker was given.",
    "auxiliary-regression": (
        "A regression on the records that the attacker was given, from its own columns alone: "
        "what that gift is worth without any federation."
    ),
}
_ALONE = (
    "The same learner with the attacker’s own columns only: what it could say about people "
    "without any federation. The federation adds what lies between this and the limit."
)
_LIMIT = (
    "A learner that the auditor trained on true values of other records: "
    "roughly what any attack with the same view could hope for."
)


@dataclass(frozen=True)
class Bar:
    """One row of a bar chart: a measured share with its interval and two markers, in 0 to 1."""

    label: str
    value: float
    low: float
    high: float
    text: str
    interval: str
    limit: float | None
    half: float | None
    detail: str = ""

    @property
    def spread(self) -> bool:
        """Whether the interval says more than the value does."""
        return self.interval != f"{self.text} to {self.text}"

    @property
    def sentence(self) -> str:
        """Say the row in words, for readers who do not see the figure."""
        parts = [f"{self.label}: {self.text}, 95 % interval {self.interval}"]
        if self.limit is not None:
            parts.append(f"limit {percent(self.limit)}")
        if self.half is not None:
            parts.append(f"guessing one half {percent(self.half)}")
        return "; ".join(parts)


@dataclass(frozen=True)
class ColumnRow:
    """One passive column in numbers: the attack's, beside the limit and the half baseline."""

    column: str
    kind: str
    attack: ColumnFinding
    limit: ColumnFinding | None
    half: ColumnFinding | None


@dataclass(frozen=True)
class ErrorRow:
    """One guess with its error on a shared scale; ``off`` says that it lies beyond the scale."""

    finding: GuessFinding
    meaning: str
    at: float
    low: float
    high: float
    off: bool
    over_seeds: str


@dataclass(frozen=True)
class ThreatBlock:
    """One threat: its bars (attacks, worst first) and its errors (baselines and limit too)."""

    threat: ThreatFinding
    malicious: bool
    bars: tuple[Bar, ...]
    errors: tuple[ErrorRow, ...]
    scale: float


@dataclass(frozen=True)
class Verdict:
    """What a defense did, in words."""

    defense: DefenseFinding
    removed: str
    cost: str
    rest: str


@dataclass(frozen=True)
class Page:
    """All that the template and the terminal summary show beyond the result itself."""

    result: AuditResult
    meaning: str
    worst_threat: ThreatFinding | None
    worst: GuessFinding | None
    columns: tuple[Bar, ...]
    rows: tuple[ColumnRow, ...]
    unmeasured: tuple[str, ...]
    over_half: int
    overview: tuple[Bar, ...]
    threats: tuple[ThreatBlock, ...]
    accuracy_from: float
    gain: str
    gain_sure: str
    verdicts: tuple[Verdict, ...]
    untested: tuple[str, ...]
    command: str


def lay_out(result: AuditResult) -> Page:
    """Lay an audit result out for reading."""
    worst_threat, worst = worst_of(result)
    rows = _column_rows(result, worst_threat, worst)
    shown = {row.column for row in rows}
    passive = [card.name for card in result.columns if card.owner == "passive"]
    blocks = sorted(
        (_block(threat) for threat in result.threats),
        key=lambda block: -max((bar.value for bar in block.bars), default=-1.0),
    )
    return Page(
        result=result,
        meaning=LEVELS.get(result.headline.level, ""),
        worst_threat=worst_threat,
        worst=worst,
        columns=tuple(_column_bar(row) for row in rows),
        rows=rows,
        unmeasured=tuple(name for name in passive if name not in shown),
        over_half=sum(row.attack.leakage.value > 0.5 for row in rows),
        overview=tuple(_threat_bar(block) for block in blocks if block.bars),
        threats=tuple(blocks),
        accuracy_from=_accuracy_from(result),
        gain=points(result.accuracy.value - result.accuracy_alone.value),
        gain_sure=_gain_sure(result.accuracy_alone, result.accuracy),
        verdicts=tuple(_verdict(defense) for defense in result.defenses),
        untested=untested(result),
        command=command(result),
    )


def worst_of(result: AuditResult) -> tuple[ThreatFinding | None, GuessFinding | None]:
    """Return the threat and the attack that the headline names, else the largest leak."""
    attacks = [(threat, guess) for threat in result.threats for guess in threat.of("attack")]
    named = [
        (threat, guess)
        for threat, guess in attacks
        if threat.name == result.headline.threat
        and result.headline.attack in (guess.name, guess.title)
    ]
    if not attacks:
        return None, None
    return max(named or attacks, key=lambda pair: pair[1].leakage.value)


def untested(result: AuditResult) -> tuple[str, ...]:
    """Say what this audit cannot answer for."""
    lines = ["Attacks that are not listed here, and attacks that nobody has published yet."]
    if not any(_malicious(threat) for threat in result.threats):
        lines.append("A partner that breaks the protocol: every adversary here follows it.")
    if not any(threat.of("limit") for threat in result.threats):
        lines.append("The limit: no learner was trained to bound what a better attack could get.")
    if not result.defenses:
        lines.append("Defenses: none was tried.")
    if any(not guess.isolated for threat in result.threats for guess in threat.of("attack")):
        lines.append(
            "Isolation of every attack: at least one ran in the same process as the evaluator."
        )
    lines.append(
        "Other tables and other models: the numbers hold for this table, these columns and this split."
    )
    lines.append(
        "Whether somebody took part at all (membership), and what the labels give away about people."
    )
    return tuple(lines)


def command(result: AuditResult) -> str:
    """Return the command that runs the audit again: the spec's own, else the shortest that fits."""
    own = result.spec.get("command")
    if isinstance(own, str) and own:
        return own
    if isinstance(own, list | tuple) and own:
        return shlex.join(str(part) for part in own)
    return shlex.join(["whatleaks", "audit", plain_value(result.table.get("name", "TABLE"))])


def _malicious(threat: ThreatFinding) -> bool:
    return "break" in threat.conduct or "malicious" in threat.conduct


def _first(threat: ThreatFinding | None, role: str, name: str = "") -> GuessFinding | None:
    findings = threat.of(role) if threat is not None else ()
    return next((guess for guess in findings if not name or guess.name == name), None)


def _column_rows(
    result: AuditResult, threat: ThreatFinding | None, worst: GuessFinding | None
) -> tuple[ColumnRow, ...]:
    if worst is None:
        return ()
    kinds = {card.name: card.kind for card in result.columns}
    limit, half = (
        _by_column(_first(threat, "limit")),
        _by_column(_first(threat, "baseline", "half")),
    )
    rows = [
        ColumnRow(
            found.column,
            kinds.get(found.column, ""),
            found,
            limit.get(found.column),
            half.get(found.column),
        )
        for found in worst.columns
    ]
    return tuple(sorted(rows, key=lambda row: (-row.attack.leakage.value, row.column)))


def _by_column(guess: GuessFinding | None) -> dict[str, ColumnFinding]:
    return {} if guess is None else {found.column: found for found in guess.columns}


def _column_bar(row: ColumnRow) -> Bar:
    return _bar(
        row.column,
        row.attack.leakage,
        None if row.limit is None else row.limit.leakage.value,
        None if row.half is None else row.half.leakage.value,
    )


def _bar(
    label: str, share: Measurement, limit: float | None, half: float | None, detail: str = ""
) -> Bar:
    return Bar(
        label=label,
        value=_unit(share.value),
        low=_unit(share.low),
        high=_unit(share.high),
        text=percent(share.value),
        interval=percent_range(share),
        limit=None if limit is None else _unit(limit),
        half=None if half is None else _unit(half),
        detail=detail,
    )


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))


def _block(threat: ThreatFinding) -> ThreatBlock:
    limit, half = _first(threat, "limit"), _first(threat, "baseline", "half")
    attacks = sorted(threat.of("attack"), key=lambda guess: -guess.leakage.value)
    ordered = (*attacks, *threat.of("limit"), *threat.of("alone"), *threat.of("baseline"))
    scale = _scale(ordered)
    return ThreatBlock(
        threat=threat,
        malicious=_malicious(threat),
        bars=tuple(
            _bar(
                guess.title,
                guess.leakage,
                None if limit is None else limit.leakage.value,
                None if half is None else half.leakage.value,
                _remark(guess),
            )
            for guess in attacks
        ),
        errors=tuple(_error_row(guess, scale) for guess in ordered),
        scale=scale,
    )


def _threat_bar(block: ThreatBlock) -> Bar:
    """Return the worst attack of a threat under the threat's name."""
    worst = block.bars[0]
    return replace(worst, label=block.threat.name, detail=worst.label)


def _accuracy_from(result: AuditResult) -> float:
    """Return where the axis of the two accuracies starts: a round tenth below both."""
    lowest = min(result.accuracy.low, result.accuracy_alone.low)
    return min(0.9, max(0.0, math.floor(10.0 * lowest) / 10.0))


def _scale(guesses: tuple[GuessFinding, ...]) -> float:
    """Return the largest error that the shared axis shows: one wild attack must not flatten the rest."""
    calm = [guess.error.high for guess in guesses if guess.role != "attack"]
    every = [guess.error.high for guess in guesses]
    top = min(max(every), 1.25 * max(calm)) if calm else max(every, default=1.0)
    return _round_up(top) if top > EXACT else 1.0


def _round_up(value: float) -> float:
    """Return the next number that an axis ends on well: 1, 2, 4, 5 or 8 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 5, 8, 10) if step * power >= value * (1 - 1e-9))


def _error_row(guess: GuessFinding, scale: float) -> ErrorRow:
    meaning = {
        "limit": _LIMIT,
        "alone": _ALONE,
        "baseline": _BASELINES.get(guess.name, "A guess that uses nothing."),
    }
    seeds = guess.over_seeds
    shares = seeds is not None and seeds.unit == guess.leakage.unit != guess.error.unit
    if seeds is None:
        over = "one run"
    elif shares:
        over = f"leakage {percent(seeds.value)} ({percent_range(seeds)}), {count(seeds.n, 'seed')}"
    else:
        over = f"{number(seeds.value)} ({number_range(seeds)}), {count(seeds.n, 'seed')}"
    return ErrorRow(
        finding=guess,
        meaning=meaning.get(
            guess.role, f"Attack after {guess.paper.rstrip('.')}." if guess.paper else "Attack."
        ),
        at=_unit(guess.error.value / scale),
        low=_unit(guess.error.low / scale),
        high=_unit(guess.error.high / scale),
        off=guess.error.value > scale,
        over_seeds=over,
    )


def _remark(guess: GuessFinding) -> str:
    if guess.alternatives > 0:
        return f"{count(guess.alternatives, 'other answer fits', 'other answers fit')} equally well"
    return guess.paper


def _gain_sure(alone: Measurement, joint: Measurement) -> str:
    if joint.low > alone.high:
        return "The intervals do not overlap: the joint model is better."
    if joint.high < alone.low:
        return "The intervals do not overlap: the joint model is worse."
    return "The intervals overlap: this difference alone is no proof of a gain."


def _verdict(defense: DefenseFinding) -> Verdict:
    before, after = defense.leakage_before, defense.leakage
    if after.high < before.low:
        removed = "Less leaks, beyond chance."
    elif after.low > before.high:
        removed = "More leaks, beyond chance."
    else:
        removed = "The intervals overlap: no sure effect on the leak."
    if defense.accuracy.high < defense.accuracy_before.low:
        cost = "It costs accuracy, beyond chance."
    elif defense.accuracy.low > defense.accuracy_before.high:
        cost = "Accuracy is higher with it, beyond chance."
    else:
        cost = "No sure effect on accuracy."
    rest = (
        "A learner that knows other people’s truth still follows "
        f"{percent(defense.limit.value)} with it in place."
    )
    return Verdict(defense, removed, cost, " ".join(filter(None, (rest, defense.remark))))
