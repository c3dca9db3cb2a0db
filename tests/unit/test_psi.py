"""Private set intersection: the intersection, in one order, and nothing else in the messages."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.codec import encode
from whatleaks.errors import CryptoError
from whatleaks_lab.psi import Answering, Asking, point

pytest.importorskip("cryptography", reason="needs cryptography: pip install 'whatleaks[psi]'")


def intersect(first: list[str], second: list[str]) -> tuple[list[str], list[str]]:
    """Both parties' common ids, as each of them reads them from its own rows."""
    asking, answering = Asking(first), Answering(second)
    response = answering.respond(asking.request(), len(first))
    mine = asking.rows(answering.setup(), response, len(second))
    yours = answering.rows(asking.common(mine))
    return [first[i] for i in mine], [second[i] for i in yours]


ids = st.lists(st.text(max_size=6) | st.sampled_from("abcdefgh"), unique=True, max_size=12)


@given(ids, ids)
@settings(max_examples=60, deadline=None)
def test_both_parties_get_the_intersection_in_one_order(
    first: list[str], second: list[str]
) -> None:
    common = sorted(set(first) & set(second))
    assert intersect(first, second) == (common, common)


def test_points_are_on_the_curve_and_their_multiples_commute() -> None:
    # y**2 = x**3 + 486662 x**2 + x has a solution modulo 2**255 - 19
    p = 2**255 - 19
    for i in range(50):
        x = int.from_bytes(point(f"id-{i}"), "little")
        right = (x**3 + 486662 * x**2 + x) % p
        root = pow(right, (p + 3) // 8, p)
        root = root if root * root % p == right else root * pow(2, (p - 1) // 4, p) % p
        assert root * root % p == right
    one, other = Asking(["a"])._secret, Asking(["a"])._secret
    start = [point("a")]
    assert one.times(other.times(start)) == other.times(one.times(start))


def test_no_id_crosses_and_no_message_shows_an_order_or_comes_twice() -> None:
    mine, yours = [f"mine-{i:06}" for i in range(20)], [f"yours-{i:06}" for i in range(20)]
    asking, answering = Asking([*mine, "both"]), Answering([*yours, "both"])
    request, setup = asking.request(), answering.setup()
    response = answering.respond(request, 21)
    crossed = request + setup + response
    points = [crossed[at : at + 32] for at in range(0, len(crossed), 32)]
    for value in [*mine, *yours, "both"]:
        assert value.encode() not in crossed
        assert point(value) not in points
    for message in (request, setup):
        cut = [message[at : at + 32] for at in range(0, len(message), 32)]
        assert cut == sorted(cut)
    assert not set(points[:21]) & set(points[21:])  # the common id: another point for each secret
    named = asking.common(asking.rows(setup, response, 21))
    assert b"both" in named
    assert not any(value.encode() in named for value in mine)
    assert Asking(mine).request() != Asking(mine).request()
    assert Answering(mine).setup() != Answering(mine).setup()


def test_damaged_messages_and_false_claims_are_refused() -> None:
    asking, answering = Asking(["a"]), Answering(["a", "b"])
    response = answering.respond(asking.request(), 1)
    for message in (b"", b"\xff" * 31, b"\xff" * 64):
        with pytest.raises(CryptoError, match="announced 1"):
            answering.respond(message, 1)
        with pytest.raises(CryptoError, match="announced 1"):
            asking.rows(answering.setup(), message, 2)
    with pytest.raises(CryptoError, match="holds 2 ids and announced 3"):
        asking.rows(answering.setup(), response, 3)
    for claim in (("c",), ("a", "a"), 3):
        with pytest.raises(CryptoError, match="not ours"):
            answering.rows(encode(claim))


@pytest.mark.parametrize(
    "order_8", [0, 1, 2**255 - 20, 2**255 - 19, 2**255 - 18, 325606250916557431795983626356110631294008115727848805560023387167927233504]
)  # fmt: skip
def test_points_of_small_order_are_refused(order_8: int) -> None:
    # Every secret number, a multiple of 8, takes them to the same point: it would hide nothing.
    with pytest.raises(CryptoError, match="small order"):
        Answering(["a"]).respond(order_8.to_bytes(32, "little"), 1)
    asking, answering = Asking(["a"]), Answering(["a"])
    response = answering.respond(asking.request(), 1)
    with pytest.raises(CryptoError, match="small order"):
        asking.rows(order_8.to_bytes(32, "little"), response, 1)


def test_thousands_of_ids_take_seconds() -> None:
    # 2,000 x 2,000; the work is linear, so 10,000 x 10,000 takes five times as long.
    start = time.process_time()
    order = np.random.default_rng(0).permutation(2000)
    common, _ = intersect([f"{i}" for i in order], [f"{i}" for i in range(1000, 3000)])
    assert len(common) == 1000
    assert time.process_time() - start < 30.0


def test_a_missing_library_is_named_with_its_remedy() -> None:
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from whatleaks_lab.psi import Asking\n"
        "Asking(['a'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith('pip install "whatleaks[psi]"')
