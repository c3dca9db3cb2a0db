"""Privacy against utility: every defense that was tried as a point, the front, one recommendation.

What leaks is what joining adds in the worst column by the strongest attack, one that knows the
defense; what the model is worth is its accuracy. Nothing is run here.
"""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.auditor.result import Comparison, DefenseFinding, Trade
from whatleaks.metrics.measurement import Measurement

MOST_LOST = 0.01  # of accuracy: what a recommended setting may cost


def compare_defenses(defenses: Sequence[DefenseFinding], threat: str) -> Comparison | None:
    """Compare the defenses against one threat; None if none was tried against it."""
    tried = [d for d in defenses if threat in d.against and d.acts_on != "data"]
    left_out = tuple(d.title for d in defenses if threat in d.against and d.acts_on == "data")
    if not tried:
        return None
    worst = max((pair.before for d in tried for pair in d.columns), key=lambda m: m.value)
    places = [("", "No defense", worst, tried[0].accuracy_before)]
    places += [(d.name, d.title, d.worst.after, d.accuracy) for d in tried]
    pairs = [(leak.value, worth.value) for _, _, leak, worth in places]
    points = tuple(
        Trade(name, title, leak, worth, not any(_better(other, mine) for other in pairs))
        for (name, title, leak, worth), mine in zip(places, pairs, strict=True)
    )
    chosen, why = _recommended(points)
    if left_out:
        why += f" Not compared, as other columns are left to judge: {', '.join(left_out)}."
    return Comparison(threat, points, chosen, why)


def _better(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Say whether one leaks no more and is worth no less than the other, and is not the same."""
    return one[0] <= other[0] and one[1] >= other[1] and one != other


def _recommended(points: Sequence[Trade]) -> tuple[str, str]:
    """Return the setting that leaks least of those that cost little and help beyond chance."""
    free = points[0]
    affordable = [p for p in points[1:] if p.accuracy.value >= free.accuracy.value - MOST_LOST]
    helping = [p for p in affordable if _apart(p.leak, free.leak)]
    if not helping:
        reason = (
            "none of those that cost at most 1 point of accuracy lowers what leaks beyond chance"
            if affordable
            else "all of them cost more than 1 point of accuracy"
        )
        return "", f"No setting is recommended: {reason}."
    best = min(helping, key=lambda p: (p.leak.value, -p.accuracy.value))
    return best.name, (
        f"{best.title}: of the {len(points) - 1} settings tried it leaks least among the "
        f"{len(affordable)} that cost at most 1 point of accuracy: joining adds "
        f"{_percent(best.leak)} in the worst column instead of {_percent(free.leak)}, at "
        f"{100 * best.accuracy.value:.1f} % accuracy instead of {100 * free.accuracy.value:.1f} %."
    )


def _apart(low: Measurement, high: Measurement) -> bool:
    return low.high < high.low


def _percent(measured: Measurement) -> str:
    return f"{100 * max(measured.value, 0.0):.0f} %"
