"""Stored audits: two side by side, and one page to sign."""

from __future__ import annotations

import html
import json
from copy import deepcopy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from sample_audit import finding, high_case, share

from whatleaks.errors import StoreError, UsageError
from whatleaks.report.comparison import CHANGED, NOT_MEASURED, ONLY_B, OTHER, WITHIN, compare, lines
from whatleaks.report.page import lay_out
from whatleaks.report.signoff import render
from whatleaks.report.stored import load_audit, worst_by_column


def audit(columns: int = 3, defenses: int = 2) -> dict[str, Any]:
    """Return a real result as audit.json holds it, with as many columns and defenses as asked."""
    leaks = {f"column {i} <b>": 0.9 / (1 + i) for i in range(columns)}
    made = high_case()
    threat = made.threats[0]
    attack = finding("equality-solving", "Equality solving", "attack", "", leaks)
    bare = replace(threat, name="no-attack", findings=threat.of("limit"))
    kept = tuple(replace(made.defenses[0], name=f"defense-{i}") for i in range(defenses))
    result = replace(
        made,
        threats=(replace(threat, findings=(attack,)), bare),
        defenses=kept,
        advice=("Keep the model to yourself. " * 30,) * 9,
        headline=replace(made.headline, sentence="A partner follows the first column. " * 20),
    )
    tree: dict[str, Any] = json.loads(json.dumps(result.to_dict()))
    return tree


def test_an_audit_beside_itself_has_not_changed() -> None:
    found = compare(audit(), audit())
    assert (found["table"], found["code"], found["settings"]) == ("same", "same", {})
    every = [found["headline"], *found["columns"].values(), *found["defenses"].values()]
    assert {pair["verdict"] for pair in every} == {WITHIN}
    assert "The same table, the same code, the same settings." in lines(found)


def test_what_was_not_tried_is_on_the_page_to_sign_and_in_the_comparison() -> None:
    whole, part = audit(), audit()
    part["not_tried"] = [
        {"kind": "attack", "name": name, "title": name, "extra": "networks"}
        for name in ("one", "two")
    ]
    line = "Not tried here: needs whatleaks[networks]: one, two."
    assert line in html.unescape(render(part))
    assert line not in html.unescape(render(whole))
    assert f"B: {line}" in lines(compare(whole, part))
    assert not any("Not tried" in one for one in lines(compare(whole, whole)))


def test_what_differs_is_said() -> None:
    other = deepcopy(audit())
    other["headline"].update(adds=asdict(share(0.1)), level="low")
    other["table"]["hmac_sha256"] = "0" * 64
    seeds = other["spec"]["seeds"]
    other["spec"]["seeds"] = 99
    found = compare(audit(defenses=0), other)
    assert found["table"] == "differs"
    assert found["settings"] == {"seeds": [seeds, 99]}
    assert found["headline"]["verdict"] == CHANGED
    assert {pair["verdict"] for pair in found["defenses"].values()} == {ONLY_B}
    told = "\n".join(lines(found))
    assert "The table differs" in told
    assert "high in A, low in B" in told
    json.dumps(found, allow_nan=False)


