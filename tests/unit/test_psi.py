"""Private set intersection: exact, in one order, with bad ids refused and near-misses counted."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from whatleaks.codec import encode
from whatleaks.errors import CryptoError, TableError
from whatleaks_lab.psi import Answering, Asking, align, check_ids, normal_form


def test_ids_are_checked_without_the_library() -> None:
    with pytest.raises(TableError, match="bank: rows 1 and 3 have the same id"):
        check_ids(["a", "b", "a"], "bank")
    with pytest.raises(TableError, match="row 2 is empty"):
        check_ids(["a", " "], "bank")
    assert normal_form([" Ab  c ", "x"]) == [" Ab  c ", "x"]
    assert normal_form([" Ab  c "], strip=True) == ["Ab c"]
    assert normal_form([" Ab"], strip=True, ignore_case=True) == ["ab"]


def test_a_missing_library_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "private_set_intersection.python", None)
    with pytest.raises(CryptoError, match=r"pip install 'whatleaks\[psi\]'"):
        align(["a"], ["a"])


class TestWithTheLibrary:
    @pytest.fixture(autouse=True)
    def library(self) -> None:
        pytest.importorskip(
            "private_set_intersection.python",
            reason="needs openmined-psi: pip install 'whatleaks[psi]'",
        )

    def test_both_parties_get_the_same_records_in_the_same_order(self) -> None:
        rng = np.random.default_rng(0)
        first = [f"id-{i}" for i in rng.permutation(60)]
        second = [f"id-{i}" for i in 30 + rng.permutation(60)]
        found = align(first, second)
        common = sorted(set(first) & set(second))
        assert [first[i] for i in found.first] == common
        assert [second[i] for i in found.second] == common
        assert list(found.ids) == common
        assert len(common) == 30

    def test_nothing_and_everything_in_common(self) -> None:
        assert align(["a", "b"], ["c"]).ids == ()
        assert align(["a", "b"], ["b", "a"]).ids == ("a", "b")

    def test_no_id_crosses_in_the_clear_before_the_result(self) -> None:
        mine, yours = [f"mine-{i:06}" for i in range(20)], [f"yours-{i:06}" for i in range(20)]
        asking, answering = Asking([*mine, "both"]), Answering([*yours, "both"])
        request, setup = asking.request(), answering.setup(21)
        response = answering.respond(request, 21)
        crossed = request + setup + response
        assert not any(value.encode() in crossed for value in [*mine, *yours, "both"])
        named = asking.common(asking.rows(setup, response, 21))
        assert not any(value.encode() in named for value in mine)
        assert Asking(mine).request() != Asking(mine).request()  # a fresh secret each time

    def test_near_misses_match_only_when_asked(self) -> None:
        first, second = ["Ann Lee", "bob", "eve"], [" ann  lee ", "BOB", "eve"]
        found = align(first, second)
        assert found.ids == ("eve",)
        assert found.untidy == (1, 2)
        assert align(first, second, ignore_case=True).ids == ("bob", "eve")
        tidy = align(first, second, strip=True, ignore_case=True)
        assert tidy.ids == ("ann lee", "bob", "eve")
        assert tidy.untidy == (0, 0)

    def test_ids_that_only_normalising_makes_equal_are_refused(self) -> None:
        assert len(align(["a", "A"], ["a"]).ids) == 1
        with pytest.raises(TableError, match="bank: rows 1 and 2 have the same id"):
            align(["a", "A"], ["a"], ignore_case=True, names=("bank", "shop"))

    def test_damaged_messages_and_false_claims_are_refused(self) -> None:
        asking, answering = Asking(["a"]), Answering(["a", "b"])
        with pytest.raises(CryptoError, match="damaged"):
            answering.respond(b"\xff\xff\xff", 1)
        with pytest.raises(CryptoError, match="damaged"):
            asking.rows(b"\xff\xff", answering.respond(asking.request(), 1), 2)
        for claim in (("c",), ("a", "a"), 3):
            with pytest.raises(CryptoError, match="not ours"):
                answering.rows(encode(claim))

    def test_thousands_of_ids_take_seconds(self) -> None:
        # 2,000 x 2,000; the work is linear, so 10,000 x 10,000 takes five times as long.
        start = time.monotonic()
        found = align([f"{i}" for i in range(2000)], [f"{i}" for i in range(1000, 3000)])
        assert len(found.ids) == 1000
        assert time.monotonic() - start < 60.0
