"""Both schemes against textbook arithmetic in plain integers, and numbers of other programs."""

from __future__ import annotations

import secrets
from math import gcd

import numpy as np
import pytest
from flint import fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.crypto.ciphers import SCHEMES, Ciphers, Decrypt, OkamotoUchiyama, Paillier
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.crypto.modular import Powers

BITS = {"paillier": 512, "okamoto-uchiyama": 768}
Pair = tuple[Ciphers, Decrypt]


@pytest.fixture(scope="module", params=sorted(BITS))
def pair(request: pytest.FixtureRequest) -> Pair:
    return SCHEMES[request.param].generate(BITS[request.param])


def integers(*values: int) -> BigInts:
    vector = np.empty(len(values), dtype=object)
    vector[:] = values
    return vector


def read(ciphers: Ciphers, *numbers: int) -> object:
    size = len(ciphers.to_bytes(ciphers.encrypt(integers(0))))
    return ciphers.from_bytes(b"".join(n.to_bytes(size, "big") for n in numbers), len(numbers))


# Made once with phe 1.5: m, r and the ciphertext.
PHE_P = 0xE02FDAA1AD864C44E049548E8A0A8C9632EA6928F6236BF2504B74BA4A0FE75D
PHE_Q = 0xEA9E2DE890D90E5A53777FEC1BA0895D61C12C05003E181AA962740FE4BA40D5
PHE = [
    (
        1,
        0x62461394C10B5530D8EF8F2C9447AC569924A9F63967E50219339F125A5FA07BA826E82D425,
        0x5A3D0970757AABEC74F68191247B358AB70FAB07BE478E4104D1ED6C74DFEEC98B56100BC1351F7A0887781C1EA9221DAC9A5511E21FBFD92A377B24E1BB5E16F5D3792A0F76005852DD3B4C8B78F5C7E59E3E7D785BC94A46DC90766C99641DF42FD0AA3108813A13BC4DF549A0233189A1B66F2258E3ACBEC9E9981931A283,
    ),
    (
        -1,
        0x4D0FB218AC1BDB3E4FA4283DE5C980D23D2988700AD28B604BFE9EB5755DADEF4E7F60D3626,
        0x8B3584422738C3F973AE9B871C86352DABEB361373A04D03EC6DC3C67428CBA2E21EEC4978A29F30F37A82704CEAD88368548999CE0C02E728DBCDB71782136951FE679946327CF84A6CD82D13DFB70213222A3EC4DB1A8DFF86EB22E72AF86056D4456B115B8A011320B7ECFBB4D7363F916256665272193C426AFEE4D69FF3,
    ),
    (
        -(1 << 200),
        0x3ED71871853F5F904149F26DAB2A8F99DD11F33EBEE06161D017A18755F24AEBF1649516704,
        0x43B1F6E75397AF6440542F5E0707A976A4D630E43C453A1F5730188A2CD4F427E95094C9F10047C2A068BE6328F635C8FCB51D65FBD816D12DCC3692FC3A837FA3D8A9806CDD92913162047C75C2F93CEF24172B93A104DA8C52A1D03A8D1CEB221AC646FFC1A6449BB6BE9757E7599F04FD999BB754DFBBA53CB0539D90DA1F,
    ),
]


def test_paillier_gives_the_numbers_of_phe() -> None:
    ciphers, decrypt = Paillier.of_primes(fmpz(PHE_P), fmpz(PHE_Q))
    n = PHE_P * PHE_Q
    for m, r, expected in PHE:
        one = ciphers.add_plain(read(ciphers, pow(r, n, n * n)), integers(m))
        assert int.from_bytes(ciphers.to_bytes(one), "big") == expected
        assert decrypt(read(ciphers, expected)).tolist() == [m]


