"""What would help: sentences that follow from the findings by rule, not by taste."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.auditor.result import DefenseFinding, Headline, ThreatFinding

LEVELS = ((0.1, "low"), (0.5, "medium"), (0.99, "high"))
ENOUGH = 0.1  # a defense that leaves less than this share of the variation is called effective
REDUCED = 0.5  # if it also takes at least half away: a small leak may be small without it
COST = 0.02  # and cheap if it costs at most two points of accuracy


def level(leakage: float) -> str:
    """Put a leakage into words: low below 0.1, medium below 0.5, high below 0.99, else complete."""
    for border, word in LEVELS:
        if leakage < border:
            return word
    return "complete"


def headline(threats: Sequence[ThreatFinding]) -> Headline:
    """Find the worst column under the worst attack and say it in one sentence."""
    worst = max(
        ((t, g, c) for t in threats for g in t.of("attack") for c in g.columns),
        key=lambda found: found[2].leakage.value,
        default=None,
    )
    if worst is None:
        threat, limit, column = max(
            ((t, g, c) for t in threats for g in t.of("limit") for c in g.columns),
            key=lambda found: found[2].leakage.value,
        )
        sentence = (
            "No published attack runs under the chosen threats; somebody who had the truth of "
            f"other people to learn from could follow {column.leakage.value:.0%} of the "
            f"differences between people in “{column.column}”."
        )
        return Headline(
            sentence,
            level(column.leakage.value),
            column.leakage,
            threat.name,
            limit.name,
            column.column,
        )
    threat, attack, column = worst
    share, word = column.leakage.value, level(column.leakage.value)
    if word == "complete" and column.recovered.value < 0.99:
        word = "high"  # the order of people is known exactly, their values are not
    attacks = sum(len(t.of("attack")) for t in threats)
    if word == "complete":
        text = (
            f"Your partner can read column “{column.column}” off what it is sent: the attack "
            f"“{attack.title}” recovers every value."
        )
    elif word == "low":
        text = (
            f"None of the {attacks} attacks tried tells people apart well: the best of them follows "
            f"{share:.0%} of the differences in its easiest column, “{column.column}”."
        )
    else:
        text = (
            f"Your partner can follow {share:.0%} of the differences between people in column "
            f"“{column.column}”, with the attack “{attack.title}”."
        )
    return Headline(text, word, column.leakage, threat.name, attack.name, column.column)


def advice(
    head: Headline,
    threats: Sequence[ThreatFinding],
    defenses: Sequence[DefenseFinding],
    classes: int,
    unknown: int,
) -> tuple[str, ...]:
    """Say what the numbers suggest, most useful first."""
    lines = []
    names = {t.name for t in threats}
    if "white-box" in names and unknown <= classes - 1:
        lines.append(
            f"You contribute {unknown} encoded column{'s' if unknown > 1 else ''} to a model with "
            f"{classes} classes. A linear model's exact scores then give every value away. "
            "Contribute more columns than classes, or keep your part of the model to yourself."
        )
    effective = [
        d
        for d in defenses
        if d.leakage.value < ENOUGH and d.leakage.value <= REDUCED * d.leakage_before.value
    ]
    cheap = [d for d in effective if d.accuracy_before.value - d.accuracy.value <= COST]
    if head.level == "low":
        lines.append("No attack tried here calls for a defense. A stronger one may: see the limit.")
    elif cheap:
        best = min(cheap, key=lambda d: (d.limit.value, d.leakage.value))
        lines.append(
            f"“{best.title}” brings the strongest attack tried down to {best.leakage.value:.0%} at "
            f"{max(best.accuracy_before.value - best.accuracy.value, 0.0):.1%} of accuracy."
        )
        if best.limit.value >= ENOUGH:
            lines.append(
                f"It does not remove the information: somebody with the truth of other people could "
                f"still follow {best.limit.value:.0%} with it in place."
            )
    elif effective:
        best = max(effective, key=lambda d: d.accuracy.value)
        lines.append(
            f"“{best.title}” stops the attacks tried, but the joint model loses "
            f"{best.accuracy_before.value - best.accuracy.value:.1%} of accuracy."
        )
    elif defenses:
        lines.append("None of the defenses tried on the released scores stops the attacks.")
    agnostic = next((t for t in threats if t.name == "agnostic"), None)
    if agnostic is not None:
        best_blind = max(agnostic.of("attack"), key=lambda g: g.leakage.value, default=None)
        if best_blind is not None and best_blind.leakage.value >= ENOUGH:
            lines.append(
                f"Protecting scores is not enough: without any score of its target the agnostic "
                f"attack still follows {best_blind.leakage.value:.0%}. It needs your part of the "
                "model: do not hand that out."
            )
    if {"white-box", "white-box-tree"} & names:
        lines.append(
            "Most attacks here need your part of the trained model. Ask whether the partner needs it."
        )
    return tuple(lines)
