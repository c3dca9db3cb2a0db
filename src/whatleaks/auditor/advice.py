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
            "No attack could be run under the chosen threats, which says nothing about safety: "
            f"somebody who had the truth of other people to learn from could follow "
            f"{column.leakage.value:.0%} of the differences between people in “{column.column}”."
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
    beyond = share > by_chance(threats)
    if not beyond:
        word = "low"
        text = (
            f"None of the {attacks} attacks tried does better than guessing: the largest leakage, "
            f"{share:.0%} in “{column.column}”, is reached by random guesses on some column too."
        )
    elif word == "complete":
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
    return Headline(text, word, column.leakage, threat.name, attack.name, column.column, beyond)


def by_chance(threats: Sequence[ThreatFinding]) -> float:
    """Return the largest leakage of a guess that uses nothing, over all columns: what luck gives."""
    return max(
        (
            column.leakage.value
            for threat in threats
            for guess in threat.of("baseline")
            if guess.name in ("uniform", "gaussian")
            for column in guess.columns
        ),
        default=0.0,
    )


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
    # Only what was tried against the threat of the headline can help against it.
    tried = [d for d in defenses if d.threat == head.threat]
    relevant = [d for d in tried if d.leakage_before.value >= ENOUGH]
    effective = [
        d
        for d in relevant
        if d.leakage.value < ENOUGH and d.leakage.value <= REDUCED * d.leakage_before.value
    ]
    cheap = [d for d in effective if d.accuracy_before.value - d.accuracy.value <= COST]
    if not any(t.of("attack") for t in threats):
        lines.append("No attack ran, so no defense was tried. Choose another threat or model.")
    elif head.level == "low":
        lines.append("No attack tried here calls for a defense. A stronger one may: see the limit.")
    elif cheap:
        best = min(cheap, key=lambda d: (d.limit.value, d.leakage.value))
        lines.append(
            f"“{best.title}” brings the strongest attack tried down to {best.leakage.value:.0%} at "
            f"{max(best.accuracy_before.value - best.accuracy.value, 0.0):.1%} of accuracy."
        )
        if best.limit.value >= ENOUGH:
            alone = next((g for t in threats for g in t.of("alone") if t.name == best.threat), None)
            # With a gate or a filter in place the limit is that of what stays, the other is not.
            without = (
                f" ({alone.leakage.value:.0%} without any federation, from its own columns)"
                if alone is not None and best.acts_on not in ("gate", "data")
                else ""
            )
            lines.append(
                "It does not remove the information: a partner who knows the truth of other people "
                f"could still follow {best.limit.value:.0%} with it in place{without}."
            )
    elif effective:
        best = max(effective, key=lambda d: d.accuracy.value)
        lines.append(
            f"“{best.title}” stops the attacks tried, but the joint model loses "
            f"{best.accuracy_before.value - best.accuracy.value:.1%} of accuracy."
        )
    elif relevant:
        lines.append(
            f"None of the defenses tried takes half of the leak away and leaves less than {ENOUGH:.0%} "
            "of the differences."
        )
    elif tried:
        lines.append(
            f"Over all columns the attacks follow less than {ENOUGH:.0%} even without a defense, so the "
            f"defenses tried cannot show what they do for “{head.column}”."
        )
    else:
        lines.append(f"No defense was tried against the threat {head.threat}.")
    for threat in threats:
        rival = next((g for g in threat.of("baseline") if g.name == "auxiliary-regression"), None)
        best_attack = max(threat.of("attack"), key=lambda g: g.leakage.value, default=None)
        if rival and best_attack and rival.leakage.value >= best_attack.leakage.low:
            lines.append(
                f"Under {threat.name} the records that the attacker is given beforehand say as much "
                f"as the attack does: a regression on them follows {rival.leakage.value:.0%} without "
                "any federation. What matters is who holds such records."
            )
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
