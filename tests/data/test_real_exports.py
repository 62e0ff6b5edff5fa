"""Files as people export them: no number becomes a category silently; one error says all that is needed."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.data.numbers import looks_like_number
from omnirank.errors import DataError, FileFormatError, ParameterError


@pytest.fixture
def write(tmp_path):
    def written(text, name="field.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def cured(path, *arguments, **given):
    """The error of a file, and the data set that its cure reads."""
    with pytest.raises(FileFormatError) as caught:
        om.load(path, *arguments, **given)
    error = caught.value
    assert error.cure, error
    call = str(error).split("This reads it: ")[1]
    assert call.startswith("om.load(")
    return error, eval(call, {"om": om})


GERMAN = """Messnetz Oberer See;;;;
Export 2024-03-01, Labor 3;;;;

Probe;pH;Cd [µg/L];Abfluss;Datum
A1;7,1;<0,01;1.234,5;01.02.2023
A2;6,9;n.n.;982,0;02.02.2023
A3;#NV;0,25;12.034,25;03.02.2023
A4;7,4;<0,02;-;04.02.2023
;;;;
;;;;
"""


def test_a_german_export_is_read_by_the_command_of_its_first_error(write):
    error, data = cured(write(GERMAN.encode("cp1252")), ignore="Probe", thousands=",")
    assert error.cure == {
        "encoding": "cp1252",
        "separator": ";",
        "skip": 2,
        "decimal": ",",
        "thousands": ".",
        "censored": "half",
        "missing": ["n.n.", "-"],
    }
    assert data.feature_names == ("pH", "Cd [µg/L]", "Abfluss", "Datum")
    assert not data.features.is_nominal.any()
    np.testing.assert_array_equal(
        data.X[:, :3], [[7.1, 0.005, 1234.5], [6.9, np.nan, 982], [np.nan, 0.25, 12034.25], [7.4, 0.01, np.nan]]
    )
    np.testing.assert_array_equal(np.diff(data.X[:, 3]), 86400)
    assert "values below or above a limit (2 cells in 1 column) are taken as half the limit" in data.notes


@pytest.mark.parametrize(
    ("cells", "cure", "values"),
    [
        (["1,5", "2,25", "3"], {"decimal": ","}, [1.5, 2.25, 3]),
        (["1.234,5", "2", "3,5"], {"decimal": ",", "thousands": "."}, [1234.5, 2, 3.5]),
        (["3,500.5", "12,000", "7"], {"thousands": ","}, [3500.5, 12000, 7]),
        (["1 234.5", "12\u00a0000.5", "7"], {"thousands": " "}, [1234.5, 12000.5, 7]),
        (["1'234.5", "12’000", "7"], {"thousands": "'"}, [1234.5, 12000, 7]),
        (["0,500", "0,250", "0,125"], {"decimal": ","}, [0.5, 0.25, 0.125]),
        (["1,5", "2.25", "3"], {"decimal": ".,"}, [1.5, 2.25, 3]),
        (["−1.5", "2.5", "0"], {}, [-1.5, 2.5, 0]),
        (["<0.1", "> 5", "0.2"], {"censored": "half"}, [0.05, 5, 0.2]),
        (["1.5 kg", "2 kg", "-0.5 kg"], {"units": "drop"}, [1.5, 2, -0.5]),
        (["$5", "$ 6.5", "$7"], {"units": "drop"}, [5, 6.5, 7]),
        (["5±0.2", "6.5 ± 0.1", "7 ± 1"], {"units": "drop"}, [5, 6.5, 7]),
        (["#DIV/0!", "6.5", "#WERT!"], {"missing": ["#DIV/0!", "#WERT!"]}, [np.nan, 6.5, np.nan]),
        (
            ["1,5 mg", "<0,1 mg", "x", "2"],
            {"decimal": ",", "censored": "half", "units": "drop", "missing": ["x"]},
            [1.5, 0.05, np.nan, 2],
        ),
        (["n.d.", "1", "bdl"], {"missing": ["n.d.", "bdl"]}, [np.nan, 1, np.nan]),
    ],
)
def test_numbers_in_many_ways(write, cells, cure, values):
    path = write("name\tv\n" + "".join(f"r{i}\t{cell}\n" for i, cell in enumerate(cells)), "field.tsv")
    if cure:
        error, data = cured(path, ignore="name")
        assert error.cure == cure, error
    else:
        data = om.load(path, ignore="name")
    np.testing.assert_array_equal(data.X.ravel(), values)


def test_thousands_or_decimals_is_asked(write):
    """3,500 may be 3500 or 3.5: points elsewhere make it thousands, and the other way is named."""
    text = 'site,area,pH\na,"3,500",7.1\nb,"1,200",6.9\nc,"2,750",7.5\n'
    error, data = cured(write(text), ignore="site")
    assert error.cure == {"thousands": ","}
    assert "(or decimal=',' if '3,500' means 3.5)" in str(error)
    assert data.X[:, 0].tolist() == [3500, 1200, 2750]
    error, data = cured(write("site;area;pH\na;3,500;7\nb;1,200;6\nc;2,750;7\n"), ignore="site")
    assert error.cure == {"separator": ";", "decimal": ","}
    assert "(or thousands=',' if '3,500' means 3500)" in str(error)
    assert data.X[:, 0].tolist() == [3.5, 1.2, 2.75]


def test_points_of_a_german_file_are_never_taken_as_decimals(write):
    """A column of 1.234 alone looks like numbers; beside decimal commas it is thousands."""
    error, data = cured(write("a;b\n1.234;1,5\n2.500;2,5\n10.000;3,5\n"), separator=";")
    assert error.cure == {"decimal": ",", "thousands": "."}
    assert data.X[:, 0].tolist() == [1234, 2500, 10000]


@pytest.mark.parametrize(("way", "value"), [("missing", np.nan), ("limit", 0.02), ("half", 0.01)])
def test_values_below_detection(write, way, value):
    data = om.load(write("a,b\n<0.02,1\n0.5,2\n≤ 0.02,3\n"), censored=way)
    np.testing.assert_array_equal(data.X[:, 0], [value, 0.5, value])


def test_all_marks_of_all_columns_are_told_at_once(write):
    rows = "".join(
        f"{'n.d.' if i % 7 == 0 else i},{'-' if i % 5 == 0 else i / 2},{'x' if i == 3 else i}\n" for i in range(40)
    )
    error, data = cured(write("a,b,c\n" + rows))
    assert error.cure == {"missing": ["n.d.", "-", "x"]}
    for words in ("'n.d.' (6 cells)", "'-' (8 cells)", "'x' (1 cell)"):
        assert words in str(error)
    assert (error.line, error.column) == (2, 1)
    assert not data.features.is_nominal.any()


def test_names_beside_numbers_are_categories(write):
    error, data = cured(write("plot,v\n1,1\n2,2\n2a,3\n3b,4\n"))
    assert error.cure == {"nominal": ["plot"]}
    assert data.features.levels[0] == ("1", "2", "2a", "3b")


def test_different_units_are_not_mixed(write):
    path = write("w,v\n1 kg,1\n200 mg,2\n3 kg,3\n")
    with pytest.raises(FileFormatError, match="column 'w' has numbers with the units kg and mg"):
        om.load(path, units="drop")


@pytest.mark.parametrize(
    "texts",
    [["1st", "2nd", "3rd"], ["18-25", "26-40", "41-60"], ["12A", "13B", "14C"], ["x1", "x2", "x3"], ["A", "B", "C"]],
)
def test_categories_stay_categories(write, texts):
    data = om.load(write("k,v\n" + "".join(f"{text},{i}\n" for i, text in enumerate(texts * 3))))
    assert data.features.is_nominal.tolist() == [True, False]


# -- where the table starts -------------------------------------------------------------------------------


def test_a_line_that_declares_the_separator(write):
    data = om.load(write("\ufeffsep=;\na;b\n1;2\n3;4\n"))
    assert data.feature_names == ("a", "b")
    assert data.X.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(FileFormatError, match="line 4: the row has 3 cells"):
        om.load(write("sep=;\na;b\n1;2\n3;4;5\n"))


@pytest.mark.parametrize(
    ("sign", "name"), [(";", "a.csv"), ("\t", "a.csv"), ("|", "a.csv"), (",", "a.tsv"), ("\t", "a.txt"), (";", "a.dat")]
)
def test_separators_are_found(write, sign, name):
    error, data = cured(write(f"a_b{sign}c\n1{sign}2\n3{sign}4\n", name))
    assert error.cure == {"separator": sign}
    assert data.X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("name", ["a.sql", "a.docx", "a.zip", "a"])
def test_no_file_gets_advice_that_fails(write, name):
    with pytest.raises((ParameterError, DataError)) as caught:
        om.load(write("CREATE TABLE x;\nselect *\nfrom y\n", name))
    assert "separator" not in str(caught.value)
    assert "CSV" in str(caught.value)


@pytest.mark.parametrize("unit", ["kg", "%", "€", "$"])
def test_units_in_cells_are_no_categories_silently(write, unit):
    path = write("v\tw\n" + "".join(f"{i}.5 {unit}\t1\n" for i in range(9)), "field.tsv")
    with pytest.raises(FileFormatError, match=r"numbers with units in 1 column .*units='drop'"):
        om.load(path)
    assert not om.load(path, units="drop").features.is_nominal.any()


def test_titles_of_several_cells(write):
    table = "site,pH,Cd,Zn,kind\nA1,7.1,1,2,a\nA2,6.9,2,3,b\nA3,7.0,3,1,a\n"
    error, data = cured(write("Lakes,2024,Anna,,\nexported,12.3.2025,,,\n" + table), ignore="site")
    assert error.cure == {"skip": 2}
    assert data.feature_names == ("pH", "Cd", "Zn", "kind")
    error = "the row below the names looks like units or more names"  # groups of columns are no titles
    with pytest.raises(FileFormatError, match=error):
        om.load(write("site,water,,metals,\n,pH,T,Cd,Zn\nA1,7.1,1,2,3\nA2,6.9,2,3,4\n"))


@pytest.mark.parametrize(
    ("below", "n"),
    [
        ("Mean,7.0,2\nn = 3,,\n", 2),
        ("Total,21,6\n", 1),
        (",,\nSource: Agency of the Environment,,\n", 1),
        ("Min,6.9,1\nMax,7.1,3\nSD,0.1,1\n", 3),
        ("Max,7.0,2\n", 0),
        ("A4,7.0,2\n", 0),
        ("mean 4,7.0,2\n", 0),
    ],
)
def test_sums_and_remarks_below_the_table(write, below, n):
    path = write("site,pH,Cd\nA1,7.1,1\nA2,6.9,2\nA3,7.0,3\n" + below)
    if not n:
        assert om.load(path).n_examples == 4
        return
    error, data = cured(path, key="site")
    assert error.cure == {"footer": n}
    assert data.n_examples == 3
    assert data.features.numeric.max() == 7.1


def test_rows_below_the_table_may_be_data(write):
    path = write("stat,pH\nmin,7.1\nmean,6.9\nmax,7\nsum,21\n")
    assert om.load(path).n_examples == 4  # all rows are called so
    path = write("stat,pH\nA1,7.1\nmean,6.9\n")
    assert om.load(path, footer=0).n_examples == 2
    with pytest.raises(FileFormatError, match="no row of data"):
        om.load(path, footer=2)


@pytest.mark.parametrize(
    ("text", "given", "cure", "names"),
    [
        (
            "Lake survey\nStation:,Bled\n\nsite,temp,depth\n,°C,m\na,17.5,2\nb,16.1,3\nc,15.2,4\n",
            *({}, {"skip": 2, "header": 2}, ("temp °C", "depth m")),
        ),
        # a title with all its separators
        ("Survey 2023;;;\nsite;b;c;d\na;2;3;4\nb;6;7;8\n", {"separator": ";"}, {"skip": 1}, ("b", "c", "d")),
        (
            "site;Nutrients;;Metals;\n;N;P;Pb;Cd\na;1;2;3;4\nb;5;6;7;8\nc;1;2;3;5\n",
            *({"separator": ";"}, {"header": 2}, ("Nutrients N", "Nutrients P", "Metals Pb", "Metals Cd")),
        ),
        ("site,2019,2020\na,1.5,2\nb,1,3\nc,2,2.5\n", {}, {"header": True}, ("2019", "2020")),
    ],
)
def test_where_the_table_starts_and_what_its_columns_are_called(write, text, given, cure, names):
    error, data = cured(write(text), ignore="site", **given)
    assert error.cure == cure
    assert data.feature_names == names
    assert data.n_examples == text.count("\n", text.index("\na") + 1)
    assert "skip" not in cure or repr(text.splitlines()[0].strip(";")) in str(error)


def test_a_row_that_looks_like_units_can_be_data(write):
    path = write("k,v\na,high\nb,1\nc,2\n")
    assert cured(path)[0].cure == {"header": 2}
    assert om.load(path, header=1, missing=["high"]).n_examples == 3


def test_empty_rows_and_columns_are_left_out(write):
    data = om.load(write("a;b;;\n1;2;;\n;;;\n3;;;\n;;;\n"), separator=";")
    assert data.feature_names == ("a", "b")
    np.testing.assert_array_equal(data.X, [[1, 2], [3, np.nan]])
    named = om.load(write(";b\n1;2\n3;4\n"), separator=";")
    assert named.feature_names == ("x1", "b")


def test_r_writes_no_name_for_the_names_of_rows(write):
    data = om.load(write("a\tb\nr1\t1\t2\nr2\t3\t4\nr3\t5\t6\n", "r.tsv"), key="x1")
    assert data.feature_names == ("a", "b")
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    data = om.load(write("a,b\n1,2,\n3,4,\n5,6,\n"))
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_a_cure_that_does_not_suffice_is_no_advice(write):
    path = write("a;b\n1,5;2\n2,5;3\n3,5\n")
    with pytest.raises(FileFormatError, match=r"did you mean separator=';'.*line 4: the row has 1 cell") as caught:
        om.load(path)
    assert not caught.value.cure
    with pytest.raises(FileFormatError, match=r"did you mean separator=';'.*target='B': there is no such column"):
        om.load(write("a;b\n1;2\n2;3\n3;4\n"), target="B")


@pytest.mark.parametrize(
    "text", ["31.12.2023", "1.2.3", "12:30", "040 123 456", "1,2,3", "a1", "1-2", "", "192.168.1.1"]
)
def test_these_are_no_numbers(text):
    assert not looks_like_number(text)


# -- workbooks ---------------------------------------------------------------------------------------------


@pytest.fixture
def sheet(tmp_path):
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")

    def saved(rows, name="field.xlsx", more=(), merged=()):
        book = openpyxl.Workbook()
        book.active.title = "Data"
        for row in rows:
            book.active.append(row)
        for cells in merged:
            book.active.merge_cells(cells)
        for title in more:
            book.create_sheet(title).append(["nothing"])
        book.save(tmp_path / name)
        return tmp_path / name

    return saved


def test_a_workbook_is_read(sheet):
    day = pd.Timestamp("2023-05-01").to_pydatetime()
    path = sheet(
        [
            ["id", "pH", "n", "day", "wet", "kind"],
            ["a", 7.25, 3, day, True, "x  x"],
            ["b", None, 4, day, False, "y\ny"],
        ]
    )
    data = om.load(path, "kind", key="id")
    assert data.feature_names == ("pH", "n", "day", "wet")
    np.testing.assert_array_equal(data.X["pH"], [7.25, np.nan])
    assert data.features.dates == {"day"}
    assert data.features.levels[3] == ("False", "True")
    assert data.target.levels[0] == ("x  x", "y y")


def test_sheets_are_chosen_by_name_or_number(sheet):
    path = sheet([["a", "b"], [1, 2]], more=["Notes"])
    assert any("'Data' was read, sheet=... names another" in note for note in om.load(path).notes)
    with pytest.raises(ParameterError, match="sheet='Dat': there is no such sheet; did you mean 'Data'"):
        om.load(path, sheet="Dat")
    assert om.load(path, sheet=1).n_features == om.load(path, sheet="Data").n_features == 2
    with pytest.raises(FileFormatError, match=r"no row of data \(the sheets are 'Data', 'Notes': 'Notes' was read"):
        om.load(path, sheet="2")


def test_a_workbook_like_an_export(sheet):
    rows = [
        ["Survey of lakes"],
        [],
        ["Site", "Nutrients", None, "Metals", None, None],
        [None, "N", "P", "Pb", "Cd", None],
        ["a", 1.5, "1,25", "<0,01", "n.d."],
        ["b", 2.5, 3, 0.02, 4],
        ["c", 0.5, "0,75", 0.5, 4],
        [None, None],
    ]
    error, data = cured(sheet(rows, merged=["B3:C3", "D3:E3"]), key="Site")
    assert error.cure == {"skip": 1, "header": 2, "decimal": ",", "censored": "half", "missing": ["n.d."]}
    assert data.feature_names == ("Nutrients N", "Nutrients P", "Metals Pb", "Metals Cd")
    np.testing.assert_array_equal(data.X, [[1.5, 1.25, 0.005, np.nan], [2.5, 3, 0.02, 4], [0.5, 0.75, 0.5, 4]])


def test_a_damaged_workbook_is_an_error(write):
    pytest.importorskip("python_calamine")
    with pytest.raises(FileFormatError, match="not a workbook that can be read"):
        om.load(write(b"PK\x03\x04 no workbook", "a.xlsx"))
    with pytest.raises(FileFormatError, match=r"a zip archive.*xlsx"):
        om.load(write(b"PK\x03\x04 no text\0", "a.csv"))


def test_without_the_package_the_error_says_what_to_do(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(om.errors.MissingDependencyError, match=r"pip install 'omnirank\[excel\]', or save .* as CSV"):
        om.load(write("", "a.ods"))


@pytest.mark.parametrize("ending", ["ods", "xls"])
def test_workbooks_of_other_programs(ending):
    pytest.importorskip("python_calamine")
    data = om.load(Path(__file__).parent / "workbooks" / f"lakes.{ending}", "kind", sheet="lakes", censored="half")
    assert any("'notes', 'lakes'" in note for note in data.notes)
    np.testing.assert_array_equal(data.X["pH"], [7.5, 0.05, np.nan, 7.0])
    assert data.features.dates == {"day"}
    assert data.y.tolist() == ["x", "y", "y", "x"]


# -- notes and names ---------------------------------------------------------------------------------------


def test_notes_name_the_argument_that_cures_them(write):
    rows = "".join(f"{i + 100},S{i},{i % 12 + 1}/{i % 3 + 1}/2023,{i * i % 17}\n" for i in range(40))
    notes = om.load(write("Sample_ID,Name,Date,v\n" + rows)).notes
    for words in (
        "out of the ranking (key='Sample_ID')",
        "out of the ranking (key='Name')",
        "leave it out (ignore='Date')",
    ):
        assert any(words in note for note in notes), notes
    frame = pd.read_csv(write("Sample_ID,Name,Date,v\n" + rows))
    assert not any("key=" in note or "ignore=" in note for note in om.Dataset(frame).notes)


# -- what omnirank writes comes back ------------------------------------------------------------------------


def test_texts_like_numbers_and_empty_rows_come_back(tmp_path):
    from omnirank.data.write import write_csv

    frame = pd.DataFrame({"a\nb": ["1,5", "2,5", "3,5", None], "w": ["1 kg", "2 kg", "<3", None], "x": [1, 2, 3, None]})
    frame["c;d"] = ["p;q", "p", "q", None]
    write_csv(om.Dataset(frame), tmp_path / "own.csv")
    read = om.load(tmp_path / "own.csv")
    assert read.feature_names == tuple(frame)
    assert read.features.equals(om.Dataset(frame).features)


def test_no_call_is_offered_where_each_setting_breaks_what_another_reads(tmp_path):
    """Decimal points in one column, points between thousands and decimal commas in another."""
    rows = "".join(f"{i}.5;{i + 1}.234,5;{'ab'[i % 2]}\n" for i in range(10, 40))
    (tmp_path / "mixed.csv").write_text("x;z;kind\n" + rows)
    with pytest.raises(FileFormatError, match="decimal") as raised:
        om.load(tmp_path / "mixed.csv", target="kind")
    assert raised.value.cure == {}
    assert str(raised.value).count("decimal points and decimal commas") <= 1
