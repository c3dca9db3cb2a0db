"""Reading and joining a user's tables."""

from __future__ import annotations

import gzip
import weakref
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whatleaks.data.csv_text import sniff
from whatleaks.data.table import HandedOver, from_frame, join, read_table
from whatleaks.errors import TableError, UsageError

FRAME = pd.DataFrame(
    {
        "größe": [1.5, None, 2.25],
        "n": [1, 2, 3],
        "word": ["a,b", 'say "x"', None],
        "flag": [True, False, True],
        "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-02-01"]),
    }
)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("packed", [False, True])
def test_csv_round_trip(separator: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    FRAME.to_csv(path, index=False, sep=separator)
    pd.testing.assert_frame_equal(read_table(path), FRAME, check_dtype=False)


def test_parquet_round_trip_whatever_its_name(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "t.csv")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), FRAME, check_dtype=False)
    FRAME.iloc[::-1].to_parquet(tmp_path / "indexed.parquet")
    assert list(read_table(tmp_path / "indexed.parquet").columns) == list(FRAME.columns)


def test_a_cell_over_two_lines_a_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes('\ufeffa, b\r\n1,"x\r\ny"\r\n2,z\r\n'.encode())
    frame = read_table(path)
    assert list(frame.columns) == ["a", "b"]
    assert frame["b"].tolist() == ["x\r\ny", "z"]


def test_a_column_without_a_name_gets_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",a\n0,5\n1,6\n")
    assert list(read_table(tmp_path / "t.csv").columns) == ["unnamed_1", "a"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n1,2,3\n", "row 3 has 3 cells, the header has 2"),
        (b"a,b\n1,2\n7\n", "has 1 cells, the header has 2"),
        (b"a,b,a\n1,2,3\n", "more than one column 'a'"),
        (bytes(range(256)) * 20, "not a text table"),
        (
            "a,b\n1,дата\n".encode("cp1251"),
            r"not UTF-8 text \(line 2\), nor western Windows: encoding",
        ),
        (
            "größe,b\n1,ü\n".encode() + b"2,\xfc\n",
            "most of it is: correct 1 bytes, or encoding='cp1252'",
        ),
        (b"PK\x03\x04junk", r"damaged \.zip or Excel"),
        (b"\xd0\xcf\x11\xe0junk", "an old or a locked Excel file"),
        (b"PAR1junkjunkPAR1", "damaged Parquet"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-6], r"damaged \.gz"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(
    content: bytes, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=words) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="there is no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)


def test_a_ragged_row_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\nsecret,1,2\n")
    with pytest.raises(TableError) as caught:
        read_table(tmp_path / "t.csv")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("sample", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ('a|b\n"x,y,z"|2\n', "|"),
        ("a\n1\n", ","),
        ('";",";;"\n0.5,0.5\n', ","),
        ('a;b\n"x\ny";1\n', ";"),
        ("a,b,c;d\n1,2,3;4\n", ","),
    ],
)
def test_separators(sample: str, separator: str) -> None:
    assert sniff(sample) == separator


def test_frames_of_pandas_and_polars() -> None:
    pd.testing.assert_frame_equal(from_frame(FRAME.set_index(pd.Index([7, 8, 9]))), FRAME)
    for polars in (pl.from_pandas(FRAME), pl.from_pandas(FRAME).lazy()):
        pd.testing.assert_frame_equal(from_frame(polars), FRAME, check_dtype=False)
    copy = from_frame(FRAME)
    copy.loc[0, "n"] = 99
    assert FRAME.loc[0, "n"] == 1


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ([[1, 2]], "a list is no table"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "more than one column '1'"),
        (pd.DataFrame({"a": []}), "no rows"),
        (pd.DataFrame(), "no columns"),
        (pl.Series([1]), "no table"),
    ],
)
def test_frames_that_are_no_table(frame: object, words: str) -> None:
    with pytest.raises(TableError, match=words):
        from_frame(frame)


ACTIVE = pd.DataFrame({"id": [3, 1, 2], "age": [30, 10, 20], "y": [0, 1, 0]})
PASSIVE = pd.DataFrame({"id": ["1", "2", "3"], "income": [100, 200, 300]})


def test_join_keeps_the_active_order_and_matches_ids_of_other_types() -> None:
    for passive in (PASSIVE, PASSIVE.astype({"id": float}), PASSIVE.astype({"id": int})):
        joined = join(ACTIVE, passive, "id")
        assert joined.frame.to_dict("list") == {
            "age": [30, 10, 20],
            "y": [0, 1, 0],
            "income": [300, 100, 200],
        }
        assert joined.active_columns == ("age", "y")
        assert joined.passive_columns == ("income",)
        assert joined.notes == ()


