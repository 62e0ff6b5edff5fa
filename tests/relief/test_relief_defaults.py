"""What Relief does when nothing is set: its form, missing cells, unlabelled examples."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.public_data import public_data
from sklearn.metrics import roc_auc_score

import omnirank as om
from omnirank.errors import DataError
from omnirank.relief.choice import best_candidate


def random_data(seed, n=30, d=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng


def scores(X, y=None, **options):
    return om.ReliefRanker(**options).fit(X, y).feature_importances_


def test_unlabelled_examples_are_used_where_they_clearly_help():
    """Losses decide: what is lower in every fold is taken, what is lower by chance is not."""
    left_out, k = np.array([0.5, 0.6, 0.5, 0.6]), 20
    clear, by_chance = left_out - [0.1, 0.12, 0.1, 0.11], left_out - [0.4, -0.2, 0.1, 0.0]
    assert best_candidate({(None, 15): left_out, ((0.5, 1.0), k): clear}) == ((0.5, 1.0), k)
    assert best_candidate({(None, 15): left_out, ((0.5, 1.0), k): by_chance}) == (None, 15)
    assert best_candidate({(None, 15): left_out, ((0.5, 1.0), k): left_out}) == (None, 15)
    assert best_candidate({((0.0, 1.0), 15): left_out, ((0.0, 1.0), 30): by_chance}) == ((0.0, 1.0), 30)


@pytest.mark.slow
def test_unlabelled_examples_do_no_harm_by_default():
    """Features without structure: unlabelled examples only say that all features are alike."""
    aucs = {"auto": [], "cv": [], (0.0, 1.0): []}
    for seed in range(4):
        data, truth = om.datasets.make_regression(300, n_irrelevant=20, noise=0.5, random_state=seed, labelled=0.15)
        for influence, found in aucs.items():
            importances = om.ReliefRanker(influence=influence, random_state=0).fit(data).feature_importances_
            found.append(roc_auc_score(truth.informative, importances))
    assert np.mean(aucs["auto"]) > np.mean(aucs[0.0, 1.0]) + 0.05
    assert np.mean(aucs["cv"]) > np.mean(aucs[0.0, 1.0]) + 0.05


def test_few_labels_need_the_unlabelled_examples():
    X, _ = random_data(0, n=40)
    y = np.where(np.arange(40) < 7, X[:, 0], np.nan)
    for influence in ("auto", "cv"):
        assert om.ReliefRanker(influence=influence).fit(X, y).influence_ == (0.0, 1.0)
    y[7] = 0.5
    assert om.ReliefRanker().fit(X, y).influence_ is None


def test_neighbours_are_chosen_with_two_examples():
    """A fold leaves one example, which has no neighbour."""
    with pytest.warns(UserWarning, match="differ as much as they can"):
        ranker = om.ReliefRanker(n_neighbors="auto", random_state=0).fit([[0.0, 1.0], [1.0, 1.0]], [0.5, 1.5])
    assert ranker.n_neighbors_ == 1


def test_the_form_is_that_of_the_data():
    X, _ = random_data(0, n=60)
    classes, some = (X[:, 0] > 0).astype(int), np.where(np.arange(60) < 5, 1.0 * (X[:, 0] > 0), np.nan)
    for y, form in ((classes, "relieff"), (some, "rrelieff"), (X[:, 0], "rrelieff"), (None, "rrelieff")):
        ranker = om.ReliefRanker(n_neighbors=5).fit(X, y)
        assert ranker.algorithm_ == ranker.ranking_.parameters["algorithm"] == form
        assert ranker.ranking_.method == "relief"
        np.testing.assert_array_equal(ranker.feature_importances_, scores(X, y, algorithm=form, n_neighbors=5))
    both = [om.ReliefRanker(n_iterations=30, first_iteration=i, random_state=0) for i in (0, 30)]
    both[1].algorithm = "rrelieff"
    with pytest.raises(DataError):
        both[0].fit(X, classes).ranking_.merge(both[1].fit(X, classes).ranking_)


def test_hits_and_misses_find_what_the_distance_form_does_not():
    """One feature of three decides, behind noise: neighbours in all features hardly differ in their classes' shares."""
    found = {"auto": 0, "rrelieff": 0}
    for seed in range(5):
        X, rng = random_data(seed, n=1000, d=3)
        y = (X[:, 0] + rng.normal(size=1000) > 0).astype(int)
        for algorithm in found:
            found[algorithm] += int(np.argmax(scores(X, y, algorithm=algorithm)) == 0)
    assert found["auto"] == 5
    assert found["rrelieff"] < 5


