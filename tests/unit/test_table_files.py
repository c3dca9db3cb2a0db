"""Files as they arrive: encodings, archives, workbooks, codes, and rows that are no records."""

from __future__ import annotations

import builtins
import io
import zipfile
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest

from whatleaks.data import csv_text
from whatleaks.data.no_records import total_row, unit_row
from whatleaks.data.table import open_table, read_table, sheets_of
from whatleaks.data.written import read_written
from whatleaks.errors import TableError, UsageError

TEXT = "größe;ort;preis\n1,5;Köln;7\n2,25;Müßen;1\xa0234\n"
FRAME = pd.DataFrame(
    {"größe": ["1,5", "2,25"], "ort": ["Köln", "Müßen"], "preis": ["7", "1\xa0234"]}
)


def saved(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("encoding", "mark", "noted"),
    [
        ("utf-16", b"", False),
        ("utf-32", b"", False),
        ("utf-16-be", b"\xfe\xff", False),
        ("utf-16-le", b"", True),
        ("utf-16-be", b"", True),
        ("latin-1", b"", True),
        ("cp1252", b"", True),
    ],
)
def test_encodings_are_recognised(encoding: str, mark: bytes, noted: bool, tmp_path: Path) -> None:
    opened = open_table(saved(tmp_path, mark + TEXT.encode(encoding)))
    pd.testing.assert_frame_equal(opened.frame, FRAME, check_dtype=False)
    assert len(opened.notes) == noted
    if noted:
        assert "is not UTF-8" in opened.notes[0]
        assert "encoding names another" in opened.notes[0]


@pytest.mark.parametrize("encoding", ["cp1251", "shift_jis", "gb18030", "cp1253"])
def test_what_is_no_western_text_is_asked_about_and_the_argument_decides(
    encoding: str, tmp_path: Path
) -> None:
    words = {
        "cp1251": "дата",
        "shift_jis": "日付日付",
        "gb18030": "日期日期",
        "cp1253": "ημερομηνία",
    }
    path = saved(tmp_path, f"{words[encoding]},b\n1.5,2\n3.25,4\n".encode(encoding))
    with pytest.raises(TableError, match="encoding says what it is"):
        read_table(path)
    frame = read_table(path, encoding)
    assert list(frame.columns) == [words[encoding], "b"]
    assert frame["b"].tolist() == [2, 4]


def test_encodings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, TEXT.encode("cp1252"))
    with pytest.raises(UsageError, match="encoding 'utf8x' is unknown"):
        read_table(path, "utf8x")
    for wrong in ("utf-8", "ascii", "base64", "rot13"):
        with pytest.raises((TableError, UsageError), match="encoding"):
            read_table(path, wrong)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1251", "cp850", "koi8-r", "mac-roman"])
def test_no_wrong_guess_of_a_one_byte_encoding_changes_a_number(
    encoding: str, tmp_path: Path
) -> None:
    every = bytes(range(0x80, 0x100)).decode(encoding, errors="ignore")
    numbers = ["-1.5", "+2", "3e4", "0.125", "1234567"]
    lines = [f"{every[i + 40]},{n}" for i, n in enumerate(numbers)]
    path = saved(tmp_path, "\n".join(["a,v", *lines]).encode(encoding))
    frame = read_table(path, "cp1250" if encoding == "latin-1" else "latin-1")
    read = read_written(frame)[0]["v"].astype(float)
    assert read.tolist() == [float(n) for n in numbers]


