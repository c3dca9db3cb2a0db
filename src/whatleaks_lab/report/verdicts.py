"""Claims and their verdicts in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from whatleaks.report.terminal import wrap
from whatleaks.report.wording import plain_value


def verdicts(claims: Sequence[Mapping[str, Any]]) -> str:
    """Return each claim's verdict with all that stands behind it, one block per claim."""
    blocks = []
    for claim in claims:
        lines = [f"{claim['id']}  {claim['verdict'].upper()}  ({claim['where']})"]
        lines += wrap(claim["claim"], "  claim     ", " " * 12)
        told = [("measured", claim["measured"]), ("note", claim["note"])]
        if claim["value"] is not None:
            low, high = claim["interval"]
            told.insert(1, ("value", f"{claim['value']:.4g} [{low:.4g}, {high:.4g}]"))
        if claim["reported"] is not None:
            told.append(("reported", plain_value(claim["reported"])))
        if claim["n"]:
            told.append(("size", f"{claim['n']} runs, {claim['seconds']} s; {claim['sizes']}"))
        told.append(("checked", claim["unchecked"]))
        for name, text in told:
            if text:
                lines += wrap(text, f"  {name:<10}", " " * 12)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def verdict_lines(claims: Sequence[Mapping[str, Any]]) -> str:
    """Return one short entry per claim and a count of verdicts."""
    lines = []
    for claim in claims:
        head = f"{claim['id']}  {claim['verdict']:<8} "
        lines += wrap(claim["claim"], head, " " * len(head))
        if claim["measured"]:
            text = f"{claim['profile']}: {claim['measured']}"
            lines += wrap(text, " " * len(head) + "-> ", " " * (len(head) + 3))
        if claim["unchecked"]:
            lines += wrap(claim["unchecked"], " " * (len(head) + 3), " " * (len(head) + 3))
    counts = Counter(claim["verdict"] for claim in claims)
    tally = ", ".join(f"{counts[v]} {v}" for v in ("holds", "partly", "fails", "not-run"))
    return "\n".join([*lines, "", f"{len(claims)} claims: {tally}"])
