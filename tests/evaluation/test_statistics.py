"""Each test of statistics: against scipy, scikit-posthocs, statsmodels and the examples of the papers behind them."""

from __future__ import annotations

import io
from itertools import product

import numpy as np
import pandas as pd
import pytest
from benchmarks.public_data import public_data
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import omnirank as om
from draws import draws
from omnirank.data.infer import target_from
from omnirank.data.target import Target
from omnirank.errors import DataError, ParameterError
from omnirank.evaluation.statistics import (
    average_ranks,
    bonferroni_dunn_distance,
    clustering_hypothesis,
    compare_methods,
    explained_by_clusters,
    friedman_test,
    nemenyi_distance,
    rounded,
    smallest_sufficient,
    wilcoxon_test,
)
from omnirank.plots import plot_critical_difference
from omnirank.tasks import prototype_columns
from reference.measures_published import UNSUPERVISED

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


def test_wilcoxon_in_the_example_of_demsar():
    result = wilcoxon_test(DEMSAR["C4.5+m"], DEMSAR["C4.5"])
    assert (result.first, result.second, result.n) == (93.0, 12.0, 14)
    assert result.p_value < 0.05


@given(st.integers(3, 6), st.integers(2, 12), st.integers(0, 2**32 - 1))
@draws(10)
def test_friedman_as_in_scipy(n_methods, n_datasets, seed):
    table = pd.DataFrame(np.random.default_rng(seed).random((n_datasets, n_methods)))
    expected, found = stats.friedmanchisquare(*table.to_numpy().T), friedman_test(table)
    assert found.chi2 == pytest.approx(expected.statistic)
    assert found.chi2_p_value == pytest.approx(expected.pvalue)


def test_friedman_of_methods_that_never_or_always_differ():
    equal = pd.DataFrame(np.ones((5, 3)))
    assert friedman_test(equal).p_value == 1.0
    ordered = pd.DataFrame([[1.0, 2.0, 3.0]] * 6)
    assert friedman_test(ordered).f == np.inf
    assert friedman_test(ordered).p_value == 0.0
    assert np.isnan(friedman_test(ordered.iloc[:1]).f)


def test_direction_of_the_measure_reverses_ranks_not_the_test():
    up, down = average_ranks(DEMSAR, True), average_ranks(DEMSAR, False)
    np.testing.assert_allclose(up + down, 5)
    assert friedman_test(DEMSAR, True).chi2 == pytest.approx(friedman_test(DEMSAR, False).chi2)
    assert average_ranks(DEMSAR.loc[["adult"]], True).tolist() == [4, 3, 2, 1]
    assert average_ranks(DEMSAR.loc[["mushroom"]], True).tolist() == [2.5] * 4


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


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=25, unique_by=abs))
@draws(15)
def test_normal_wilcoxon_as_in_scipy(differences):
    found = wilcoxon_test(differences, np.zeros(len(differences)), "normal")
    expected = stats.wilcoxon(differences, zero_method="zsplit", correction=False, method="asymptotic")
    assert min(found.first, found.second) == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10))
@draws(30)
def test_exact_wilcoxon_counts_all_assignments_of_signs(differences):
    found = wilcoxon_test(differences, np.zeros(len(differences)))
    ranks = stats.rankdata(np.abs(differences))[np.array(differences) != 0]
    uneven = [abs(np.dot(signs, ranks)) for signs in product((-1, 1), repeat=len(ranks))]
    observed = abs(found.first - found.second)
    assert found.p_value == pytest.approx(np.mean(np.array(uneven) >= observed - 1e-9))
    assert wilcoxon_test(differences, np.zeros(len(differences)), "exact") == found


def test_exact_wilcoxon_as_in_scipy_and_five_wins_of_five():
    assert wilcoxon_test([1, 2, 3, 4, 5], [0] * 5).p_value == 0.0625
    differences = np.arange(1, 31) * np.where(np.arange(30) % 3, 1, -1)
    expected = stats.wilcoxon(differences, method="exact").pvalue
    assert wilcoxon_test(differences, np.zeros(30)).p_value == pytest.approx(expected)
    many = np.tile(differences, 2)
    assert wilcoxon_test(many, np.zeros(60)) == wilcoxon_test(many, np.zeros(60), "normal")
    with pytest.raises(ParameterError, match="method='zsplit'"):
        wilcoxon_test([1], [0], "zsplit")


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
    for table, message in (
        (pd.DataFrame({"a": [1.0], "b": [np.nan]}, index=["wine"]), "'b' has no value for data set 'wine'"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "two methods are called 'a'"),
        (pd.DataFrame({"a": [1.0]}), "at least one data set and two methods"),
        (pd.DataFrame({"a": ["x"], "b": [1.0]}), "must be numbers"),
    ):
        with pytest.raises(DataError, match=message):
            average_ranks(table, True)
    for first, message in (([1.0], "in pairs"), ([1.0, np.nan], "missing")):
        with pytest.raises(DataError, match=message):
            wilcoxon_test(first, [1.0, 2.0])
    for n_methods, alpha, message in ((3, 5, "alpha"), (1, 0.05, "1 methods")):
        with pytest.raises(ParameterError, match=message):
            nemenyi_distance(n_methods, 10, alpha=alpha)


