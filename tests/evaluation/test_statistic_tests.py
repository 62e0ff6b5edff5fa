"""Each test of statistics: against scipy, scikit-posthocs, statsmodels and the examples of the papers behind them."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from draws import draws
from omnirank.errors import DataError, ParameterError
from omnirank.evaluation.statistics import (
    average_ranks,
    bonferroni_dunn_distance,
    correct_p_values,
    friedman_from_ranks,
    friedman_test,
    method_ranks,
    nemenyi_distance,
    nemenyi_p_values,
    rounded,
    wilcoxon_test,
)

# AUC of C4.5 and three variants on fourteen data sets: the running example of Demsar (2006). On voting two variants
# have the same three digits, and the printed average ranks tell that their ranks were 2 and 3.
DEMSAR = pd.read_csv(
    io.StringIO(
        """
dataset C4.5 C4.5+m C4.5+cf C4.5+m+cf
adult 0.763 0.768 0.771 0.798
breast-cancer 0.599 0.591 0.590 0.569
breast-cancer-wisconsin 0.954 0.971 0.968 0.967
cmc 0.628 0.661 0.654 0.657
ionosphere 0.882 0.888 0.886 0.898
iris 0.936 0.931 0.916 0.931
liver-disorders 0.661 0.668 0.609 0.685
lung-cancer 0.583 0.583 0.563 0.625
lymphography 0.775 0.838 0.866 0.875
mushroom 1.000 1.000 1.000 1.000
primary-tumor 0.940 0.962 0.965 0.962
rheum 0.619 0.666 0.614 0.669
voting 0.972 0.981 0.975 0.9749
wine 0.957 0.978 0.946 0.970
""".strip()
    ),
    sep=" ",
    index_col=0,
)


def test_friedman_and_nemenyi_in_the_example_of_demsar():
    ranks = average_ranks(DEMSAR, larger_is_better=True)
    assert ranks.round(3).tolist() == [3.143, 2.000, 2.893, 1.964]
    result = friedman_test(DEMSAR)
    assert (round(result.chi2, 2), round(result.f, 2)) == (9.28, 3.69)
    assert result.p_value < 0.05
    assert round(nemenyi_distance(4, 14, alpha=0.10), 2) == 1.12  # printed: 1.12
    assert nemenyi_distance(4, 14) == pytest.approx(2.569 * np.sqrt(20 / 84), abs=5e-4)
    assert round(nemenyi_distance(4, 14), 2) == 1.25
    assert bonferroni_dunn_distance(4, 14, alpha=0.10) == pytest.approx(1.04, abs=5e-3)
    from_ranks = friedman_from_ranks(ranks, 14)
    assert from_ranks.f == pytest.approx(result.f)


def test_wilcoxon_in_the_example_of_demsar():
    result = wilcoxon_test(DEMSAR["C4.5+m"], DEMSAR["C4.5"])
    assert (result.first, result.second, result.n) == (93.0, 12.0, 14)
    assert result.p_value < 0.05


def test_hochberg_in_the_example_of_demsar():
    # C4.5 against its variants: p = 0.016, 0.019, 0.607, thresholds 0.017, 0.025, 0.05
    found = correct_p_values([0.607, 0.016, 0.019], method="hochberg")
    assert found.rejected.tolist() == [False, True, True]
    assert found.thresholds.round(3).tolist() == [0.05, 0.017, 0.025]


# Fifteen p values of Benjamini and Hochberg (1995), section 3.2: four rejections, three under Hochberg.
NEUHAUS = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
NEUHAUS += [0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]


def test_corrections_in_the_example_of_benjamini_and_hochberg():
    assert correct_p_values(NEUHAUS).rejected.sum() == 4
    assert correct_p_values(NEUHAUS, method="hochberg").rejected.sum() == 3
    assert not correct_p_values([]).rejected.any()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
@draws(15)
def test_corrections_as_in_scipy_and_statsmodels(p_values, alpha):
    from statsmodels.stats.multitest import multipletests

    for method, peer in (("benjamini-hochberg", "fdr_bh"), ("hochberg", "simes-hochberg")):
        found = correct_p_values(p_values, alpha, method)
        rejected, adjusted, *_ = multipletests(p_values, alpha, peer)
        np.testing.assert_allclose(found.adjusted, adjusted, atol=1e-12)
        unclear = np.isclose(adjusted, alpha, rtol=1e-9)
        np.testing.assert_array_equal(found.rejected[~unclear], rejected[~unclear])
    np.testing.assert_allclose(correct_p_values(p_values).adjusted, stats.false_discovery_control(p_values), atol=1e-12)


@given(st.integers(2, 6), st.integers(2, 12), st.integers(2, 30), st.integers(0, 2**32 - 1))
@draws(10)
def test_friedman_with_corrected_ties_as_in_scipy(n_methods, n_datasets, n_values, seed):
    table = pd.DataFrame(np.random.default_rng(seed).integers(0, n_values, (n_datasets, n_methods)))
    if n_methods < 3 or (table.nunique(axis=1) == 1).all():
        return
    expected = stats.friedmanchisquare(*table.to_numpy().T)
    found = friedman_test(table, tie_correction=True)
    assert found.chi2 == pytest.approx(expected.statistic)
    assert found.chi2_p_value == pytest.approx(expected.pvalue)
    assert friedman_test(table).chi2 <= found.chi2 + 1e-9
    if not table.apply(lambda row: row.duplicated().any(), axis=1).any():
        assert friedman_test(table).chi2 == pytest.approx(expected.statistic)


def test_friedman_of_methods_that_never_or_always_differ():
    equal = pd.DataFrame(np.ones((5, 3)))
    for tie_correction in (False, True):
        assert friedman_test(equal, tie_correction=tie_correction).p_value == 1.0
    ordered = pd.DataFrame([[1.0, 2.0, 3.0]] * 6)
    assert friedman_test(ordered).f == np.inf
    assert friedman_test(ordered).p_value == 0.0
    assert np.isnan(friedman_test(ordered.iloc[:1]).f)


def test_direction_of_the_measure_reverses_ranks_not_the_test():
    up, down = average_ranks(DEMSAR, True), average_ranks(DEMSAR, False)
    np.testing.assert_allclose(up + down, 5)
    assert friedman_test(DEMSAR, True).chi2 == pytest.approx(friedman_test(DEMSAR, False).chi2)
    assert method_ranks(DEMSAR, True).loc["adult"].tolist() == [4, 3, 2, 1]
    assert method_ranks(DEMSAR, True).loc["mushroom"].tolist() == [2.5] * 4


def test_nemenyi_p_values_as_in_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs")
    expected = posthocs.posthoc_nemenyi_friedman(DEMSAR.to_numpy())
    found = nemenyi_p_values(average_ranks(DEMSAR, True), len(DEMSAR))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.index.tolist() == found.columns.tolist() == DEMSAR.columns.tolist()


def test_p_value_and_distance_of_nemenyi_agree():
    for n_methods in (2, 3, 7):
        distance = nemenyi_distance(n_methods, 20)
        ranks = pd.Series([1.0, 1.0 + distance] + [1.0] * (n_methods - 2))
        assert nemenyi_p_values(ranks, 20).iloc[0, 1] == pytest.approx(0.05, abs=1e-6)


# Tables of Demsar (2006): critical values for 2 to 10 methods.
@pytest.mark.parametrize(
    ("alpha", "distance", "quantiles"),
    [
        (0.05, nemenyi_distance, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, nemenyi_distance, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
        (0.05, bonferroni_dunn_distance, [1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.724, 2.773]),
        (0.10, bonferroni_dunn_distance, [1.645, 1.960, 2.128, 2.241, 2.326, 2.394, 2.450, 2.498, 2.539]),
    ],
)
def test_critical_values_in_the_tables_of_demsar(alpha, distance, quantiles):
    for n_methods, quantile in enumerate(quantiles, start=2):
        found = distance(n_methods, 10, alpha) / np.sqrt(n_methods * (n_methods + 1) / 60)
        # one printed value, 2.724 for 9 methods, is 2.734
        assert found == pytest.approx(2.734 if quantile == 2.724 else quantile, abs=1.1e-3)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=25))
@draws(15)
def test_wilcoxon_with_corrected_ties_as_in_scipy(differences):
    if len(set(map(abs, differences))) == 1:
        return
    found = wilcoxon_test(differences, np.zeros(len(differences)), tie_correction=True)
    expected = stats.wilcoxon(differences, zero_method="zsplit", correction=False, method="asymptotic")
    assert min(found.first, found.second) == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    if len(set(map(abs, differences))) == len(differences):
        plain = wilcoxon_test(differences, np.zeros(len(differences)))
        assert plain.p_value == pytest.approx(expected.pvalue)


def test_wilcoxon_of_equal_methods_and_of_rounded_numbers():
    assert wilcoxon_test([0.5, 0.7], [0.5, 0.7]).p_value == 1.0
    assert wilcoxon_test([0.5], [0.5]).p_value == 1.0
    # 0.3 - 0.2 and 0.2 - 0.1 are the same difference, though not the same float
    assert wilcoxon_test([0.3, 0.1], [0.2, 0.2]).first == 1.5


def test_rounding_makes_ties():
    table = pd.DataFrame({"a": [0.1234, 0.51], "b": [0.1231, 0.5]})
    assert average_ranks(rounded(table, decimals=3), True).tolist() == [1.25, 1.75]
    assert rounded(table, digits=1).loc[0].tolist() == [0.1, 0.1]
    pd.testing.assert_frame_equal(rounded(table), table)
    with pytest.raises(ParameterError, match="not to both"):
        rounded(table, decimals=1, digits=1)


def test_what_is_wrong_is_named():
    with pytest.raises(DataError, match="'b' has no value for data set 'wine'"):
        average_ranks(pd.DataFrame({"a": [1.0], "b": [np.nan]}, index=["wine"]), True)
    with pytest.raises(DataError, match="two methods are called 'a'"):
        average_ranks(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), True)
    with pytest.raises(DataError, match="at least one data set and two methods"):
        average_ranks(pd.DataFrame({"a": [1.0]}), True)
    with pytest.raises(DataError, match="must be numbers"):
        average_ranks(pd.DataFrame({"a": ["x"], "b": [1.0]}), True)
    with pytest.raises(DataError, match="in pairs"):
        wilcoxon_test([1.0], [1.0, 2.0])
    with pytest.raises(DataError, match="missing"):
        wilcoxon_test([1.0, np.nan], [1.0, 2.0])
    with pytest.raises(DataError, match="from 0 to 1"):
        correct_p_values([0.5, 1.5])
    with pytest.raises(ParameterError, match="method='holm'"):
        correct_p_values([0.5], method="holm")
    with pytest.raises(ParameterError, match="alpha"):
        nemenyi_distance(3, 10, alpha=5)
    with pytest.raises(ParameterError, match="1 methods"):
        nemenyi_distance(1, 10)
    with pytest.raises(DataError, match="two methods"):
        friedman_from_ranks([1.0], 5)
