"""Audit results made by hand: what the report must be able to show."""

from __future__ import annotations

from dataclasses import replace

from whatleaks.auditor.result import (
    AuditResult,
    ColumnCard,
    ColumnDefense,
    ColumnFinding,
    Condition,
    DefenseFinding,
    DigitsFinding,
    GroupFinding,
    GuessFinding,
    Headline,
    People,
    SampleRow,
    ThreatFinding,
    Worth,
)
from whatleaks.metrics.measurement import Measurement

N = 228
KNOWN = 0.25  # of every leak is known without joining
MEDICAL = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
    "concave points", "symmetry", "fractal dimension",
)  # fmt: skip
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "{{ 7 * 7 }} & {% raw %}",
    "Größe der Wohnfläche in Quadratmetern nach der letzten amtlichen Vermessung " * 2,
    "年龄",
    "العمر بالسنوات",
    "a" * 180,
    "bell\x07 and \x1b[31mred\x1b[0m and \u202etxt.exe",
    "[bold red]markup[/bold red]",
)


def share(value: float, spread: float = 0.03, n: int = N, over: str = "records") -> Measurement:
    """Return a leakage with its interval inside 0 to 1."""
    return Measurement(
        value, max(0.0, value - spread), min(1.0, value + spread), n, "share of variance", over
    )


def error(value: float, spread: float = 0.1) -> Measurement:
    """Return a mean squared error with a relative spread."""
    return Measurement(
        value, value * (1 - spread), value * (1 + spread), N, "mean squared error", "records"
    )


def accuracy(value: float, spread: float = 0.018) -> Measurement:
    """Return an accuracy with its interval."""
    return Measurement(
        value, max(0.0, value - spread), min(1.0, value + spread), N, "accuracy", "records"
    )


def people(leak: float) -> People:
    """Return counts of people that fit a leak."""
    rate = share(round(0.9 * leak * N) / N)
    return People(rate, share(0.1), (rate, rate, rate), 500.0, rate)


def finding(
    name: str,
    title: str,
    role: str,
    paper: str,
    leaks: dict[str, float],
    variance: float = 0.04,
    floor: float | None = None,
    seeds: int = 5,
    alternatives: int = 0,
) -> GuessFinding:
    """Return one guess over all columns from its leakage column by column."""
    columns = tuple(
        ColumnFinding(
            column,
            error(max(variance * (1 - leak), 1.2e-15) if floor is None else floor),
            share(leak, 0.0 if leak in (0.0, 1.0) else 0.03),
            share(leak, 0.0 if leak in (0.0, 1.0) else 0.03),
            share(KNOWN * leak, 0.0 if leak in (0.0, 1.0) else 0.03),
            share((1 - KNOWN) * leak, 0.0 if leak in (0.0, 1.0) else 0.03),
            people=people(leak),
            by="Equality solving",
        )
        for column, leak in leaks.items()
    )
    mean = sum(leaks.values()) / len(leaks)
    total = error(sum(c.error.value for c in columns) / len(columns))
    over = Measurement(
        total.value, 0.9 * total.value, 1.1 * total.value, seeds, "mean squared error", "seeds"
    )
    return GuessFinding(
        name=name,
        title=title,
        role=role,
        paper=paper,
        error=total,
        leakage=share(mean, 0.0 if mean in (0.0, 1.0) else 0.02),
        adds=share((1 - KNOWN) * mean, 0.0 if mean in (0.0, 1.0) else 0.02),
        recovered=share(mean, 0.0 if mean in (0.0, 1.0) else 0.02),
        columns=columns,
        over_seeds=over if seeds > 1 else None,
        alternatives=alternatives,
        isolated="sandbox" if role == "attack" else "",
        seconds=0.4,
        settings={"clip": False},
    )


def baselines(names: tuple[str, ...]) -> tuple[GuessFinding, ...]:
    """Return the three guesses that use nothing."""
    nothing = dict.fromkeys(names, 0.0)
    return (
        finding("uniform", "Uniform guess", "baseline", "", nothing, floor=0.142),
        finding("gaussian", "Gaussian guess", "baseline", "", nothing, floor=0.119),
        finding("half", "Always one half", "baseline", "", nothing, floor=0.056),
    )


