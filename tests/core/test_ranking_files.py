from __future__ import annotations

import csv
import io
import json
import random
import re
import warnings
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnirank.core.ranking.accumulators import MeanAccumulator, ReliefSums, TargetScores
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import SeedRanges
from omnirank.errors import DataError, DataWarning, FileFormatError, ParameterError

any_float = st.floats(allow_nan=False, allow_infinity=False)
small_float = st.floats(-1e100, 1e100)
starts = st.sampled_from(["'", "''", "=", "+", "-", "@", "\t", "\r", "'=", "''-", " =", "\uff1d", "-1", "'-1"])
odd_names = (
    st.text()
    | st.builds(str.__add__, starts, st.text())
    | st.sampled_from(['"', ",", "#x", " a ", "a\rb", "a\r", "a\r\nb", "\n", "f\x85", "", "é\u2028", "\ud800", "1"])
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | any_float | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def rankings(draw):
    names = draw(st.lists(odd_names, min_size=1, max_size=5, unique=True))
    row = st.lists(small_float, min_size=len(names), max_size=len(names))
    fields = {
        "parameters": draw(st.dictionaries(st.text(), json_values, max_size=3)),
        "task": draw(st.none() | st.text()),
        "fingerprint": draw(st.none() | st.text()),
        "seeds": draw(st.none() | st.builds(SeedRanges.of, st.integers(0, 2**128 - 1), st.just(3), st.just(9))),
        "p_values": draw(st.none() | st.lists(st.floats(0, 1), min_size=len(names), max_size=len(names))),
        "p_value_test": draw(st.none() | st.text()),
    }
    method = draw(st.text())
    kind = draw(st.sampled_from(["plain", "trees", "relief"]))
    if kind == "trees":
        state = MeanAccumulator.empty(len(names)).update(draw(st.lists(row, min_size=1, max_size=3)))
        fields["per_target"] = TargetScores.from_state(
            ("y",), MeanAccumulator.empty((1, len(names))).update([[draw(row)]])
        )
        return Ranking.from_state(names, state, method, **fields)
    if kind == "relief":
        return Ranking.from_state(names, ReliefSums(draw(row), draw(row), 0.3, 1.0), method, **fields)
    errors = draw(st.none() | st.lists(st.floats(0, 1e300), min_size=len(names), max_size=len(names)))
    scores = draw(st.lists(any_float, min_size=len(names), max_size=len(names)))
    return Ranking(names, scores, method, standard_errors=errors, **fields)


@pytest.mark.slow
@given(ranking=rankings())
def test_json_brings_back_everything(tmp_path_factory, ranking):
    path = tmp_path_factory.mktemp("json") / "ranking.json"
    ranking.save(path)
    loaded = Ranking.load(path)
    assert loaded == ranking
    assert loaded.scores.tobytes() == ranking.scores.tobytes()  # also the sign of a zero
    path.unlink()


@pytest.mark.slow
@given(ranking=rankings())
def test_csv_brings_back_names_scores_and_errors(tmp_path_factory, ranking):
    path = tmp_path_factory.mktemp("csv") / "ranking.csv"
    ranking.save(path)
    loaded = Ranking.load(path)
    targets = ranking.per_target and TargetScores(ranking.per_target.names, ranking.per_target.scores)
    assert loaded == Ranking(**(ranking._fields() | {"state": None, "seeds": None, "per_target": targets}))
    assert loaded.scores.tobytes() == ranking.scores.tobytes()
    path.unlink()


@pytest.fixture
def ranking():
    trees = MeanAccumulator.empty(3).update([[1.0, 2.0, 0.0], [3.0, 2.5, 0.5]])
    targets = MeanAccumulator.empty((1, 3)).update([[[1.0, 2.0, 0.0]]])
    return Ranking.from_state(
        ["height", "width", "price, net"],
        trees,
        "genie3",
        parameters={"n_trees": 2},
        task="regression",
        fingerprint="f00d",
        seeds=SeedRanges.of(2**127, 0, 2),
        per_target=TargetScores.from_state(("y",), targets),
    )


def test_files_say_what_they_are(ranking, tmp_path):
    from importlib.metadata import version

    ranking.save(str(tmp_path / "r.json"))
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["format"] == "omnirank-ranking"
    assert document["version"] == 1
    assert document["package_version"] == version("omnirank")
    assert document["seeds"] == [{"entropy": str(2**127), "start": 0, "stop": 2}]
    replace(ranking, per_target=None, p_values=[0.5, 0.125, 1.0]).save(tmp_path / "r.CSV")
    lines = (tmp_path / "r.CSV").read_text().splitlines()
    assert lines[:3] == [
        '# format: "omnirank-ranking"',
        "# version: 1",
        f'# package_version: "{version("omnirank")}"',
    ]
    assert lines[7:] == [
        "# constant: []",
        "# n_features: 3",
        "rank,feature,score,standard_error,p_value,p_adjusted,relevant,position",
        "1,width,2.25,0.25,0.125,0.375,False,2",
        "2,height,2.0,1.0,0.5,0.75,False,1",
        '3,"price, net",0.25,0.25,1.0,1.0,False,3',
    ]


def test_corrected_p_values_alone_are_not_read(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("feature,score,p_adjusted\na,1.0,0.5\n")
    with pytest.warns(DataWarning, match="not read: 'p_adjusted'"):
        assert Ranking.load(path).p_values is None
    path.write_text("feature,score,p_value,p_adjusted\na,1.0,0.25,0.5\n")
    with warnings.catch_warnings(action="error"):
        assert Ranking.load(path).p_values.tolist() == [0.25]


def test_csv_has_a_column_for_each_target(tmp_path):
    names = ("a, b", "=t")
    scores = TargetScores(names, [[1.0, -0.5], [2.0, 0.25]])
    Ranking(["x", "y"], [0.5, 1.5], "genie3", per_target=scores).save(tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[-3:] == [
        'rank,feature,score,"score: a, b",score: =t,position',
        "1,y,1.5,-0.5,0.25,2",
        "2,x,0.5,1.0,2.0,1",
    ]
    assert Ranking.load(tmp_path / "r.csv").per_target == scores


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@x", "\tx", "\rx", " =x", "'=x", "\uff1dx", "\n=x"])
def test_no_cell_of_a_csv_file_starts_a_formula(tmp_path, name):
    path = tmp_path / "r.csv"
    original = Ranking([name, "plain"], [1.0, -2.0], "genie3")
    original.save(path)
    table = path.read_bytes().decode().partition("# n_features: 2\n")[2]
    assert next(csv.DictReader(io.StringIO(table, newline="")))["feature"] == "'" + name
    assert Ranking.load(path) == original


def test_a_csv_file_cut_at_the_end_of_a_row_is_refused(ranking, tmp_path):
    path = tmp_path / "r.csv"
    ranking.save(path)
    lines = path.read_text().splitlines(keepends=True)
    for n in range(len(lines) - 3, len(lines)):
        path.write_text("".join(lines[:n]))
        with pytest.raises(FileFormatError, match="the file was cut"):
            Ranking.load(path)


def test_csv_of_other_tools_is_read(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes(b"\xef\xbb\xbffeature,group,score\r\nwidth,body,0.5\r\n\r\nheight,body,1\r\n")
    loaded = Ranking.load(path)
    assert loaded == Ranking(["width", "height"], [0.5, 1.0], "external")


def test_saving_replaces_in_one_step_and_leaves_nothing_behind(ranking, tmp_path, monkeypatch):
    path = tmp_path / "r.json"
    path.write_text("before")

    def fail(*_):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        with pytest.raises(DataError, match=r"cannot write .*r\.json': disk full"):
            ranking.save(path)
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]
    ranking.save(path)
    assert Ranking.load(path) == ranking
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_places_that_cannot_be(ranking, tmp_path):
    folder = tmp_path / "folder.json"
    folder.mkdir()
    for use, name, error, message in (
        (ranking.save, "r.pickle", ParameterError, r"\.json or \.csv, not '.*r\.pickle'"),
        (ranking.save, "nowhere/r.json", DataError, r"cannot write .*nowhere/r\.json': there is no folder '.*nowhere'"),
        (ranking.save, "folder.json", DataError, r"cannot write '.*folder\.json': it is a folder"),
        (Ranking.load, "r.json", DataError, r"there is no file '.*r\.json'"),
        (Ranking.load, "folder.json", DataError, r"cannot read '.*folder\.json'.*"),
    ):
        with pytest.raises(error, match=message):
            use(tmp_path / name)


def test_only_files_of_our_own_lose_an_apostrophe(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("feature,score\n'=x,1\n'-a,2\n")
    assert Ranking.load(path).names == ("'=x", "'-a")


def edited(ranking, path, **changes):
    ranking.save(path)
    document = json.loads(path.read_text())
    for key, value in changes.items():
        if value is ...:
            del document[key]
        else:
            document[key] = value
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "not a ranking"),
        ({"version": "1"}, "version of the format is '1'"),
        ({"version": 4, "package_version": "9.1"}, r"omnirank 9\.1 in version 4 .* upgrade"),
        ({"p_values": [0.5, 0.5, 1.5]}, "p value of feature"),
        ({"p_values": [0.5, 0.5, 0.5], "p_value_test": 3}, "p_value_test of a ranking must be a string, not int"),
        ({"names": ...}, "'names' is missing"),
        ({"names": "abc"}, "list of strings"),
        ({"scores": [1.0]}, "shape"),
        ({"scores": [10**400, 1.0, 2.0]}, "numbers"),
        ({"scores": ["0.5", 1.0, 2.0]}, "numbers"),
        ({"scores": [2.0, 2.25, 0.5]}, "state"),
        ({"seeds": [{"entropy": "x", "start": 0, "stop": 1}]}, "seeds"),
        ({"seeds": [{"entropy": "1", "start": 3, "stop": 1}]}, "spawn keys|seeds"),
        ({"state": {"kind": "mystery"}}, "kinds"),
        ({"state": {"kind": "mean", "count": 10**400, "mean": [2, 2.25, 0.25], "m2": [0, 0, 0]}}, "replicates"),
        ({"state": {"kind": "relief", "p_ft": [1e308, 0, 0], "p_f": [-1e308, 0, 0], "p_t": 1, "weight": 2}}, "state"),
        ({"per_target": [1]}, "per_target"),
    ],
)
def test_damaged_json_is_a_clear_error(ranking, tmp_path, changes, message):
    path = edited(ranking, tmp_path / "r.json", **changes)
    with pytest.raises(FileFormatError, match=message) as caught:
        Ranking.load(path)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: not valid JSON"),
        ('{\n"a": }', "line 2, column 6: not valid JSON"),
        ('{"a": NaN}', "NaN is not a number"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_what_is_not_json_is_a_clear_error(tmp_path, text, message):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        Ranking.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FileFormatError, match="UTF-8"):
        Ranking.load(path)


HEAD = '# format: "omnirank-ranking"\n# version: 1\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have one column 'feature'"),
        ("feature,value\na,1\n", "line 1: a ranking must have one column 'score'"),
        ("feature,score\n", "no feature"),
        ("feature,score\na,1\nb\n", "line 3: 1 cell under 2 columns"),
        ("# hello\nfeature,score\na,1\nb,high\n", "line 4, column 2: 'high' is not a number"),
        ('feature,score\n"a,1\n', "line 2: not valid CSV"),
        ("feature,score,position\na,1,1\nb,2,3\n", "position"),
        ("# format: 3\nfeature,score\na,1\n", "not a ranking"),
        ('# format: "omnirank-ranking"\n# version: 7\nfeature,score\na,1\n', "version 7"),
        (f"{HEAD}# method: {{\nfeature,score\na,1\n", "line 3"),
        (f"{HEAD}# parameters: 5\n# n_features: 1\nfeature,score\na,1\n", "mapping"),
    ],
)
def test_damaged_csv_is_a_clear_error(tmp_path, text, message):
    path = tmp_path / "r.csv"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        Ranking.load(path)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_no_mutation_raises_anything_but_a_format_error(ranking, tmp_path, suffix):
    path = tmp_path / f"r.{suffix}"
    ranking.save(path)
    original = path.read_text()
    tokens = re.findall(r"\w+|\s+|.", original)
    chance = random.Random(0)
    refused = 0
    for _ in range(1500):
        mutated = list(tokens)
        for _ in range(chance.randint(1, 3)):
            i = chance.randrange(len(mutated))
            mutated[i] = chance.choice([*tokens, "", "-", "1e999", "1e308", "null", "[", '"', "\n", "\x00", "true"])
        path.write_text("".join(mutated))
        try:
            Ranking.load(path)
        except FileFormatError:
            refused += 1
    assert refused > 300  # that is, the mutations do reach the checks


def test_other_columns_of_a_foreign_file_are_named(tmp_path):
    path = tmp_path / "foreign.csv"
    path.write_text("feature,score,p_values\na,1,0.5\nb,0.5,0.5\n")
    with pytest.warns(DataWarning, match=r"not read: 'p_values' \(did you mean 'p_value'\?\)") as told:
        ranking = Ranking.load(path)
    assert ranking.scores.tolist() == [1.0, 0.5]
    assert told[0].filename == __file__
