"""Parameters of the generators: their domains, and what users see of them."""

from __future__ import annotations

import pytest

from omnirank import datasets
from omnirank.errors import ParameterError

# -- domains ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("generator", "options", "name"),
    [
        (datasets.make_multi_target_regression, {"n_targets": 0}, "n_targets"),
        (datasets.make_classification, {"n_classes": 1}, "n_classes"),
        (datasets.make_multi_target_classification, {"n_classes": (2, 3)}, "n_classes"),
        (datasets.make_mixed_targets, {"n_numeric": 0}, "n_numeric"),
        (datasets.make_multi_label, {"n_labels": 0}, "n_labels"),
        (datasets.make_multi_label, {"label_density": 0.0}, "label_density"),
        (datasets.make_hierarchical_multi_label, {"n_labels": 3, "hierarchy": "dag"}, "n_labels"),
        (datasets.make_hierarchical_multi_label, {"hierarchy": "graph"}, "hierarchy"),
        (datasets.make_clusters, {"n_clusters": 1}, "n_clusters"),
        (datasets.make_regression, {"n_relevant": 0}, "n_relevant"),
        (datasets.make_regression, {"labelled": 201}, "labelled"),
        (datasets.make_regression, {"missing_features": 1.0}, "missing_features"),
        (datasets.make_multi_label, {"missing_targets": 0.99}, "missing_targets"),
        (datasets.make_friedman, {"n_features": 4}, "n_features"),
        (datasets.make_xor, {"n_interacting": 1}, "n_interacting"),
        (datasets.make_xor, {"noise": 1.5}, "noise"),
    ],
)
def test_wrong_values_of_own_parameters_name_the_parameter(generator, options, name):
    with pytest.raises(ParameterError, match=rf"^{name}="):
        generator(**options)
    if isinstance(options[name], int) and options[name] < 5:  # the next number is the least that does
        generator(**options | {name: options[name] + 1})


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
