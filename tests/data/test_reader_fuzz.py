"""Damaged files: every reader answers with data or an error of omnirank's own, and soon.

The number of damaged inputs is small here; OMNIRANK_FUZZ_CASES=200000 runs as many, OMNIRANK_FUZZ_SEED
another draw.
"""

import gzip
import io
import os
import random
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import savemat

from omnirank.core.errors import OmnirankError
from omnirank.data.arff import read_arff
from omnirank.data.arff.rows import Rows
from omnirank.data.load import load

CASES = int(os.environ.get("OMNIRANK_FUZZ_CASES", "3000"))
SEED = int(os.environ.get("OMNIRANK_FUZZ_SEED", "0"))

DENSE = b"""% comment
@RELATION 'small: -C -1'
@attribute 'the size' numeric
@attribute colour {red, 'dark blue', "it\\'s"}
@Attribute n integer
@attribute class {0,1}

@data
1.5,red,3,0
-2e-3,'dark blue',?,1
% between
?,"it\\'s",7,?
0.25, red , 12,1
"""
SPARSE = b"""@relation s
@attribute a numeric
@attribute b {no,yes}
@attribute c real
@attribute label1 {0,1}
@attribute label2 {0,1}
@data
{0 1.5,1 yes, 3 1}
{}
{2 -4, 4 1}
{0 ?,1 ?,4 ?}
"""
TREE = b"""@relation h
@attribute x numeric
@attribute y {u,v}
@attribute class hierarchical a,a/b,a/b/c,d,d/e
@data
1,u,a/b@d
2,v,a/b/c
?,?,?
3,u,root
"""
DAG = b"""@relation g
@attribute x numeric
@attribute class hierarchical root/a,root/b,a/c,b/c
@data
1,c
2,a@b
"""
MIXED = b"""@relation m
@attribute id string
@attribute day date "yyyy-MM-dd"
@attribute x numeric
@attribute k key
@data
'first, one',1999-12-31,1,a,{0.5}
second,2000-01-01,?,b
"""
CSV = b'''size,colour,flag,y
1.5,red,True,0
2,"dark, blue",False,1
?,NA,True,1
-3e2,"say ""hi""",,0
'''
TSV = b"1\t2\t0.5\n3\t?\t1\n5\t6\t2.5\n"
XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="label1"><label name="label2"></label></label>
</labels>
"""
SETTINGS = b"""[General]
RandomSeed = 1
[Data]
File = beside.arff
[Attributes]
Descriptive = 1-2
Target = 3 % the last
Disable = None
[Hierarchical]
Type = Tree
HSeparator = /
WParam = 0.75
"""

TOKENS = [
    b"?", b",", b",,", b"'", b'"', b"\\", b"{", b"}", b"{}", b"%", b"@", b"@data", b"@attribute",
    b"@relation", b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"1e999", b"1e-999", b"1_000", b"0x1F",
    b"1.", b".5", b"+", b"-", b"--1", b"1e", b"\t", b" ", b"\n", b"\n\n", b"\r", b"\r\n", b"\x00", b"\x0b",
    b"\x1a", b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xd9\xa1", b"99999999999999999999",
    b"-1", b"0", b"1", b"2 2", b"root", b"a/b", b"/", b"@@", b"a@", b"numeric", b"string", b"date",
    b"date 'qqq'", b"relational", b"hierarchical", b"key", b"{0,1}", b"{a,a}", b"{,}", b"\\u0041",
    b"\\ud800", b"True", b"-C 2", b"-C -9", b"-C 0", b"<label>", b"</labels>", b"&amp;", b"<!DOCTYPE x>",
    b"[Data]", b"=", b"File", b"None", b"1-", b"last", b"last:2", b"#", b";", b"|", b" " * 200, b"9" * 400,
    b"(" * 50, b"{0 1" * 20,
]  # fmt: skip

CHOICES = [None, None, None, "last", "1", "last:2", "class", "1-2", "*", "[lx]*", "nothing", 3, ["a", "c"]]


@cache
def mat_seeds() -> tuple[bytes, ...]:
    files = []
    for compressed in (False, True):
        for x in (np.arange(12.0).reshape(4, 3), sparse.csc_matrix(np.eye(4))):
            buffer = io.BytesIO()
            savemat(buffer, {"X": x, "Y": np.array([[1], [2], [1], [2]])}, do_compression=compressed)
            files.append(buffer.getvalue())
    return tuple(files)


@cache
def parquet_seed() -> bytes:
    buffer = io.BytesIO()
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", "y"], "c": pd.Categorical(["u", "v"]), "d": [True, False]})
    frame.to_parquet(buffer)
    return buffer.getvalue()


def seeds(kind: str) -> tuple[bytes, ...]:
    if kind == "mat":
        return mat_seeds()
    if kind == "parquet":
        return (parquet_seed(),)
    return {
        "arff": (DENSE, SPARSE, TREE, DAG, MIXED),
        "csv": (CSV,),
        "tsv": (TSV,),
        "xml": (XML,),
        "s": (SETTINGS,),
        "arff.gz": (gzip.compress(DENSE, mtime=0), gzip.compress(SPARSE, mtime=0)),
    }[kind]


KINDS = {"arff": 12, "csv": 4, "tsv": 2, "xml": 2, "s": 2, "arff.gz": 1, "mat": 1, "parquet": 1}


def damaged(rng: random.Random, text: bytes, is_text: bool) -> bytes:
    """A file with parts cut out, repeated or replaced: by bytes, tokens or other lines of it."""
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        at = rng.randrange(len(text) + 1)
        part = text[at : at + rng.choice([0, 1, 1, 2, 5, 20])]
        others = [b"", bytes([rng.randrange(256)]), part * rng.choice([2, 3, 20])]
        if is_text:
            lines = text.split(b"\n")
            others += [rng.choice(TOKENS), rng.choice(TOKENS), rng.choice(TOKENS), b"\n" + rng.choice(lines) + b"\n"]
        text = text[:at] + rng.choice(others) + text[at + len(part) :]
    if rng.random() < 0.05:
        text = text.replace(b"\n", rng.choice([b"\r\n", b"\r", b" \n", b"\t\n"])) if is_text else truncate(rng, text)
    return text


def truncate(rng: random.Random, text: bytes) -> bytes:
    return text[: rng.randrange(len(text))]


def read_damaged(rng: random.Random, kind: str, folder) -> str:
    """Read one damaged file in every way it can be read; the answer says how it went."""
    seed = rng.choice(seeds(kind))
    # other damage of a MATLAB file can crash SciPy
    content = truncate(rng, seed) if kind == "mat" else damaged(rng, seed, kind not in ("parquet", "arff.gz"))
    path = folder / f"damaged.{kind}"
    path.write_bytes(content)
    options = {"target": rng.choice(CHOICES), "strings": rng.choice(["error", "drop"])}
    if kind == "xml":
        options = {"labels": path}
        path = folder / "labelled.arff"
    elif kind == "s":
        options = {}
    elif rng.random() < 0.3:
        options["nominal"] = rng.choice(CHOICES)
    elif kind in ("csv", "tsv"):
        options["header"] = rng.choice(["auto", True, False])
    try:
        load(path, **options)
        answer = "read"
    except OmnirankError:
        answer = "refused"
    return answer


@pytest.mark.slow
def test_damaged_files_are_read_or_refused(tmp_path):
    (tmp_path / "beside.arff").write_bytes(TREE)
    (tmp_path / "labelled.arff").write_bytes(SPARSE)
    rng = random.Random(SEED)
    names, shares = list(KINDS), list(KINDS.values())
    answers: dict[str, int] = {"read": 0, "refused": 0}
    for case in range(CASES):
        kind = rng.choices(names, shares)[0]
        state = rng.getstate()
        try:
            answers[read_damaged(rng, kind, tmp_path)] += 1
        except Exception as problem:
            rng.setstate(state)
            content = (tmp_path / f"damaged.{kind}").read_bytes()
            pytest.fail(f"case {case} ({kind}): {type(problem).__name__}: {problem}\n{content!r}")
    # Both must happen often, or the damage is too weak or too strong to show anything.
    assert min(answers.values()) > CASES / 20


PLAIN = [
    b"@relation r\n@attribute a numeric\n@attribute b {0,1,dark_blue}\n@data\n1.5,0\n-2e-3,1\n?,dark_blue\n7,?\n",
    b"@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n{0 1.5,1 2}\n{}\n{1 -4}\n",
    b"@relation r\n@attribute a {0,1}\n@attribute b {1,0,yes}\n@data\n{0 1,1 yes}\n{}\n{1 0}\n",
]


def outcome(path, **patched):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in patched.items():
            patch.setattr(f"omnirank.data.arff.rows.Rows.{name}", value)
        try:
            found = read_arff(path)
        except OmnirankError as error:
            return str(error)
    cells = [found.table.column(i).tolist() for i in range(found.table.n_columns)]
    return repr((found.names, found.table.is_sparse, sorted(found.table.rounded), cells))


def test_plain_rows_are_read_by_column_as_cell_by_cell(tmp_path):
    rng, path, n_plain = random.Random(SEED), tmp_path / "plain.arff", 0
    by_column = Rows._add_plain

    def counted(rows, lines):
        nonlocal n_plain
        is_plain = by_column(rows, lines)
        n_plain += is_plain
        return is_plain

    for _ in range(CASES // 6):
        head, _, rows = rng.choice(PLAIN).partition(b"@data\n")
        path.write_bytes(head + b"@data\n" + (damaged(rng, rows, True) if rng.random() < 0.7 else rows))
        assert outcome(path, _add_plain=counted) == outcome(path, _add_plain=lambda rows, lines: False), (
            path.read_bytes()
        )
    assert n_plain > CASES / 20


@pytest.mark.parametrize("kind", list(KINDS))
def test_undamaged_files_are_read(kind, tmp_path):
    (tmp_path / "beside.arff").write_bytes(TREE)
    (tmp_path / "labelled.arff").write_bytes(SPARSE)
    for content in seeds(kind):
        path = tmp_path / f"sound.{kind}"
        path.write_bytes(content)
        options = {"labels": path} if kind == "xml" else {"strings": "drop"} if content is MIXED else {}
        data = load(tmp_path / "labelled.arff" if kind == "xml" else path, **options)
        assert data.n_examples >= 2
