"""What commands say about data and options: notes, hints, names."""

from __future__ import annotations

import shlex
import sqlite3

import numpy as np
import pandas as pd
import pytest

from omnirank.cli.options import OPTIONS, option_of
from tools.command import run

# as a user has them
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Tables that give rise to notes."""
    folder = tmp_path_factory.mktemp("notes")
    rng = np.random.default_rng(0)
    height = rng.normal(size=30)
    frame = pd.DataFrame({"height": height, "width": rng.normal(size=30), "kind": np.where(height > 0, "a", "b")})
    dates = [f"{1 + i % 28}.{1 + i % 12}.20{10 + i % 9}" for i in range(30)]
    tables = {
        "plants": frame,
        "my plants": frame,
        "empty": frame.assign(kind=None),
        "eggs": frame.assign(eggs=rng.permutation(np.arange(30) % 8)),
        "dates": frame.assign(when=dates)[["width", "when"]],
        "two": frame.rename(columns={"height": "a", "width": "b"}),
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    (folder / "numbers.csv").write_text("x,y\n1,0\n2,1\n3,0\n")
    (folder / "sick.csv").write_text("x,y\n1,a\n-99,b\nunknown,b\n")
    (folder / "flags.csv").write_text("x,red\n1,0\n2,1\n3,1\n")
    label = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="red"/></labels>'
    (folder / "flags.xml").write_text(label)
    (folder / "mixed.csv").write_text("x,y\n" + "1,0\n2,1\n" * 50 + "few,0\n")
    (folder / "task=plants.txt").write_text("x,y\n1,0\n")
    return folder


@pytest.fixture
def folder(files, monkeypatch):
    """The folder in which commands run."""
    monkeypatch.chdir(files)


def said(command, code=0):
    """All that a command says, in one line."""
    return " ".join(run(*shlex.split(command), code=code, env={"COLUMNS": "400"}).output.split())


COUNTS = "the whole numbers of 'eggs' are taken as 8 classes; if they are counts, say --task regression"
EQUAL = "note: all scores are equal (0): the order is that of the data and means nothing"
EMPTY = "note: no value of the target 'kind' is known: features are ranked without it"
EVALUATE = "evaluate plants.csv -t kind -m genie3 --folds 3 --jobs 1 --set n_trees=2 "


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("command", "words", "otherwise"),
    [
        ("rank 'my plants.csv' -m univariate -t kind", "my plants: classification", ""),
        ("info numbers.csv", "--target ... names one", "-t y"),
        ("rank numbers.csv -m uniform", "--target ... names one", "-t y"),
        ("info sick.csv -t y --csv --missing unknown", "missing cells,1", "--missing -99"),
        ("info flags.csv", "--read labels=flags.xml takes it", "-t red"),
        ("rank plants.csv -t kind -m univariate --labelled 0", "no example has a label", ""),
        ("rank plants.csv -t kind -m relief --labelled 1", "30 examples, 1 labelled", ""),
        ("rank plants.csv -t kind -m relief --labelled 1.0", "30 examples, all labelled", ""),
        ("rank empty.csv -t kind -m variance", EMPTY, "--task clustering"),
        ("rank plants.csv -t height --trees 5 --jobs 1 --task classification", EQUAL, ""),
        ("rank eggs.csv -t eggs --trees 3", COUNTS, "--task regression"),
        ("info eggs.csv -t eggs", COUNTS, "--task classification"),
        ("tree eggs.csv -t eggs", COUNTS, "--task classification"),
        ("select eggs.csv -t eggs -m univariate", COUNTS, "--task regression"),
        ("rank dates.csv --trees 2", "'when' is a date, taken as a number (seconds since 1970)", ""),
        ("info two.csv -t a --target b", "2: a (numeric), b (numeric)", ""),
        ("info two.csv -ta -tb", "2: a (numeric), b (numeric)", ""),
        ("select plants.csv -t kind --trees 2 --folds 3", "kept:", ""),
        ("stability plants.csv -t kind --trees 2 --resamples 3", "stability of the top", ""),
        (EVALUATE + "-n 20", "warning: --neighbors 20, but there are only 20 labelled training examples", ""),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_note_is_printed_and_otherwise_not(command, words, otherwise):
    assert said(command).count(words) == 1
    assert not otherwise or words not in said(f"{command} {otherwise}")


@pytest.mark.usefixtures("folder")
def test_advice_names_options_and_leaves_files_alone():
    shown = said("info mixed.csv -t y", code=2)
    assert (
        "--missing few reads it as missing, --read nominal=x takes a column as categories, --ignore x leaves it"
        in shown
    )
    assert "this reads it: omnirank info mixed.csv -t y --missing few" in shown
    assert "task=plants.txt: the ending '.txt' is none of" in said("info task=plants.txt", code=2)
    assert "warning" not in said(EVALUATE + "-n 19")


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_evaluate_with_few_labels():
    assert "30 examples, all labelled (in each training part 12)" in said(EVALUATE + "-n 2 --labelled 12")
    assert "30 examples, all labelled, 2 features" in said(EVALUATE + "-n 2")
    half = said(EVALUATE + "-n 2 --labelled 0.5 --supervision 0.5")
    assert "(in each training part 10)" in half
    assert half != said(EVALUATE + "-n 2 --labelled 0.5 --supervision 1")
    tested = said("evaluate plants.csv -t kind -m univariate --test plants.csv --labelled 8 -n 2")
    assert "30 examples, 8 labelled" in tested


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("target", "my kind", '--target "my kind"'),
        ("target", "it's", '--target "it\'s"'),
        ("n_trees", 0, "--trees 0"),
        ("n_trees", True, "--trees True"),
        ("probabilities", True, "--probabilities"),
        ("keys", {"b.a": "a", "c": None}, "--key b.a=a,c="),
        ("types", {"b.c": "nominal"}, "--read nominal=b.c"),
        ("exclude", ["b.c"], "--ignore b.c"),
        ("header", False, "--read header=False"),
        ("labels", "my file.xml", '--read "labels=my file.xml"'),
        ("bootstrap", True, None),
    ],
)
def test_the_library_speaks_of_options(name, value, shown):
    flags = dict.fromkeys(["--target", "--trees", "--key", "--ignore", "--read"], False)
    token = OPTIONS.set(flags | {"--probabilities": True})
    assert option_of(name, value) == shown
    OPTIONS.reset(token)


@pytest.mark.slow
def test_open_rows_of_a_study_are_not_blank(tmp_path):
    plan = tmp_path / "small.toml"
    one = 'method = [{ use = "univariate" }, { use = "uniform" }]\nfolds = { n_folds = 2 }\n'
    plan.write_text('data = [{ sample = "iris" }, { sample = "wine" }]\n' + one)
    run("experiment", "run", plan, "--jobs", 1)
    with sqlite3.connect(tmp_path / "small.sqlite") as store:
        keys = [key for (key,) in store.execute("SELECT key FROM members WHERE data = 'wine' AND fold = 0")]
        store.executemany("UPDATE jobs SET state = 'pending' WHERE key = ?", [(key,) for key in keys])
    store.close()
    shown = run("compare", plan)
    assert "no complete results yet of wine: left out" in shown.stderr
    assert not [line for line in shown.stdout.splitlines() if line.split() == ["wine"]]


@pytest.mark.slow
def test_every_reader_of_texts_takes_an_encoding(tmp_path):
    def written(name, text):
        (tmp_path / name).write_bytes(text.encode("cp1252"))
        return str(tmp_path / name)

    table = written("t.csv", "größe,b\n1.5,ä\n2.5,b\n3.5,ä\n")
    arff = written("t.arff", "@relation r\n@attribute größe real\n@attribute b {ä,b}\n@data\n1.5,ä\n2.5,b\n")
    settings = written("t.s", "% größe\n[Data]\nFile = t.arff\n[Attributes]\nTarget = 2\n")
    facts = written("facts.txt", "likes(ana, käse).\nlikes(bob, eggs).\n")
    target = written("target.txt", "kind(ana, ä).\nkind(bob, b).\n")
    (tmp_path / "tables").mkdir()
    written("tables/people.csv", "id,kind,größe\n1,ä,2.5\n2,b,3.5\n")
    people = tmp_path / "tables"
    infos = [(table, "-t", "b"), (arff,), (settings,), (people, "-t", "people.kind"), (facts, "-t", target)]
    converted = [("convert", table, tmp_path / out) for out in ("t.parquet", "parts")]
    for command in (*(("info", *info) for info in infos), *converted, ("clus", settings)):
        shown = " ".join(run(*command, code=2).output.split())
        option = "--encoding cp1252" if command[0] == "clus" else "--read encoding=cp1252"
        assert f"is not UTF-8; {option} names the encoding of the file" in shown, command
        run(*command, *option.split())


def test_the_command_of_an_error_reads_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"S{i};{i % 7},{i % 10};{'<0,01' if i % 9 == 0 else f'0,{i}'};P{i % 8};{i % 3},5" for i in range(48)]
    text = "\n".join(["Gewässer;;;;", "Probe;pH;Cd;Ort;Ertrag", *rows, ";;;;"])
    (tmp_path / "my field.csv").write_bytes(text.replace("S5;5,5", "S5;n.d.").encode("cp1252"))
    shown = run("select", "my field.csv", "-t", "ertrag", "--redundancy", 0.9, code=2).stderr
    assert "there is no such column; did you mean 'Ertrag'?" in shown
    arguments = ("select", "my field.csv", "-t", "Ertrag", "--key", "Probe", "--groups", "Ort", "--redundancy", 0.9)
    shown = run(*arguments, "-m", "univariate", "--folds", 3, code=2).stderr
    command = shown.split("this reads it: ")[1]
    assert "--missing n.d." in command
    result = run(*shlex.split(command)[1:])
    assert "kept: " in result.stdout
    assert "48 examples" in result.stdout
