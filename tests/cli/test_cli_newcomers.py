"""What trips newcomers of the command line: each mistake has an answer that says what to do."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app
from omnirank.cli.option_names import option_and_value
from omnirank.errors import ParameterError
from tools.command import run

RUNNER = CliRunner()
# as a user has them
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def plants(tmp_path):
    rng = np.random.default_rng(0)
    height = rng.normal(size=30)
    frame = pd.DataFrame({"height": height, "width": rng.normal(size=30), "kind": np.where(height > 0, "a", "b")})
    path = tmp_path / "plants.csv"
    frame.to_csv(path, index=False)
    return path


# -- evaluate -----------------------------------------------------------------------------------------


def evaluated(plants, *more, code=0):
    return run("evaluate", plants, "-t", "kind", "-m", "genie3", "--folds", 3, "--jobs", 1, *more, code=code)


def test_too_many_neighbours_are_warned_of_once(plants):
    found = evaluated(plants, "--set", "n_trees=2", "--neighbors", 20)
    assert found.stderr.count("warning:") == 1
    assert "--neighbors 20, but there are only 20 labelled training examples" in found.stderr
    assert "warning:" not in evaluated(plants, "--set", "n_trees=2", "--neighbors", 19).stderr


def test_parameters_of_the_method(plants):
    def figures(*more):
        return run("evaluate", plants, "-t", "kind", "-m", "random", "--csv", "-n", 3, *more).stdout

    assert figures("--set", "random-state=1") == figures("--set", "random_state=1") != figures()
    odd = evaluated(plants, "--set", "n_tree=2", code=2).stderr
    assert "did you mean 'n_trees'?" in odd
    assert "min_samples_leaf" in odd
    assert "write NAME=VALUE" in evaluated(plants, "--set", "n_trees", code=2).stderr


def test_parameters_need_a_method(plants, tmp_path):
    run("rank", plants, "-t", "kind", "-m", "univariate", "-o", tmp_path / "r.csv")
    shown = run("evaluate", plants, "-t", "kind", "-r", tmp_path / "r.csv", "--set", "n_trees=2", code=2).stderr
    assert "--set is for --method" in shown


# -- few labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["rank", "tree"])
def test_labelled_without_target(plants, command):
    shown = run(command, plants, "--labelled", 20, code=2).stderr
    assert "--labelled keeps some labels, but there is no target: name it with --target" in shown


# -- options, not parameters --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("target", "kin", "--target kin"),
        ("target", "my kind", "--target 'my kind'"),
        ("target", "it's", """--target 'it'"'"'s'"""),
        ("n_trees", 0, "--trees 0"),
        ("n_neighbors", [5, 0], "--neighbors [5, 0]"),
        ("max_features", 0.5, "--max-features 0.5"),
        ("per_target", True, "--per-target"),
        ("bootstrap", True, None),
    ],
)
def test_the_library_speaks_of_options(name, value, shown):
    options = ["--target", "--trees", "--max-features", "--per-target", "--neighbors"]
    assert option_and_value(options, name, value, flags=["--per-target"]) == shown


def test_a_command_leaves_no_trace(plants):
    assert "--labelled 0.0: choose" in run("rank", plants, "-t", "kind", "--labelled", "0.0", code=2).stderr
    with pytest.raises(ParameterError, match=r"^labelled=0\.0: choose"):
        om.load(plants, "kind").keep_labels(0.0)


def test_errors_notes_and_warnings_name_options(plants, tmp_path):
    assert "error: --target kin: there is no such column" in run("rank", plants, "-t", "kin", code=2).stderr
    plants.rename(tmp_path / "task=plants.txt")
    assert "give --separator ..." in run("info", tmp_path / "task=plants.txt", code=2).stderr
    assert "task=plants.txt: the ending" in run("info", tmp_path / "task=plants.txt", code=2).stderr
    (tmp_path / "numbers.csv").write_text("x,y\n1,0\n2,1\n3,0\n")
    assert "--target ... names one" in run("info", tmp_path / "numbers.csv").stdout
    assert "--target ... names one" in run("rank", tmp_path / "numbers.csv", "-m", "uniform").stderr
    (tmp_path / "mixed.csv").write_text("x,y\n" + "1,0\n2,1\n" * 50 + "few,0\n")
    shown = run("info", tmp_path / "mixed.csv", "-t", "y", code=2).stderr
    assert "--nominal x takes them as categories, --ignore x leaves them out, --missing ... names" in shown
    assert (
        "--labelled 99: choose a whole number"
        in run("rank", tmp_path / "numbers.csv", "-t", "y", "--labelled", 99, code=2).stderr
    )


def test_the_experiment_commands_name_their_options(tmp_path):
    (tmp_path / "plan.toml").write_text('data = [{ sample = "iris" }]\nmethod = [{ use = "uniform" }]\n')
    shown = run("experiment", "run", tmp_path / "plan.toml", "--backend", "slurm", code=2).stderr
    assert "--backend slurm: choose 'processes' or 'dask'" in shown


def test_further_missing_values(tmp_path):
    (tmp_path / "sick.csv").write_text("x,y\n1,a\n-99,b\nunknown,b\n")
    found = run("info", tmp_path / "sick.csv", "-t", "y", "--missing", "-99", "--missing", "unknown", "--csv").stdout
    assert "missing cells,2" in found


# -- files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("rank", "-o"), ("tree", "-o"), ("convert",)])
def test_data_are_not_overwritten(plants, command):
    before = plants.read_text()
    name, *option = command
    shown = run(name, plants, "-t", "kind", *option, plants.parent / "." / plants.name, code=2).stderr
    assert "it is the data file itself" in shown
    assert plants.read_text() == before


def test_what_cannot_be_written_is_said_before_the_work(plants, tmp_path, monkeypatch):
    from omnirank.rankers.univariate import UnivariateRanker

    def fit(*arguments):
        raise AssertionError("it was fitted")

    monkeypatch.setattr(UnivariateRanker, "fit", fit)
    (tmp_path / "folder.csv").mkdir()
    for out, message in [
        ("absent/ranking.csv", "the folder"),
        ("folder.csv", "it is a folder"),
        ("ranking.txt", "a ranking is kept in a file named .json or .csv"),
    ]:
        assert message in run("rank", plants, "-t", "kind", "-m", "univariate", "-o", tmp_path / out, code=2).stderr


def test_files_that_are_not_there(plants, tmp_path):
    assert "did you mean 'plants.csv'?" in run("info", tmp_path / "plant.csv", code=2).stderr
    assert "is a folder: give one file of it" in run("convert", tmp_path, tmp_path / "a.csv", code=2).stderr
    assert "holds the tables plants: name the target by --target" in run("rank", tmp_path, code=2).stderr
    assert "not read from the standard input" in run("info", "-", code=2).stderr


def test_files_with_spaces(plants, tmp_path):
    spaced = plants.rename(tmp_path / "my plants.csv")
    assert "my plants: classification" in run("rank", spaced, "-t", "kind", "-m", "univariate").stdout


def test_a_label_file_beside_the_data_is_pointed_at(tmp_path):
    (tmp_path / "flags.csv").write_text("x,red\n1,0\n2,1\n3,1\n")
    (tmp_path / "flags.xml").write_text(
        '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="red"/></labels>'
    )
    shown = run("info", tmp_path / "flags.csv").stdout
    assert f"--labels {tmp_path / 'flags.xml'} takes it" in " ".join(shown.split())
    assert "takes it" not in run("info", tmp_path / "flags.csv", "-t", "red").stdout


def test_no_labels_left(plants):
    shown = run("rank", plants, "-t", "kind", "-m", "univariate", "--labelled", 0).stderr
    assert "no example has a label: features are ranked without target" in shown


def test_the_number_of_folds(plants):
    shown = run("evaluate", plants, "-t", "kind", "-m", "univariate", "--folds", 99, code=2).stderr
    assert "--folds 99: choose a whole number from 2 to 30 (the number of examples)" in shown


# -- labels -------------------------------------------------------------------------------------------


def test_labels_is_not_labelled(plants):
    shown = run("rank", plants, "-t", "kind", "--labels", 10, code=2).stderr
    assert "--labels 10: it names a label file (.xml); --labelled 10 keeps so many labels" in shown
    shown = run("rank", plants, "-t", "kind", "--labels", ";", code=2).stderr
    assert "get_dummies" in shown
    assert "label_sets" not in shown


def test_all_labels_as_a_share(plants):
    assert "30 examples, all labelled" in run("rank", plants, "-t", "kind", "--labelled", "1.0", "--trees", 2).stdout
    assert "30 examples, 1 labelled" in run("rank", plants, "-t", "kind", "--labelled", 1, "-m", "relief").stdout


@pytest.mark.slow
def test_evaluate_with_few_labels(plants, tmp_path):
    found = evaluated(plants, "--set", "n_trees=3", "-n", 2, "--labelled", 12)
    assert "30 examples, all labelled (in each training part 12)" in found.stdout
    assert "30 examples, all labelled, 2 features" in evaluated(plants, "--set", "n_trees=3", "-n", 2).stdout
    half = evaluated(plants, "--set", "n_trees=3", "-n", 2, "--labelled", 0.5, "--supervision", 0.5).stdout
    assert "(in each training part 10)" in half
    assert half != evaluated(plants, "--set", "n_trees=3", "-n", 2, "--labelled", 0.5, "--supervision", 1).stdout
    assert "--labelled 21: " in evaluated(plants, "--labelled", 21, code=2).stderr
    tested = run("evaluate", plants, "-t", "kind", "-m", "univariate", "--test", plants, "--labelled", 8, "-n", 2)
    assert "30 examples, 8 labelled" in tested.stdout
    run("rank", plants, "-t", "kind", "-m", "univariate", "-o", tmp_path / "r.csv")
    refused = run("evaluate", plants, "-t", "kind", "-r", tmp_path / "r.csv", "--supervision", 1, code=2).stderr
    assert "--supervision is for --method" in refused


def test_a_ranking_for_another_target(plants, tmp_path):
    run("rank", plants, "-t", "height", "-m", "univariate", "-o", tmp_path / "height.json")
    shown = run("evaluate", plants, "-t", "kind", "-r", tmp_path / "height.json", code=2).stderr
    assert "the ranking was made for another target: 'kind', the target of the data, is a feature of it" in shown
    run("rank", plants, "-t", "height", "--ignore", "kind", "-m", "univariate", "-o", tmp_path / "width.json")
    shown = run("evaluate", plants, "-t", "kind", "--ignore", "height", "-r", tmp_path / "width.json", code=2).stderr
    assert "the ranking was made for another target: regression, the data are made for classification" in shown
    run("rank", plants, "--ignore", "kind", "-m", "relief", "-o", tmp_path / "free.json")
    run("evaluate", plants, "-t", "kind", "-r", tmp_path / "free.json", "-n", 2)


# -- tree ---------------------------------------------------------------------------------------------


def test_parameters_of_a_tree(plants):
    plain = run("tree", plants, "-t", "kind").stdout
    assert run("tree", plants, "-t", "kind", "--set", "max_depth=0").stdout != plain
    odd = run("tree", plants, "-t", "kind", "--set", "max_dept=1", code=2).stderr
    assert "did you mean 'max_depth'?" in odd
    assert "or a whole number from 0" in run("tree", plants, "-t", "kind", "--set", "max-depth=-1", code=2).stderr
    run("tree", plants, "--features", "height,width", "--set", "max_leaves=2")


# -- words --------------------------------------------------------------------------------------------


def test_values_and_options_are_named_as_typed(plants):
    rank = ("rank", plants, "-t", "kind")
    assert "--trees True: choose " in run(*rank, "--set", "n_trees=true", code=2).stderr
    assert (
        "--trees 5: method 'univariate' has no such parameter"
        in run(*rank, "-m", "univariate", "--trees", 5, code=2).stderr
    )
    fixed = run(*rank, "-m", "genie3", "--set", "importance=permutation", code=2).stderr
    assert "choose --method permutation instead" in fixed
    free = run("rank", plants, "--features", "height,width", "-m", "univariate").stdout
    assert "without one, of the other features" in free


def test_rankings_that_are_not_there(plants, tmp_path):
    run("rank", plants, "-t", "kind", "-m", "univariate", "-o", tmp_path / "first.json")
    shown = run("compare-rankings", tmp_path / "first.json", tmp_path / "frist.json", code=2).stderr
    assert "there is no file" in shown
    assert "did you mean 'first.json'?" in shown
    same = run("compare-rankings", tmp_path / "first.json", tmp_path / "first.json", "--top", 1).stdout
    assert "the top are 1 of them (--top)" in same


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


@pytest.mark.parametrize("again", [("--target", "b"), ("--target=b",), ("-t", "b"), ("-tb",), ("-t=b",)])
def test_an_option_given_twice_is_refused_before_its_first_value_is_lost(tmp_path, again):
    file = tmp_path / "table.csv"
    file.write_text("x,a,b\n" + "".join(f"{i},{i % 3}.5,{i % 4}.5\n" for i in range(12)))
    result = RUNNER.invoke(app, ["rank", str(file), "--target", "a", *again])
    assert result.exit_code == 2
    assert "--target is given more than once" in " ".join(result.output.split())
    several = ["rank", str(file), "--target", "a,b", "--set", "n_trees=3", "--set", "min_samples_leaf=1"]
    assert RUNNER.invoke(app, several).exit_code == 0


@pytest.mark.slow
def test_a_target_without_any_value_is_told(plants, tmp_path):
    frame = pd.read_csv(plants)
    frame.assign(kind=None).to_csv(tmp_path / "empty.csv", index=False)
    told = "note: no value of the target 'kind' is known: features are ranked without it"
    options = ("--method", "variance")
    assert told in run("rank", tmp_path / "empty.csv", "-t", "kind", *options).stderr
    assert told not in run("rank", plants, "-t", "kind", "--task", "clustering", *options).stderr


@pytest.mark.slow
def test_scores_that_are_all_equal_are_told(plants):
    """Such as those of numbers that are taken as classes, each of which occurs once."""
    told = "note: all scores are equal (0): the order is that of the data and tells nothing"
    options = ("-t", "height", "--jobs", 1, "--trees", 5)
    assert told in run("rank", plants, *options, "--task", "classification").stderr
    assert "all scores are equal" not in run("rank", plants, *options).stderr


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
    for command in (
        ("info", table, "--target", "b"),
        ("info", arff),
        ("info", settings),
        ("info", str(tmp_path / "tables"), "--target", "people.kind"),
        ("info", facts, "--target-facts", target),
        ("convert", table, str(tmp_path / "t.parquet")),
        ("convert", table, str(tmp_path / "parts")),
        ("clus", settings),
    ):
        refused = RUNNER.invoke(app, list(command))
        assert refused.exit_code == 2, command
        shown = " ".join(refused.output.split())
        assert "is not UTF-8; --encoding cp1252 names the encoding of the file" in shown, command
        assert RUNNER.invoke(app, [*command, "--encoding", "cp1252"]).exit_code == 0, command
    refused = RUNNER.invoke(app, ["info", str(tmp_path / "t.parquet"), "--encoding", "cp1252"])
    assert (refused.exit_code, "for text files" in refused.output) == (2, True)
