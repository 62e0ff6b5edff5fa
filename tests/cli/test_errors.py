"""Mistakes of users: each has an answer of one line that names what was typed and says what to do instead."""

from __future__ import annotations

import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app
from omnirank.errors import DataError, DataTypeError, FileFormatError, ParameterError
from tools.command import run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a table, rankings, a model, parts of a table, several tables and files that are none of these."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["height", "width"])
    frame["kind"] = np.where(frame["height"] + rng.normal(size=30) > 0, "a", "b")
    frame["size"] = 2 * frame["height"]
    frame.to_csv(folder / "t.csv", index=False)
    frame.rename(columns={"height": "hight"}).to_csv(folder / "other.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    ranking = om.UnivariateRanker().fit(om.load(folder / "t.csv", "kind", ignore="size")).ranking_
    ranking.save(folder / "r.json")
    ranking.save(folder / "r.csv")
    om.UnivariateRanker().fit(om.load(folder / "t.csv", "height")).ranking_.save(folder / "height.json")
    om.UnivariateRanker().fit(om.load(folder / "t.csv", "size", ignore="kind,height")).ranking_.save(folder / "w.json")
    om.PCTRegressor().fit(om.load(folder / "t.csv", "size", ignore="kind")).save(folder / "m.omr")
    (folder / "parts").mkdir()
    frame.to_parquet(folder / "parts" / "0.parquet")
    (folder / "shop").mkdir()
    (folder / "shop" / "films.csv").write_text("id,good\n7,yes\n2,no\n3,yes\n4,no\n")
    (folder / "shop" / "roles.csv").write_text("film,actor\n7,a\n2,b\n3,a\n4,b\n")
    (folder / "notes.md").write_text("hello\n")
    (folder / "facts.txt").write_text("% people\nlikes(ana, beef).\n")
    (folder / "c.s").write_text("[Data]\nFile = t.arff\n")
    (folder / "films.db").write_bytes(b"")
    (folder / "plan.toml").write_text('data = [{ sample = "iris" }]\nmethod = [{ use = "uniform" }]\n')
    (folder / "ranking.csv").mkdir()
    return folder


@pytest.fixture
def folder(files, monkeypatch):
    """The folder in which commands run."""
    monkeypatch.chdir(files)
    return files


def said(command):
    """What a command that is refused says, in one line."""
    return " ".join(run(*shlex.split(command), code=2, env={"COLUMNS": "400"}).output.split())


RANK, EVALUATE, TREE = "rank t.csv -t kind ", "evaluate t.csv -t kind ", "tree t.csv -t kind "
FIT, PREDICT, SHOP = "fit t.csv -t kind -o n.omr ", "predict m.omr t.csv -o o.csv ", "shop -t films.good "

ERRORS = [
    # options and their values
    ("rank t.csv --taget kind", "No such option: --taget (Possible options: --set, --target"),
    ("rnk t.csv", "No such command 'rnk'. Did you mean 'rank'?"),
    ("rank t.csv kind", "Got unexpected extra argument"),
    (RANK + "--jobs 0", "error: --jobs 0: choose"),
    (RANK + "--top -3", "Invalid value for '--top'"),
    ("rank t.csv -t knd", "error: --target knd: there is no such column; did you mean 'kind'?"),
    (RANK + "--groups nope", "error: --groups nope: there is no such column"),
    (RANK + "--key size --groups height,widht", "error: --groups widht: there is no such column; did"),
    (RANK + "--key nope --groups size", "error: --key nope: there is no such column"),
    (RANK + "--method univariat", "did you mean 'univariate'"),
    (RANK + "-m random --set n_jobs", "--set n_jobs: write NAME=VALUE"),
    (RANK + "-m genie3 --set importance=permutation", "choose --method permutation instead"),
    (RANK + "--set ensemble=forest", "ensemble='forest': choose one of random-forest, extra-trees, bagging"),
    (RANK + "--set min_samples_leaf=0", "min_samples_leaf=0: choose a number above 0"),
    (RANK + "-m univariate --trees 5", "--trees 5: method 'univariate' has no such parameter"),
    (RANK + "--supervision 2", "--supervision 2"),
    (RANK + "--labelled 0.0", "--labelled 0.0: choose"),
    ("rank t.csv --labelled 20", "--labelled keeps some labels, but there is no target: name it with --target"),
    ("rank t.csv -t size -m relieff", "does not handle regression: choose the method relief"),
    ("methods --task guess", "--task guess: choose one of classification"),
    # reading
    ("info t.csv --read header=maybe", "--read header=maybe: choose"),
    ("info t.csv --read nominal=kind --read nominal=size", "--read nominal is given more than once"),
    ("info t.csv --read headr=no", "--read headr: no such key for one file (did you mean 'header'?); the keys are"),
    ("info t.parquet --read encoding=cp1252", "encoding is for files that end in"),
    ("info parts --missing x", "--missing is not for Parquet files that are parts of one table: leave it out"),
    ("info shop -t films --key id", "write table=column"),
    ("info facts.txt", "facts.txt holds facts: name the file of the target's facts by --target, or two"),
    ("info notes.md", "save the data as CSV"),
    ("info t.cv", "did you mean 't.csv'?"),
    ("info -", "not read from the standard input"),
    ("info films.db", "sqlite:///films.db"),
    ("info sqlite:///no.db -t a", "there is no database"),
    ("select shop -t films.good", "is judged on at least 6 labelled examples, there are 4"),
    ("rank shop", "holds the tables films, roles: name the target by --target"),
    ("rank r.json -t kind", "r.json: data are not read from JSON; a ranking is read by om.Ranking.load,"),
    ("rank m.omr -t kind", "m.omr: a model is no data: om.load_model and omnirank predict read it"),
    (RANK + "--read max_memory=1G", "omnirank convert t.csv FOLDER"),
    # several tables
    ("rank " + SHOP + "--significance", "--significance is for one table"),
    ("rank " + SHOP + "-m relief", "relational-genie3"),
    ("evaluate " + SHOP + "-m genie3", "--method is for one table"),
    (RANK + "-m relational-genie3", "takes a RelationalDataset"),
    ("features " + SHOP + "-o o.doc", "the ending must be one of"),
    ("features t.csv -t kind", "t is one table: features are constructed from several"),
    # files to write
    (RANK + "-o t.csv", "cannot write t.csv: it is the data file itself"),
    (RANK + "-o no/r.csv", "cannot write no/r.csv: there is no folder 'no'"),
    (RANK + "-o r.txt", "r.txt: the ending must be one of .json, .csv, .png, .svg, .pdf"),
    ("convert t.csv t.csv", "it is the data file itself"),
    ("convert t.parquet o", "only delimited text becomes a folder"),
    ("convert t.csv o --read features=height", "--read features: no such key for a folder of Parquet files"),
    ("select t.csv -t kind -o o.txt", "the ending must be one of .arff, .arff.gz, .csv"),
    # select, stability, evaluate
    ("stability t.csv -t kind --resamples 2", "--resamples 2"),
    (EVALUATE + "-r r.csv -m univariate", "give either --ranking FILE or --method NAME"),
    ("stability " + SHOP, "reads one file, and 'shop' holds several tables: omnirank features makes one table of them"),
    ("fit " + SHOP + "-o m.omr", "this command reads one file, and 'shop' holds several tables"),
    (EVALUATE + "-m univariate --test x.csv --folds 3", "give either --test FILE or --folds K"),
    (EVALUATE + "-m univariate --folds 99", "--folds 99: choose a whole number from 2 to 30 (the number of examples)"),
    (EVALUATE + "-m genie3 --folds 3 --labelled 21", "--labelled 21: "),
    (EVALUATE + "-r r.csv --set n_trees=2", "--set is for --method"),
    (EVALUATE + "-r height.json", "another target: 'kind', the target of the data, is a feature of it"),
    (EVALUATE + "--ignore height,size -r w.json", "another target: regression, the data are made for classification"),
    ("compare-rankings r.json rr.json", "there is no file 'rr.json' (did you mean 'r.json'?)"),
    ("compare r.json", "om.Ranking.load reads the file of a ranking, omnirank compare-rankings compares two"),
    ("experiment run t.csv", "t.csv: not a plan, which is a TOML file: omnirank experiment example prints one"),
    ("report notes.md -o o.html", "a report is made of rankings (.json, .csv); omnirank compare is for studies"),
    ("clus t.csv", "not a settings file of CLUS"),
    # trees and models
    (TREE + "--dot --json", "choose one"),
    (TREE + "--set max-depth=-1", "or a whole number from 0"),
    ("tree t.csv --supervision 1", "--supervision needs a target: name it with --target"),
    ("fit t.csv --ignore kind -o n.omr", "a forest needs a target: name it with --target"),
    (FIT + "--single --trees 3", "--trees is for forests: leave it out"),
    ("predict t.csv t.csv -o o.csv", "t.csv: not a model: model.save and omnirank fit write such files"),
    ("predict m.omr none.csv -o o.csv", "there is no file 'none.csv'"),
    ("predict m.omr other.csv -o o.csv", "there is no column 'height', which the model was fitted on"),
    (PREDICT + "--probabilities", "predicts neither classes nor labels"),
    (PREDICT + "--threshold 0.3", "--threshold 0.3: it is for label sets"),
    (PREDICT + "--key size", "--key size: it is also a column"),
    (PREDICT + "--read max_memory=1G", "max_memory is for folders"),
    ("predict m.omr parts -o parts", "new or empty folder"),
    ("predict m.omr parts -o o --read max_memory=much", "--read max_memory=much: it is not an amount of memory"),
    (RANK + "--seed 1 --seed=2", "--seed is given more than once"),
]  # fmt: skip


@pytest.mark.every(8)
@pytest.mark.parametrize(("command", "answer"), ERRORS)
def test_a_mistake_is_answered(folder, command, answer):
    before = sorted(folder.glob("*"))
    assert answer in said(command)
    assert sorted(folder.glob("*")) == before


def test_errors_are_one_line_on_the_error_stream(folder):
    result = run("rank", "t.csv", "-t", "knd", code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.strip().count("\n") == 0


@pytest.mark.filterwarnings("default")
def test_a_command_leaves_no_trace(folder):
    assert "--labelled 0.0: choose" in said(RANK + "--labelled 0.0")
    with pytest.raises(ParameterError, match=r"^labelled=0\.0: choose"):
        om.load("t.csv", "kind").keep_labels(0.0)


def test_traceback_on_demand():
    result = CliRunner().invoke(app, ["info", "missing.csv"], env={"OMNIRANK_TRACEBACK": "1"})
    assert isinstance(result.exception, DataError)


def test_unexpected_errors_are_not_hidden(folder, monkeypatch):
    def broken(*arguments, **more):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("omnirank.data.load.load", broken)
    assert isinstance(CliRunner().invoke(app, ["info", "t.csv"]).exception, ZeroDivisionError)


def test_files_are_checked_before_the_work(folder, monkeypatch):
    def fit(*arguments):
        raise AssertionError("it was fitted")

    monkeypatch.setattr("omnirank.rankers.univariate.UnivariateRanker.fit", fit)
    for out in ("no/r.csv", "ranking.csv", "r.txt"):
        said(RANK + f"-m univariate -o {out}")


@pytest.mark.parametrize(
    ("read", "kind", "message"),
    [
        (lambda: om.load_model("t.csv"), FileFormatError, "t.csv: not a model: model.save"),
        (lambda: om.load_model(None), DataTypeError, "load_model reads one file: give its path, not NoneType"),
        (lambda: om.load("m.omr"), ValueError, "m.omr: a model is no data: om.load_model"),
        (lambda: om.open_shards("t.csv", "kind"), DataError, "omnirank convert t.csv FOLDER"),
        (lambda: om.UnivariateRanker().fit("t.csv"), DataTypeError, r"om.load\('t.csv', target\) reads a file"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_the_library_says_what_reads_a_file(read, kind, message):
    with pytest.raises(kind, match=message):
        read()
