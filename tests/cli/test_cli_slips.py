"""Slips of the hand and of the mind: every answer names what was typed and says what to type instead."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.errors import DataError, DataTypeError, FileFormatError
from tools.command import run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a table, a ranking of it, a model and files that are none of these."""
    folder = tmp_path_factory.mktemp("slips")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"])
    frame["kind"] = np.where(frame["a"] + rng.normal(size=30) > 0, "yes", "no")
    frame.to_csv(folder / "t.csv", index=False)
    ranking = om.UnivariateRanker().fit(frame[["a", "b"]], frame["kind"]).ranking_
    ranking.save(folder / "r.json")
    ranking.save(folder / "r.csv")
    om.PCTClassifier().fit(frame[["a", "b"]], frame["kind"]).save(folder / "m.omr")
    (folder / "notes.md").write_text("hello\n", encoding="utf-8")
    (folder / "c.s").write_text("[Data]\nFile = t.arff\n", encoding="utf-8")
    return folder


@pytest.fixture
def folder(files, monkeypatch):
    """The folder in which commands run."""
    monkeypatch.chdir(files)


def said(command):
    """What a command that is refused says, in one line and without the frame around it."""
    output = run(*command.split(), code=2, env={"COLUMNS": "400"}).output
    return " ".join(output.replace("│", " ").split())


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("command", "answer"),
    [
        # options
        ("clus -foest c.s", "there is no option -foest (did you mean '-forest'?)"),
        ("clus c.s -xva", "there is no option -xva (did you mean '-xval'?)"),
        ("clus c.s -forst -ssl", "there is no option -forst (did you mean '-forest'?)"),
        ("rank t.csv -trees 5", "there is no option -trees: names of several letters have two dashes, --trees"),
        ("rank t.csv -target kind", "there is no option -target: names of several letters have two dashes, --target"),
        ("rank t.csv -out=r.json", "there is no option -out: names of several letters have two dashes, --out"),
        ("rank t.csv --taget kind", "there is no option --taget (did you mean '--target'?)"),
        ("rank t.csv --taget=kind", "there is no option --taget (did you mean '--target'?)"),
        ("rank t.csv --neighbors 5", "there is no option --neighbors: parameters of the method are set by --set"),
        ("demo --trees 3", "there is no option --trees"),
        ("methods --taks regression", "there is no option --taks (did you mean '--task'?)"),
        ("experiment run p.toml --job 2", "there is no option --job (did you mean '--jobs'?)"),
        # values
        ("rank t.csv --jobs 0", "--jobs 0: choose a number of workers, -1 for all cores"),
        ("rank t.csv --jobs two", "--jobs two:"),
        ("rank t.csv -j two", "--jobs two:"),
        ("rank t.csv --jobs=two", "--jobs two:"),
        ("rank t.csv --top -3", "--top -3:"),
        ("rank t.csv --seed abc", "--seed abc:"),
        ("rank t.csv --seed -1", "--seed -1: choose an integer from 0 to 2**128 - 1"),
        ("evaluate t.csv --folds 1", "--folds 1:"),
        # too many arguments
        ("rank t.csv kind", "'kind' is one argument too many: --target kind names the target"),
        ("rank t.csv --target a kind", "too many: several names are separated by commas, --target a,kind"),
        ("rank t.csv -t a kind", "--target a,kind"),
        ("info t.csv kind", "--target kind names the target"),
        ("compare r.json r.csv", "omnirank compare-rankings r.json r.csv compares two rankings"),
        ("evaluate t.csv r.json --target kind", "--ranking r.json judges a ranking that there is"),
        ("evaluate r.json t.csv --target kind", "the data come first, and --ranking r.json judges"),
        ("methods relief", "'relief' is one argument too many"),
        ("demo now", "'now' is one argument too many"),
        ("demo now and then", "'now', 'and', 'then' are too many arguments"),
        # commands
        ("help", "omnirank --help lists the commands"),
        ("version", "omnirank --version"),
        ("t.csv", "omnirank rank t.csv ranks its features"),
        ("rnk t.csv", "'rank'"),
        # files of another kind
        ("rank r.json --target kind", "r.json: data are not read from JSON; a ranking is read by om.Ranking.load,"),
        ("rank m.omr --target kind", "m.omr: a model is no data: om.load_model and omnirank predict read it"),
        ("info m.omr", "m.omr: a model is no data"),
        ("rank t.csv --target kind --memory 1G", "parts of a table are Parquet files: omnirank convert t.csv FOLDER"),
        ("predict r.json t.csv --out o.csv", "r.json: not a model: model.save and omnirank fit write such files"),
        ("compare r.json", "om.Ranking.load reads the file of a ranking, omnirank compare-rankings compares two"),
        ("compare notes.md", "notes.md: not a store of experiments, or damaged"),
        ("experiment run t.csv", "t.csv: not a plan, which is a TOML file: omnirank experiment example prints one"),
        ("experiment run r.json", "r.json: not a plan, which is a TOML file"),
        ("clus t.csv", "not a settings file of CLUS"),
        ("clus r.json", "not a settings file of CLUS"),
    ],
)  # fmt: skip
def test_a_slip_is_answered(folder, command, answer):
    assert answer in said(command)


def test_values_that_look_like_options_are_none(folder):
    for value in ("-3", "-1.5", "-"):
        assert "there is no option" not in said(f"rank t.csv --target {value}")
    assert "there is no option" not in said("rank -- -foest")
    assert "--target -kind: there is no such column" in said("rank t.csv --target -kind")


def test_short_options_may_stand_together_with_their_value(folder):
    run("rank", "t.csv", "-tkind", "-munivariate", "-k1")


@pytest.mark.parametrize(
    ("read", "kind", "message"),
    [
        (lambda: om.load_model("t.csv"), FileFormatError, "t.csv: not a model: .* om.load reads data"),
        (lambda: om.load_model("r.json"), FileFormatError, "r.json: not a model: .* om.Ranking.load reads a ranking"),
        (lambda: om.load_model(None), DataTypeError, "load_model reads one file: give its path, not NoneType"),
        (lambda: om.load("m.omr"), ValueError, "m.omr: a model is no data: om.load_model"),
        (
            lambda: om.load("r.json"),
            ValueError,
            "r.json: data are not read from JSON; a ranking is read by om.Ranking.load",
        ),
        (lambda: om.Ranking.load("r.jsn"), ValueError, "not 'r.jsn'"),
        (lambda: om.open_shards("t.csv", "kind"), DataError, "omnirank convert t.csv FOLDER"),
        (lambda: om.UnivariateRanker().fit("t.csv"), DataTypeError, r"om.load\('t.csv', target\) reads a file"),
        (
            lambda: om.PCTClassifier().fit("t.csv", ["yes", "no"]),
            DataTypeError,
            r"om.load\('t.csv', target\) reads a file",
        ),
    ],
)
def test_the_library_says_what_reads_a_file(folder, read, kind, message):
    with pytest.raises(kind, match=message):
        read()