# Made once with sf-heu 0.5.2: encryptions of 5, -7 and 2**100.
HEU_PAILLIER = (
    0xE391FE050C0E40F832D3125C60B9C83F46D940FA3C393A76A75F5CE7DC698C17,
    0xC0D70D41F3C41A216C305A6FA57B37FDF5960D0FD0E12C79BF3AB2F604312F63,
    [
        0x3F27E6F11C9B4F4826F77F40ABDD0B6511623FFC1AACDDE21EA9BDECF79C627F38A6185FDAA783AEDC752ECE1D469CAFCCDCFC6750AE48C5CCD3941994D13E0F3BA2CF57F4DDD0D04ACC0DA94B062B8CE9352B855C5AF4BC11FB04966EAC8B82A7BA392CE6F9FD323D34280361B39FD774D846323AA70109609D55D7ED0775EA,
        0x8FEA29A5A9B1295BBF50422EFCAFE0FF4179959E35969B4A75FA5772C950F6DC8896464E252255F44172868078A55948F8E01F4B0E726A7C18F472076BC4BD9F5BA40B796ACDED09C0E2040AD6350FD3E39BE453A04C110FB166DD96C9EEB850FB0B2159C0BA76F972434318407E9ADBB7B8984050D8F2D160255B99C353B26,
        0x96EA38A9B98BF92DEB85AF32D1FD774776963BBD2FD85D9FFBF280A2DDBD2F49E183FFF2FB9E8C5391D06C52C2D756FA3DBBCC2918A0554670D275C616AF0552405C5A878678F5C94D1A4AFBCA557877772C94486ED40390763AD962855111235A4C30D4004ED5D19287EF995213EBA5F4D326F9238D6EE5EE08BE0FEEB523B,
    ],
)
HEU_OU = (
    0x91244EBB72D37DAA1D3E9AA4758671B515EBCD8125C51C45FD61FF9A33B079E254DB5B29E0E270A6C176AF,
    0x6A3741C7B87B290E3FE3EEB82FCA115CB966F620B97663F2B4F937044E5744528352CDBDD72E3B43343493,
    0x1026C50FDC449BC53BD2F460C7E0D3449A3958B07361935A011E1557FA0FC36AD76654D39F6C236FB3278D358CB5FFF6620C28462EAC0856DE5DB043D5C5A28283F4295E26D799098362814C12961BB22C9D2F962C5900CBDF3ECC8359F528383AF00A93454F5D2DA438BF2B435940A5D774D7C76CD323AB99FD8AE2B84BA133BE,
    [
        0x113C569D3BA1F5AAD14150C2BFD19CA963F947818C6D3995325E8522DBCFE48571D14C5383818545BCE3AF717D14B07FEA482B956C59FA609D0DA5622D2A49F779ED6A5E665DBF8F54342BA69F490B144FB1ACF9EC578E5AAAEC6153872C5F75805DF39DB0A35701E41CD64B1772EAD408A7B6CD5D662C446BC4289011D13E2FD7,
        0x1DBE32C7E9AEBA4C50B847A0A9E3882C3CFB9EAFB2E72D39AFE23FE88FE6C84FBE312761679BC995B2C17EA9E94E2AA5019F68C23441895FE44DD5BE828420E9B1003DF7F6DE40EBD27CCFA9BA1B4DBA5C1EAD4CB38AA54C4267229F4D93356E98A77B7E85E6663193EA9ECFF0BB0D713929B5C462BF06F302209FA6CB12616176,
        0x683144138FFB8950463D59E99F86063578EFDB03B57D3CE68CF71EC3F4BE33984A15F6210809CCAE5F2516433C6AA9A56495D276B0095F1585864325ED19D3DC782F2BE4962CC6D96AC8F82EF3405AF48D8B2A8C30095BD02C11BC6A2238F5A9D01CE0F120B27AEDC41145FCB3277B0400026A4D1ED0F3313D00E6DD12F980F3A,
    ],
)


def test_both_schemes_read_the_ciphertexts_of_heu() -> None:
    p, q, numbers = HEU_PAILLIER
    ciphers, decrypt = Paillier.of_primes(fmpz(p), fmpz(q))
    assert decrypt(read(ciphers, *numbers)).tolist() == [5, -7, 1 << 100]
    p, q, g, numbers = HEU_OU
    other, opened = OkamotoUchiyama.of_primes(fmpz(p), fmpz(q), fmpz(g))
    assert opened(read(other, *numbers)).tolist() == [5, -7, 1 << 100]


