"""ReliefRanker beside other implementations, where their definitions coincide.

``reference/relief_clus.csv`` holds the scores that CLUS 2.12.8 gives (``-relief``, ``Neighbours = [10,30]``,
``Iterations = 1.0``, ``WeightNeighbours = No``, ``Heuristic = VarianceReduction``, and for church_FUN ``WType =
ExpAvgParentWeight``, ``WParam = 0.75``), one line per data set and number of neighbours, features in the order of the
file. Those of scikit-rebate 0.8.4 stand below.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from benchmarks.public_data import public_data

import omnirank as om

SHARED = public_data()
FIGURES = Path(__file__).parents[1] / "reference" / "relief_clus.csv"

FILES = {
    "wq": ("mtr/wq.arff.gz", {"target": "last:14"}),
    "mortgage": ("regression/mortgage.csv", {"target": "last:1"}),
    "ionosphere": ("classification/ionosphere.arff", {"target": "last:1"}),
    "emotions": ("mlc/emotions/emotions.arff.gz", {"labels": "mlc/emotions/emotions.xml"}),
    "flags": ("mlc/flags/flags.arff", {"labels": "mlc/flags/flags.xml"}),
    "church_FUN": ("hmlc/church_FUN/church_FUN.train.arff.gz", {}),
}


def clus_scores(name):
    with FIGURES.open(newline="") as file:
        lines = list(csv.DictReader(file))
    found = {int(line["k"]): line["scores"].split() for line in lines if line["data"] == name}
    return {k: np.array(scores, float) for k, scores in found.items()}


def load(name):
    path, options = FILES[name]
    if not (SHARED / path).is_file():
        pytest.skip(f"{path} is not here")
    options = {key: SHARED / value if key == "labels" else value for key, value in options.items()}
    return om.load(SHARED / path, **options)


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["wq", "mortgage", "ionosphere", "emotions", "flags"])
def test_scores_of_clus(name):
    data = load(name)
    # for one class CLUS looks at hits and misses
    algorithm = "relieff" if data.task == "classification" else "rrelieff"
    ranker = om.ReliefRanker(algorithm, n_neighbors=[10, 30]).fit(data)
    figures = clus_scores(name)
    assert sorted(figures) == [10, 30]
    for k, wanted in figures.items():
        assert np.abs(wanted).max() > 1e-3
        np.testing.assert_allclose(ranker.checkpoints_[ranker.n_iterations_, k].scores, wanted, rtol=1e-8, atol=1e-11)


@pytest.mark.shared_data
def test_scores_of_clus_for_a_hierarchy_differ_by_the_scale_of_the_target_distance():
    """CLUS divides by a weight in which two single labels differ and does not clip: "probabilities" P_T above 1.

    The same pairs with target distances c times as large then give its scores. The scale c (1 in omnirank, where the
    total weight divides) is found here from the scores of one number of neighbours, and used for the other.
    """
    ranker = om.ReliefRanker(n_neighbors=[10, 30], target_distance="hamming", missing="distant").fit(load("church_FUN"))
    figures = clus_scores("church_FUN")

    def rescaled(k, c):
        sums = ranker.checkpoints_[ranker.n_iterations_, k].state
        return sums.p_ft / sums.p_t - (sums.p_f - c * sums.p_ft) / (sums.weight - c * sums.p_t)

    candidates = np.linspace(30, 60, 6001)
    c = min(candidates, key=lambda c: np.abs(rescaled(10, c) - figures[10]).max())
    sums = ranker.checkpoints_[ranker.n_iterations_, 10].state
    assert c * sums.p_t > 1.5 * sums.weight
    for k in (10, 30):
        assert np.abs(ranker.checkpoints_[ranker.n_iterations_, k].scores - figures[k]).max() > 0.01
        assert np.abs(rescaled(k, c) - figures[k]).max() < 3e-5


# Made by skrebate.ReliefF(n_neighbors=k, n_features_to_select=2).fit(X, y).feature_importances_ on `two_classes()`.
# Its scores of more classes, of numbers and of levels follow other definitions (weights of classes, hits and misses
# by the standard deviation of the target, no numbers of levels) or break ties by another order.
SCIKIT_REBATE = {
    1: [0.118720846788662, 0.162293979145644, -0.0141474990872581, -0.0475061468212153, -0.0519563008130081],
    4: [0.0888612307140294, 0.103882862428523, 0.0162125775830595, -0.0645416227608009, -0.0467162093495935],
    7: [0.0573389204982316, 0.0571212339628082, 0.0169574401502112, -0.064177831301119, -0.0401785714285714],
}


def two_classes():
    rng = np.random.default_rng(7)
    X = np.round(rng.uniform(0, 10, size=(24, 5)), 2)
    return X, ((X[:, 0] - 5) * (X[:, 1] - 5) > 0).astype(int)


@pytest.mark.parametrize("k", SCIKIT_REBATE)
def test_scores_of_scikit_rebate_for_two_classes(k):
    found = om.ReliefRanker("relieff", n_neighbors=k).fit(*two_classes()).feature_importances_
    np.testing.assert_allclose(found, SCIKIT_REBATE[k], atol=1e-12)
