"""An audit result laid out as the page reads it: which bar, which words, in which order.

Nothing here measures. Every number comes from the result; this file only picks, sorts,
scales to the width of a track and puts into words.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace

from whatleaks.auditor.advice import (
    ASKED_OTHERWISE,
    COST,
    asks_again,
    cheapest,
    cost,
    leaves_out,
    recommended,
    seen_on_none,
    silent,
)
from whatleaks.auditor.levels import UNKNOWN, UNSETTLED
from whatleaks.auditor.result import (
    NAMED,
    AuditResult,
    ColumnFinding,
    DefenseFinding,
    GroupFinding,
    GuessFinding,
    Headline,
    People,
    ThreatFinding,
    Worth,
)
from whatleaks.extras import absent
from whatleaks.metrics.measurement import Measurement
from whatleaks.report.wording import (
    added,
    added_range,
    count,
    left_out,
    number,
    number_range,
    on_some_seeds,
    percent,
    plain_value,
    points,
    points_range,
    signed,
    signed_range,
)

LEVELS = {
    UNSETTLED: "The attacks tried show little beyond luck, but too few records were attacked to rule out more.",
    "low": "The attacks tried learn little about a person that your partner did not know.",
    "medium": "Part of what tells people apart becomes known.",
    "high": "Most of what tells people apart becomes known.",
    "complete": "Whatever your partner did not know of this column it can now read, value by value.",
}

WITHOUT = "without joining"
LEARNT = "The attacks tried show little beyond luck, but what is sent tells more to whoever learns to read it."
LEAKAGE = (
    "What joining adds is measured on two scales, and the worse one decides: differences between "
    "people that guesses follow (squared correlation with the truth; at 100 % whoever also knows a "
    "column’s average and spread knows every value), and people whose exact value is named. Taken off "
    "is what is reached without joining: by the same attack with the messages of other people, or by a "
    "guess from what the threat grants; of people named also by whoever has learnt from complete "
    "records of others, or says the same of everybody. Never is more counted as followed than such a "
    "learner leaves open."
)

_BASELINES = {
    "uniform": "A random value between 0 and 1 for everyone: what it follows is luck.",
    "gaussian": "A random value around the middle of the range for everyone: luck too.",
    "half": "The middle of the range for everyone: it tells nobody apart.",
    "auxiliary-mean": "The average of the other people’s records that the attacker was given.",
    "auxiliary-regression": (
        "A regression on the records that the attacker was given, from its own columns alone: "
        "what that gift is worth without any federation."
    ),
}
_MEANINGS = {
    "limit": "By column the best of all attacks and of the regressor: no attack tried lies above it.",
    "learner": (
        "A learner that the auditor trained on true values of other records, with all that the "
        "attacker sees."
    ),
    "alone": (
        "The same learner with the attacker’s own columns only: what it could say about people "
        "without any federation."
    ),
}


@dataclass(frozen=True)
class Bar:
    """One row of a bar chart in 0 to 1: what is reached without joining, then what joining adds.

    ``value`` is where the bar ends; ``low`` and ``high`` are its interval. ``limit``, ``defended``
    and ``alone``, what own columns tell whoever has learnt from others' records, are markers.
    """

    label: str
    value: float
    known: float
    low: float
    high: float
    text: str
    interval: str
    limit: float | None = None
    defended: float | None = None
    detail: str = ""
    alone: float | None = None

    @property
    def spread(self) -> bool:
        """Whether the interval says more than the value does."""
        return self.interval != f"{self.text} to {self.text}"

    @property
    def sentence(self) -> str:
        """Say the row in words, for readers who do not see the figure."""
        parts = [f"{self.label}: {self.text}, 95 % interval {self.interval}"]
        if self.known > 0.0:
            parts.append(f"{percent(self.known)} not counted as added")
        if self.alone is not None:
            parts.append(f"{percent(self.alone)} from own columns by whoever has learnt")
        if self.defended is not None:
            parts.append(f"{percent(self.defended)} with the best defense")
        if self.limit is not None:
            parts.append(f"limit {percent(self.limit)}")
        return "; ".join(parts)


@dataclass(frozen=True)
class ColumnRow:
    """One passive column in numbers: alone, joined and defended, and how many people that is.

    ``found`` is that of the strongest attack on the column, ``attack`` its title. ``people`` counts
    those of the attack that names or meets most of them, and says whose it is if it is another.
    """

    column: str
    kind: str
    found: ColumnFinding
    attack: str
    limit: ColumnFinding | None
    defended: Measurement | None
    people: str

    @property
    def named(self) -> bool:
        """Whether people named exactly are the scale on which joining adds more."""
        return self.found.worse.scale == NAMED

    @property
    def without(self) -> float:
        """What is reached without joining, on that scale."""
        people = self.found.people
        return people.named_without.value if self.named and people else self.found.control.value

    @property
    def joined(self) -> float:
        """What is reached with joining, on that scale."""
        people = self.found.people
        return people.named.value if self.named and people else self.found.leakage.value


@dataclass(frozen=True)
class GuessRow:
    """One guess on the scale of leakage, with what it is."""

    finding: GuessFinding
    meaning: str
    over_seeds: str


@dataclass(frozen=True)
class ThreatBlock:
    """One threat: its bars (attacks, worst first) and all its guesses (baselines and limit too)."""

    threat: ThreatFinding
    malicious: bool
    bars: tuple[Bar, ...]
    guesses: tuple[GuessRow, ...]


@dataclass(frozen=True)
class DefenseVerdict:
    """What a defense did, in words."""

    defense: DefenseFinding
    removed: str
    cost: str
    rest: str


@dataclass(frozen=True)
class WorthRow:
    """One measure of what the model is worth: alone, together, and the paired gain."""

    name: str
    alone: str
    together: str
    gain: str
    interval: str


@dataclass(frozen=True)
class Page:
    """All that the template and the terminal summary show beyond the result itself."""

    result: AuditResult
    meaning: str
    worst_threat: ThreatFinding | None
    worst: GuessFinding | None
    columns: tuple[Bar, ...]
    rows: tuple[ColumnRow, ...]
    best_defense: str
    unmeasured: tuple[str, ...]
    over_half: int
    encoded: int  # the passive columns as they are encoded
    helps: tuple[str, str] | None  # a defense, or that none is enough, and its numbers
    people: str
    digits: tuple[Bar, ...]
    groups: tuple[Bar, ...]
    overview: tuple[Bar, ...]
    threats: tuple[ThreatBlock, ...]
    gain: str
    gain_sure: str
    worth: tuple[WorthRow, ...]
    verdicts: tuple[DefenseVerdict, ...]
    untested: tuple[str, ...]
    command: str
    trade: str = ""  # the comparison of defenses as SVG
    some_seeds: str = ""  # that defenses were tried on some of the seeds only


def lay_out(result: AuditResult) -> Page:
    """Lay an audit result out for reading."""
    worst_threat, worst = worst_of(result)
    best = _best_defense(result)
    rows = _column_rows(result, worst_threat, best)
    shown = {row.column for row in rows}
    passive = [card.name for card in result.columns if card.owner == "passive"]
    encoded = {name: card.name for card in result.columns for name in card.encoded_as}
    measured = shown | {encoded.get(name, name) for name in shown}
    blocks = sorted(
        (_block(threat) for threat in result.threats),
        key=lambda block: (
            -max(
                (c.strength[0] for g in block.threat.of("attack") for c in g.columns), default=-1.0
            )
        ),
    )
    return Page(
        result=result,
        meaning=_meaning(result.headline),
        worst_threat=worst_threat,
        worst=worst,
        columns=tuple(_column_bar(row) for row in rows),
        rows=rows,
        best_defense="" if best is None else best.title,
        unmeasured=tuple(name for name in passive if name not in measured),
        over_half=sum(row.found.worse.measured.value > 0.5 for row in rows),
        encoded=sum(len(c.encoded_as) or 1 for c in result.columns if c.owner == "passive"),
        helps=_helps(result),
        people=_worst_people(result, rows),
        digits=_digit_bars(result),
        groups=_group_bars(result),
        overview=tuple(_threat_bar(block) for block in blocks if block.bars),
        threats=tuple(blocks),
        gain=points(result.worth.accuracy_gain.value),
        gain_sure=gain_in_words(result.worth),
        worth=_worth_rows(result.worth),
        verdicts=tuple(_verdict(defense) for defense in result.defenses),
        untested=untested(result),
        trade=_trade(result),
        command=command(result),
        some_seeds=on_some_seeds(len(result.defended_seeds), len(result.seeds)),
    )


def _meaning(head: Headline) -> str:
    """Say what the word means for people; unsettled has two reasons."""
    unread = head.level == UNSETTLED and head.learnt is not None
    return LEARNT if unread else LEVELS.get(head.level, "")


def levels(result: AuditResult) -> list[str]:
    """Return the words of the scale; "unsettled" stands on it only where it is the word."""
    return [word for word in LEVELS if word != UNSETTLED or result.headline.level == UNSETTLED]


def _trade(result: AuditResult) -> str:
    """Draw the comparison of defenses, where there is one and the extra that draws is installed."""
    found = result.comparison
    if found is None or absent("figures"):
        return ""
    from whatleaks.report.figures import Point, privacy_against_utility

    return privacy_against_utility(
        f"Every defense against {found.threat}",
        [Point(p.title, p.leak, p.accuracy) for p in found.points],
        front=[p.title for p in found.points if p.front],
        chosen=next((p.title for p in found.points if p.name and p.name == found.recommended), ""),
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
    return max(named or attacks, key=lambda pair: pair[1].adds.value)


def untested(result: AuditResult) -> tuple[str, ...]:
    """Say what this audit cannot answer for."""
    lines = left_out((one.extra, one.name) for one in result.not_tried)
    lines += ["Attacks that are not listed here, and attacks that nobody has published yet."]
    if not any(threat.malicious for threat in result.threats):
        lines.append("A partner that breaks the protocol: every adversary here follows it.")
    asked = any(asks_again(threat.name) for threat in result.threats)
    if not asked and any(defense.acts_on == "release" for defense in result.defenses):
        lines.append(ASKED_OTHERWISE)
    if not any(threat.of("learner") or threat.of("limit") for threat in result.threats):
        lines.append("The limit: no learner was trained to bound what a better attack could get.")
    if not result.defenses:
        lines.append("Defenses: none was tried.")
    if any(not guess.isolated for threat in result.threats for guess in threat.of("attack")):
        lines.append(
            "Isolation of every attack: at least one ran in the same process as the evaluator."
        )
    if any(
        guess.isolated == "process" for threat in result.threats for guess in threat.of("attack")
    ):
        lines.append(
            "Walls around every attack: this system gave no sandbox, so at least one ran as a "
            "process that could open what its user can open."
        )
    lines.append(
        "Other tables and other models: the numbers hold for this table, these columns and this split."
    )
    lines.append(
        "Whether somebody took part at all (membership), and what the columns give away about people."
        if result.spec.get("protect") == "label"
        else "Whether somebody took part at all (membership), and what the labels give away about people."
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


def _first(threat: ThreatFinding | None, role: str, name: str = "") -> GuessFinding | None:
    findings = threat.of(role) if threat is not None else ()
    return next((guess for guess in findings if not name or guess.name == name), None)


def _best_defense(result: AuditResult) -> DefenseFinding | None:
    """Return the defense that the advice names first, else the one that leaves least in its worst column."""
    threat = result.headline.threat
    tried = [d for d in result.defenses if threat in d.against and d.column]
    closest = min(tried, key=lambda d: d.worst.after.value, default=None)
    return _effective(threat, tried) or closest


def _helps(result: AuditResult) -> tuple[str, str] | None:
    """Say in a few words what the advice says of defenses; nothing where it names none."""
    head = result.headline
    tried = [d for d in result.defenses if head.threat in d.against]
    silenced = silent(result.unmeasured, head.threat)
    if head.level in (UNSETTLED, UNKNOWN) or not (tried or head.level == "low" or silenced):
        return None
    if head.level == "low":
        return "No defense is called for", ""
    best, gone = _effective(head.threat, tried), [d for d in tried if leaves_out(d)]
    if best is None and silenced:
        return "Not measured", f"no attack tried finds an answer with “{'” or “'.join(silenced)}”"
    if best is None and gone:
        least = min(gone, key=lambda d: d.worst.after.value)
        return (
            "Leave it out",
            f"{head.column} stays at home with “{least.title}”, {_accuracy(least)}",
        )
    if best is None and seen_on_none(tried):
        return "None can be seen to help", ""
    if best is not None and best.column is not None:
        change = f"{added(best.column.before)} → {added(best.column.after)}"
        said = f"in {best.column.column}, with “{best.title}”, {_accuracy(best)}"
        if cost(best) <= COST:
            return change, said
        return (
            "Only at a price",
            f"{change} {said}; alone {percent(result.worth.accuracy_alone.value, 1)}",
        )
    closest = min(tried, key=lambda d: d.worst.after.value)
    left = f"{added(closest.worst.after)} in {closest.worst.column}"
    return (
        "None tried is enough",
        f"the closest, “{closest.title}”, leaves {left}, {_accuracy(closest)}",
    )


def _accuracy(defense: DefenseFinding) -> str:
    was, now = (percent(one.value, 1) for one in (defense.accuracy_before, defense.accuracy))
    return f"accuracy {was} → {now}"


def _effective(threat: str, tried: list[DefenseFinding]) -> DefenseFinding | None:
    return recommended(threat, tried) or cheapest(threat, tried)


def _column_rows(
    result: AuditResult, threat: ThreatFinding | None, best: DefenseFinding | None
) -> tuple[ColumnRow, ...]:
    """Return every column under the strongest attack on it, the one that adds most first."""
    if threat is None:
        return ()
    kinds = {card.name: card.kind for card in result.columns}
    limit = _by_column(_first(threat, "limit"))
    after = {} if best is None else {pair.column: pair.after for pair in best.columns}
    tried: dict[str, list[tuple[ColumnFinding, str]]] = {}
    for guess in threat.of("attack"):
        for found in guess.columns:
            tried.setdefault(found.column, []).append((found, guess.title))
    strongest = {name: max(held, key=lambda one: one[0].strength) for name, held in tried.items()}
    rows = [
        ColumnRow(
            name,
            kinds.get(name, ""),
            found,
            attack,
            limit.get(name),
            after.get(name),
            _most_people(name, tried[name], attack),
        )
        for name, (found, attack) in strongest.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.found.worse.measured.value, row.column)))


def _most_people(column: str, tried: list[tuple[ColumnFinding, str]], strongest: str) -> str:
    """Count the people of the attack that names most of them, then comes close to most."""
    counted = [(found.people, title) for found, title in tried if found.people is not None]
    if not counted:
        return ""
    people, title = max(counted, key=lambda one: (one[0].named.value, one[0].inside.value))
    told = people_in_words(column, people)
    # Whom whoever does not join reaches as well is nobody's merit.
    return told if title == strongest or WITHOUT not in told else f"{told} (by {title})"


def people_in_words(column: str, people: People | None) -> str:
    """Say for how many people a column is known: its value, and close to it in its own units."""
    if people is None:
        return ""
    exact = f"named exactly for {_of(people.named, people.named_without)}"
    if not people.tolerance:
        return exact
    near = _of(people.inside, people.inside_without)
    return f"{column} within {number(people.tolerance)} for {near}; {exact}"


def _of(reached: Measurement, without: Measurement | None) -> str:
    """Say how many people, beside how many the best guess without joining reaches.

    Who joined may still make that guess, so it never reaches fewer.
    """
    told = f"{round(reached.value * reached.n):,} of {reached.n:,} people"
    if without is None:
        return told
    otherwise = f"{round(without.value * without.n):,}"
    if without.value >= reached.value:
        return f"{otherwise} of {without.n:,} people, joined or not"
    return f"{told} ({otherwise} {WITHOUT})"


def _worst_people(result: AuditResult, rows: tuple[ColumnRow, ...]) -> str:
    named = [row for row in rows if row.column == result.headline.column]
    return named[0].people if named else ""


def _digit_bars(result: AuditResult) -> tuple[Bar, ...]:
    """Draw from the last number of digits that names nobody; nothing where none names anybody."""
    found = result.digits
    some = [] if found is None else [k for k, share in enumerate(found.exact) if share.value > 0.0]
    if found is None or not some:
        return ()
    start = max(0, some[0] - 1)
    return tuple(
        replace(
            _bar("all digits" if digits == 16 else count(digits, "digit"), exact, 0.0),
            detail=f"{released:.0f} bits released, {found.hidden:.0f} hidden",
        )
        for digits, exact, released in list(
            zip(found.digits, found.exact, found.released, strict=True)
        )[start:]
    )


def _group_bars(result: AuditResult) -> tuple[Bar, ...]:
    return tuple(_group_bar(group) for group in result.groups)


def _group_bar(group: GroupFinding) -> Bar:
    """Draw how many are reached; grey are those whom the best guess without joining reaches as well."""
    without = group.within_without
    reached = (
        group.within if without is None else max(group.within, without, key=lambda one: one.value)
    )
    return replace(
        _bar(group.name, reached, 0.0),
        known=0.0 if without is None else _unit(without.value),
        detail=f"{_of(group.within, without)}; exactly {_of(group.named, group.named_without)}",
    )


def _by_column(guess: GuessFinding | None) -> dict[str, ColumnFinding]:
    return {} if guess is None else {found.column: found for found in guess.columns}


def _column_bar(row: ColumnRow) -> Bar:
    """Draw a column on the scale on which joining adds more; limit and alone are on that of the followed."""
    found, added = row.found, row.found.worse
    named = added.scale == NAMED
    known = _known(found)
    after = None if row.defended is None else _unit(known + max(row.defended.value, 0.0))
    return _bar(
        row.column,
        added.measured,
        known,
        None if row.limit is None or named else row.limit.leakage.value,
        after,
        "people named exactly" if named else "",
        None if named or not found.alone else found.alone,
    )


def _known(found: ColumnFinding) -> float:
    """Return what is reached without joining, on the scale on which joining adds more."""
    if found.people is not None and found.worse.scale == NAMED:
        return found.people.named_without.value
    return found.known


def _bar(
    label: str,
    adds: Measurement,
    known: float,
    limit: float | None = None,
    defended: float | None = None,
    detail: str = "",
    alone: float | None = None,
) -> Bar:
    """Return a bar from what is known to what is known with what joining adds."""
    return Bar(
        label=label,
        value=_unit(known + max(adds.value, 0.0)),
        known=_unit(known),
        low=_unit(known + max(adds.low, 0.0)),
        high=_unit(known + max(adds.high, 0.0)),
        text=added(adds),
        interval=added_range(adds),
        limit=None if limit is None else _unit(limit),
        defended=None if defended is None else _unit(defended),
        detail=detail,
        alone=None if alone is None else _unit(alone),
    )


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))


def _block(threat: ThreatFinding) -> ThreatBlock:
    limit = _first(threat, "limit")
    attacks = sorted(
        threat.of("attack"), key=lambda g: -max((c.strength[0] for c in g.columns), default=-1.0)
    )
    roles = ("limit", "learner", "alone", "control", "baseline")
    ordered = (*attacks, *(guess for role in roles for guess in threat.of(role)))
    return ThreatBlock(
        threat=threat,
        malicious=threat.malicious,
        bars=tuple(
            _bar(
                guess.title,
                guess.adds,
                max(guess.leakage.value - guess.adds.value, 0.0),
                None if limit is None else limit.leakage.value,
                detail="; ".join(filter(None, (_worst_column(guess), _remark(guess)))),
            )
            for guess in attacks
        ),
        guesses=tuple(_guess_row(guess) for guess in ordered),
    )


def _worst_column(guess: GuessFinding) -> str:
    """Name the column in which an attack adds most: the mean over many hides it."""
    found = max(guess.columns, key=lambda column: column.worse.measured.value, default=None)
    if found is None:
        return ""
    named = ", people named exactly" if found.worse.scale == NAMED else ""
    return f"worst column: {found.column}, {percent(max(found.worse.measured.value, 0.0))}{named}"


def _threat_bar(block: ThreatBlock) -> Bar:
    """Return a threat's mean over columns, each by the strongest attack on it, and the worst column.

    Who holds more has the attacks of who holds less besides, so no stronger threat has a shorter
    bar. One attack would not do: the best in one column may be blind to all others.
    """
    strongest: dict[str, ColumnFinding] = {}
    attacks = block.threat.of("attack")
    for column in (column for guess in attacks for column in guess.columns):
        held = strongest.setdefault(column.column, column)
        strongest[column.column] = max(held, column, key=lambda one: one.strength)
    found = list(strongest.values())
    adds = [one.worse.measured for one in found] or [attacks[0].adds]
    first = adds[0]
    value, low, high = (
        sum(getattr(one, end) for one in adds) / len(adds) for end in ("value", "low", "high")
    )
    mean = Measurement(value, low, high, first.n, first.unit, first.over)
    followed = all(one.worse.scale != NAMED for one in found)  # as the limit is
    worst = max(attacks, key=lambda g: max((c.strength for c in g.columns), default=(-1.0,)))
    return _bar(
        block.threat.name,
        mean,
        sum(map(_known, found)) / len(adds),
        block.bars[0].limit if followed else None,
        detail=f"{_worst_column(worst)}; {worst.title}",
    )


def _guess_row(guess: GuessFinding) -> GuessRow:
    meaning = _MEANINGS.get(guess.role, "")
    if guess.role == "baseline":
        meaning = _BASELINES.get(guess.name, "A guess that uses nothing.")
    elif guess.role == "control":
        meaning = "The attack with the messages of other people, its own columns left in place."
    elif guess.role == "attack":
        meaning = f"Attack after {guess.paper.rstrip('.')}." if guess.paper else "Attack."
    seeds = guess.over_seeds
    over = "one run"
    if seeds is not None:
        over = f"{number(seeds.value)} ({number_range(seeds)}), {count(seeds.n, 'seed')}"
    return GuessRow(guess, meaning, over)


def _remark(guess: GuessFinding) -> str:
    if guess.alternatives > 0:
        return f"{count(guess.alternatives, 'other answer fits', 'other answers fit')} equally well"
    return guess.paper


def gain_in_words(worth: Worth) -> str:
    """Say by which measures the joint model is better: where most people are of one class, accuracy cannot tell."""
    told: dict[str, list[str]] = {"better": [], "worse": [], "": []}
    for name, gain in worth.gains:
        word = "better" if gain.low > 0.0 else "worse" if gain.high < 0.0 else ""
        ends = points_range(gain) if name == "accuracy" else signed_range(gain)
        told[word].append(f"in {name} ({ends})")
    opened = ", ".join(told.pop(""))
    sure = "; ".join(f"{word} {', '.join(where)}" for word, where in told.items() if where)
    said = (
        f"Record by record the joint model is {sure}"
        + (f"; no difference is shown {opened}" if opened else "")
        if sure
        else f"Record by record this is no proof of a gain, {opened}"
    )
    return f"{said}. 95 % intervals, {worth.accuracy_gain.n:,} records."


def _worth_rows(worth: Worth) -> tuple[WorthRow, ...]:
    rows = [
        WorthRow(
            "Accuracy",
            percent(worth.accuracy_alone.value, 1),
            percent(worth.accuracy.value, 1),
            points(worth.accuracy_gain.value),
            points_range(worth.accuracy_gain),
        )
    ]
    for name, alone, together, gain in (
        ("AUC", worth.auc_alone, worth.auc, worth.auc_gain),
        ("Log loss (less is better)", worth.log_loss_alone, worth.log_loss, worth.log_loss_gain),
        (
            "Error for the value",
            worth.value_error_alone,
            worth.value_error,
            worth.value_error_gain,
        ),
    ):
        if alone is not None and together is not None and gain is not None:
            rows.append(
                WorthRow(
                    name,
                    number(alone.value),
                    number(together.value),
                    signed(gain.value),
                    signed_range(gain),
                )
            )
    return tuple(rows)


def _verdict(defense: DefenseFinding) -> DefenseVerdict:
    pair = defense.column or defense.worst
    if pair.after.high < pair.before.low:
        removed = f"Less is added in {pair.column}, beyond chance."
    elif pair.after.low > pair.before.high:
        removed = f"More is added in {pair.column}, beyond chance."
    else:
        removed = f"The intervals overlap: no sure effect on {pair.column}."
    if defense.accuracy.high < defense.accuracy_before.low:
        cost = "It costs accuracy, beyond chance."
    elif defense.accuracy.low > defense.accuracy_before.high:
        cost = "Accuracy is higher with it, beyond chance."
    else:
        cost = "No sure effect on accuracy."
    rest = (
        "The best guess tried, that of a learner who knows other people’s truth included, still "
        f"follows {percent(defense.limit.value)} over all columns with it in place."
    )
    return DefenseVerdict(defense, removed, cost, " ".join(filter(None, (rest, defense.remark))))