def textbook_paillier(c: int, p: int, q: int) -> int:
    """Paillier 1999, scheme 1, with generator 1 + n: as it stands in the paper."""
    n = p * q
    lam = (p - 1) * (q - 1) // gcd(p - 1, q - 1)
    mu = pow((pow(1 + n, lam, n * n) - 1) // n, -1, n)
    m = (pow(c, lam, n * n) - 1) // n * mu % n
    return m - n if m > n // 2 else m


def textbook_ou(c: int, p: int, g: int) -> int:
    """Okamoto and Uchiyama 1998: as it stands in the paper."""
    of_c, of_g = ((pow(x, p - 1, p * p) - 1) // p for x in (c, g))
    m = of_c * pow(of_g, -1, p) % p
    return m - p if m > p // 2 else m


def test_ciphertexts_are_those_of_the_textbook() -> None:
    ciphers, decrypt = Paillier.of_primes(fmpz(PHE_P), fmpz(PHE_Q))
    p, q, g, _ = HEU_OU
    other, opened = OkamotoUchiyama.of_primes(fmpz(p), fmpz(q), fmpz(g))

    @given(st.lists(st.integers(-(2**200), 2**200), min_size=1, max_size=4))
    @settings(max_examples=15, deadline=None)
    def check(values: list[int]) -> None:
        vector = ciphers.encrypt(integers(*values))
        numbers = [int(number) for number in ciphers.rerandomise(vector)]
        assert [textbook_paillier(c, PHE_P, PHE_Q) for c in numbers] == values
        assert decrypt(vector).tolist() == values
        vector = other.encrypt(integers(*values))
        assert [textbook_ou(int(number), p, g) for number in other.rerandomise(vector)] == values
        assert opened(vector).tolist() == values

    check()


def test_everything_that_is_computed_is_the_computation_on_integers(pair: Pair) -> None:
    ciphers, decrypt = pair
    most = ciphers.largest.bit_length() - 20
    entry = st.integers(-(1 << most // 2), 1 << most // 2)

    @given(st.data(), st.integers(1, 4))
    @settings(max_examples=25, deadline=None)
    def check(data: st.DataObject, count: int) -> None:
        a, b, c = (
            integers(*data.draw(st.lists(entry, min_size=count, max_size=count))) for _ in "abc"
        )
        left, right = ciphers.encrypt(a), ciphers.encrypt(b)
        assert (decrypt(ciphers.add(left, right)) == a + b).all()
        assert (decrypt(ciphers.subtract(left, right)) == a - b).all()
        assert (decrypt(ciphers.add_plain(left, b)) == a + b).all()
        assert (decrypt(ciphers.rerandomise(left)) == a).all()
        factors = c % 1000 - 500
        product = ciphers.matmul_plain(factors[None, :], left)
        assert decrypt(product).tolist() == [int((factors * a).sum())]
        places = np.arange(count)[:, None]
        small = ciphers.encrypt(a % 1000)
        packed = decrypt(ciphers.pack(small, places, 20)).tolist()
        assert packed == [sum(int(n % 1000) << 20 * r for r, n in enumerate(a))]
        assert ciphers.to_bytes(ciphers.from_bytes(ciphers.to_bytes(left), count)) == (
            ciphers.to_bytes(left)
        )

    check()


def test_the_largest_numbers_decrypt_to_themselves_and_sums_wrap_around(pair: Pair) -> None:
    ciphers, decrypt = pair
    top = ciphers.largest
    ends = integers(top, -top, top - 1, 1 - top, 0)
    assert (decrypt(ciphers.encrypt(ends)) == ends).all()
    beyond = ciphers.encrypt(integers(top))
    for _ in range(3):
        beyond = ciphers.add(beyond, beyond)
    assert decrypt(beyond)[0] != 8 * top


@pytest.mark.parametrize("bits", [512, 528, 768])
@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_keys_have_the_bits_asked_for(scheme: str, bits: int) -> None:
    for _ in range(3):
        ciphers, _ = SCHEMES[scheme].generate(bits)
        n = int.from_bytes(ciphers.key_bytes[: bits // 8], "big")
        assert n.bit_length() == bits
        assert ciphers.largest.bit_length() >= (bits - 1 if scheme == "paillier" else bits // 3 + 1)
        loaded = SCHEMES[scheme].load(bits, ciphers.key_bytes)
        assert (loaded.key_bytes, loaded.largest) == (ciphers.key_bytes, ciphers.largest)


def test_no_two_ciphertexts_are_alike_and_each_party_has_bases_of_its_own(pair: Pair) -> None:
    ciphers, decrypt = pair
    zeros = ciphers.encrypt(integers(*[0] * 200))
    again = ciphers.rerandomise(zeros)
    assert len({int(number) for number in [*zeros, *again]}) == 400
    assert not decrypt(again).any()
    other = type(ciphers).load(ciphers._bits, ciphers.key_bytes)
    assert not {int(row[1]) for row in other._full._rows} & {
        int(row[1]) for row in ciphers._full._rows
    }


def test_exponents_are_as_long_as_the_assumption_says() -> None:
    ciphers, _ = Paillier.generate(2048)
    assert 6 * len(ciphers._short._rows) >= 4 * 112
    assert 6 * len(ciphers._full._rows) >= 2048 + 128


@pytest.mark.parametrize(
    ("scheme", "bits", "group"),
    [
        ("paillier", 512, 512),
        ("paillier", 2048, 2048),
        ("okamoto-uchiyama", 768, 512),
        ("okamoto-uchiyama", 2048, 1365),
    ],
)
def test_there_are_bases_enough_for_parts_of_order_two(
    scheme: str, bits: int, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ciphers, _ = SCHEMES[scheme].generate(bits)
    draw, drawn = ciphers._nth_power, []

    def counted() -> object:
        drawn.append(draw())
        return drawn[-1]

    monkeypatch.setattr(ciphers, "_nth_power", counted)
    rows = ciphers._full._rows
    assert 3 * 2.0 ** -len(drawn) < 2.0**-64
    assert len(set(map(int, drawn))) == len(drawn)
    assert len(rows) % len(drawn) == 0  # all have exponents of one length
    assert group + 128 <= 6 * len(rows) <= 1.1 * (group + 128) + 6 * 6


def test_few_bases_show_a_part_of_the_group_as_often_as_computed() -> None:
    # B random vectors over two elements do not span the plane: 3 * 2**-B - 2 * 4**-B.
    p, q = 0xFFFFFFFFFFFFFA43, 0xFFFFFFFFFFFFF5DB
    assert fmpz(p).is_prime()
    assert fmpz(q).is_prime()
    ciphers, _ = Paillier.of_primes(fmpz(p), fmpz(q))

    def stuck(count: int) -> bool:
        powers = Powers([ciphers._nth_power() for _ in range(count)], 6)
        seen = [int(powers.random()) for _ in range(40)]
        marks = [(fmpz(c % p).jacobi(fmpz(p)), fmpz(c % q).jacobi(fmpz(q))) for c in seen]
        return any(len({a**i * b**j for a, b in marks}) == 1 for i, j in [(0, 1), (1, 0), (1, 1)])

    for count in (2, 3, 4, 12):
        share = np.mean([stuck(count) for _ in range(400)])
        # 0.025 is the largest standard deviation of the share.
        assert abs(share - (3 * 2.0**-count - 2 * 4.0**-count)) < 0.15


def test_what_leaves_reaches_every_part_of_the_group() -> None:
    # Sums of three numbers marked by squares and non-squares modulo p and q: after the sum is
    # randomised anew the key's owner finds all four marks equally often.
    p, q = PHE_P, PHE_Q
    for _ in range(3):
        ciphers, _ = Paillier.of_primes(fmpz(p), fmpz(q))
        one = read(ciphers, pow(1 + secrets.randbelow(p * q - 1), p * q, (p * q) ** 2))
        seen = [int(ciphers.rerandomise(one)[0]) for _ in range(400)]
        marks = [(pow(c, (p - 1) // 2, p) == 1, pow(c, (q - 1) // 2, q) == 1) for c in seen]
        counts = [marks.count((a, b)) for a in (True, False) for b in (True, False)]
        assert min(counts) > 50  # 100 on average; five standard deviations and a half below
