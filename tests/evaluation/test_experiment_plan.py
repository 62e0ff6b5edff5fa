"""Plans: what is read, and that every mistake is named before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from omnirank.core.errors import FileFormatError, OmnirankError, ParameterError
from omnirank.evaluation.experiments import example_plan, read_plan, store
from omnirank.evaluation.experiments.fit import fit_parts, load_source
from reference.experiment_plans import HEAD, method, write_plan


def plan_of(folder, *methods, head=HEAD):
    return read_plan(write_plan(folder, *methods, head=head))


def test_the_example_is_a_plan(tmp_path):
    plan = plan_of(tmp_path, head=example_plan())
    assert plan.name == "example"
    assert plan.evaluation.n_neighbors == (5, 15)
    assert plan.store_path == tmp_path / "plan.sqlite"
    names = [entry.name for entry in plan.methods]
    assert names[:3] == ["forest genie3", "forest symbolic", "forest permutation"]
    [relief] = [entry for entry in plan.methods if entry.name == "relief"]
    assert [choice for choice, _ in relief.choices()] == [
        "n_iterations=0.25 n_neighbors=10",
        "n_iterations=0.25 n_neighbors=20",
        "n_iterations=1.0 n_neighbors=10",
        "n_iterations=1.0 n_neighbors=20",
    ]


def test_rankings_of_the_example_have_noise_to_find(tmp_path):
    plan = plan_of(tmp_path, head=example_plan())
    assert all(entry.source["n_irrelevant"] >= 20 for entry in plan.data)
    assert load_source(plan.data[0].source).dataset.feature_names[-1] == "noise_20"


def test_a_grid_chosen_by_cross_validation_is_one_piece_of_work(tmp_path):
    plan = plan_of(tmp_path, method("relief", grid="{ n_neighbors = [3, 5] }", select="{ n_folds = 3 }"))
    [(choice, made)] = plan.methods[0].choices()
    assert choice == ""
    assert made["grid"] == {"n_neighbors": [3, 5]}
    assert made["select"] == {"n_folds": 3}


GOOD = method("univariate")
MISTAKES = {
    "unknown table": (HEAD + "[metod]\n", "unknown key 'metod' .did you mean 'method'"),
    "seed": (HEAD.replace('code = "test"', "seeds = [-1]"), r"\[study\]: seeds = .*: choose a whole number from 0"),
    "measure": (HEAD.replace('code = "test"', 'measures = ["acuracy"]'), "did you mean 'accuracy'"),
    "module": (HEAD.replace("experiment_methods", "no_such_module"), "modules names .*cannot be imported"),
    "data twice": (HEAD.replace('"wine"', '"iris"'), r"\[\[data\]\]: 'iris' is there twice"),
    "two sources": (HEAD + 'path = "a.csv"\n', "give one of sample, path or train"),
    "several tables": (HEAD + method("relational-genie3"), "use = 'relational-genie3': choose one of"),
    "no test": (HEAD + '[[data]]\ntrain = "a.arff"\n', "train and test come together"),
    "paths": (HEAD + '[[data]]\npath = ["a.arff"]\n', "path = .*: choose a text"),
    "load option": (HEAD + '[[data]]\npath = "a.arff"\ntargets = "last"\n', "did you mean 'target'"),
    "scheme": (HEAD.replace("n_folds = 2", 'scheme = "crossvalidation"'), "did you mean 'cross-validation'"),
    "fold parameter": (HEAD.replace("n_folds = 2", "nfolds = 2"), r"\[folds\].*'nfolds' .did you mean 'n_folds'"),
    "neighbours": (HEAD.replace("[3, 5]", "0"), r"\[evaluation\]: n_neighbors = 0: choose a whole number from 1"),
    "top": (HEAD.replace("n_neighbors = [3, 5]", "top = [4, 0]"), "top = .*: choose a whole number from 1"),
    "one table": (HEAD.replace('[[data]]\nsample = "wine"', "").replace("[[data]]", "[data]"), r"write \[\[data\]\]"),
    "threshold": (HEAD.replace("n_neighbors = [3, 5]", "threshold = 2"), "threshold = 2: choose a number in"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake, tmp_path):
    head, message = MISTAKES[mistake]
    with pytest.raises(ParameterError, match=message) as caught:
        plan_of(tmp_path, GOOD, head=head)
    assert "plan.toml" in str(caught.value)


METHOD_MISTAKES = {
    "name": (method("geni3"), "use = 'geni3': choose one of .* .did you mean 'genie3'"),
    "key": (method("genie3", parameter="{}"), "did you mean 'parameters'"),
    "parameter": (
        method("genie3", parameters="{ n_tree = 5 }"),
        "n_tree=5: method 'genie3' has no such parameter .did you mean 'n_trees'",
    ),
    "fixed": (
        method("genie3", parameters='{ importance = "symbolic" }'),
        "importance='symbolic': method 'genie3' has it fixed at 'genie3'",
    ),
    "seed": (method("genie3", parameters="{ random_state = 1 }"), "seeds, folds and the data decide it"),
    "grid": (method("relief", grid="{ n_neighbors = 5 }"), "n_neighbors must be a list of values"),
    "written alike": (
        method("relief", grid='{ n_neighbors = [5, "5"] }'),
        r"'relief \(n_neighbors=5\)' stands for two methods: .* a number beside the same text",
    ),
    "named as a choice": (
        method("relief", grid="{ n_neighbors = [5] }") + method("genie3", name='"relief (n_neighbors=5)"'),
        r"'relief \(n_neighbors=5\)' stands for two methods",
    ),
    "select": (method("relief", select='"best"'), "select chooses from a grid"),
    "select how": (method("relief", grid="{ sigma = [0.0] }", select='"worst"'), 'select must be "best" or a table'),
    "twice": (method("univariate"), r"\[\[method\]\]: 'univariate' is there twice"),
    "date": (method("genie3", parameters="{ n_trees = 2020-01-01 }"), "give numbers, texts"),
}


@pytest.mark.parametrize("mistake", METHOD_MISTAKES)
def test_mistakes_in_methods_are_named(mistake, tmp_path):
    text, message = METHOD_MISTAKES[mistake]
    with pytest.raises(ParameterError, match=message):
        plan_of(tmp_path, GOOD, text)


def test_several_tops_are_not_for_choosing_the_best(tmp_path):
    best = method("relief", grid="{ sigma = [0.0, 1.0] }", select='"best"')
    with pytest.raises(ParameterError, match="several values of top do not go with select = 'best' of method 'relief'"):
        plan_of(tmp_path, best, head=HEAD.replace("n_neighbors = [3, 5]", "top = [1, 2]"))


def test_a_plan_may_be_a_dictionary(tmp_path):
    import tomllib

    text = HEAD + GOOD
    found = read_plan(tomllib.loads(text))
    written = plan_of(tmp_path, GOOD)
    assert found.name == written.name == "small"
    assert (found.data, found.methods, found.folds) == (written.data, written.methods, written.folds)
    with pytest.raises(ParameterError, match=r"plan: \[method\] is one table.*list of dictionaries"):
        read_plan({"data": [{"sample": "iris"}], "method": {"use": "uniform"}})
    with pytest.raises(TypeError, match="a plan is the path of a TOML file or a dictionary of its content, not int"):
        read_plan(3)


FOLDER_HEAD = """
[study]
folder = "{}"

