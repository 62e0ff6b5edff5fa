"""ARFF: what is valid is read exactly, what is not is refused with its place."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import draws
from omnirank.core.errors import DataError, FileFormatError, ParameterError
from omnirank.data.arff import read_arff
from omnirank.data.arff.tokens import quote


@pytest.fixture
def read(tmp_path):
    def read_text(text, name="file.arff", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_arff(path, **options)

    return read_text


def numeric(rows: str) -> str:
    return f"@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n{rows}"


# -- what is read -----------------------------------------------------------------------------------


def test_kinds_keywords_quotes_and_comments(read):
    content = read(
        "% a comment\n@RELATION 'the name' % and more\n\n"
        "@Attribute 'the size' REAL % in metres\n"
        '@attribute "it\'s" Integer\n'
        '@attribute colour{red, \'dark blue\',"x\\"y" }\n'
        "@ATTRIBUTE n numeric\n"
        "@DATA % now\n"
        "% between\n"
        " 1.5 ,2, 'dark blue',-3e2\n"
        "\n"
        '?,?,"x\\"y",?\n'
    )
    assert content.relation == "the name"
    assert content.names == ("the size", "it's", "colour", "n")
    assert content.kinds == ("numeric", "numeric", "nominal", "numeric")
    table = content.table
    assert table.levels == (None, None, ("red", "dark blue", 'x"y'), None)
    np.testing.assert_array_equal(table.column(0), [1.5, np.nan])
    np.testing.assert_array_equal(table.column(1), [2, np.nan])
    np.testing.assert_array_equal(table.column(2), [1, 2])
    np.testing.assert_array_equal(table.column(3), [-300, np.nan])
    assert content.declared
    assert content.target == ()


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_mark(read, line_end, mark):
    text = numeric("1,2\n3,4").replace("\n", line_end)
    content = read(mark + text.encode())
    np.testing.assert_array_equal(content.table.numeric, [[1, 2], [3, 4]])


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_encodings(read, encoding):
    text = "@relation r\n@attribute größe {ä,b}\n@data\nä\nb\n"
    content = read(text.encode(encoding), encoding=encoding)
    assert content.names == ("größe",)
    assert content.table.levels == (("ä", "b"),)
    np.testing.assert_array_equal(content.table.column(0), [0, 1])


def test_numbers_are_read_exactly(read):
    texts = ["0.1", "1e-300", "123456789.123456789", "9007199254740993", "4.9e-324", "1.7976931348623157e308"]
    rows = "\n".join(f"{text},-{text}" for text in texts)
    expected = np.array([[float(text), -float(text)] for text in texts])
    assert read(numeric(rows)).table.numeric.tobytes() == np.asfortranarray(expected).tobytes()


def test_dates_are_seconds(read):
    content = read(
        "@relation r\n@attribute a date\n@attribute b date 'dd.MM.yyyy HH:mm'\n@data\n"
        "1970-01-01T00:01:00,'02.01.1970 00:00'\n?,?\n% a block without rows\n1969-12-31T23:59:59,'01.01.1970 00:00'\n"
    )
    assert content.kinds == ("date", "date")
    np.testing.assert_array_equal(content.table.numeric, [[60, 86400], [np.nan, np.nan], [-1, 0]])


def test_string_and_key_attributes_stand_beside_the_table(read):
    content = read(
        "@relation r\n@attribute id key\n@attribute note string\n@attribute x real\n@data\na,'one, two',1\nb,?,2\n"
    )
    assert content.kinds == ("key", "string", "numeric")
    assert content.table.names == ("x",)
    assert content.texts["id"].tolist() == ["a", "b"]
    assert content.texts["note"].tolist() == ["one, two", None]


def test_row_weights(read):
    content = read(numeric("1,2,{0.5}\n3,4\n5,6, {2}\n"))
    assert content.weights.tolist() == [0.5, 1.0, 2.0]
    sparse = read(numeric("{0 1},{0.5}\n{1 2}\n"))
    assert sparse.weights.tolist() == [0.5, 1.0]
    assert read(numeric("1,2\n")).weights is None


def test_sparse_rows(read):
    content = read(
        "@relation r\n@attribute a numeric\n@attribute b {no,yes}\n@attribute c {0,1}\n@data\n"
        "{0 1.5, 2 1}\n{}\n{ 1 yes }\n{0 ?,1 ?}\n{0 0,1 no}\n"
    )
    table = content.table
    assert table.is_sparse
    assert table.levels == (None, ("no", "yes"), ("0", "1"))
    np.testing.assert_array_equal(table.column(0), [1.5, 0, 0, np.nan, 0])
    np.testing.assert_array_equal(table.column(1), [0, 0, 1, -1, 0])
    np.testing.assert_array_equal(table.column(2), [1, 0, 0, 0, 0])
    assert table.matrix.nnz == 5  # what is written out as 0 or the first level is not stored
    unknown = read("@relation r\n@attribute a numeric\n@attribute b {}\n@data\n{0 1,1 ?}\n{1 ?}\n").table
    assert unknown.column(1).tolist() == [-1, -1]


def test_a_tree_of_labels(read):
    content = read(
        "@relation r\n@attribute x numeric\n@attribute class hierarchical 01,01/01,02/01\n@data\n"
        "1,01/01@02/01\n2,?\n3,root\n4, 01 @ 02/01 \n"
    )
    assert content.labels.kind == "tree"
    assert content.labels.hierarchy.labels == ("01", "01/01", "02", "02/01")
    assert content.labels.rows == (("01/01", "02/01"), None, (), ("01", "02/01"))
    assert content.target == ("class",)


def test_a_dag_of_labels(read):
    text = "@relation r\n@attribute x real\n@attribute class hierarchical root/a,root/b,a/c,b/c\n@data\n1,c@a\n"
    content = read(text)
    assert content.labels.kind == "dag"
    assert content.labels.hierarchy.parents == ((), (), (0, 1))
    assert content.labels.rows == (("c", "a"),)
    as_tree = read(text.replace("1,c@a", "1,root/a"), hierarchy_kind="tree")
    assert as_tree.labels.hierarchy.labels == ("root", "root/a", "root/b", "a", "a/c", "b", "b/c")


def test_repeated_entries_of_a_hierarchy_are_noted(read):
    content = read("@relation r\n@attribute x real\n@attribute class hierarchical a,b,a\n@data\n1,a\n")
    assert content.labels.hierarchy.labels == ("a", "b")
    assert "1 entries of its hierarchy again" in content.notes[0]


def test_repeated_names_are_numbered_on_demand(read):
    text = "@relation r\n@attribute a real\n@attribute a real\n@attribute a_2 real\n@data\n1,2,3\n"
    content = read(text, duplicates="number")
    assert content.names == ("a", "a_2", "a_2_2")
    assert len(content.notes) == 2
    with pytest.raises(FileFormatError, match=r"line 3, column 12: .*'a' is declared twice; duplicates="):
        read(text)
    with pytest.raises(ParameterError, match="duplicates='maybe'"):
        read(text, duplicates="maybe")


@pytest.mark.parametrize(
    ("relation", "target"),
    [
        ("'x: -C 1'", ("a",)),
        ("'x: -C -1'", ("b",)),
        ("'x: -V -C 2'", ("a", "b")),
        ("'x: -C 3'", ()),
        ("'x: -C 1 -weka.filters.something'", ()),
        ("plain", ()),
    ],
)
def test_labels_of_a_meka_relation_name(read, relation, target):
    content = read(numeric("1,2").replace("@relation r", f"@relation {relation}"))
    assert content.target == target
    assert bool(content.notes) == ("-C" in relation)


# -- what is refused --------------------------------------------------------------------------------

HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 1, None, "the file is empty"),
        ("hello\n", 1, 1, "expected @relation"),
        ("@relation r\n@attribute a numeric\n", 2, None, "ends before @data"),
        ("@relation r\n@data\n1\n", 2, None, "@data comes before any @attribute"),
        ("@relation a\n@relation b\n", 2, 1, "@relation is given twice"),
        ("@relation r\n@attribute\n", 2, 11, "needs a name"),
        ("@relation r\n@attribute a\n", 2, 13, "has no type"),
        ("@relation r\n@attribute a text\n", 2, 14, "unknown type 'text'"),
        ("@relation r\n@attribute a numeric [0,1]\n", 2, 22, "unexpected text"),
        ("@relation r\n@attribute a relational\n", 2, 14, "is relational"),
        ("@relation r\n@attribute a {x,y\n", 2, 18, "not closed"),
        ("@relation r\n@attribute a {x,,y}\n", 2, 17, "empty value"),
        ("@relation r\n@attribute a {x,y,x}\n", 2, 19, "'x' twice"),
        ("@relation r\n@attribute 'a numeric\n", 2, 12, "quote ' is not closed"),
        ("@relation r\n@attribute a date 'QQ'\n", 2, None, "'QQ', which is not supported"),
        ("@relation r\n@attribute a date 'yyyy-yyyy'\n", 2, None, "twice"),
        ("@relation r\n@attribute a hierarchical a//b\n", 2, None, "empty label name"),
        ("@relation r\n@attribute a hierarchical root/a,a/b,b/a\n", 2, None, "cycle"),
        (HEAD, None, None, "no row after @data"),
        (HEAD + "1,x\n2\n", 6, None, "1 cell, but 2 attributes"),
        (HEAD + "1,x\n\n% c\n2,x,3\n", 8, None, "3 cells, but 2 attributes"),
        (HEAD + "1,x\n2,z\n", 6, 2, "attribute 'b': 'z' is none of the declared values ('x', 'y')"),
        (HEAD + "1.5.2,x\n", 5, 1, "attribute 'a': '1.5.2' is not a number"),
        (HEAD + "1_0,x\n", 5, 1, "'1_0' is not a number"),
        (HEAD + "nan,x\n", 5, 1, "a missing value is written ?"),
        (HEAD + "1e999,x\n", 5, 1, "too large"),
        (HEAD + "\x0b1,x\n", 5, 1, "not a number"),
        (HEAD + ",x\n", 5, 1, "an empty cell"),
        (HEAD + "1,'x\n", 5, None, "not closed"),
        (HEAD + "1,'x'y\n", 5, None, "after the closing quote"),
        (HEAD + "1,x,{two}\n", 5, None, "3 cells, but 2 attributes"),
        (HEAD + "1,x\n{0 1}\n", 6, None, "a sparse row among dense ones"),
        (HEAD + "{0 1}\n1,x\n", 6, None, "a dense row among sparse ones"),
        (HEAD + "{0 1,1 z}\n", 5, 2, "attribute 'b': 'z' is none of"),
        (HEAD + "{0 one}\n", 5, 1, "attribute 'a': 'one' is not a number"),
        (HEAD + "{2 1}\n", 5, None, "index 2: the attributes are 0 to 1"),
        (HEAD + "{0 1,0 2}\n", 5, 1, "the index 0 is given twice"),
        (HEAD + "{0 1\n", 5, None, "not closed by }"),
        (HEAD + "{0 1,}\n", 5, None, "expected 'index value'"),
        (HEAD + "{0 1} x\n", 5, None, "unexpected text 'x' after the row"),
        ("@relation r\n@attribute a {}\n@data\n{}\n", None, None, "has no values"),
        ("@relation r\n@attribute a date\n@data\nnow\n", 4, 1, "'now' is not a date"),
        ("@relation r\n@attribute a hierarchical a,a/b\n@data\na/c\n", 4, 1, "unknown label 'a/c'"),
        ("@relation r\n@attribute a hierarchical a\n@attribute x real\n@data\n{1 2}\n", 5, 1, "gives no labels"),
        ("@relation r\n@attribute a {'\\ud800'}\n@data\nx\n", 2, 16, "is not a character"),
        (b"@relation r\n\x00", 2, None, "NUL byte"),
        (b"\xff\xfe@\x00", 1, 1, "found '@'"),
        (gzip.compress(HEAD.encode(), mtime=0)[:-6], None, None, "gzip data are damaged"),
    ],
)
def test_faults_are_named_with_their_place(read, text, line, column, problem):
    with pytest.raises(FileFormatError) as caught:
        read(text)
    error = caught.value
    assert problem in error.problem
    assert (error.line, error.column) == (line, column)
    assert error.path.name == "file.arff"


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(DataError, match="there is no file"):
        read_arff(tmp_path / "none.arff")
    with pytest.raises(DataError, match="cannot read"):
        read_arff(tmp_path)


# -- blocks and rows --------------------------------------------------------------------------------

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
PLAIN_LEVELS = st.text("abcXYZ019_.-", min_size=1, max_size=12)
ODD_LEVELS = st.text(" ,'\"\\%{}?\tñ€a1", max_size=5)
NUMBERS = st.one_of(
    st.integers(-1000, 1000).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["0", "1.", ".5", "+3", "-0.0", "1E5", "1e-7"]),
)


@st.composite
def files(draw):
    """An ARFF text in any of its ways of writing, with dense or sparse rows, and the cells it stands for."""
    odd, is_sparse = draw(st.booleans()), draw(st.booleans())
    levels = st.lists(ODD_LEVELS if odd else PLAIN_LEVELS, min_size=1, max_size=4, unique=True)
    domains = draw(st.lists(st.none() | levels, min_size=1, max_size=12 if is_sparse else 5))
    names = draw(st.lists(NAMES, min_size=len(domains), max_size=len(domains), unique=True))
    lines = ["@relation r"]
    for name, domain in zip(names, domains, strict=True):
        kind = "numeric" if domain is None else "{" + ", ".join(map(quote, domain)) + "}"
        lines.append(f"@attribute {quote(name)} {kind}")
    lines.append("@data")
    cells = []
    of_dense = [",", ",", ",", ", ", *([" ,", "\t", ",\t"] if odd else [])]
    separator = st.sampled_from([",", ", ", " , "] if is_sparse else of_dense)
    blank = st.sampled_from([" ", "  ", "\t"])
    for _ in range(draw(st.integers(1, 8))):
        row = [0 if is_sparse else None for _ in domains]
        texts = []
        chosen = range(len(domains))
        if is_sparse:
            chosen = draw(st.lists(st.sampled_from(chosen), unique=True, max_size=6))
            chosen = sorted(chosen) if draw(st.booleans()) else chosen
        for i in chosen:
            domain, written = domains[i], "?"
            row[i] = None
            if draw(st.integers(0, 9)) > 0:
                text = draw(NUMBERS) if domain is None else draw(st.sampled_from(domain))
                row[i] = float(text) if domain is None else domain.index(text)
                written = text if domain is None else quote(text)
                if domain is not None and written == text and draw(st.integers(0, 4)) == 0:
                    written = f"'{text}'"
            texts.append(f"{i}{draw(blank)}{written}" if is_sparse else written)
        cells.append(row)
        line = "".join(text + draw(separator) for text in texts[:-1]) + "".join(texts[-1:])
        lines.append("{" + line + "}" if is_sparse else line)
        if draw(st.integers(0, 9)) == 0:
            lines.append(draw(st.sampled_from(["", "% a comment, with 'signs", "  "])))
    return "\n".join(lines) + "\n", names, domains, cells, is_sparse


@pytest.mark.slow
@draws(60)
@given(files(), st.sampled_from([1, 30, 1 << 20]))
def test_files_are_read_as_they_were_written(tmp_path_factory, file, block_bytes):
    text, names, domains, cells, is_sparse = file
    path = tmp_path_factory.getbasetemp() / "generated.arff"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("omnirank.data.files.BLOCK_BYTES", block_bytes)
        table = read_arff(path).table
    assert (table.names, table.is_sparse) == (tuple(names), is_sparse)
    assert table.levels == tuple(None if domain is None else tuple(domain) for domain in domains)
    for i, domain in enumerate(domains):
        missing = np.nan if domain is None else -1
        expected = np.array([missing if row[i] is None else row[i] for row in cells])
        np.testing.assert_array_equal(table.column(i), expected)
