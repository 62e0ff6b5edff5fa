"""Parameters of the generators: their domains, and what users see of them."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from omnirank import datasets
from omnirank.data.generated import ClusterOptions, FeatureOptions, FeaturePlan
from omnirank.errors import ParameterError
from reference.data_generator_cases import ALL, SEVERAL_TARGETS, SUPERVISED

MORE = ("labelled", "sparse")
SHARED = tuple(FeaturePlan.__annotations__)

# -- domains ------------------------------------------------------------------------------------------

WRONG = {
    "n_examples": [0, -1, 2.5, True, None],
    "n_relevant": [-1, 1.0, "3"],
    "n_redundant": [-2, False],
    "n_irrelevant": [-1, 0.5],
    "share_nominal": [-0.1, 1.1, np.nan, "half", True],
    "missing_features": [-0.1, 1.0, np.nan],
    "noise": [-1.0, np.inf, np.nan, None],
    "shuffle": [1, None],
    "random_state": [-1, "seed", 1.5],
}
WRONG_WITH_TARGET = {"labelled": [-1, 201, 1.5, -0.1, True, None], "sparse": [1, "yes"]}


def takes(generator, **options):
    """Parameters that are taken, or refused without being named."""
    found = []
    for name, values in options.items():
        for value in values:
            try:
                generator(**{name: value})
            except ParameterError as error:
                if name in str(error):
                    continue
            found.append((name, value))
    return found


@pytest.mark.parametrize("task", ["regression", "multi-label", "clustering"])
def test_wrong_values_name_the_parameter(task):
    assert takes(ALL[task], **WRONG) == []


@pytest.mark.parametrize("task", sorted(SUPERVISED))
def test_wrong_values_of_target_options_name_the_parameter(task):
    assert takes(SUPERVISED[task], **WRONG_WITH_TARGET) == []


@pytest.mark.parametrize("task", SEVERAL_TARGETS)
def test_too_many_missing_targets(task):
    assert takes(SUPERVISED[task], missing_targets=[-0.1, 1.0, 0.99, "x"]) == []


@pytest.mark.parametrize(
    ("generator", "options", "name"),
    [
        (datasets.make_multi_target_regression, {"n_targets": 0}, "n_targets"),
        (datasets.make_classification, {"n_classes": 1}, "n_classes"),
        (datasets.make_classification, {"n_classes": 3, "n_examples": 2}, "n_classes"),
        (datasets.make_multi_target_classification, {"n_targets": 2.0}, "n_targets"),
        (datasets.make_multi_target_classification, {"n_classes": (2, 3)}, "n_classes"),
        (datasets.make_multi_target_classification, {"n_classes": (2, 3, 1)}, "n_classes"),
        (datasets.make_multi_target_classification, {"n_classes": 2.5}, "n_classes"),
        (datasets.make_multi_target_classification, {"n_classes": None}, "n_classes"),
        (datasets.make_mixed_targets, {"n_numeric": 0}, "n_numeric"),
        (datasets.make_mixed_targets, {"n_nominal": 0}, "n_nominal"),
        (datasets.make_mixed_targets, {"n_classes": 1}, "n_classes"),
        (datasets.make_multi_label, {"n_labels": 0}, "n_labels"),
        (datasets.make_multi_label, {"label_density": 0.0}, "label_density"),
        (datasets.make_multi_label, {"label_density": 1.0}, "label_density"),
        (datasets.make_hierarchical_multi_label, {"n_labels": -1}, "n_labels"),
        (datasets.make_hierarchical_multi_label, {"n_labels": 3, "hierarchy": "dag"}, "n_labels"),
        (datasets.make_hierarchical_multi_label, {"hierarchy": "graph"}, "hierarchy"),
        (datasets.make_hierarchical_multi_label, {"label_density": 2}, "label_density"),
        (datasets.make_clusters, {"n_clusters": 1}, "n_clusters"),
        (datasets.make_regression, {"n_relevant": 0}, "n_relevant"),
        (datasets.make_friedman, {"n_features": 4}, "n_features"),
        (datasets.make_friedman, {"noise": -1}, "noise"),
        (datasets.make_friedman, {"n_examples": 0}, "n_examples"),
        (datasets.make_xor, {"n_interacting": 1}, "n_interacting"),
        (datasets.make_xor, {"n_interacting": 21}, "n_interacting"),
        (datasets.make_xor, {"n_irrelevant": -1}, "n_irrelevant"),
        (datasets.make_xor, {"noise": 1.5}, "noise"),
    ],
)
def test_wrong_values_of_own_parameters_name_the_parameter(generator, options, name):
    with pytest.raises(ParameterError, match=rf"^{name}="):
        generator(**options)


def test_unknown_parameters_and_those_of_other_tasks_are_refused():
    with pytest.raises(TypeError, match="n_informative"):
        datasets.make_regression(n_informative=3)
    with pytest.raises(TypeError, match="missing_targets"):
        datasets.make_regression(missing_targets=0.1)


@pytest.mark.parametrize("name", ["labelled", "sparse"])
def test_clusters_take_no_parameters_of_a_target(name):
    with pytest.raises(TypeError, match=name):
        datasets.make_clusters(**{name: 1})


# -- what users see -----------------------------------------------------------------------------------


@pytest.mark.parametrize("task", sorted(ALL))
def test_docstrings_describe_all_parameters(task):
    described = inspect.getdoc(ALL[task]).split("Returns\n")[0]
    assert "generated.FeaturePlan" in described
    own = [name for name in inspect.signature(ALL[task]).parameters if name != "features"]
    for name in (*own, *(set(inspect.signature(FeaturePlan).parameters) - {*MORE} if task == "clustering" else SHARED)):
        assert name in described
    for name in inspect.signature(FeaturePlan).parameters:
        assert f"{name} : " in FeaturePlan.__doc__


def test_the_types_of_keywords_are_those_of_the_plan():
    own = FeaturePlan.__annotations__
    assert {"n_examples": "int"} | FeatureOptions.__annotations__ == {
        name: FeatureOptions.__annotations__.get(name, own[name]) for name in own
    }
    assert FeatureOptions.__annotations__.keys() - ClusterOptions.__annotations__.keys() == {*MORE}