[[data]]
path = "a.arff"
labels = "a.xml"
"""


def files_of(folder, named):
    """The files of a plan whose data are in a folder."""
    [entry] = plan_of(folder, GOOD, head=FOLDER_HEAD.format(named)).data
    path = Path(entry.source["path"])
    assert entry.source["options"]["labels"] == str(path.with_suffix(".xml"))
    return path


def test_data_start_at_the_folder_of_the_study(tmp_path, monkeypatch):
    assert files_of(tmp_path, "../data") == tmp_path / "../data/a.arff"
    with_default = "${OMNIRANK_TEST_DATA:-../data}/mlc"
    monkeypatch.delenv("OMNIRANK_TEST_DATA", raising=False)
    assert files_of(tmp_path, with_default) == tmp_path / "../data/mlc/a.arff"
    monkeypatch.setenv("OMNIRANK_TEST_DATA", "")
    assert files_of(tmp_path, with_default) == tmp_path / "../data/mlc/a.arff"
    monkeypatch.setenv("OMNIRANK_TEST_DATA", str(tmp_path / "elsewhere"))
    assert files_of(tmp_path, with_default) == tmp_path / "elsewhere/mlc/a.arff"
    assert files_of(tmp_path, "${OMNIRANK_TEST_DATA}") == tmp_path / "elsewhere/a.arff"
    # as for every other program, a relative path in a variable starts where the user is
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setenv("OMNIRANK_TEST_DATA", "mine")
    assert files_of(tmp_path, with_default) == tmp_path.parent / "mine/mlc/a.arff"


def test_a_variable_without_value_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("OMNIRANK_TEST_DATA", raising=False)
    with pytest.raises(
        ParameterError, match=r"\[study\]: folder = .* variable OMNIRANK_TEST_DATA is not set: set it, or"
    ):
        files_of(tmp_path, "${OMNIRANK_TEST_DATA}/mlc")
    with pytest.raises(ParameterError, match=r"\[study\]: folder = .*: choose a text"):
        plan_of(tmp_path, GOOD, head=HEAD.replace("[study]", "[study]\nfolder = 3"))


def test_there_must_be_methods_and_the_file_must_be_toml(tmp_path):
    with pytest.raises(ParameterError, match=r"at least one table \[\[method\]\]"):
        plan_of(tmp_path)
    with pytest.raises(FileFormatError, match="not valid TOML"):
        plan_of(tmp_path, "[[method]\n")
    with pytest.raises((OmnirankError, OSError)):
        read_plan(tmp_path / "absent.toml")


def test_methods_that_one_fit_serves_have_the_same_fit():
    def fit(use, single_target=False, **parameters):
        return fit_parts({"use": use, "parameters": parameters, "single_target": single_target})[0]

    assert fit("genie3") == fit("symbolic", n_trees=10) == fit("permutation", n_trees=500)
    assert fit("genie3") != fit("genie3", ensemble="bagging")
    assert fit("genie3", n_trees="auto") != fit("symbolic", n_trees="auto")
    assert fit("relief", n_neighbors=5) == fit("relief", n_neighbors=7, n_iterations=0.5)
    assert fit("relief") != fit("relief", n_neighbors=5)  # None is 15, 20 or 30, as the data are
    assert fit("relief", n_neighbors=5) != fit("relieff", n_neighbors=5)
    assert fit("genie3", True) == fit("symbolic", True)
    assert fit("genie3", True, n_trees="auto") != fit("symbolic", True, n_trees="auto")  # "auto" ends by its own score
    assert fit("genie3", True, n_trees=5) != fit("genie3", True, n_trees=6)


def test_the_version_of_the_code_is_that_of_all_rooms_that_decide_results(tmp_path, monkeypatch):
    for room in ("measures", "tasks/kernels", "plots"):
        (tmp_path / room).mkdir(parents=True)
        (tmp_path / room / "a.py").write_text("x = 1")
    (tmp_path / "evaluation/experiments").mkdir(parents=True)
    monkeypatch.setattr(store, "__file__", str(tmp_path / "evaluation/experiments/store.py"))
    before = store._package_hash()
    (tmp_path / "plots/a.py").write_text("x = 2")
    assert store._package_hash() == before
    for room in ("measures", "tasks/kernels"):
        (tmp_path / room / "a.py").write_text("x = 2")
        assert store._package_hash() != before
        before = store._package_hash()
