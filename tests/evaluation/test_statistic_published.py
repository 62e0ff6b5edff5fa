"""Statistics recomputed from published tables: the figures that studies drew from them come out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from omnirank.evaluation.statistics import (
    average_ranks,
    compare_methods,
    correct_p_values,
    friedman_from_ranks,
    friedman_test,
    wilcoxon_test,
)
from reference.measures_published import ENSEMBLES, MLC, MTR, UNSUPERVISED


def test_rankings_for_several_numbers_against_no_ranking():
    uniform = MTR["uniform"]
    assert wilcoxon_test(uniform, MTR["Genie3-RF-STR"], "normal").p_value == pytest.approx(7.59e-5, abs=5e-8)
    # printed 0.00664, from performances with more digits than the table has
    assert wilcoxon_test(uniform, MTR["Relief"], "normal").p_value == pytest.approx(0.00664, rel=0.05)


@pytest.mark.parametrize("row", list(ENSEMBLES.itertuples()), ids=lambda row: "-".join(row.Index))
def test_ensembles_on_24_data_sets(row):
    # ranks are whole multiples of 1/48, which two printed decimals determine
    ranks = np.round(np.array([row.Bagging, row.RF, row.ET]) * 48) / 48
    assert ranks.sum() == pytest.approx(6)
    found = friedman_from_ranks(ranks, 24).p_value
    digits = len(f"{row.p:g}".split("e")[0].replace(".", "").lstrip("0"))
    assert found == pytest.approx(row.p, rel=0.51 * 10 ** (1 - max(digits, 2)))


@pytest.mark.parametrize(
    ("columns", "ranks", "p_value"),
    [
        (["Genie3-Bag", "Genie3-RF", "Genie3-ET"], [1.79, 2.46, 1.75], 0.019),
        (["Symb-Bag", "Symb-RF", "Symb-ET"], [1.79, 1.71, 2.50], 0.0080),
        (["RForest-Bag", "Genie3-ET", "Symb-RF", "Relief"], [2.71, 2.00, 1.98, 3.31], None),
        (["RForest-Bag", "Genie3-ET", "Symb-RF"], [2.46, 1.69, 1.85], None),
    ],
)
def test_average_ranks_by_area_on_24_data_sets(columns, ranks, p_value):
    table = MLC[columns]
    np.testing.assert_allclose(average_ranks(table, larger_is_better=True), ranks, atol=0.0051)
    if p_value is not None:
        assert friedman_test(table).p_value == pytest.approx(p_value, rel=0.03)


def test_scores_against_relief_and_among_themselves():
    columns = ["RForest-Bag", "Genie3-ET", "Symb-RF"]
    found = compare_methods(MLC[[*columns, "Relief"]], larger_is_better=True, control="Relief", decimals=3)
    assert found.rejected
    assert found.significant["Relief"][columns].tolist() == [False, True, True]
    among = compare_methods(MLC[columns], larger_is_better=True, decimals=3)
    assert among.significant.loc["Genie3-ET", "RForest-Bag"]
    assert not among.significant.loc["Genie3-ET", "Symb-RF"]


def test_relevance_by_area_of_seven_of_eight_rankings():
    rankings = MLC.columns.drop(["uniform", "Relief"])
    p_values = [wilcoxon_test(MLC[name], MLC["uniform"], "normal").p_value for name in rankings]
    rejected = correct_p_values(p_values).rejected
    assert rankings[~rejected].tolist() == ["Symb-ET"]
    # the permutation score from bagging and from random forests: printed 0.022, the table is rounded
    assert wilcoxon_test(MLC["RForest-Bag"], MLC["RForest-RF"], "normal").p_value == pytest.approx(0.022, rel=0.06)


# Relevance of rankings: p values of weighted against plain neighbours, two families for several numbers, one for
# hierarchies.
MTR_ENSEMBLES = [7.59e-5, 2.28e-4, 3.40e-3, 9.71e-3, 2.49e-2, 8.64e-2]
MTR_RELIEF = [0.00664, 0.0119, 0.0975, 0.100, 0.145, 0.153]
HMLC = [2.14e-4, 1.03e-3, 2.41e-3, 2.06e-2, 2.63e-2, 4.17e-2, 4.49e-2, 3.29e-1]


def test_published_decisions_on_many_tests():
    assert correct_p_values(MTR_ENSEMBLES, method="hochberg").rejected.tolist() == [True] * 5 + [False]
    hochberg = correct_p_values(MTR_RELIEF, method="hochberg")
    assert hochberg.rejected.tolist() == [True] + [False] * 5
    np.testing.assert_allclose(hochberg.thresholds, [0.00833, 0.01, 0.0125, 0.0167, 0.025, 0.05], atol=5e-5)
    # called Benjamini-Hochberg in print, which would reject the second as well
    assert correct_p_values(MTR_RELIEF).rejected.tolist() == [True] * 2 + [False] * 4
    assert correct_p_values(HMLC).rejected.tolist() == [True] * 5 + [False] * 3


def test_rankings_without_a_target():
    methods = UNSUPERVISED.drop(columns="RForest")
    found = compare_methods(methods, larger_is_better=False)
    expected = {
        "Genie3": 1.94,
        "URelief": 3.35,
        "Laplace": 3.98,
        "NDFS": 4.25,
        "AgnoS-S": 4.40,
        "MCFS": 4.71,
        "SPEC": 5.37,
    }
    assert found.average_ranks.round(2).to_dict() == expected
    assert found.critical_distance == pytest.approx(1.7669, abs=5e-4)
    middle = ("Laplace", "NDFS", "AgnoS-S", "MCFS")
    assert found.groups == (("Genie3", "URelief"), ("URelief", *middle), (*middle, "SPEC"))
    corrected = friedman_test(methods, larger_is_better=False, tie_correction=True)
    assert corrected.chi2_p_value == pytest.approx(4.0e-8, rel=0.02)


def test_two_scores_without_a_target():
    two = UNSUPERVISED[["Genie3", "RForest"]]
    found = compare_methods(two, larger_is_better=False)
    assert found.average_ranks.round(2).to_dict() == {"Genie3": 1.35, "RForest": 1.65}
    # Printed 0.0397, from figures with more digits. Differences that are equal in the table must tie; as floats they
    # are not quite equal, which would give 0.060.
    hundredths = (two * 100).round()
    exact = stats.wilcoxon(hundredths["Genie3"], hundredths["RForest"], zero_method="zsplit", method="asymptotic")
    tied = wilcoxon_test(two["Genie3"], two["RForest"], "tie-corrected")
    assert tied.p_value == pytest.approx(exact.pvalue)
    assert wilcoxon_test(two["Genie3"], two["RForest"], "normal").p_value == pytest.approx(0.0476, abs=5e-5)
    assert found.rejected
