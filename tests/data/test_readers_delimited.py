"""CSV and TSV: types from the cells, names from the header, faults with their line."""

import gzip

import numpy as np
import pytest

import omnirank as om
from omnirank.data.csv import read_delimited
from omnirank.errors import FileFormatError, ParameterError


@pytest.fixture
def read(tmp_path):
    def read_text(text, name="file.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_delimited(path, **options)

    return read_text


def test_types(read):
    content = read('n,f,t,b,q\n1,1.5,red,True,"a, b"\n-2,NA,,False,"say ""hi"""\n?,1e3,blue,?,nan\n')
    assert content.names == ("n", "f", "t", "b", "q")
    assert content.kinds == ("numeric", "numeric", "nominal", "nominal", "nominal")
    assert not content.declared
    assert read("a,b,c\n1,1.0,x\nnull,2.5,y\n", missing=["null"]).integers == frozenset()
    assert read("a,b,c\n1,1.0,x\n2,2.5,y\n").integers == {"a"}
    table = content.table
    np.testing.assert_array_equal(table.column(0), [1, -2, np.nan])
    np.testing.assert_array_equal(table.column(1), [1.5, np.nan, 1000])
    assert table.levels[2:] == (("blue", "red"), ("False", "True"), ("a, b", 'say "hi"'))
    np.testing.assert_array_equal(table.column(2), [1, -1, 0])
    np.testing.assert_array_equal(table.column(3), [1, 0, -1])
    np.testing.assert_array_equal(table.column(4), [0, 1, -1])


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_byte_that_is_no_utf8_is_an_error_that_names_it(read, line_end):
    text = line_end.join(["größe,b", *["ä,1"] * 3, "ää\udcfcx,2", "ä,3", ""])
    with pytest.raises(FileFormatError, match="line 5, column 3: the byte 0xfc is not UTF-8; encoding=") as caught:
        read(text.encode("utf-8", "surrogateescape"))
    assert (caught.value.line, caught.value.column) == (5, 3)
    with pytest.raises(FileFormatError, match="line 2, column 2: the byte 0xc3 is not UTF-8"):
        read(b"a\nb\xc3")
    for encoding, cell, other in (
        ("cp1252", b"\x81", "latin-1"),
        ("ascii", b"\xe9", "cp1252"),
        ("ascii", b"\xc3\xa4", "utf-8"),
    ):
        with pytest.raises(FileFormatError, match=f"line 2, column 1: .* is not {encoding}; encoding='{other}'"):
            read(b"a\n" + cell + b"\n", encoding=encoding)


def test_a_byte_far_down_is_found_with_its_line(read, monkeypatch):
    monkeypatch.setattr("omnirank.data.files.BLOCK_BYTES", 16)
    with pytest.raises(FileFormatError, match="line 102, column 2"):
        read(b"a\n" + b"\xc3\xa4\n" * 100 + b"b\xff\n")


@pytest.mark.parametrize("encoding", ["utf-16", "base64", "klingon", "cp037", None, "utf-8\0"])
def test_an_encoding_that_cannot_be_is_refused(read, encoding):
    with pytest.raises(ParameterError, match="encoding="):
        read("a\n1\n", encoding=encoding)


def test_booleans_keep_their_spelling(read):
    table = read("a,b,c,d\ntrue,TRUE,yes,1\nfalse,,no,2\ntrue,False,no,3\n").table
    assert table.levels == (("false", "true"), ("False", "TRUE"), ("no", "yes"), None)
    np.testing.assert_array_equal(table.column(1), [1, -1, 0])


def test_quotes_mean_text_where_the_header_quotes_some_names(read):
    content = read('"a",b,"2"\n"1",5,"NA"\n"02",6,"x"\n"",7,\n')
    assert content.names == ("a", "b", "2")
    assert content.table.levels == (("", "02", "1"), None, ("NA", "x"))
    np.testing.assert_array_equal(content.table.column(2), [0, 1, -1])
    with pytest.raises(FileFormatError, match=r"line 3, column 1: numbers and text in 1 column \(first '2' in 'a'\)"):
        read('"a",b\n1,5\n"2",6\n')


@pytest.mark.parametrize("header", ['"a","b"', "a,b", '"a x",b', '"a,x",b', '"a", "b"', '"a""x",b'])
def test_quotes_of_other_writers_mean_nothing(read, header):
    content = read(f'{header}\n"1","NA"\n"2",3\n')
    assert content.table.levels == (None, None)


def test_quoted_text_beside_bare_numbers_is_no_header(read):
    with pytest.raises(FileFormatError, match="the first row holds numbers"):
        read('"red",5\n"blue",6\n')
    assert read('"a",b\n"z",x\n', header=False).table.levels == (("a", "z"), ("b", "x"))


def test_columns_that_will_be_left_out_are_text(read):
    text = "a,b,c\n1,2,3\n4,5,6\n"
    assert read(text, features="b").kinds == ("nominal", "numeric", "nominal")
    assert read(text, ignore="b").kinds == ("numeric", "nominal", "numeric")


@pytest.mark.parametrize(
    ("text", "names", "n_rows"),
    [
        ("a,b\n1,2\n", ("a", "b"), 1),
        ("1,2\n3,4\n", ("x1", "x2"), 2),
        ("1,?\n3,4\n", ("x1", "x2"), 2),
        ("\n\na,b\n1,2\n", ("a", "b"), 1),
    ],
)
def test_header_auto(read, text, names, n_rows):
    content = read(text)
    assert (content.names, content.table.n_rows) == (names, n_rows)


def test_header_of_numbers_and_text_asks(read):
    text = "name,2010\na,1\nb,2\n"
    with pytest.raises(FileFormatError, match=r"line 1, column 2: .*'2010'.* give header=... to say"):
        read(text)
    assert read(text, header=True).names == ("name", "2010")
    data = read("5.1,setosa\n4.9,virginica\n", header=False)
    assert (data.table.n_rows, data.names) == (2, ("x1", "x2"))


def test_duplicates(read):
    with pytest.raises(FileFormatError, match="line 1, column 3: two columns are called 'a'"):
        read("a,b,a\n1,2,3\n")
    assert read("a,b,a\n1,2,3\n", duplicates="number").names == ("a", "b", "a_2")


def test_nominal_choice_keeps_the_text(read):
    content = read("-1,2\n1,10\n0,3\n", nominal="1-2")
    assert content.table.levels == (("-1", "0", "1"), ("2", "3", "10"))
    np.testing.assert_array_equal(content.table.codes, [[0, 0], [2, 2], [1, 1]])
    content = read("a\n01\n1\nx\n", nominal="a")
    assert content.table.levels == (("01", "1", "x"),)


def test_separators_encodings_and_line_ends(read):
    assert read("a;b\n1;2,5\n", separator=";", nominal="b").table.levels[1] == ("2,5",)
    assert read("a\tb\r\n1\t2\r\n", separator="\t").names == ("a", "b")
    assert read("größe\nü\n".encode("latin-1"), encoding="latin-1").table.levels == (("ü",),)
    assert read("größe\n–\n".encode("cp1252"), encoding="windows-1252").table.levels == (("–",),)
    assert read("\ufeffgröße\nü\n", encoding="utf-8-sig").names == ("größe",)
    assert read("サイズ\n大\n".encode("shift_jis"), encoding="shift_jis").table.levels == (("大",),)
    assert read(b"\xef\xbb\xbfa,b\r1,2\r3,4\r").names == ("a", "b")
    assert read(gzip.compress(b"a,b\n1,2\n", mtime=0), name="f.csv.gz").table.n_rows == 1
    assert read('a,b\n1,"two\nlines"\n').table.levels[1] == ("two\nlines",)


def test_large_integers_and_exact_numbers(read):
    texts = ["123456789012345678901234567890", "0.1", "-2.5e-310"]
    content = read("a\n" + "\n".join(texts) + "\n")
    np.testing.assert_array_equal(content.table.column(0), [float(text) for text in texts])
    huge = read("a\n123456789012345678901234567890\n?\n")
    np.testing.assert_array_equal(huge.table.column(0), [123456789012345678901234567890.0, np.nan])


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 1, None, "the file is empty"),
        ("a,b\n", 1, None, "no row of data"),
        ("a,b\n1,2\n1,2,3\n", 3, None, "3 cells, but there are 2 columns"),
        ("a,b\n1,2\n\n1\n", 4, None, "1 cell, but there are 2 columns"),
        ('a,b\n"x",2\n"y"\n', 3, None, "1 cell, but there are 2 columns"),
        ('a,b\n"x,2\n', 2, None, "malformed"),
        ("a,b\n1,2\n3,inf\n", 3, 2, "column 'b': 'inf' is infinite"),
        ("a,b\n1,2\n3,many\n", 3, 2, "text in columns of numbers: 'many' (1 cell), first in 'b': missing=['many']"),
        ("a\n1\n\n2\n", 3, None, "blank line in a file of one column"),
        ("a;b\n1;2\n", 1, None, "did you mean separator=';'?"),
        (b"a,b\n1,\0\n", 2, None, "NUL byte"),
    ],
)
def test_faults_are_named_with_their_place(read, text, line, column, problem):
    with pytest.raises(FileFormatError) as caught:
        read(text)
    assert problem in caught.value.problem
    assert (caught.value.line, caught.value.column) == (line, column)


def test_options_are_checked(read):
    for options in ({"separator": ",,"}, {"separator": "a"}, {"header": "maybe"}, {"duplicates": "x"}):
        with pytest.raises(ParameterError):
            read("a,b\n1,2\n", **options)
    with pytest.raises(ParameterError, match="nominal='c'"):
        read("a,b\n1,2\n", nominal="c")


def test_a_target_of_decimal_commas_is_told():
    X = np.random.default_rng(0).normal(size=(40, 2)).round(3)
    y = [str(value).replace(".", ",") for value in X[:, 0]]
    assert any("with a comma" in note for note in om.Dataset(X, y).notes)
