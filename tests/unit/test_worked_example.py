"""Worked examples as works: named, performed, and read back from a record."""

from __future__ import annotations

import subprocess
import sys

import pytest

from whatleaks.errors import SpecError
from whatleaks.runs.work import name_of, work_from_dict, work_to_dict
from whatleaks_lab.papers.worked_example import EXAMPLES, WorkedExample


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_reads_back_under_its_name(name: str) -> None:
    one = WorkedExample(name)
    again = work_from_dict(work_to_dict(one))
    assert again == one
    assert name_of(again) == name_of(one)


def test_a_store_knows_the_kind_without_the_papers() -> None:
    """Whoever reads a store imports no paper: an unknown kind would be set aside as corrupt."""
    code = (
        "import sys; from whatleaks.runs.work import work_from_dict; "
        "assert not any('papers' in name for name in sys.modules); "
        "print(work_from_dict({'kind': 'worked-example', 'example': 'luo-1'}).title())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "example=luo-1"


def test_examples_differ_in_name_and_an_unknown_one_is_refused() -> None:
    assert len({name_of(WorkedExample(name)) for name in EXAMPLES}) == len(EXAMPLES)
    with pytest.raises(SpecError, match="no worked example 'luo-3'"):
        WorkedExample("luo-3")


def test_each_is_performed_by_itself_and_nothing_is_private() -> None:
    works = [WorkedExample(name) for name in EXAMPLES]
    done = list(WorkedExample.perform_group(works, None))
    assert [private for _, private in done] == [b"", b""]
    assert done[0][0].measurements["deposit from exact scores"] == pytest.approx(8000.0, rel=1e-9)
    assert done[1][0].measurements["paths by class too"] == 1