# -- published statistics, from the published figures -----------------------------------------------


def test_rankings_without_a_target():
    methods = UNSUPERVISED.drop(columns="RForest")
    found = compare_methods(methods, larger_is_better=False)
    expected = {"Genie3": 1.94, "URelief": 3.35, "Laplace": 3.98, "NDFS": 4.25}
    expected |= {"AgnoS-S": 4.40, "MCFS": 4.71, "SPEC": 5.37}
    assert found.average_ranks.round(2).to_dict() == expected
    assert found.critical_distance == pytest.approx(1.7669, abs=5e-4)
    middle = ("Laplace", "NDFS", "AgnoS-S", "MCFS")
    assert found.groups == (("Genie3", "URelief"), ("URelief", *middle), (*middle, "SPEC"))


def test_two_scores_without_a_target():
    two = UNSUPERVISED[["Genie3", "RForest"]]
    found = compare_methods(two, larger_is_better=False)
    assert found.average_ranks.round(2).to_dict() == {"Genie3": 1.35, "RForest": 1.65}
    # Printed 0.0397, from figures with more digits. Differences that are equal in the table must tie; as floats they
    # are not quite equal, which would give 0.060.
    assert wilcoxon_test(two["Genie3"], two["RForest"], "normal").p_value == pytest.approx(0.0476, abs=5e-5)
    assert found.rejected


# -- comparisons of methods as one result, their tables and their diagram --------------------------


METHODS = UNSUPERVISED.drop(columns="RForest")


@pytest.mark.slow
@given(st.integers(2, 7), st.integers(2, 15), st.integers(0, 2**32 - 1), st.floats(0, 3))
@draws(10)
def test_groups_are_the_largest_sets_without_a_difference(n_methods, n_datasets, seed, gap):
    random = np.random.default_rng(seed)
    values = random.normal(size=(n_datasets, n_methods)) + gap * np.arange(n_methods)
    found = compare_methods(pd.DataFrame(values, columns=list("abcdefg")[:n_methods]), larger_is_better=True)
    together = [frozenset(group) for group in found.groups]
    assert set().union(*together) == set(found.average_ranks.index)
    for first in found.average_ranks.index:
        for second in found.average_ranks.index:
            joined = any({first, second} <= group for group in together)
            assert joined == (not found.significant.loc[first, second])
    assert not any(a < b for a in together for b in together)


def test_only_pairs_with_the_control_are_compared():
    found = compare_methods(METHODS, larger_is_better=False, control="AgnoS-S")
    assert found.groups == ()
    assert found.significant["AgnoS-S"].sum() == 1
    assert found.significant.loc["AgnoS-S", "Genie3"]
    assert not found.significant.drop(index="AgnoS-S", columns="AgnoS-S").to_numpy().any()
    assert found.critical_distance < compare_methods(METHODS, larger_is_better=False).critical_distance
    with pytest.raises(ParameterError, match="control='other'"):
        compare_methods(METHODS, larger_is_better=False, control="other")


def test_frame_has_a_row_a_method_best_first():
    found = compare_methods(METHODS, larger_is_better=False)
    frame = found.to_frame()
    assert frame.index.tolist() == found.average_ranks.index.tolist()
    assert frame.loc["Genie3", "wins"] == 14
    assert np.isnan(frame.loc["Genie3", "wilcoxon_p"])
    p_value = wilcoxon_test(METHODS["Genie3"], METHODS["SPEC"]).p_value
    assert frame.loc["SPEC", "wilcoxon_p"] == p_value
    assert frame.loc["SPEC", "adjusted_p"] >= p_value
    assert frame["differs"].tolist() == [False, False, True, True, True, True, True]
    controlled = compare_methods(METHODS, larger_is_better=False, control="SPEC").to_frame()
    assert np.isnan(controlled.loc["SPEC", "wilcoxon_p"])
    assert controlled.loc["Genie3", "differs"]


