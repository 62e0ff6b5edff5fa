"""Repeated measurements, weights, splitters and features that stand for each other, in all that judges rankings."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

import omnirank as om
from omnirank.errors import DataError, ParameterError
from omnirank.evaluation import selection
from omnirank.evaluation.folds import splitter_folds

N = 120
RANKER = om.UnivariateRanker()


def data():
    """Two signals, the first in five copies, and noise; the target is their sum."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, N))
    copies = [first + 0.05 * rng.normal(size=N) for _ in range(5)]
    X = np.column_stack([*copies, second, rng.normal(size=(N, 4))])
    return om.Dataset(X, 2 * first + second + 0.1 * rng.normal(size=N))


def subjects():
    """Ten measurements of each subject, whose target no feature but its own pattern tells."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(12), 10)
    X = rng.normal(size=(12, 5))[groups] + 0.01 * rng.normal(size=(N, 5))
    return X, rng.normal(size=12)[groups] + 0.01 * rng.normal(size=N), groups


# -- redundancy ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("by", ["neighbors", "forest", "significance"])
def test_one_of_each_group_is_kept(by):
    plain = om.select(RANKER, data(), by=by, sizes=None, random_state=0)
    chosen = om.select(RANKER, data(), by=by, redundancy=0.9, random_state=0)
    copies = {f"x{i}" for i in range(5)}
    assert len(copies & set(plain.names)) > 1
    assert len(copies & set(chosen.names)) == 1
    assert "x5" in chosen.names
    (representative,) = copies & set(chosen.names)
    assert set(chosen.stands_for[representative]) == copies - {representative}
    assert plain.redundancy is None
    assert plain.stands_for == {}


def test_groups_are_found_in_the_training_examples(monkeypatch):
    seen = []

    def watched(ranking, dataset, threshold, **more):
        seen.append(dataset.n_examples)
        return original(ranking, dataset, threshold, **more)

    original = selection.feature_groups
    monkeypatch.setattr(selection, "feature_groups", watched)
    om.select(RANKER, data(), redundancy=0.9, n_folds=4, random_state=0, n_jobs=1)
    assert seen == [90, 90, 90, 90, N]


def test_a_redundant_feature_is_never_judged():
    """With a threshold that joins the copies, all sizes from the number of groups on are the same features."""
    chosen = om.select(RANKER, data(), redundancy=0.9, sizes=[1, 2, 6, 8, 10], random_state=0)
    values = chosen.curve.values
    np.testing.assert_array_equal(values[:, 2], values[:, 3])
    np.testing.assert_array_equal(values[:, 2], values[:, 4])
    with pytest.raises(ParameterError, match="threshold=2"):
        om.select(RANKER, data(), redundancy=2, random_state=0)


# -- groups ----------------------------------------------------------------------------------------------------


def test_repeated_measurements_do_not_judge_themselves():
    X, y, groups = subjects()
    knows = om.evaluate(RANKER, X, y, n_neighbors=1, random_state=0)["rrmse"]
    honest = om.evaluate(RANKER, X, y, n_neighbors=1, groups=groups, random_state=0)["rrmse"]
    assert knows < 0.2
    assert honest > 0.7
    same = om.evaluate(RANKER, om.Dataset(X, y).with_groups(groups), n_neighbors=1, random_state=0)["rrmse"]
    assert same == honest


@pytest.mark.slow
def test_groups_are_those_of_the_dataset_everywhere():
    X, y, groups = subjects()
    grouped = om.Dataset(X, y).with_groups(groups)
    for function in (om.select, om.stability):
        given, own = function(RANKER, X, y, groups=groups, random_state=0), function(RANKER, grouped, random_state=0)
        if function is om.select:
            np.testing.assert_array_equal(given.curve.values, own.curve.values)
        else:
            np.testing.assert_array_equal(given.ranks, own.ranks)
        assert str(given) != str(function(RANKER, X, y, random_state=0)) or function is om.stability
    p_values = om.significance(RANKER, X, y, groups=groups, random_state=0).p_values
    np.testing.assert_array_equal(p_values, om.significance(RANKER, grouped, random_state=0).p_values)


def test_groups_come_from_a_file(tmp_path):
    X, y, groups = subjects()
    path = tmp_path / "subjects.csv"
    rows = "".join(
        f"{','.join(map(repr, row))},P{g},{g % 2},{v}\n"
        for row, g, v in zip(X.tolist(), groups.tolist(), y.tolist(), strict=True)
    )
    path.write_text("a,b,c,d,e,patient,half,y\n" + rows)
    read = om.load(path, "y", groups="patient", ignore="half")
    assert read.feature_names == ("a", "b", "c", "d", "e")
    np.testing.assert_array_equal(read.groups, groups)
    both = om.load(path, "y", groups="patient,half")
    np.testing.assert_array_equal(both.groups, groups)
    path.write_text(path.read_text().replace("P3", "", 1))
    with pytest.raises(DataError, match="row 31 of the data has no group"):
        om.load(path, "y", groups="patient")


# -- splitters and weights ---------------------------------------------------------------------------------------


def test_a_splitter_divides_the_labelled_examples():
    X, y, groups = subjects()
    hidden = om.Dataset(X, y).with_groups(groups).hide_labels(np.arange(0, N, 10))
    folds = splitter_folds(hidden, GroupKFold(4))
    assert sorted(np.concatenate([fold.test for fold in folds])) == np.flatnonzero(hidden.labelled).tolist()
    for fold in folds:
        assert not set(groups[fold.test]) & set(groups[np.intersect1d(fold.train, np.flatnonzero(hidden.labelled))])
        assert set(np.flatnonzero(~hidden.labelled)) <= set(fold.train)
    chosen = om.select(RANKER, X, y, groups=groups, cv=GroupKFold(4), random_state=0)
    assert chosen.curve.n_folds == 4
    iris = om.datasets.load_sample("iris")
    assert om.select(RANKER, iris, cv=StratifiedKFold(3)).curve.n_folds == 3
    pairs = list(KFold(5).split(iris.X))
    assert om.evaluate(RANKER, iris, cv=pairs) == om.evaluate(RANKER, iris, cv=KFold(5))
    for wrong in (5, "5", []):
        with pytest.raises(ParameterError, match="cv="):
            om.select(RANKER, iris, cv=wrong)


def test_weights_reach_the_rankings():
    """A weight of 0 leaves an example out of the ranking, wherever it is drawn or dealt to."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    half = np.arange(N) % 2 == 0
    y = np.where(half, X[:, 0], X[:, 1])
    ranker = om.EnsembleRanker("genie3", n_trees=20, random_state=0)
    weight = half.astype(float)
    assert om.stability(ranker, X, y, sample_weight=weight, n_resamples=5).order[0] == 0
    assert om.stability(ranker, X, y, sample_weight=1 - weight, n_resamples=5).order[0] == 1
    assert om.select(ranker, X, y, sample_weight=weight, sizes=[1, 4]).ranking.top(1) == ["x0"]
    results = [om.evaluate(ranker, X, y, sample_weight=w, top=1, cv=KFold(3)) for w in (weight, 1 - weight)]
    assert results[0] != results[1]
    for function in (om.select, om.stability, om.evaluate):
        with pytest.raises(ParameterError, match="takes no sample_weight"):
            function(om.make_ranker("relief"), X, y, sample_weight=weight)


def test_a_ranker_is_evaluated_by_cross_validation():
    iris = om.datasets.load_sample("iris")
    measures = om.evaluate(RANKER, iris.X, iris.y, [1, 5], n_folds=5)
    assert list(measures) == [1, 5]
    assert measures[5]["f1_macro"] > 0.9
    train, test = iris.split(0.5, random_state=0)
    assert om.evaluate(om.UnivariateRanker().fit(train), train, test)["f1_macro"] > 0.9
    with pytest.raises(ParameterError, match="which cross-validates"):
        om.evaluate(om.UnivariateRanker().fit(train), train, test, cv=KFold(3))
