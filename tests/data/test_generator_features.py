"""What the features of generated data tell about the target: relevant, redundant and interacting ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.feature_selection import mutual_info_classif
from sklearn.tree import DecisionTreeClassifier

from omnirank import datasets
from reference.data_generator_cases import SUPERVISED, importances

# -- what the features tell -----------------------------------------------------------------------------


@pytest.mark.every(9)
@pytest.mark.parametrize("task", sorted(SUPERVISED))
@pytest.mark.parametrize("share_nominal", [0.0, 1.0])
def test_relevant_features_tell_more_than_irrelevant_ones(task, share_nominal):
    data, relevance = SUPERVISED[task](
        600, n_relevant=3, n_redundant=0, n_irrelevant=10, share_nominal=share_nominal, random_state=3
    )
    scores = importances(data)
    assert scores[relevance.relevant].min() > 1.5 * scores[relevance.irrelevant].max()


@pytest.mark.every(3)
@pytest.mark.parametrize("task", sorted(SUPERVISED))
def test_relevant_words_tell_more_than_irrelevant_ones(task):
    data, relevance = SUPERVISED[task](500, n_relevant=3, n_irrelevant=10, sparse=True, word_share=0.2, random_state=5)
    scores = importances(data)
    assert scores[relevance.relevant].min() > 2 * scores[relevance.irrelevant].max()


@pytest.mark.parametrize("sparse", [False, True])
def test_redundant_features_follow_a_relevant_one(sparse):
    data, relevance = datasets.make_regression(
        2000, n_relevant=3, n_redundant=5, sparse=sparse, word_share=0.3, random_state=0
    )
    correlation = np.abs(np.corrcoef(data.features.matrix.toarray().T if sparse else data.X.T))
    to_relevant = correlation[:, relevance.relevant]
    assert (to_relevant[relevance.redundant].max(axis=1) > 0.9).all()
    assert (to_relevant[relevance.redundant].max(axis=1) < 0.9999).all()
    assert (to_relevant[relevance.irrelevant] < 0.15).all()
    copied = np.bincount(to_relevant[relevance.redundant].argmax(axis=1), minlength=3)
    assert sorted(copied.tolist()) == [1, 2, 2], "relevant features are copied in turn"


@pytest.mark.parametrize(("n_interacting", "groups"), [(2, [2]), (3, [3]), (6, [2, 2, 2]), (7, [2, 2, 3])])
def test_target_is_made_of_the_signs_of_products_of_interacting_features(n_interacting, groups):
    data, _ = datasets.make_regression(
        300, n_relevant=2, n_interacting=n_interacting, noise=0.0, shuffle=False, random_state=0
    )
    signals = [data.X[:, 0], data.X[:, 1]]
    start = 2
    for size in groups:
        signals.append(np.sign(data.X[:, start : start + size]).prod(axis=1))
        start += size
    weights, residuals, *_ = np.linalg.lstsq(np.column_stack(signals), data.y, rcond=None)
    assert residuals[0] < 1e-16
    assert np.isclose(np.linalg.norm(weights), 1)
    assert np.abs(weights).max() < 3 * np.abs(weights).min() + 1e-9


@pytest.mark.parametrize("n_interacting", [2, 3])
def test_interacting_features_are_invisible_alone_and_visible_together(n_interacting):
    data, relevance = datasets.make_classification(
        3000, n_relevant=0, n_interacting=n_interacting, n_irrelevant=3, noise=0.0, random_state=1
    )
    codes = data.target.values[:, 0]
    alone = [abs(np.corrcoef(np.sign(column), codes)[0, 1]) for column in data.X.T]
    assert max(alone) < 0.06
    assert mutual_info_classif(data.X, codes, random_state=0).max() < 0.03
    chosen = np.sign(data.X[:, relevance.interacting])
    assert DecisionTreeClassifier(max_depth=n_interacting).fit(chosen, codes).score(chosen, codes) == 1.0
    fewer = chosen[:, 1:]
    assert DecisionTreeClassifier().fit(fewer, codes).score(fewer, codes) < 0.55


def test_a_forest_finds_the_interacting_features():
    data, relevance = datasets.make_classification(
        1500, n_relevant=0, n_interacting=2, n_irrelevant=4, noise=0.0, share_nominal=0.5, random_state=2
    )
    scores = importances(data)
    assert scores[relevance.interacting].min() > 2 * scores[relevance.irrelevant].max()


def test_noise_is_relative_to_the_signal():
    quiet, _ = datasets.make_regression(4000, noise=0.0, random_state=0)
    loud, _ = datasets.make_regression(4000, noise=2.0, random_state=0)
    assert np.isclose(quiet.y.var(), 1, rtol=0.1)
    assert np.isclose(loud.y.var(), 5, rtol=0.1)
    assert np.isclose((loud.y - quiet.y).std(), 2, rtol=0.05)
    assert np.array_equal(quiet.X, loud.X)


def test_levels_of_a_binned_feature_say_nothing_by_their_order():
    numeric, _ = datasets.make_regression(1000, n_irrelevant=40, random_state=0)
    nominal, _ = datasets.make_regression(1000, n_irrelevant=40, share_nominal=1.0, random_state=0)
    sizes = {len(levels) for levels in nominal.features.levels}
    assert sizes == {2, 4, 6}
    ordered = 0
    for i, levels in enumerate(nominal.features.levels):
        codes, values = nominal.features.column(i), numeric.X[:, i]
        means = [values[codes == k].mean() for k in range(len(levels))]
        bounds = sorted((values[codes == k].min(), values[codes == k].max()) for k in range(len(levels)))
        assert all(before[1] <= after[0] for before, after in pairwise(bounds))
        assert np.bincount(codes, minlength=len(levels)).min() > 0.6 * 1000 / len(levels)
        ordered += list(means) == sorted(means)
    assert 0 < ordered < nominal.n_features / 2
