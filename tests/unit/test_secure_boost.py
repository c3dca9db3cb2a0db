"""SecureBoost: the trees of the clear booster, and messages that show only what they must."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import encode
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import generate_keys
from whatleaks.crypto.packing import surfaced, unpacked, unpaired
from whatleaks.errors import CryptoError, SpecError, TableError, WireError
from whatleaks.federation.boost.active import ActiveParty
from whatleaks.federation.boost.passive import PassiveParty
from whatleaks.federation.boost.run import Run, predict_scores, run
from whatleaks.federation.boost.settings import PairFormat, SecureBoostSettings
from whatleaks.federation.boost.walking import SplitOwner
from whatleaks.models.boosted_trees import BoostSettings, derivatives, left_sums, train_joined
from whatleaks.models.candidate_splits import candidates, fit_bins
from whatleaks.models.shared_trees import depth_of
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.message import Cipher, Message, Plain

Keys = tuple[PublicKey, SecretKey]
BOOST = BoostSettings(rounds=2, max_bin=6, min_child_weight=0.2)
FAST = SecureBoostSettings(BOOST, backend="okamoto-uchiyama", key_bits=960, insecure_test_key=True)
STREAMS = Streams(7)


@pytest.fixture(scope="module")
def keys() -> Keys:
    return generate_keys("okamoto-uchiyama", 960, insecure_test_key=True)


def tables(
    seed: int, classes: int = 2, gaps: float = 0.0, records: int = 60
) -> tuple[list[Floats], Ints]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(records, 6))
    drive = x[:, 0] + 2 * x[:, 3] + x[:, 5] + rng.normal(size=records)
    labels = np.searchsorted(np.quantile(drive, np.arange(1, classes) / classes), drive)
    x[rng.random(x.shape) < gaps] = np.nan
    return [x[:, :2], x[:, 2:4], x[:, 4:]], labels.astype(np.int64)


def train(
    parts: list[Floats], labels: Ints, settings: SecureBoostSettings, keys: Keys | None
) -> Run:
    return run(parts[0], parts[1:], labels, settings, STREAMS, Channel(), keys)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("share", [1.0, 0.6])
@pytest.mark.parametrize("subtract_above", [0, 1000])
def test_the_trees_are_those_of_the_joined_table(
    classes: int, gaps: float, share: float, subtract_above: int, keys: Keys
) -> None:
    parts, labels = tables(classes, classes, gaps)
    boost = replace(BOOST, subsample=share, colsample_bytree=share)
    settings = replace(FAST, boost=boost, subtract_above=subtract_above)
    secure = train(parts, labels, settings, keys)
    plain = train_joined(parts, labels, boost, STREAMS)
    assert encode(secure.model) == encode(plain)
    x = np.concatenate(parts, axis=1)
    np.testing.assert_array_equal(secure.margins, plain.margins(x))
    owners = set(np.concatenate([tree.owner for tree in secure.trees]).tolist())
    assert owners == {-1, 0, 1, 2}


@pytest.mark.parametrize(
    "changes",
    [
        {"pack": False},
        {"backend": "paillier", "key_bits": 512},
        {"backend": "paillier", "key_bits": 512, "subtract_above": 0, "pack": False},
    ],
)
def test_neither_backend_nor_packing_changes_a_tree(changes: dict[str, Any]) -> None:
    parts, labels = tables(1, gaps=0.1, records=40)
    boost = replace(BOOST, rounds=1, max_depth=2)
    secure = train(parts, labels, replace(FAST, boost=boost, **changes), None)
    assert encode(secure.model) == encode(train_joined(parts, labels, boost, STREAMS))


def test_one_party_without_a_single_candidate(keys: Keys) -> None:
    parts, labels = tables(4)
    for silent in range(3):
        mixed = [np.ones_like(x) if p == silent else x for p, x in enumerate(parts)]
        secure = train(mixed, labels, FAST, keys)
        assert encode(secure.model) == encode(train_joined(mixed, labels, BOOST, STREAMS))
        assert not len(secure.owned[silent].column)
    nothing = [np.ones_like(x) for x in parts]
    assert [len(tree.child) for tree in train(nothing, labels, FAST, keys).trees] == [1, 1]


def test_equal_columns_go_to_the_first_party(keys: Keys) -> None:
    parts, labels = tables(5)
    doubled = [parts[1], parts[1], parts[1]]
    secure = train(doubled, labels, FAST, keys)
    assert encode(secure.model) == encode(train_joined(doubled, labels, BOOST, STREAMS))
    assert set(np.concatenate([tree.owner for tree in secure.trees]).tolist()) == {-1, 0}
    within = [np.ones((60, 1)), np.repeat(parts[1], 2, axis=1)]
    secure = train(within, labels, FAST, keys)
    assert set(secure.owned[1].column.tolist()) <= {0, 2}  # of two equal columns the first


def test_prediction_walks_the_owners(keys: Keys) -> None:
    parts, labels = tables(2, gaps=0.1)
    secure = train(parts, labels, FAST, keys)
    new, _ = tables(99, gaps=0.3, records=33)
    channel = Channel()
    scores = predict_scores(secure, new[0], new[1:], channel)
    np.testing.assert_array_equal(scores, secure.model.scores(np.concatenate(new, axis=1)))
    traffic = channel.transcript.traffic()
    assert {t.kind for t in traffic} == {"ask", "left"}
    assert max(t.count for t in traffic) <= BOOST.max_depth  # one message a level and party
    for message in channel.transcript.received_by("active"):
        assert isinstance(message.payload, Plain)
        assert set(message.payload.values.tolist()) <= {0.0, 1.0}


def test_message_kinds_and_counts(keys: Keys) -> None:
    parts, labels = tables(0)
    secure = train(parts, labels, FAST, keys)
    waiting = [  # nodes that waited, level by level
        [2**0, *(2 * int((tree.child[level] >= 0).sum()) for level in _levels(tree.child))]
        for tree in secure.trees
    ]
    waiting = [[n for n in tree[: BOOST.max_depth] if n] for tree in waiting]
    levels = sum(len(tree) for tree in waiting)
    seen = {
        (t.sender, t.kind, t.readable): t.count
        for t in secure.transcript.traffic()
        if "passive" in (t.sender, t.receiver)
    }
    assert seen == {
        ("active", "rows", True): 2,
        ("active", "gradients", False): 2,
        ("active", "nodes", True): levels,
        ("active", "choice", True): levels,
        ("passive", "candidates", True): 2,
        ("passive", "sums", False): levels,
        ("passive", "left", True): levels,
    }
    sums = [m for m in secure.transcript.received_by("active") if m.kind == "sums"]
    per_level = [m.payload.shape[0] for m in sums if m.sender == "passive"]
    assert per_level == [count for tree in waiting for count in tree]
    for party in ("active", "passive", "passive-2"):  # one message of a kind in a step
        named = [(m.sender, m.kind, m.step) for m in secure.transcript.received_by(party)]
        assert len(named) == len(set(named))


def _levels(child: Ints) -> list[Ints]:
    found, level = [], np.array([0])
    while level.size:
        found.append(level)
        left = child[level][child[level] >= 0]
        level = np.sort(np.concatenate([left, left + 1]))
    return found


def test_a_tree_that_ends_early_is_announced_by_a_level_without_records(keys: Keys) -> None:
    parts, labels = tables(0)
    settings = replace(FAST, boost=replace(BOOST, gamma=12.0))  # few splits are worth it
    secure = train(parts, labels, settings, keys)
    assert encode(secure.model) == encode(train_joined(parts, labels, settings.boost, STREAMS))
    depths = [depth_of(tree) for tree in secure.trees]
    assert min(depths) < BOOST.max_depth - 1
    heard = secure.transcript.received_by("passive")
    for number, depth in enumerate(depths):
        first = number * BOOST.max_depth
        nodes = [
            m for m in heard if m.kind == "nodes" and first <= m.step < first + BOOST.max_depth
        ]
        # The level below the last split was looked at in vain, and one more ends the tree.
        assert len(nodes) == min(depth + 2, BOOST.max_depth)
        assert isinstance(nodes[-1].payload, Plain)
        assert (nodes[-1].payload.values == -1).all() == (depth + 2 <= BOOST.max_depth)


def test_traffic_does_not_depend_on_the_secrets(keys: Keys) -> None:
    # Given the number of records, candidates and nodes per level, every size is fixed.
    settings = replace(FAST, boost=replace(BOOST, max_depth=2, min_child_weight=0.0))
    runs = []
    for seed in (10, 11):
        parts, _ = tables(seed)
        labels = np.random.default_rng(seed).integers(0, 2, 60)
        runs.append(train(parts, labels, settings, keys))
    assert all(len(tree.child) == 7 for secure in runs for tree in secure.trees)
    assert encode(runs[0].model) != encode(runs[1].model)
    assert runs[0].transcript.traffic() == runs[1].transcript.traffic()


def test_labels_change_nothing_that_a_passive_party_can_read(keys: Keys) -> None:
    # Exchanging the two classes negates every g and keeps every gain: one division, two secrets.
    parts, labels = tables(3)
    one, other = (train(parts, y, FAST, keys) for y in (labels, 1 - labels))
    for party in ("passive", "passive-2"):
        readable = [
            [encode(settled(m)) for m in r.transcript.received_by(party)] for r in (one, other)
        ]
        assert readable[0] == readable[1]


def settled(message: Message) -> Message:
    """A message without what is drawn anew: the order of candidates, and ciphertexts."""
    if isinstance(message.payload, Cipher):
        return replace(message, payload=Plain(np.zeros(0)))
    if message.kind == "choice":
        return replace(message, payload=Plain(np.sort(message.payload.values, axis=1)))
    return message


def test_no_derivative_reaches_a_passive_party_and_no_value_the_active(keys: Keys) -> None:
    parts, labels = tables(6)
    secure = train(parts, labels, FAST, keys)
    first = train_joined(parts, labels, replace(BOOST, rounds=1), STREAMS)
    g, h = derivatives(first.margins(np.concatenate(parts, axis=1)), labels)
    # A round number such as 2**30 has the bytes of any 2.0; all others are looked for.
    steps = np.concatenate([g[:, 0], h[:, 0]])
    steps = steps[steps % (1 << 16) != 0]
    assert len(steps) > 100
    secrets = [*steps, *np.ldexp(steps, -32)]
    for party in ("passive", "passive-2"):
        received = secure.transcript.received_by(party)
        everything = b"".join(encode(message) for message in received)
        assert not any(number.tobytes() in everything for number in secrets)
        readable = {m.kind for m in received if isinstance(m.payload, Plain)}
        assert readable == {"rows", "nodes", "choice"}
        for message in received:
            if isinstance(message.payload, Plain):
                whole = message.payload.values
                assert (whole == np.rint(whole)).all()
                assert whole.min() >= -1.0
                assert whole.max() < 60.0
    received = secure.transcript.received_by("active")
    everything = b"".join(encode(message) for message in received)
    for x, owned in zip(parts[1:], secure.owned[1:], strict=True):
        assert len(owned.threshold)
        for number in [*x.ravel(), *owned.threshold]:
            assert number.tobytes() not in everything
    for message in received:
        if message.kind == "left":
            assert isinstance(message.payload, Plain)
            assert set(message.payload.values.tolist()) <= {0.0, 1.0}


def test_sums_come_shuffled_anew_for_every_node(keys: Keys) -> None:
    public, secret = keys
    parts, labels = tables(8)
    secure = train(parts, labels, replace(FAST, pack=False), keys)
    form = PairFormat.of(60, BOOST.max_depth)
    sums = [m for m in secure.transcript.received_by("active") if m.kind == "sums"]
    mine = [m for m in sums if m.sender == "passive" and m.step in (0, BOOST.max_depth)]
    assert len(mine) == 2  # the roots of both trees
    g, h = derivatives(np.zeros((60, 1)), labels)
    bins = fit_bins(parts[1], BOOST.max_bin)
    given = candidates(bins, np.arange(2))
    seen = given.seen(bins.codes(parts[1]), bins)
    expected = [left_sums(v[:, 0], seen, np.zeros(60, dtype=np.int64), 1, given)[0] for v in (g, h)]
    assert isinstance(mine[0].payload, Cipher)
    read = public.incoming(mine[0].payload.data, len(given.cell), 0, public.largest_bits)
    opened = surfaced(secret.decrypt_integers(read), form.width + 1)
    got_g, got_h = unpaired(opened, form.shift)
    pairs = list(zip(got_g.tolist(), got_h.tolist(), strict=True))
    ordered = list(zip(*(v.tolist() for v in expected), strict=True))
    assert sorted(pairs) == sorted(ordered)
    assert pairs != ordered
    orders = []
    for message in mine:
        assert isinstance(message.payload, Cipher)
        read = public.incoming(message.payload.data, len(given.cell), 0, public.largest_bits)
        values = surfaced(secret.decrypt_integers(read), form.width + 1)
        orders.append(np.argsort(unpaired(values, form.shift)[1]).tolist())
    assert orders[0] != orders[1]


def test_every_ciphertext_is_new(keys: Keys) -> None:
    parts, labels = tables(9)
    runs = [train(parts, labels, FAST, keys) for _ in range(2)]
    first, second = (
        [m.payload.data for m in r.transcript.received_by("passive") if m.kind == "gradients"]
        for r in runs
    )
    assert first[0] != second[0]  # the same derivatives under the same key
    sums = [
        m.payload.data
        for r in runs
        for m in r.transcript.received_by("active")
        if isinstance(m.payload, Cipher)
    ]
    assert len(sums) == len(set(sums)) > 10


def test_every_node_has_an_order_of_its_own(keys: Keys) -> None:
    parts, _ = tables(8)
    rng = np.random.default_rng(0)
    party = PassiveParty("passive", parts[1], FAST, rng, keys[0], Channel())
    data = keys[0].outgoing_new(np.arange(60).astype(object), 40)
    party.begin_tree(np.arange(60.0), Cipher("okamoto-uchiyama", (60,), data))
    party.send_sums(0, np.zeros(60))
    (root,) = party._order
    party.send_sums(1, np.arange(60.0) % 2)
    orders = {tuple(order.tolist()) for order in (root, *party._order)}
    assert len(orders) == 3


def test_what_no_honest_party_sends_is_refused_by_name(keys: Keys) -> None:
    public, _ = keys
    parts, labels = tables(0)
    exchange = Exchange(Channel())
    settings = replace(FAST, pack=False)
    active = ActiveParty(parts[0], labels, settings, STREAMS, keys, exchange, ("passive",))
    active._round_margins = active.margins.copy()
    active.begin_tree(0, 0)
    huge = np.array([1 << 250] + [0] * 9, dtype=object)
    shift = PairFormat.of(60, BOOST.max_depth).shift
    width = PairFormat.of(60, BOOST.max_depth).width
    for one in (1 << width - 2, (61 << 24) << shift, 61 << 24):  # anything; G and H of 61 records
        huge[0] = one
        sums = Cipher(public.scheme, (1, 10), public.outgoing_new(huge, width))
        with pytest.raises(WireError, match="sum that these records cannot have"):
            active.choose(0, [sums], [10])
    none = Cipher(public.scheme, (1, 10), public.outgoing_new(huge * 0, width))
    active.choose(0, [none], [10])
    active._owner[-1] = np.array([1])
    with pytest.raises(WireError, match="passive sends all records of a node to one side"):
        active.divide([np.ones(60)])


@pytest.mark.parametrize("backend", ["okamoto-uchiyama", "paillier"])
def test_packed_numbers_come_back(backend: str) -> None:
    public, secret = generate_keys(backend, 1024, insecure_test_key=True)
    for count in (1, 2, 5, 23):
        numbers = np.array([(-1) ** i * (2**80 - 1 - i) for i in range(count)], dtype=object)
        packed = public.pack(public.encrypt_integers(numbers, 80), 80)
        assert packed.count == public.packs(count, 80) < max(2, count)
        most = public.packed_bits(count, 80)
        read = public.incoming(public.outgoing(packed), packed.count, 0, most)
        opened = secret.decrypt_integers(read)
        assert unpacked(opened, count, 80).tolist() == numbers.tolist()
    with pytest.raises(CryptoError, match="more than its slots"):
        unpacked(np.array([1 << 400], dtype=object), 2, 80)
    with pytest.raises(CryptoError, match="do not fit slots"):
        public.pack(public.encrypt_integers(numbers, 80), 79)
    with pytest.raises(CryptoError, match="80 bits announced"):
        public.encrypt_integers(np.array([-(2**80)], dtype=object), 80)


def test_histograms_of_both_backends_are_exact() -> None:
    rng = np.random.default_rng(0)
    numbers = np.array([int(n) for n in rng.integers(-(2**50), 2**50, 30)], dtype=object)
    buckets = rng.integers(0, 5, (30, 3)).astype(np.int8)
    groups = [rng.random(30) < 0.5, np.zeros(30, dtype=np.bool_), np.ones(30, dtype=np.bool_)]
    for backend in ("paillier", "okamoto-uchiyama"):
        public, secret = generate_keys(backend, 1024, insecure_test_key=True)
        encrypted = public.encrypt_integers(numbers, 50)
        sums = public.bucket_sums(encrypted, buckets, 5, groups)
        for group, result in zip(groups, sums, strict=True):
            expected = [
                sum(numbers[group & (buckets[:, c] <= b)].tolist())
                for c in range(3)
                for b in range(5)
            ]
            assert secret.decrypt_integers(result).tolist() == expected
        less = secret.decrypt_integers(public.subtract(sums[2], sums[0]))
        whole, part = (secret.decrypt_integers(sums[i]) for i in (2, 0))
        assert less.tolist() == (whole - part).tolist()
        with pytest.raises(CryptoError, match=r"must lie in 0\.\.3"):
            public.bucket_sums(encrypted, buckets, 4, groups)
        with pytest.raises(CryptoError, match="do not fit 30"):
            public.bucket_sums(encrypted, buckets[:29], 5, groups)
        with pytest.raises(CryptoError, match="cannot take places"):
            public.take(encrypted, np.array([30]))
        with pytest.raises(CryptoError, match="cannot subtract"):
            public.subtract(encrypted, sums[0])


def test_messages_that_do_not_fit_are_refused(keys: Keys) -> None:
    parts, _ = tables(0)
    rng = np.random.default_rng(0)
    party = PassiveParty("passive", parts[1], FAST, rng, keys[0], Channel())
    sent = keys[0].outgoing_new(np.arange(3).astype(object), 50)
    cipher = Cipher("okamoto-uchiyama", (3,), sent)
    with pytest.raises(WireError, match="derivatives of 2 records"):
        party.begin_tree(np.array([0.0, 1.0]), cipher)
    with pytest.raises(WireError, match=r"rows must lie in 0\.\.59"):
        party.begin_tree(np.array([0.0, 1.0, 60.0]), cipher)
    with pytest.raises(WireError, match="whole numbers"):
        party.begin_tree(np.array([0.0, 1.0, 1.5]), cipher)
    with pytest.raises(WireError, match="under okamoto-uchiyama"):
        party.begin_tree(np.arange(3.0), replace(cipher, scheme="paillier"))
    with pytest.raises(WireError, match="names a record more than once"):
        party.begin_tree(np.array([0.0, 1.0, 1.0]), cipher)
    party.begin_tree(np.arange(3.0), cipher)
    with pytest.raises(WireError, match="nodes of 60 records"):
        party.send_sums(0, np.zeros(3))
    with pytest.raises(WireError, match=r"must be 0, 1, \.\.\., at most 1 here"):
        party.send_sums(0, np.arange(60.0) % 2)
    for nodes in (np.ones(60), np.arange(60.0) % 2 * 2):
        with pytest.raises(WireError, match=r"must be 0, 1, \.\.\., at most 2 here"):
            party.send_sums(1, nodes)
        party.begin_tree(np.arange(3.0), cipher)
    with pytest.raises(WireError, match="share out the records of one node above"):
        party.send_sums(1, np.zeros(60))  # a node without a sibling
    party.begin_tree(np.arange(3.0), cipher)
    with pytest.raises(WireError, match="share out the records of one node above"):
        party.send_sums(1, np.where(np.arange(60) < 5, -1, np.arange(60) % 2))  # some are gone
    party.begin_tree(np.arange(3.0), cipher)
    party.send_sums(0, np.zeros(60))
    with pytest.raises(WireError, match="does not fit this level"):
        party.split(0, np.zeros((2, 10)))
    owner = SplitOwner("passive", parts[1], party.columns.owned(), Channel())
    with pytest.raises(WireError, match="splits must lie"):
        owner.answer(0, np.array([[0.0, 0.0]]))
    with pytest.raises(WireError, match="pairs"):
        owner.answer(0, np.zeros(2))


def test_tables_and_settings_that_cannot_train_are_refused(keys: Keys) -> None:
    parts, labels = tables(0)
    with pytest.raises(TableError, match="same records"):
        train([parts[0], parts[1][:-1]], labels, FAST, keys)
    with pytest.raises(TableError, match="at least one passive"):
        train(parts[:1], labels, FAST, keys)
    with pytest.raises(SpecError, match="key_bits is 960"):
        replace(FAST, insecure_test_key=False)
    with pytest.raises(SpecError, match="Did you mean 'okamoto-uchiyama'"):
        replace(FAST, backend="okamoto-uchiama")
    with pytest.raises(SpecError, match="subtract_above"):
        replace(FAST, subtract_above=-1)