def test_markdown_and_latex():
    table = METHODS.rename(columns={"SPEC": "spec_1|x"})
    found = compare_methods(table, larger_is_better=False)
    lines = found.to_markdown().splitlines()
    assert lines[0].startswith("| method | average rank |")
    assert lines[2].startswith("| Genie3 | 1.942 |")
    assert len(lines) == 2 + 7 + 2
    assert "Nemenyi critical distance 1.7665" in lines[-1]
    assert any(r"spec_1\|x" in line for line in lines)
    latex = found.to_latex()
    assert r"spec\_1|x" in latex
    assert latex.count(r"\\") == 8


def test_summary_says_what_was_found():
    assert "Bonferroni-Dunn (control SPEC)" in compare_methods(METHODS, False, control="SPEC").summary()
    two = METHODS[["Genie3", "SPEC"]]
    assert "difference is significant at 0.05" in compare_methods(two, False).summary()
    alike = pd.DataFrame(np.ones((4, 3)), columns=list("abc"))
    assert "no significant difference at 0.01" in compare_methods(alike, True, alpha=0.01).summary()


# -- the diagram ----------------------------------------------------------------------------------


def texts(ax):
    return [text.get_text() for text in ax.texts]


def bars(ax):
    return [line.get_xdata() for line in ax.lines if line.get_linewidth() == 4.0]


def test_diagram_joins_groups_and_shows_the_distance():
    found = compare_methods(METHODS, larger_is_better=False)
    ax = found.plot()
    assert set(METHODS.columns) <= set(texts(ax))
    assert "CD = 1.766" in texts(ax)
    assert len(bars(ax)) == 3
    first = bars(ax)[0]
    assert first == pytest.approx([found.average_ranks["Genie3"], found.average_ranks["URelief"]], abs=0.05)
    file = io.BytesIO()
    ax.figure.savefig(file, format="png")
    assert file.getvalue().startswith(b"\x89PNG")


def test_diagram_without_a_difference_has_one_bar_and_no_distance():
    table = pd.DataFrame(np.random.default_rng(0).random((12, 5)), columns=["a", "b", "c", "d $x$", "e"])
    ax = plot_critical_difference(compare_methods(table, True), title="mine")
    assert len(bars(ax)) == 1
    assert not any(text.startswith("CD") for text in texts(ax))
    assert "d $x$" in texts(ax)
    assert ax.get_title(loc="left") == "mine"