def renamed(tree: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return an audit with some columns under other names."""
    made = deepcopy(tree)
    for threat in made["threats"]:
        for guess in threat["findings"]:
            for column in guess["columns"]:
                column["column"] = names.get(column["column"], column["column"])
    return made


def test_audits_of_different_things_are_not_compared() -> None:
    label = deepcopy(audit())
    label["spec"]["protect"] = "label"
    with pytest.raises(UsageError, match=r"A audits the columns, B the label"):
        compare(audit(), label)
    every = {f"column {i} <b>": f"other {i}" for i in range(3)}
    with pytest.raises(UsageError, match=r"no column is in both"):
        compare(audit(), renamed(audit(), every))
    found = compare(audit(), renamed(audit(), {"column 2 <b>": "new"}))
    assert found["headline"]["verdict"] == OTHER
    assert (found["only in A"], found["only in B"]) == (["column 2 <b>"], ["new"])
    (line,) = [line for line in lines(found) if "different columns" in line]
    assert "column 2 <b> only in A, new only in B" in line
    assert not any("different columns" in line for line in lines(compare(audit(), audit())))


def test_the_worst_attack_of_each_column() -> None:
    values = [leak["value"] for leak in worst_by_column(audit(5)).values()]
    assert values == sorted(values, reverse=True)
    assert len(values) == 5


@pytest.mark.parametrize("size", [1, 200])
def test_one_page_to_sign(size: int) -> None:
    page = render(audit(size, size))
    assert "<script" not in page
    assert "http" not in page
    assert "<b>" not in page
    assert "signature" in page
    assert "no attack fits" in page
    assert page.count("<tr>") < 30  # what fits on a page
    assert len(page) < 12_000


def test_what_is_no_audit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no file"):
        load_audit(tmp_path)
    (tmp_path / "audit.json").write_text("[1]")
    with pytest.raises(StoreError, match="is no audit"):
        load_audit(tmp_path)
    (tmp_path / "audit.json").write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        load_audit(tmp_path / "audit.json")


def test_what_qualifies_a_number_stands_on_the_page() -> None:
    held = audit(3, 1)
    held["defenses"][0]["remark"] = "It withheld the scores of 90 % of the records."
    assert "It withheld the scores of 90 %" in render(held)
    held["headline"].update(attack="", level="unknown")
    assert "joining adds not measured" in render(held)


def test_a_threats_mean_is_that_of_the_report() -> None:
    made = high_case()
    threat = made.threats[0]
    attacks = tuple(
        finding(name, name, "attack", "", {"a": a, "b": b})
        for name, a, b in (("first", 0.8, 0.0), ("second", 0.0, 0.6))
    )
    made = replace(made, threats=(replace(threat, findings=attacks),))
    (bar,) = lay_out(made).overview
    page = render(json.loads(json.dumps(made.to_dict())))
    assert f'<td class="n">{bar.text}</td></tr>' in page


def test_what_joining_is_worth_is_paired_on_the_page_too() -> None:
    made = high_case()
    told = lay_out(made).gain_sure
    page = html.unescape(render(json.loads(json.dumps(made.to_dict())))).replace("\xa0", " ")
    assert "better in" in told
    assert told in page


def test_the_defense_of_the_advice_stands_in_the_table_with_the_headlines_column() -> None:
    held = audit(3, 9)
    for place, defense in enumerate(held["defenses"]):
        defense.update(title=f"Defense {place}", remark="")
        defense["worst"] = {**defense["worst"], "after": asdict(share(0.01 * place))}
    held["defenses"][8]["column"].update(before=asdict(share(0.98)), after=asdict(share(0.03)))
    held["advice"] = ["“Defense 8” brings what joining adds from 98 % down to 3 %."]
    page = render(held)
    row = page[page.index("<td>Defense 8.") :].partition("</tr>")[0]
    assert "98 %" in row
    assert ">3 %" in row
    assert ">8 %" in row  # what it leaves in its worst column


def test_a_page_says_where_defenses_were_tried_on_fewer_seeds() -> None:
    held = audit()
    assert "first 3 of 5 seeds" not in render(held)
    held.update(seeds=[0, 1, 2, 3, 4], defended_seeds=[0, 1, 2])
    assert "first 3 of 5 seeds" in render(held)


def test_the_worst_threat_is_on_the_page_and_long_names_are_told_apart() -> None:
    long = "The household’s disposable income in the last calendar year, question "
    leaks = {f"{long}{i}": 0.1 * i for i in range(1, 4)}
    made = high_case()
    weak, strong = (
        finding("a", "a", "attack", "", {name: part * leak for name, leak in leaks.items()})
        for part in (0.1, 2.0)
    )
    threats = [replace(made.threats[0], name=f"weak {i}", findings=(weak,)) for i in range(7)]
    threats.append(replace(made.threats[0], name="strong", findings=(strong,)))
    made = replace(made, threats=tuple(threats))
    tree = json.loads(json.dumps(made.to_dict()))
    page = render(tree)
    assert page.index("<td>strong</td>") < page.index("<td>weak 0</td>")
    told = "\n".join(lines(compare(tree, tree)))
    for i in range(1, 4):
        assert f"question {i}</td>" in page
        assert f"question {i} " in told


def test_what_was_not_measured_is_not_compared_as_nothing() -> None:
    bare = audit()
    nothing = {"value": 0.0, "low": 0.0, "high": 1.0, "n": 0, "unit": "leakage", "over": "records"}
    bare["headline"].update(attack="", level="unknown", column="", adds=nothing)
    bare["threats"] = []
    found = compare(audit(), bare)
    assert (found["headline"]["b"], found["headline"]["verdict"]) == (None, NOT_MEASURED)
    told = "\n".join(lines(found))
    assert "different columns" not in told
    assert "worst column:" not in told
    assert compare(bare, bare)["headline"]["verdict"] == NOT_MEASURED


def test_nothing_is_cut_off_in_print() -> None:
    """Before, what did not fit on the page was hidden, the line to sign on first of all."""
    page = render(audit(200, 200))
    assert "overflow: hidden" not in page
    assert page.index('<div class="decision">') < page.index("signature")
    assert page.count("<div") == page.count("</div>")