def zipped(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return out.getvalue()


@pytest.mark.parametrize("line", ["sep=;\r\n", '"sep=;"\n', "SEP=;\n", "\ufeffsep=;\n"])
def test_a_line_that_says_what_separates_cells_is_obeyed(line: str, tmp_path: Path) -> None:
    # A comma in every cell: without the line one would be taken for the other.
    frame = read_table(saved(tmp_path, f"{line}a;b\n1,5;2,5\n3,5;4,5\n"))
    assert list(frame.columns) == ["a", "b"]
    assert frame["b"].tolist() == ["2,5", "4,5"]


def test_a_zip_with_one_table_is_read_and_with_several_refused(tmp_path: Path) -> None:
    beside = {"__MACOSX/._t.csv": "x", ".DS_Store": "x", "folder/": ""}
    opened = open_table(
        saved(tmp_path, zipped(**{"folder/t.csv": "a,b\n1,2\n"}, **beside), "t.zip")
    )
    assert opened.frame.to_dict("list") == {"a": [1], "b": [2]}
    assert opened.notes == ("t.zip was unpacked: it holds 'folder/t.csv'",)
    with pytest.raises(TableError, match=r"several files \('x.csv', 'y.csv'\)"):
        read_table(saved(tmp_path, zipped(**{"x.csv": "a\n1\n", "y.csv": "a\n1\n"}), "u.zip"))
    with pytest.raises(TableError, match="holds no file"):
        read_table(saved(tmp_path, zipped(), "v.zip"))
    locked = bytearray(zipped(**{"t.csv": "a,b\n1,2\n"}))
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(TableError, match="locked with a password"):
        read_table(saved(tmp_path, bytes(locked), "w.zip"))


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet_reads_as_what_its_cells_are(tmp_path: Path) -> None:
    rows = [
        ["v", "n", "plz", "day", "when", "at", "ok", "mixed", "amount"],
        [4.925, 1, "01234", date(2020, 1, 2), datetime(2020, 1, 2, 3, 4), time(8, 30), True, 4.925, "1,5"],
        [788, 2, "99999", date(2021, 3, 4), datetime(2021, 1, 2), time(9, 5), False, "k.A.", "2,25"],
        [1.322, None, "04711", None, None, None, None, 788, "3,75"],
        [None] * 9,
    ]  # fmt: skip
    opened = open_table(workbook(tmp_path / "t.xlsx", Loans=[[], *[[None, *row] for row in rows]]))
    frame, notes, problems = read_written(opened.frame)
    assert problems == ()
    assert frame["v"].tolist() == [4.925, 788.0, 1.322]
    assert frame["n"].tolist()[:2] == [1, 2]
    assert frame["plz"].tolist() == ["01234", "99999", "04711"]
    assert frame["day"].dt.strftime("%Y-%m-%d").tolist()[:2] == ["2020-01-02", "2021-03-04"]
    assert frame["when"].iloc[0] == pd.Timestamp("2020-01-02 03:04")
    assert frame["ok"].tolist()[:2] == [True, False]
    assert frame["mixed"].tolist() == ["4.9250", "k.A.", "788"]
    assert frame["amount"].tolist() == [1.5, 2.25, 3.75]
    assert any("'plz'" in note for note in notes)


def test_several_sheets_are_asked_about(tmp_path: Path) -> None:
    table = [["a", "b"], [1, 2]]
    path = workbook(tmp_path / "t.xlsx", Notes=[["read me"]], Loans=table, Empty=[])
    assert sheets_of(path) == ["Loans", "Notes"]
    with pytest.raises(
        TableError, match=r"several sheets \('Loans', 'Notes'\): sheet='Loans' says"
    ):
        open_table(path)
    assert open_table(path, sheet="Loans").frame.to_dict("list") == {"a": [1], "b": [2]}
    with pytest.raises(UsageError, match=r"sheet 'loan' is no sheet .* Did you mean 'Loans'\?"):
        open_table(path, sheet="loan")
    with pytest.raises(TableError, match="nothing in the sheet 'Empty'"):
        open_table(path, sheet="Empty")
    assert sheets_of(saved(tmp_path, "a,b\n1,2\n")) == []


def test_formulas_that_were_never_computed_are_no_missing_values(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", T=[["a", "b"], ["=B2*2", 1], ["=B3*2", 2]])
    with pytest.raises(TableError, match="2 formulas without a result"):
        read_table(path)


def test_without_its_reader_an_excel_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(tmp_path / "t.xlsx", T=[["a", "b"], [1, 2]])
    true = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "openpyxl":
            raise ImportError(name)
        return true(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TableError, match=r'needs .*: pip install "whatleaks\[excel\]", or save'):
        read_table(path)


def test_a_damaged_workbook_is_one_line(tmp_path: Path) -> None:
    broken = zipped(**{"xl/workbook.xml": "<no", "[Content_Types].xml": "<no"})
    with pytest.raises(TableError, match="damaged Excel file"):
        read_table(saved(tmp_path, broken, "t.xlsx"))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("place", [0, 40])
def test_zeros_in_front_are_kept(separator: str, quote: str, place: int, tmp_path: Path) -> None:
    codes = [f"{10000 + 37 * i}" for i in range(50)]
    codes[place] = "01067"
    rows = [
        separator.join([f"{i % 7}", f"{quote}{c}{quote}", f"0.{i % 9}"])
        for i, c in enumerate(codes)
    ]
    frame = read_table(saved(tmp_path, "\n".join([separator.join(("n", "plz", "x")), *rows])))
    assert frame["plz"].tolist() == codes
    assert frame["n"].dtype.kind == "i"
    assert frame["x"].dtype.kind == "f"
    for na in ((), ("k.A.",)):  # a word that means "missing" elsewhere makes no number of a code
        read, notes, _ = read_written(frame, na=na)
        assert read["plz"].tolist() == codes
        assert any("'plz' holds numbers with zeros in front" in note for note in notes)


def test_amounts_with_zeros_in_front_are_numbers(tmp_path: Path) -> None:
    frame = read_table(saved(tmp_path, "a,b\n007.50,1\n012.25,2\n"))
    assert frame["a"].tolist() == [7.5, 12.25]


NAMES = "who,weight,age,city"
PEOPLE = [f"p{i},{50 + i * 7 % 31}.5,{20 + i * i % 50},{'xyz'[i % 3]}" for i in range(30)]


@pytest.mark.parametrize("units", [",kg,years,", "-,kg,a,-", ",[kg/m2],years,"])
def test_units_under_the_names_are_no_record(units: str, tmp_path: Path) -> None:
    plain = read_table(saved(tmp_path, "\n".join([NAMES, *PEOPLE])))
    opened = open_table(saved(tmp_path, "\n".join([NAMES, units, *PEOPLE])))
    pd.testing.assert_frame_equal(opened.frame, plain)
    (note,) = opened.notes
    assert "holds units" in note


@pytest.mark.parametrize("first", ["x,unknown,44,y", "x,,,y", "p,1.5,7,x"])
def test_a_first_record_is_no_row_of_units(first: str) -> None:
    rows = [line.split(",") for line in [NAMES, first, *PEOPLE]]
    assert unit_row(rows) == []


SUMS = [sum(float(line.split(",")[k]) for line in PEOPLE) for k in (1, 2)]


@pytest.mark.parametrize(
    "last",
    [
        f"Total,{SUMS[0]},{SUMS[1]:.0f},",
        f",{SUMS[0]},,",
        f"Summe:,{SUMS[0]},{SUMS[1]:.0f},",
        "Total,,,",
        f"Average,{SUMS[0] / 30:.2f},{SUMS[1] / 30:.2f},",
    ],
)
@pytest.mark.parametrize("ends", ["", "\n", "\n,,,\n,,,\n\n"])
def test_a_total_is_no_record(last: str, ends: str, tmp_path: Path) -> None:
    plain = read_table(saved(tmp_path, "\n".join([NAMES, *PEOPLE])))
    opened = open_table(saved(tmp_path, "\n".join([NAMES, *PEOPLE, last]) + ends))
    pd.testing.assert_frame_equal(opened.frame, plain)
    assert sum("total" in note for note in opened.notes) == 1
    assert sum(
        "empty rows at the end of the table were left out: 2" in n for n in opened.notes
    ) == ("," in ends)


@pytest.mark.parametrize("last", ["Total,61.5,33,x", "q,,33,x", "q,61.5,33,", "q,99.5,,total"])
def test_a_last_record_is_no_total(last: str, tmp_path: Path) -> None:
    assert len(read_table(saved(tmp_path, "\n".join([NAMES, *PEOPLE, last])))) == 31


def test_the_only_counts_are_no_total() -> None:
    frame = pd.DataFrame({"n": [0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 5.0], "w": ["a"] * 12 + [None]})
    assert total_row(frame) == ""


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("a,b,\n1,2,\n3,4,\n", 1),
        ("a,b\n1,2,\n3,4,,\n", 0),
        ("a,b,,\n1,2\n3,4\n", 0),
        ("a,b\n1,2\n,\n3,4\n", 1),
        ("a,b\n1,2\n3,4\n,\n,\n", 1),
        ('a,b\n1,2\n"",""\n3,4\n', 1),
    ],
)
def test_what_is_empty_is_left_out(text: str, notes: int, tmp_path: Path) -> None:
    opened = open_table(saved(tmp_path, text))
    assert opened.frame.astype(int).to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    assert len(opened.notes) == notes