def test_diagram_with_a_control_has_its_band():
    ax = compare_methods(METHODS, larger_is_better=False, control="AgnoS-S").plot()
    assert bars(ax) == []
    assert "CD = 1.581 around AgnoS-S" in texts(ax)
    assert len(ax.collections) == 1
    bold = [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    assert bold == ["AgnoS-S"]


def test_bars_that_touch_are_on_different_levels():
    ax = compare_methods(METHODS, larger_is_better=False).plot()
    spans = [(line.get_xdata(), line.get_ydata()[0]) for line in ax.lines if line.get_linewidth() == 4.0]
    for i, (a, level_a) in enumerate(spans):
        for b, level_b in spans[:i]:
            if a[0] <= b[1] and b[0] <= a[1]:
                assert level_a != level_b


# -- the clustering-hypothesis value: against its definition, and where it must be high and low ----


SHARED = public_data()


def test_clusters_explain_variance():
    target, _ = target_from(pd.DataFrame({"size": [0.0, 2.0, 4.0, 6.0], "kind": ["a", "a", "b", "a"]}))
    columns = prototype_columns(target)
    clusters = np.array([0, 0, 1, 1])
    left = np.array([1 / 5, (0 + 0.5 * 0.5) / 0.375])
    assert explained_by_clusters(columns, clusters) == pytest.approx(1 - left.mean())
    assert explained_by_clusters(columns, clusters, "std") == pytest.approx(1 - np.sqrt(left).mean())
    constant = prototype_columns(Target.numeric(np.ones((3, 1)), ["y"]))
    assert np.isnan(explained_by_clusters(constant, np.array([0, 1, 1])))


def test_hypothesis_holds_for_separate_groups_and_fails_for_noise():
    random = np.random.default_rng(0)
    group = random.integers(0, 3, 90)
    X = group[:, None] * 10.0 + random.normal(size=(90, 2))
    X[0, 0] = np.nan
    classes = om.Dataset(X, np.array(list("abc"))[group])
    assert clustering_hypothesis(classes, random_state=1) > 0.9
    noise = om.Dataset(X, random.permutation(np.array(list("abc"))[group]))
    assert clustering_hypothesis(noise, random_state=1) < 0.2
    numbers = om.Dataset(X, group + 0.5)
    value = clustering_hypothesis(numbers, n_clusters=3, random_state=1)
    assert value == clustering_hypothesis(numbers, n_clusters=3, random_state=1)
    assert clustering_hypothesis(numbers, n_clusters=3, form="std", random_state=1) <= value
    with pytest.raises(DataError, match="no known target"):
        clustering_hypothesis(om.Dataset(X))
    with pytest.raises(ParameterError, match="form='other'"):
        clustering_hypothesis(numbers, form="other")


@pytest.mark.parametrize("form", ["variance", "std"])
def test_unknown_values_of_a_target_count_nowhere(form):
    """Variances within clusters and in the data are both those of the known values, target by target."""
    rng = np.random.default_rng(2)
    values = rng.normal(size=(40, 3)) * [1.0, 5.0, 20.0]
    clusters = rng.integers(0, 4, 40)
    values[rng.random(values.shape) < [0.5, 0.2, 0.0]] = np.nan
    values[clusters == 3, 0] = np.nan  # nothing known in a cluster
    left = []
    for cells in values.T:
        known = ~np.isnan(cells)
        squares = [np.sum((part - part.mean()) ** 2) for c in range(4) if len(part := cells[known & (clusters == c)])]
        left.append(sum(squares) / known.sum() / cells[known].var())
    expected = 1 - np.mean(np.sqrt(left) if form == "std" else left)
    columns = prototype_columns(Target.numeric(values, list("abc")))
    assert explained_by_clusters(columns, clusters, form) == pytest.approx(expected)


def test_missing_cells_take_the_mean_of_the_feature():
    rng = np.random.default_rng(3)
    X, y = 5 + rng.normal(size=(60, 3)), rng.normal(size=60)
    gaps = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    filled = np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)
    one, other = (clustering_hypothesis(om.Dataset(cells, y), random_state=0) for cells in (gaps, filled))
    assert one == pytest.approx(other)


def test_the_best_of_several_runs_counts():
    rng = np.random.default_rng(4)
    data = om.Dataset(rng.normal(size=(80, 4)), rng.normal(size=80))
    first, *others = [clustering_hypothesis(data, n_runs=n, random_state=0) for n in (1, 2, 5)]
    assert first <= others[0] <= others[1]
    assert first < others[1]


def test_unlabelled_examples_make_clusters_but_are_not_judged():
    """Two groups; the few labelled examples alone would not show where they part."""
    rng = np.random.default_rng(5)
    group = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) + 8.0 * group[:, None]
    data = om.Dataset(X, np.where(group == 1, "b", "a")).hide_labels(np.arange(80) % 10 != 0)
    assert data.labelled.sum() == 8
    assert clustering_hypothesis(data, random_state=0) == 1.0


@pytest.mark.shared_data
@pytest.mark.parametrize(("name", "std", "share"), [("mortgage", 0.572, 0.816), ("treasury", 0.543, 0.791)])
def test_clustering_hypothesis_of_published_data(name, std, share):
    # 0.57 and 0.54 in print, which are of the form with square roots
    data = om.load(SHARED / "regression" / f"{name}.csv", target="1")
    assert clustering_hypothesis(data, form="std", random_state=0) == pytest.approx(std, abs=0.002)
    assert clustering_hypothesis(data, random_state=0) == pytest.approx(share, abs=0.002)


def test_sizes_that_suffice_are_corrected_over_all_measures():
    """A p value of 1/32 is significant at 0.05 alone, but not beside two others of 1."""
    n = np.arange(6)
    table = pd.DataFrame({"small": 0.5 + n / 100, "large": 0.6 + n / 50})
    equal = pd.DataFrame({"small": 0.5 + n / 100, "large": 0.5 + n[::-1] / 100})
    assert smallest_sufficient({"accuracy": table}) == {"accuracy": "large"}
    assert smallest_sufficient({"log_loss": table}) == {"log_loss": "small"}
    found = smallest_sufficient({"accuracy": table, "kappa": equal, "mcc": equal})
    assert found == {"accuracy": "small", "kappa": "small", "mcc": "small"}
