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
