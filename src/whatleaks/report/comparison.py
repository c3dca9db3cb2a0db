"""Two audits side by side: what changed in the headline, columns, defenses and accuracy.

A number has changed if its two intervals do not meet; otherwise chance could have moved it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whatleaks.errors import UsageError
from whatleaks.report.stored import worst_by_column
from whatleaks.report.wording import left_out, percent, printable, shorten_name

CHANGED, WITHIN, ONLY_A, ONLY_B = "changed", "within the intervals", "only in A", "only in B"
OTHER = "of other columns"
NOT_MEASURED = "not measured in both"  # no attack ran in one of them, which is no 0 %
MOST_NAMED = 4


def compare(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """Return the comparison as plain values; audits that share nothing to protect are refused."""
    protect = [audit["spec"].get("protect") or "columns" for audit in (a, b)]
    if protect[0] != protect[1]:
        raise UsageError(
            f"A audits the {protect[0]}, B the {protect[1]}: they protect different things, so there "
            "is nothing to compare"
        )
    held = [worst_by_column(audit) for audit in (a, b)]
    apart = [sorted(one.keys() - other.keys()) for one, other in (held, held[::-1])]
    if all(held) and not held[0].keys() & held[1].keys():
        raise UsageError(
            f"A protects {_names(apart[0])}, B {_names(apart[1])}: no column is in both, so there is "
            "nothing to compare"
        )
    headline = _pair(
        *(h["adds"] if h.get("attack") else None for h in (a["headline"], b["headline"]))
    )
    if not all(held):
        headline["verdict"], apart = NOT_MEASURED, [[], []]
    elif any(apart):
        headline["verdict"] = OTHER
    titles = {d["name"]: d.get("title", d["name"]) for d in (*a["defenses"], *b["defenses"])}
    return {
        "table": _same(a["table"].get("hmac_sha256"), b["table"].get("hmac_sha256")),
        "code": _same(a["code"].get("sha256"), b["code"].get("sha256")),
        "settings": {
            name: [a["spec"].get(name), b["spec"].get(name)]
            for name in sorted({*a["spec"], *b["spec"]} - {"command"})
            if a["spec"].get(name) != b["spec"].get(name)
        },
        "level": [a["headline"].get("level"), b["headline"].get("level")],
        "headline": headline,
        "only in A": apart[0],
        "only in B": apart[1],
        "worst column": [a["headline"].get("column"), b["headline"].get("column")],
        "columns": _pairs(*held),
        "defenses": {
            name: {**pair, "title": titles[name]}
            for name, pair in _pairs(
                *({d["name"]: d["worst"]["after"] for d in one["defenses"]} for one in (a, b))
            ).items()
        },
        "not_tried": {
            side: left_out((one["extra"], one["name"]) for one in audit.get("not_tried", ()))
            for side, audit in (("A", a), ("B", b))
        },
        "accuracy": {
            "together": _pair(a["worth"]["accuracy"], b["worth"]["accuracy"]),
            "alone": _pair(a["worth"]["accuracy_alone"], b["worth"]["accuracy_alone"]),
        },
    }


def lines(found: dict[str, Any]) -> list[str]:
    """Return the comparison as plain lines for a terminal."""
    told = []
    for what in ("table", "code"):
        if found[what] != "same":
            told.append(f"The {what} differs: numbers may have changed for that reason alone.")
    told += [f"{side}: {line}" for side, left in found["not_tried"].items() for line in left]
    only = [f"{_names(found[side])} {side}" for side in (ONLY_A, ONLY_B) if found[side]]
    if only:
        told.append(
            f"They protect different columns ({', '.join(only)}): the headlines are not of the same."
        )
    for name, (before, after) in found["settings"].items():
        told.append(f"{name}: {_short(before)} in A, {_short(after)} in B")
    if not told:
        told.append("The same table, the same code, the same settings.")
    level, worst = found["level"], found["worst column"]
    told += ["", f"Headline: {level[0]} in A, {level[1]} in B"]
    told.append(_line("joining adds", found["headline"]))
    if all(worst) and worst[0] != worst[1]:
        told.append(f"  worst column: {worst[0]!r} in A, {worst[1]!r} in B")
    for title, key in (
        ("Columns, worst attack", "columns"),
        ("Defenses, worst column", "defenses"),
    ):
        if found[key]:
            rows = (_line(pair.get("title", name), pair) for name, pair in found[key].items())
            told += ["", title, *rows]
    told += ["", "Accuracy", *(_line(name, pair) for name, pair in found["accuracy"].items())]
    return told


def _same(a: Any, b: Any) -> str:
    if a is None or b is None:
        return "unknown"
    return "same" if a == b else "differs"


def _pairs(a: dict[str, Any], b: dict[str, Any]) -> dict[str, dict[str, Any]]:
    names = dict.fromkeys([*a, *b])
    return {name: _pair(a.get(name), b.get(name)) for name in names}


def _pair(a: dict[str, Any] | None, b: dict[str, Any] | None) -> dict[str, Any]:
    """Put two measurements side by side and say whether they differ."""
    told: dict[str, Any] = {"a": _kept(a), "b": _kept(b)}
    if a is None or b is None:
        return {**told, "verdict": ONLY_A if b is None else ONLY_B}
    apart = a["low"] > b["high"] or b["low"] > a["high"]
    difference = b["value"] - a["value"]
    return {**told, "difference": difference, "verdict": CHANGED if apart else WITHIN}


def _kept(measured: dict[str, Any] | None) -> dict[str, float] | None:
    if measured is None:
        return None
    return {end: measured[end] for end in ("value", "low", "high")}


def _line(name: str, pair: dict[str, Any]) -> str:
    # Nobody is told less for joining: below nothing is shown as nothing, as in the reports.
    before, after = (percent(max(pair[k]["value"], 0.0), 1) if pair[k] else "-" for k in ("a", "b"))
    return f"  {shorten_name(printable(name), 36):<36} {before:>8} -> {after:>8}  {pair['verdict']}"


def _names(columns: Sequence[str]) -> str:
    """Name a few columns, and say how many more there are."""
    more = f" and {len(columns) - MOST_NAMED} more" if len(columns) > MOST_NAMED else ""
    return ", ".join(shorten_name(printable(name), 40) for name in columns[:MOST_NAMED]) + more


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    text = "none" if value is None else text or "none"
    return text if len(text) <= 60 else f"{text[:57]}..."