def test_a_cell_that_ends_in_empty_lines_is_whole(tmp_path: Path) -> None:
    opened = open_table(saved(tmp_path, 'a,b\n1,x\n2,"y\n,,\n"\n'))
    assert opened.frame["b"].tolist() == ["x", "y\n,,\n"]


def test_a_title_above_the_names_is_told(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"names 1 of 4 columns in its first row: delete what"):
        read_table(saved(tmp_path, "\n".join(["Loans 2020,,,", NAMES, *PEOPLE])))
    with pytest.raises(TableError, match="what stands above the row of names"):
        read_table(saved(tmp_path, "\n".join(["Loans 2020", NAMES, *PEOPLE])))


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_zeros_are_found_at_the_edges_of_blocks(
    shift: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_text, "_BLOCK", 30)
    numbers = [str(n) for n in np.random.default_rng(0).integers(10, 99, 50)]
    for place in range(1, 50, 5):
        padded = [*numbers[:place], "07", *numbers[place:]]
        frame = read_table(
            saved(tmp_path, f"v,{'w' * (1 + shift)}\n" + "\n".join(f"{n},1" for n in padded))
        )
        assert frame["v"].tolist() == padded


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("44.13,blue,0", True),
        ("5,1,0,yes", True),
        ("0,1,2,3,y", False),
        ("2019,2020,y", False),
        ("q,0.5,y", False),
    ],
)
def test_a_record_in_the_place_of_the_names_is_told(names: str, said: bool, tmp_path: Path) -> None:
    row = ",".join("7" for _ in names.split(","))
    (tmp_path / "t.csv").write_text("\n".join([names, *[row] * 30]))
    notes = open_table(tmp_path / "t.csv").notes
    assert [note for note in notes if "look like values" in note] == list(notes)
    assert bool(notes) == said
    assert not any("44" in note for note in notes)
