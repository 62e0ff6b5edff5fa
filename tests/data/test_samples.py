"""Sample data: names, types and values as scikit-learn has them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn import datasets as sklearn_datasets

from omnirank import datasets
from omnirank.errors import ParameterError

FACTS = {
    "breast-cancer": ("classification", 569, 30, 1),
    "diabetes": ("regression", 442, 10, 1),
    "digits": ("classification", 1797, 64, 1),
    "iris": ("classification", 150, 4, 1),
    "linnerud": ("multi-target-regression", 20, 3, 3),
    "wine": ("classification", 178, 13, 1),
}


def test_the_list_names_all_samples():
    assert datasets.list_samples() == tuple(sorted(FACTS))


@pytest.mark.parametrize("name", sorted(FACTS))
def test_sample_holds_the_values_and_names_of_scikit_learn(name):
    data = datasets.load_sample(name)
    assert (data.task, data.n_examples, data.n_features, data.n_targets) == FACTS[name]
    assert (data.name, data.labelled.all(), data.features.is_nominal.any()) == (name, True, False)
    bunch = getattr(sklearn_datasets, "load_" + name.replace("-", "_"))()
    assert np.array_equal(data.X, bunch.data)
    assert data.feature_names == tuple(bunch.feature_names)
    if data.task == "classification":
        assert np.array_equal(data.y, np.asarray(bunch.target_names)[bunch.target])
        assert data.target.levels[0] == tuple(bunch.target_names)
    else:
        assert np.array_equal(data.y, bunch.target)


def test_digits_are_pixels_by_row_and_column_and_integer_classes():
    digits = datasets.load_sample("digits")
    assert digits.feature_names == tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8))
    assert digits.target.levels == (tuple(range(10)),)
    assert all(type(level) is int for level in digits.target.levels[0])
    assert digits.y.dtype.kind == "i"


def test_classes_and_targets_have_names():
    iris = datasets.load_sample("iris")
    assert iris.target.levels == (("setosa", "versicolor", "virginica"),)
    assert all(type(level) is str for level in iris.target.levels[0])
    assert iris.target_names == ("species",)
    assert datasets.load_sample("linnerud").target_names == tuple(sklearn_datasets.load_linnerud().target_names)


@pytest.mark.parametrize("name", ["mnist", "Iris", "breast_cancer", ""])
def test_unknown_sample_is_an_error_that_lists_the_names(name):
    with pytest.raises(ParameterError, match=rf"name='{name}': choose one of breast-cancer, .*wine"):
        datasets.load_sample(name)
    with pytest.raises(ParameterError, match=r"\(did you mean 'digits'\?\)"):
        datasets.load_sample("digit")


@pytest.mark.slow
def test_scikit_learn_is_imported_only_to_load():
    code = "import sys, omnirank.datasets; print('sklearn.datasets' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_noise_is_added_after_the_features():
    plain, noisy = datasets.load_sample("wine"), datasets.load_sample("wine", n_irrelevant=3)
    assert noisy.feature_names == (*plain.feature_names, "noise_1", "noise_2", "noise_3")
    assert noisy.select_features(list(plain.feature_names)).features.equals(plain.features)
    assert noisy.fingerprint == datasets.load_sample("wine", n_irrelevant=3).fingerprint
    with pytest.raises(ParameterError, match="n_irrelevant"):
        datasets.load_sample("wine", n_irrelevant=-1)
