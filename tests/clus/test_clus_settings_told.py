"""What is told about settings, in notes and on the page for users: what is not followed, not known, or wrong."""

from pathlib import Path

import pytest
from docs._api_pages import write_settings_table

from omnirank.clus.choices import forest_choices, relief_parameters, tree_choices
from omnirank.clus.settings import FOLLOWED, Values, check_flags, notes_on
from omnirank.core.errors import FileFormatError
from omnirank.data.clus_settings import ClusSettings
from omnirank.data.dataset import Dataset
from omnirank.trees.pruning import Pruning


def settings(**sections):
    """Settings by section."""
    return ClusSettings(Path("run.s"), sections)


NUMBERS = Dataset([[float(i), float(-i)] for i in range(9)], [i + 0.5 for i in range(9)])
CLASSES = Dataset([[float(i), float(-i)] for i in range(9)], list("ababababa"))


def test_what_is_not_followed_is_told_once_by_section():
    given = settings(tree={"SplitSampling": "50", "pruningmethod": "M5", "PruningMetod": "M5"}, Rules={"Beam": "5"})
    assert notes_on(given) == [
        "[tree] SplitSampling = 50, PruningMetod = M5 (did you mean 'PruningMethod'?) is not followed",
        "[Rules] Beam = 5 is not followed",
    ]


def told(read, dataset, **sections):
    values = Values(settings(**sections))
    return read(values, dataset), values.notes


def test_parameters_of_trees():
    (growing, pruning), notes = told(
        tree_choices,
        NUMBERS,
        Model={"MinimalWeight": "5"},
        Constraints={"MaxDepth": "3"},
        Attributes={"Weights": "1.0"},
        Tree={"M5PruningMult": "1"},
        Hierarchical={"WParam": "0.5"},
    )
    assert growing == {
        "min_samples_leaf": 5,
        "max_depth": 3,
        "tie_break": "first",
        "normalize_targets": False,
        "hierarchy_weight": 0.5,
    }
    assert (pruning, notes) == (Pruning(1.0), [])


@pytest.mark.parametrize(
    ("dataset", "given", "pruned", "told_of"),
    [
        (NUMBERS, "Default", True, 0),
        (NUMBERS, "C4.5", True, 1),
        (CLASSES, "Default", False, 1),
        (CLASSES, "M5", True, 0),
        (CLASSES, "None", False, 0),
    ],
)
def test_methods_of_pruning(dataset, given, pruned, told_of):
    sections = {"Tree": {"PruningMethod": given, "Heuristic": "VarianceReduction"}}
    (_, pruning), notes = told(tree_choices, dataset, **sections)
    assert (pruning is not None, len(notes)) == (pruned, told_of)


def test_heuristics_are_told():
    assert "information gain" in told(tree_choices, CLASSES)[1][0]
    assert told(tree_choices, CLASSES, Tree={"Heuristic": "VarianceReduction", "PruningMethod": "None"})[1] == []
    several = {"Tree": {"Heuristic": "Morishita"}, "Attributes": {"Weights": "[1, 1, 2]"}}
    note, weights = told(tree_choices, NUMBERS, **several)[1]
    assert "weigh alike" in weights
    assert note.startswith("[Tree] Heuristic = Morishita is not followed: ")


def forest(dataset=NUMBERS, **ensemble):
    values = Values(settings(Ensemble=ensemble))
    return forest_choices(values, dataset, {}, semi_supervised=False), values.notes


def test_parameters_of_ensembles():
    found, notes = forest(
        CLASSES,
        EnsembleMethod="RForest",
        Iterations="[4, 2]",
        SelectRandomSubspaces="LOG",
        FeatureRanking="[Genie3, Symbolic, RForest]",
        SymbolicWeight="0.75",
        NumberOfThreads="2",
    )
    assert found.rules == {"ensemble": "random-forest", "max_features": "log2", "bootstrap": True}
    assert (found.called, found.sizes) == ("RForest", (2, 4))
    assert found.scores == ("genie3", "symbolic", "permutation")
    assert (found.symbolic_weight, found.permutation_error, found.n_jobs) == (0.75, "accuracy", 2)
    assert notes == []


@pytest.mark.parametrize(
    ("given", "expected"), [("SQRT", "sqrt"), ("0", "sqrt"), ("1", 1), ("0.5", 0.5), ("1.0", 1.0), ("9", 2)]
)
def test_features_of_a_node(given, expected):
    assert forest(EnsembleMethod="RForest", SelectRandomSubspaces=given)[0].rules["max_features"] == expected


def test_bagging_tries_all_features_and_extra_trees_do_not_bootstrap():
    assert forest()[0].rules["max_features"] == "all"
    extra, notes = forest(EnsembleMethod="ExtraTrees", FeatureRanking="[RForest, Genie3]")
    assert (extra.rules["bootstrap"], extra.scores) == (False, ("genie3",))
    assert "no permutation score" in notes[0]
    assert forest(EnsembleMethod="ExtraTrees", EnsembleBootstrapping="Yes")[0].rules["bootstrap"]


def test_parameters_of_relief():
    found, _ = told(relief_parameters, NUMBERS, Relief={"Neighbours": "[3,1]", "Iterations": "[-1, 0.2, 5]"})
    assert (found["n_neighbors"], found["n_iterations"], found["sigma"]) == ([1, 3], [2, 5, 9], 0.0)
    weighted = {"Neighbours": "99", "Iterations": "1", "WeightNeighbours": "Yes"}
    found, _ = told(relief_parameters, NUMBERS, Relief=weighted)
    assert (found["n_neighbors"], found["n_iterations"], found["sigma"]) == ([8], [9], 0.5)


@pytest.mark.parametrize(
    ("section", "name", "value", "problem"),
    [
        ("Ensemble", "Iterations", "many", "expected a number, or a list"),
        ("Ensemble", "Iterations", "0", "whole numbers of at least 1"),
        ("Ensemble", "FeatureRanking", "Genie4", "expected None, Genie3, Symbolic or RForest"),
        ("Hierarchical", "WParam", "2", "of at least 0 and at most 1"),
    ],
)
def test_wrong_values_are_faults(section, name, value, problem):
    values = Values(settings(**{section: {name: value}}))
    with pytest.raises(FileFormatError, match=rf"run.s: \[{section}\] {name} = {value}: .*{problem}"):
        _ = forest_choices(values, NUMBERS, {}, semi_supervised=False), tree_choices(values, NUMBERS)


def test_wrong_flags_are_faults_before_anything_is_learned():
    with pytest.raises(FileFormatError, match=r"\[Output\] TrainErrors = Perhaps: expected"):
        check_flags(Values(settings(Output={"TrainErrors": "Perhaps"})))


def test_every_setting_is_on_the_page(tmp_path):
    write_settings_table(tmp_path / "clus.txt")
    rows = (tmp_path / "clus.txt").read_text(encoding="utf-8").split("   * - ")[2:]
    table = {section: names.split() for section, names in (row.split("\n     - ") for row in rows)}
    assert {name.strip("`[]"): [one.strip("`,") for one in own] for name, own in table.items()} == {
        section: list(names) for section, names in FOLLOWED.items()
    }