def test_missing_or_not_counts_only_where_missing_cells_are_distant():
    X, _ = random_data(0)
    absent = X[:, 0] > 0
    wide = np.column_stack([np.where(absent, np.nan, 7.0), X[:, 1:]])
    assert scores(wide, absent.astype(int), n_neighbors=5, missing="distant")[0] > 0.1
    assert scores(wide, absent.astype(int), n_neighbors=5)[0] == 0


@pytest.mark.parametrize("algorithm", ["relieff", "rrelieff"])
def test_missing_cells_that_depend_on_the_class(algorithm):
    """A feature that matters stays first, and noise does not rise, whose cells are missing in one class."""
    for seed in range(3):
        X, rng = random_data(seed, n=400)
        y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(int)
        for column in (0, 1):
            holes = X.copy()
            holes[(y == 1) & (rng.random(400) < 0.6), column] = np.nan
            assert np.argmax(scores(holes, y, algorithm=algorithm)) == 0
    # as a reminder of what distances of missing cells do: the noise comes first
    assert np.argmax(scores(holes, y, algorithm="rrelieff", missing="distant")) == 1


def test_features_that_are_hardly_known_do_not_come_first():
    X, rng = random_data(0, n=600, d=30)
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=600)
    for classes in (False, True):
        holes = X.copy()
        holes[:, 2:][rng.random((600, 28)) < 0.97] = np.nan
        found = scores(holes, (y > 0).astype(int) if classes else y)
        assert set(np.argsort(-found)[:2].tolist()) == {0, 1}


def test_parts_of_the_iterations_merge_where_cells_are_missing(tmp_path):
    X, rng = random_data(0, n=80)
    y = rng.normal(size=(80, 2))
    X[rng.random(X.shape) < 0.3] = np.nan
    common = {"random_state": 4, "per_target": True}
    whole = om.ReliefRanker(n_iterations=80, **common).fit(X, y).ranking_
    first = om.ReliefRanker(n_iterations=50, **common).fit(X, y).ranking_
    second = om.ReliefRanker(n_iterations=30, first_iteration=50, **common).fit(X, y).ranking_
    first.save(tmp_path / "first.json")
    merged = om.Ranking.load(tmp_path / "first.json").merge(second)
    np.testing.assert_allclose(merged.scores, whole.scores, atol=1e-12)
    np.testing.assert_allclose(merged.per_target.scores, whole.per_target.scores, atol=1e-12)


def test_the_only_target_alone_is_all_targets():
    X, rng = random_data(0, n=80)
    X[rng.random(X.shape) < 0.3] = np.nan
    ranking = om.ReliefRanker(per_target=True).fit(X, rng.integers(0, 2, 80)).ranking_
    np.testing.assert_array_equal(ranking.per_target.scores, ranking.scores[None])


def test_labels_of_a_hierarchy_have_the_f1_distance():
    data, _ = om.datasets.make_hierarchical_multi_label(60, random_state=0)
    np.testing.assert_array_equal(scores(data), scores(data, target_distance="f1"))
    assert not np.allclose(scores(data), scores(data, target_distance="hamming"))


@pytest.mark.shared_data
def test_the_hormone_that_tells_the_sick_is_not_last():
    """T3 of `sick` is missing in a fifth of the examples, which put it last when missing cells were distant."""
    data = om.load(public_data() / "classification" / "sick.arff.gz", target="last")
    data = data.take(np.sort(np.random.default_rng(0).permutation(data.n_examples)[:1500]))
    now, before = om.ReliefRanker(), om.ReliefRanker("rrelieff", missing="distant")
    assert "T3" in now.fit(data).ranking_.top(10)
    assert "T3" not in before.fit(data).ranking_.top(20)