def test_join_of_common_ids() -> None:
    passive = pd.DataFrame({"id": [2, 3, 8, 9], "income": [200, 300, 800, 900]})
    with pytest.raises(TableError, match=r"1 only in the active file and 2 only.*inner=True"):
        join(ACTIVE, passive, "id")
    joined = join(ACTIVE, passive, "id", inner=True)
    assert joined.frame["income"].tolist() == [300, 200]
    assert joined.frame["age"].tolist() == [30, 20]
    assert "1 only in the active file and 2 only in the passive file" in joined.notes[0]
    with pytest.raises(TableError, match="no id in common"):
        join(ACTIVE, passive[passive["id"] > 3], "id", inner=True)


@pytest.mark.parametrize(
    ("active", "passive", "on", "error", "words"),
    [
        (ACTIVE, PASSIVE, "idd", UsageError, r"active file.*id_column.*Did you mean 'id'"),
        (ACTIVE, PASSIVE.rename(columns={"id": "key"}), "id", UsageError, "passive file"),
        (
            ACTIVE,
            pd.concat([PASSIVE] * 2),
            "id",
            TableError,
            r"passive file.*3 ids more than once in column 'id': '1', '2', '3'\.",
        ),
        (pd.concat([ACTIVE] * 2), PASSIVE, "id", TableError, "active file"),
        (ACTIVE, PASSIVE.assign(id=[None, "1", "2"]), "id", TableError, "1 rows without an id"),
        (ACTIVE, PASSIVE[["id"]], "id", TableError, "no column besides the id"),
    ],
)
def test_joins_that_are_refused(
    active: pd.DataFrame, passive: pd.DataFrame, on: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        join(active, passive, on)


def test_a_name_in_both_files_gets_the_party_in_front() -> None:
    joined = join(ACTIVE, PASSIVE.assign(age=[1, 2, 3]), "id")
    assert joined.passive_columns == ("income", "passive.age")
    assert joined.frame["age"].tolist() == [30, 10, 20]
    assert joined.frame["passive.age"].tolist() == [3, 1, 2]
    assert "'passive.age'" in joined.notes[0]


def test_several_passive_parties_each_with_a_file() -> None:
    other = pd.DataFrame({"id": [1, 2, 3, 4], "income": [9, 8, 7, 6], "rent": [5, 4, 3, 2]})
    joined = join(ACTIVE, [PASSIVE, other], "id", inner=True)
    assert joined.parties == (("income",), ("passive-2.income", "rent"))
    assert joined.frame["passive-2.income"].tolist() == [7, 9, 8]
    assert joined.frame["rent"].tolist() == [3, 5, 4]
    assert joined.notes[-1].endswith(
        "rows whose id not all files have: 0 of the active file, 0 of the passive file and 1 of the "
        "passive-2 file"
    )


def test_at_most_three_ids_are_named() -> None:
    twice = pd.DataFrame({"id": [*range(5), *range(5)], "income": range(10)})
    with pytest.raises(TableError, match=r"5 ids.*'0', '1', '2' and 2 more"):
        join(ACTIVE, twice, "id")


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(content=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_bytes_give_a_table_or_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    frame, refusal = None, ""
    try:
        frame = read_table(path)
    except TableError as error:
        refusal = str(error)
    if frame is None:
        assert len(refusal.splitlines()) == 1
    else:
        assert len(frame) > 0
        assert frame.columns.is_unique


# Words that CSV cannot tell from a gap, a number, a date or a truth value are left out.
WORD = st.text(alphabet="qwxzäß ,;|\"'\t", min_size=1, max_size=8).filter(lambda w: w.strip() == w)
ROWS = st.integers(1, 12)


@st.composite
def plain_frames(draw: st.DrawFn) -> pd.DataFrame:
    rows = draw(ROWS)
    names = draw(st.lists(WORD.map(str.strip), min_size=2, max_size=5, unique=True))
    kinds = st.sampled_from(
        [st.floats(-1e9, 1e9), st.integers(-(2**53), 2**53), WORD, st.booleans()]
    )
    return pd.DataFrame(
        {name: draw(st.lists(draw(kinds), min_size=rows, max_size=rows)) for name in names}
    )


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(frame=plain_frames())
def test_any_plain_frame_survives_parquet_and_comma_csv(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    frame.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.parquet"), frame, check_dtype=False)
    frame.to_csv(tmp_path / "t.csv", index=False, quoting=2)  # quote what is no number
    back = read_table(tmp_path / "t.csv")
    pd.testing.assert_frame_equal(back, frame, check_dtype=False, rtol=1e-15)


def test_a_sample_that_ends_inside_a_cell_still_shows_the_separator() -> None:
    assert sniff('a;b\n1;2\n3;"x,y,z', whole=False) == ";"
    assert sniff("a;b\n1;2\n3", whole=False) == ";"


def test_a_table_that_is_handed_over_is_held_by_nobody_else() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    alive = weakref.ref(frame)
    handed = HandedOver(frame)
    del frame
    assert from_frame(handed)["a"].tolist() == [1.0, 2.0]
    assert alive() is None