def result(
    level: str,
    sentence: str,
    leaks: dict[str, float],
    attack: tuple[str, str, str],
    scale: float = 1.0,
) -> AuditResult:
    """Return a whole audit whose worst attack leaks as told, column by column."""
    names = tuple(leaks)
    best = {name: min(1.0, leak + 0.35 * (1 - leak) * scale) for name, leak in leaks.items()}
    worst = max(leaks, key=lambda name: leaks[name])
    key, title, paper = attack
    white = ThreatFinding(
        name="white-box",
        sentence=(
            "The active party follows the protocol and is curious; it holds its own columns and "
            "sees the score of every record it asks about. It is also given the whole trained "
            "model, the passive party's part included; the public range of every column."
        ),
        conduct="follows the protocol and is curious",
        malicious=False,
        grants=(
            "the whole trained model, the passive party's part included",
            "the public range of every column (values are on a scale from 0 to 1)",
        ),
        federation="additive logistic regression, two parties",
        findings=(
            finding(key, title, "attack", paper, leaks),
            finding(
                "pseudo-inverse", "Pseudo-inverse, unclipped", "attack", "Luo et al. 2021",
                dict.fromkeys(names, 0.0), floor=0.61, seeds=1,
            ),
            finding("limit", "The limit", "limit", "", best),
            *baselines(names),
        ),
    )  # fmt: skip
    black = ThreatFinding(
        name="black-box",
        sentence=(
            "The active party follows the protocol and is curious; it holds its own columns and "
            "sees the score of every record it asks about. It is given nothing more."
        ),
        conduct="follows the protocol and is curious",
        malicious=False,
        grants=(),
        federation="additive logistic regression, two parties",
        findings=(
            finding(
                "scores-only", "Scores only", "attack", "Jiang et al. 2022",
                {name: 0.3 * leak for name, leak in leaks.items()}, alternatives=1,
            ),
            finding("limit", "The limit", "limit", "", {n: 0.6 * v for n, v in best.items()}),
            *baselines(names),
        ),
        notes=("Two solutions fit the scores; the first is scored and the other is counted.",),
    )  # fmt: skip
    before = white.findings[0]
    own = share((1 - KNOWN) * leaks[worst], 0.0 if leaks[worst] == 1 else 0.03)
    return AuditResult(
        headline=Headline(
            sentence, level, share(leaks[worst], 0.0 if leaks[worst] == 1 else 0.03), own,
            "white-box", key, worst,
            conditions=(
                Condition("model", f"If you hand over your part of the model: {level}.", level,
                          own, "white-box", key, worst),
                Condition("kept", "If you keep it: no attack known here works.", ""),
                Condition("records", "If your partner holds some records: not tried.", ""),
            ),
            already=names[-1:],
        ),
        threats=(black, white),
        defenses=(
            defense("rounding", "Round scores to one decimal", "release", before, 0.35, 0.964),
            defense("noise", "Gaussian noise on the scores, sigma 0.1", "release", before, 0.12, 0.921),
            defense("encryption", "Additive encryption of messages", "message", before, 1.0, 0.965),
        ),
        advice=(
            "Do not hand the whole model to the partner: the worst attack needs it.",
            "Release classes rather than scores, or round the scores to one decimal.",
            "Encrypting messages changes nothing here: the leak is in the scores themselves.",
        ),
        columns=(
            *(ColumnCard(name, "number", "passive", (name,)) for name in names),
            ColumnCard("age", "number", "active", ("age",)),
            ColumnCard("diagnosis", "category", "label", ("diagnosis",)),
        ),
        classes=("benign", "malignant"),
        rows=569,
        training_rows=341,
        target_rows=N,
        worth=Worth(accuracy(0.965), accuracy(0.912), accuracy(0.053)),
        digits=DigitsFinding("white-box", names, (1, 3, 16), (share(0.1), share(0.5), share(1.0)),
                             (1.5, 9.0, 50.0), 12.0, 16),
        groups=(GroupFinding("the tenth furthest from the average", share(0.9), share(0.2)),),
        spec={"table": "breast-cancer", "passive": list(names), "model": "logistic", "seeds": 5},
        table={"name": "breast-cancer", "hmac_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
        code={"version": "0.1.0", "sha256": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"},
        environment={"python": "3.11.9", "platform": "Linux x86_64", "packages": {"numpy": "2.3.0", "torch": "2.13.0"}},
        seeds=(0, 1, 2, 3, 4),
        seconds=41.7,
        created="2025-01-15T10:30:00Z",
        notes=("Rows with a missing value were left out: 0 of 569.",),
    )  # fmt: skip


def defense(
    name: str, title: str, acts_on: str, before: GuessFinding, keeps: float, with_it: float
) -> DefenseFinding:
    """Return a defense that keeps a share of the leak."""
    pairs = tuple(
        ColumnDefense(c.column, c.adds, share(c.adds.value * keeps)) for c in before.columns
    )
    after = before.adds.value * keeps
    worst = max(pairs, key=lambda pair: pair.after.value)
    return DefenseFinding(
        name, title, acts_on, "white-box", "Equality solving", pairs, worst, worst,
        before.adds, share(after), share(min(1.0, after + 0.1)), accuracy(0.965), accuracy(with_it),
        against=("white-box",),
    )  # fmt: skip


def spread_over(names: tuple[str, ...], top: float) -> dict[str, float]:
    """Return leaks that fall from the top to nearly nothing."""
    return {name: top * (1 - i / len(names)) ** 1.5 for i, name in enumerate(names)}


ESA = ("equality-solving", "Equality solving", "Luo et al. 2021")


def low_case() -> AuditResult:
    """Return an audit in which little leaks."""
    return result(
        "low",
        "The strongest attack tried recovers 4 % of what tells people apart in radius; "
        "the other columns leak less.",
        spread_over(MEDICAL, 0.04),
        ESA,
        0.3,
    )


def high_case() -> AuditResult:
    """Return an audit in which much leaks."""
    return result(
        "high",
        "A partner that holds the model recovers 87 % of what tells people apart in radius, "
        "from the scores alone.",
        spread_over(MEDICAL, 0.87),
        ESA,
    )


def complete_case() -> AuditResult:
    """Return an audit in which every value is known, up to rounding."""
    return result(
        "complete",
        "A partner that holds the model recovers every value of all 3 columns exactly.",
        dict.fromkeys(MEDICAL[:3], 1.0),
        ESA,
    )


def wide_case() -> AuditResult:
    """Return an audit of 60 columns."""
    names = tuple(f"sensor_{i:02d}" for i in range(60))
    return result(
        "medium",
        "The strongest attack recovers 46 % of what tells people apart in sensor_00.",
        spread_over(names, 0.46),
        ESA,
    )


def hostile_case() -> AuditResult:
    """Return an audit whose names try to break the page and the terminal."""
    return replace(
        result(
            "high",
            f"A partner recovers 80 % of {HOSTILE[0]}.",
            spread_over(HOSTILE, 0.8),
            ("esa", "<b>Equality</b> solving [link]", "Luo & al."),
        ),
        table={"name": HOSTILE[1], "sha256": "0" * 64},
        notes=(HOSTILE[0], float("nan").__repr__() + "<i>"),
        spec={"</script>": float("nan"), "passive": list(HOSTILE)},
    )


def bare_case() -> AuditResult:
    """Return an audit without defenses, advice, limit or baselines, with one seed."""
    full = low_case()
    threat = full.threats[1]
    only = replace(threat, findings=(replace(threat.findings[0], over_seeds=None),))
    return replace(full, threats=(only,), defenses=(), advice=(), notes=(), seeds=(0,))


def sample_case() -> AuditResult:
    """Return an audit whose user asked to see values."""
    return replace(
        high_case(),
        samples=(
            SampleRow(0.48213, 0.50127, "radius", "equality-solving"),
            SampleRow(0.12009, 0.11873, "radius", "equality-solving"),
            SampleRow(0.9031, 0.871, "radius", "equality-solving"),
        ),
    )


CASES = {
    "low": low_case,
    "high": high_case,
    "complete": complete_case,
    "wide": wide_case,
    "hostile": hostile_case,
    "bare": bare_case,
    "samples": sample_case,
}
