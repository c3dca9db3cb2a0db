"""One page of A4 to print and sign, from a stored audit: what leaks, what helps, who decided."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from whatleaks.auditor.result import NAMED, TRAINS, Worth
from whatleaks.files import write_atomically
from whatleaks.metrics.measurement import Measurement
from whatleaks.report.page import gain_in_words
from whatleaks.report.stored import worse_scale, worst_by_column
from whatleaks.report.wording import (
    count,
    first_sentence,
    left_out,
    on_some_seeds,
    percent,
    printable,
    shorten,
    shorten_name,
    unbroken,
)

# What fits on one page; the report holds the rest.
COLUMNS, DEFENSES, ADVICE, THREATS, FOLLOWED, REMARK = 8, 5, 4, 5, 3, 190
REST = " More in the report."


def render(audit: dict[str, Any]) -> str:
    """Return the page as HTML text: no script, no network."""
    from whatleaks.report.html import environment

    columns, threats = worst_by_column(audit), _threats(audit)
    return (
        environment()
        .get_template("signoff.html")
        .render(
            name=_text(audit["table"].get("name", "table"), 80),
            table=str(audit["table"].get("hmac_sha256", ""))[:16],
            code=str(audit["code"].get("sha256", ""))[:16],
            version=str(audit["code"].get("version", "")),
            created=str(audit.get("created", ""))[:10],
            level=_text(audit["headline"].get("level", ""), 20),
            sentence=unbroken(_text(audit["headline"].get("sentence", ""), 600)),
            named=audit["headline"].get("scale") == NAMED,
            adds=_range(audit["headline"]["adds"])
            if audit["headline"]["attack"]
            else "not measured",
            conditions=[
                unbroken(_text(c["sentence"], 420)) for c in audit["headline"].get("conditions", [])
            ],
            followed=[
                (_name(known["column"], 48), percent(known["share"]))
                for known in audit["headline"].get("followed", [])[:FOLLOWED]
            ],
            more_followed=max(0, len(audit["headline"].get("followed", [])) - FOLLOWED),
            already=_text(", ".join(audit["headline"].get("already", [])), 160),
            columns=[(_name(n, 48), _range(m)) for n, m in list(columns.items())[:COLUMNS]],
            more_columns=max(0, len(columns) - COLUMNS),
            threats=threats[:THREATS],
            more_threats=max(0, len(threats) - THREATS),
            together=_range(audit["worth"]["accuracy"]),
            alone=_range(audit["worth"]["accuracy_alone"]),
            gain=gain_in_words(_worth(audit["worth"])),
            column=_name(audit["headline"].get("column") or "the headline’s column", 40),
            defenses=_defenses(audit)[:DEFENSES],
            some_seeds=on_some_seeds(
                len(audit.get("defended_seeds", [])), len(audit.get("seeds", []))
            ),
            more_defenses=max(0, len(audit["defenses"]) - DEFENSES),
            advice=[unbroken(_text(line, 420)) for line in audit.get("advice", [])[:ADVICE]],
            more_advice=max(0, len(audit.get("advice", [])) - ADVICE),
            rows=audit.get("rows", ""),
            seeds=count(len(audit.get("seeds", [])), "repetition"),
            model=_text(audit["spec"].get("model", ""), 40),
            others=[
                *(_text(note, 200) for note in audit.get("notes", []) if TRAINS in note),
                *left_out(
                    (one["extra"], _text(one["name"], 40)) for one in audit.get("not_tried", ())
                ),
            ],
        )
    )


def write(audit: dict[str, Any], path: Path) -> Path:
    """Write the page in one step."""
    write_atomically(path, render(audit).encode("utf-8", errors="replace"))
    return path


def _threats(audit: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Name every threat, the worst first, with the most that joining adds: worst column, mean of all.

    As in the report the mean is by the strongest attack on each column.
    """
    told: list[tuple[float, tuple[str, str, str]]] = []
    for threat in audit["threats"]:
        attacks = [g for g in threat["findings"] if g["role"] == "attack"]
        worst = max((worse_scale(c)["value"] for g in attacks for c in g["columns"]), default=None)
        tried = threat["name"] not in audit.get("untried", ())
        leak, over = "no attack fits" if tried else "not tried here", ""
        if worst is not None:
            each = [adds["value"] for adds in worst_by_column({"threats": [threat]}).values()]
            leak, over = (percent(max(share, 0.0)) for share in (worst, sum(each) / len(each)))
        order = 1.0 if worst is None else -worst
        told.append((order, (_text(threat["name"], 40), leak, over)))
    return [row for _, row in sorted(told, key=lambda one: one[0])]


def _defenses(audit: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the defenses that the advice names, then those that leave least in their worst column.

    Each with the headline's column without it and with it, which a filter may leave out.
    """
    advised = " ".join(audit.get("advice", []))
    told: list[tuple[str, ...]] = []
    for d in sorted(
        audit["defenses"],
        key=lambda d: (f"“{d['title']}”" not in advised, d["worst"]["after"]["value"]),
    ):
        before, after = "", "left out"
        if d.get("column"):
            before, after = (
                percent(max(d["column"][k]["value"], 0.0)) for k in ("before", "after")
            )
        told.append(
            (
                _text(_with_remark(d["title"], d["remark"]), REMARK),
                before,
                after,
                percent(max(d["worst"]["after"]["value"], 0.0)),
                percent(d["accuracy_before"]["value"], 1),
                percent(d["accuracy"]["value"], 1),
            )
        )
    return told


def _with_remark(title: str, remark: str) -> str:
    """Put a remark behind a title as far as whole sentences fit; the report has the rest."""
    said = f"{title}."
    while remark:
        sentence, remark = first_sentence(remark)
        if len(f"{said} {sentence}") > REMARK - len(REST):
            return said + REST
        said = f"{said} {sentence}"
    return said


def _worth(stored: dict[str, Any]) -> Worth:
    """Read back what joining is worth; audits of before measured less of it."""
    known = {field.name for field in fields(Worth)}
    return Worth(**{k: v and Measurement(**v) for k, v in stored.items() if k in known})


def _range(measured: dict[str, Any]) -> str:
    ends = (percent(max(measured[end], 0.0)) for end in ("value", "low", "high"))
    return unbroken("{} ({} to {})".format(*ends))


def _name(value: Any, most: int) -> str:
    return shorten_name(printable(str(value)), most)


def _text(value: Any, most: int) -> str:
    return shorten(printable(str(value)), most)
