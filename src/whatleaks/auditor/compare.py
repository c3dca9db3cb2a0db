"""Privacy against utility: every defense that was tried as a point, the front, one recommendation.

What leaks is what joining adds in the worst column by the strongest attack, one that knows the
defense; what the model is worth is its accuracy. Nothing is run here.
"""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.auditor.advice import (
    COST,
    ENOUGH,
    WHERE_TRIED,
    cheapest,
    cost,
    points,
    recommended,
)
from whatleaks.auditor.levels import percent, share
from whatleaks.auditor.result import Comparison, DefenseFinding, Trade


def compare_defenses(
    defenses: Sequence[DefenseFinding], threat: str, silenced: Sequence[str] = ()
) -> Comparison | None:
    """Compare the defenses against one threat; None if none was tried against it.

    ``silenced``: titles of those under which no attack finds an answer.
    """
    tried = [d for d in defenses if threat in d.against and d.acts_on != "data"]
    filters = [d for d in defenses if threat in d.against and d.acts_on == "data"]
    if not tried:
        return None
    worst = max((pair.before for d in tried for pair in d.columns), key=lambda m: m.value)
    places = [("", "No defense", worst, tried[0].accuracy_before)]
    places += [(d.name, d.title, d.worst.after, d.accuracy) for d in tried]
    pairs = [(leak.value, worth.value) for _, _, leak, worth in places]
    trades = tuple(
        Trade(name, title, leak, worth, not any(better(other, mine) for other in pairs))
        for (name, title, leak, worth), mine in zip(places, pairs, strict=True)
    )
    chosen = recommended(threat, defenses)
    why = _why(chosen, cheapest(threat, tried), trades)
    if chosen in filters:
        why += " It is not drawn, as it leaves other columns to judge."
    left_out = [d.title for d in filters if d is not chosen]
    if left_out:
        why += f" Not compared, as other columns are left to judge: {', '.join(left_out)}."
    if silenced:
        why += f" Not compared, as no attack tried finds an answer: {', '.join(silenced)}."
    return Comparison(threat, trades, "" if chosen is None else chosen.name, why)


def better(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Say whether one leaks no more and is worth no less than the other, and is not the same."""
    return one[0] <= other[0] and one[1] >= other[1] and one != other


def _why(
    chosen: DefenseFinding | None, dear: DefenseFinding | None, trades: Sequence[Trade]
) -> str:
    """Say why a setting is recommended, by the rule of the advice, or why none is."""
    free, tried = trades[0], trades[1:]
    rule = f"what joining adds below {percent(ENOUGH)} in every column and takes half of it away"
    if chosen is None and dear is not None:
        return (
            f"No setting is recommended: none that brings {rule} costs at most {points(COST)} of "
            f"accuracy. The cheapest, {dear.title}, costs {points(cost(dear))}."
        )
    if chosen is None and free.leak.value < ENOUGH:
        return (
            f"No setting is recommended, as none can be seen to help: {WHERE_TRIED} joining adds "
            f"{share(free.leak)} in the worst column without any."
        )
    if chosen is None:
        closest = min(tried, key=lambda point: point.leak.value)
        return (
            f"No setting is recommended: none of the {len(tried)} tried brings {rule}. The closest, "
            f"{closest.title}, leaves {share(closest.leak)}."
        )
    return (
        f"{chosen.title}: it brings {rule}. Joining then adds {share(chosen.worst.after)} in the "
        f"worst column instead of {share(free.leak)}, at {percent(chosen.accuracy.value, 1)} "
        f"accuracy instead of {percent(free.accuracy.value, 1)}."
    )
