"""What Relief must obey whatever the data: the theory, its defaults, the limits of supervision, degenerate data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import omnirank as om
from draws import draws
from omnirank.core.seeds import stream
from omnirank.errors import DataError
from omnirank.relief.choice import best_candidate
from omnirank.relief.pairs import PairSettings
from omnirank.relief.sums import relief_sums
from reference import relief_scores as reference

SEEDS = st.integers(0, 10**6)


def random_data(seed, n=30, d=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng


def test_blocks_of_pairs_do_not_show(monkeypatch):
    X, rng = random_data(0)
    y, ranker = rng.normal(size=(30, 2)), om.ReliefRanker(per_target=True)
    whole = ranker.fit(X, y).ranking_.per_target.scores
    monkeypatch.setattr("omnirank.relief.sums._MOST_CELLS", 1)
    np.testing.assert_allclose(ranker.fit(X, y).ranking_.per_target.scores, whole, rtol=1e-9)


def scores(X, y=None, **options):
    return om.ReliefRanker(**options).fit(X, y).feature_importances_


@draws(8)
@given(SEEDS, st.sampled_from([1e-6, 3.0, 1e12]), st.sampled_from([0.0, 1e3]))
def test_scale_and_offset_change_nothing(seed, scale, offset):
    X, rng = random_data(seed)
    y = rng.normal(size=30)
    moved = X * np.array([scale, 1.0, scale, 1.0, 1.0]) + offset
    np.testing.assert_allclose(scores(moved, y * scale - offset), scores(X, y), atol=1e-6)


def test_xor_is_found_where_scores_of_single_features_fail():
    rng = np.random.default_rng(1)
    numbers, flags = rng.normal(size=(400, 20)), rng.integers(0, 2, (300, 20))
    for X in (numbers, flags):
        y = ((X[:, 4] > 0) ^ (X[:, 11] > 0)).astype(int)
        for algorithm in ("rrelieff", "relieff"):
            assert set(np.argsort(-scores(X, y, algorithm=algorithm, n_neighbors=10))[:2]) == {4, 11}
        for ranker in (om.UnivariateRanker(), om.InformationRanker("chi2")):
            assert set(ranker.fit(X, y).ranking_.order[:2].tolist()) != {4, 11}


@draws(8)
@given(SEEDS)
def test_no_feature_beats_one_whose_distances_are_those_of_the_target(seed):
    """The score is a product of centred target distances and feature distances: Cauchy-Schwarz bounds it."""
    X, rng = random_data(seed, n=25)
    y = X @ rng.normal(size=5) + rng.normal(size=25)
    X[:, 2] = 3 * y + 1
    slow = [(X[:, i].tolist(), None) for i in range(5)]
    pairs = [(r, q) for r in range(25) for q in reference.nearest(slow, r, 6)]
    spread = np.std([reference.feature_distances(slow, r, q) for r, q in pairs], axis=0)
    by_norm = scores(X, y, n_neighbors=6) / spread
    assert by_norm[2] > 0
    assert (np.abs(by_norm) <= by_norm[2] * (1 + 1e-9)).all()


# -- supervision ------------------------------------------------------------------------------------------


def test_influence_does_not_matter_when_all_are_labelled():
    X, rng = random_data(0)
    y = rng.normal(size=30)
    np.testing.assert_array_equal(scores(X, y, influence=(0.25, 0.5)), scores(X, y))


def test_default_numbers_of_neighbours():
    X, rng = random_data(0, n=60)
    y = rng.normal(size=60)
    half = np.where(np.arange(60) < 30, y, np.nan)
    found = [om.ReliefRanker(influence=(0.0, 1.0)).fit(X, target).n_neighbors_ for target in (y, half, None)]
    assert found == [15, 20, 30]
    assert om.ReliefRanker(influence=None).fit(X, half).n_neighbors_ == 15


def test_unlabelled_examples_count():
    X, rng = random_data(3, n=60)
    y = np.where(np.arange(60) % 3 == 0, X[:, 0] + 0.1 * rng.normal(size=60), np.nan)
    known = ~np.isnan(y)
    all_of_them = scores(X, y, n_neighbors=5, influence=(0.0, 1.0))
    assert not np.allclose(all_of_them, scores(X[known], y[known], n_neighbors=5))
    assert not np.allclose(all_of_them, scores(X, y, n_neighbors=5, influence=(1.0, 1.0)))
    classes = np.where(known, (np.nan_to_num(y) > 0).astype(float), np.nan)
    np.testing.assert_array_equal(
        scores(X, classes, algorithm="relieff"), scores(X[known], classes[known], algorithm="relieff")
    )
    for target in (y, classes):
        np.testing.assert_array_equal(scores(X, target, influence=None), scores(X[known], target[known]))


# -- choosing parameters ----------------------------------------------------------------------------------


def test_chosen_parameters_are_those_of_the_smallest_loss():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    y = np.where(rng.random(90) < 0.4, X[:, 0] + 0.1 * rng.normal(size=90), np.nan)
    ranker = om.ReliefRanker(n_neighbors="auto", influence="cv", random_state=0).fit(X, y)
    assert len(ranker.losses_) == 15 * 3
    best = ranker.influence_, ranker.n_neighbors_
    assert ranker.losses_[best] == min(ranker.losses_.values())
    same = om.ReliefRanker(n_neighbors=best[1], influence=best[0]).fit(X, y)
    np.testing.assert_array_equal(ranker.feature_importances_, same.feature_importances_)
    assert ranker.ranking_.parameters["influence"] == best[0]
    again = om.ReliefRanker(n_neighbors="auto", influence="cv", random_state=0, n_jobs=2).fit(X, y)
    assert again.losses_ == ranker.losses_


@pytest.mark.parametrize("algorithm", ["auto", "relieff"])
def test_neighbours_are_chosen_for_labelled_data(algorithm):
    X, _ = random_data(0, n=60)
    y = (X[:, 0] > 0).astype(int)
    ranker = om.ReliefRanker(algorithm, "auto", influence="cv", random_state=0).fit(X, y)
    assert set(ranker.losses_) == {(None, k) for k in (15, 20, 30)}
    assert ranker.n_neighbors_ in (15, 20, 30)


@pytest.mark.parametrize("task", ["multi-label", "mixed-targets", "hierarchical-multi-label"])
def test_parameters_are_chosen_for_other_tasks(task):
    X, rng = random_data(2, n=120)
    hidden = rng.random(120) < 0.5
    labels = np.column_stack([X[:, 0] > 0, X[:, 0] > 1, X[:, 1] > 0]).astype(float)
    y, hierarchy = labels, None
    if task == "mixed-targets":
        y = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "p", "q")})
    if task == "hierarchical-multi-label":
        hierarchy = om.Hierarchy.from_paths(["a", "a/b", "c"])
        y = pd.DataFrame(labels, columns=["a", "a/b", "c"])
    data = om.Dataset(X, y, task=task, hierarchy=hierarchy).hide_labels(hidden)
    ranker = om.ReliefRanker(n_neighbors=5, influence="cv", random_state=0).fit(data)
    assert len({round(loss, 9) for loss in ranker.losses_.values()}) > 1
    assert ranker.n_neighbors_ == 5


def test_nothing_is_chosen_without_labels():
    X, _ = random_data(0, n=60)
    ranker = om.ReliefRanker(n_neighbors="auto", influence="cv").fit(X)
    assert ranker.n_neighbors_ == 30
    with pytest.raises(ValueError, match="at least two labelled"):
        om.ReliefRanker(n_neighbors="auto").fit(X, np.where(np.arange(60) == 3, 1.5, np.nan))


# -- tasks that coincide ----------------------------------------------------------------------------------


def test_labels_as_numbers_are_the_hamming_distance():
    X, rng = random_data(5)
    y = rng.integers(0, 2, (30, 4))
    y[:2] = [[0] * 4, [1] * 4]  # all labels vary
    numbers = scores(X, y.astype(float), task="multi-target-regression")
    np.testing.assert_allclose(scores(X, y, task="multi-label"), numbers, atol=1e-12)
    np.testing.assert_allclose(scores(X, y, task="multi-target-classification"), numbers, atol=1e-12)


def test_one_target_of_many_kinds():
    X, rng = random_data(6)
    y = rng.integers(0, 2, 30)
    y[:2] = [0, 1]
    wanted = scores(X, y, task="regression", algorithm="rrelieff")
    for task in ("classification", "multi-label", "multi-target-regression"):
        shaped = y if task == "classification" else y[:, None]
        np.testing.assert_allclose(scores(X, shaped, task=task, algorithm="rrelieff"), wanted, atol=1e-12)


def test_hierarchy_of_roots_equals_label_sets():
    X, rng = random_data(7)
    y = rng.integers(0, 2, (30, 3))
    roots = om.Hierarchy.from_paths(["a", "b", "c"])
    for kind in ("hamming", "f1"):
        flat = scores(X, y, target_distance=kind)
        frame = pd.DataFrame(y, columns=["a", "b", "c"])
        np.testing.assert_allclose(scores(X, frame, target_distance=kind, hierarchy=roots), flat, atol=1e-12)


# -- degenerate data --------------------------------------------------------------------------------------


def test_equal_targets_warn_and_score_zero():
    X, _ = random_data(0)
    for algorithm in ("auto", "relieff"):
        with pytest.warns(UserWarning, match="targets of all neighbours are equal"):
            assert not scores(X, ["same"] * 30, algorithm=algorithm).any()
    with pytest.warns(UserWarning, match="features of all neighbours are equal"):
        assert not scores(np.ones((5, 2))).any()


# -- sampling, workers, merging ---------------------------------------------------------------------------


def test_the_seed_matters_only_for_samples():
    X, rng = random_data(0, n=100)
    y = rng.normal(size=100)
    np.testing.assert_array_equal(scores(X, y, random_state=0), scores(X, y, random_state=1))
    few = {"n_iterations": 0.1}
    assert not np.array_equal(scores(X, y, random_state=0, **few), scores(X, y, random_state=1, **few))


def test_rankings_of_several_seeds_merge(tmp_path):
    """Their sums add up, also from a file, for features known in parts and for each target."""
    X, rng = random_data(0, n=80)
    y = rng.normal(size=(80, 2))
    X[rng.random(X.shape) < 0.3] = np.nan
    first, second = (
        om.ReliefRanker(n_iterations=m, per_target=True, random_state=m).fit(X, y).ranking_ for m in (50, 30)
    )
    first.save(tmp_path / "first.json")
    merged = om.Ranking.load(tmp_path / "first.json").merge(second)
    assert merged.parameters["n_iterations"] == 80
    sums = relief_sums_of(X, y, [50, 30])
    np.testing.assert_allclose(merged.scores, sums.together.finish()[0], atol=1e-12)
    np.testing.assert_allclose(merged.per_target.scores, sums.alone.finish()[0], atol=1e-12)
    with pytest.raises(ValueError, match="both used the random streams"):
        first.merge(om.ReliefRanker(n_iterations=20, per_target=True, random_state=50).fit(X, y).ranking_)


def relief_sums_of(X, y, seeds):
    """The sums over the examples that rankers with these seeds, and as many iterations, visit."""
    data = om.Dataset(X, y)
    [rule] = PairSettings("auto", "auto", 0.75, 0.0, None).rules(data, [(0.0, 1.0)])
    rows = np.concatenate([stream(seed, 0).permutation(80)[:seed] for seed in seeds])
    return relief_sums(rule, rows, [80], [15], True)[0][0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "best"}, "algorithm='best'"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_iterations": 0.0}, "n_iterations=0.0"),
        ({"sigma": -1.0}, "sigma=-1.0"),
        ({"n_iterations": True}, "n_iterations=True"),
        ({"influence": (0.5, 0.2)}, "influence="),
        ({"target_distance": "f1"}, "choose 'auto' or 'absolute' for regression"),
        ({"algorithm": "relieff"}, "does not handle regression: choose the method relief"),
        ({"influence": "best"}, "influence='best'"),
        ({"influence": {0.0: 1}}, "influence="),
    ],
)
def test_bad_parameters_are_refused(options, message):
    X, rng = random_data(0)
    with pytest.raises(ValueError, match=message):
        scores(X, rng.normal(size=30), **options)


def test_one_of_several_rankings_is_named_by_counts_or_shares_as_given():
    data, _ = om.datasets.make_friedman(50, random_state=0)
    ranker = om.ReliefRanker(n_neighbors=[3, 500], n_iterations=[0.5, 20], random_state=0).fit(data)
    assert ranker._ranking_at() is ranker.ranking_ is ranker.checkpoints_[25, 49]
    assert ranker._ranking_at(n_neighbors=500, n_iterations=0.5) is ranker.ranking_
    assert ranker._ranking_at(n_neighbors=3, n_iterations=20) is ranker.checkpoints_[20, 3]


# -- defaults ---------------------------------------------------------------------------------------------


def test_of_equal_losses_the_most_supervised_candidate_is_taken():
    losses = np.array([0.5, 0.6])
    equal = {((0.5, 1.0), 20): losses, ((0.0, 0.5), 30): losses, ((0.0, 0.5), 20): losses, ((0.0, 1.0), 15): losses}
    assert best_candidate(equal) == ((0.0, 0.5), 20)
    assert best_candidate(equal | {((1.0, 1.0), 15): losses - [0.2, -0.1]}) == ((1.0, 1.0), 15)


@pytest.mark.slow
def test_unlabelled_examples_do_no_harm_by_default():
    """Features without structure: unlabelled examples only say that all features are alike."""
    aucs = {"auto": [], (0.0, 1.0): []}
    for seed in range(4):
        data, truth = om.datasets.make_regression(300, n_irrelevant=20, noise=0.5, random_state=seed, labelled=0.15)
        for influence, found in aucs.items():
            importances = om.ReliefRanker(influence=influence, random_state=0).fit(data).feature_importances_
            found.append(roc_auc_score(truth.informative, importances))
    assert np.mean(aucs["auto"]) > np.mean(aucs[0.0, 1.0]) + 0.05


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
    one, other = (om.ReliefRanker(form, n_iterations=30, random_state=i) for i, form in enumerate(("auto", "rrelieff")))
    with pytest.raises(DataError):
        one.fit(X, classes).ranking_.merge(other.fit(X, classes).ranking_)


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


def test_the_only_target_alone_is_all_targets():
    X, rng = random_data(0, n=80)
    X[rng.random(X.shape) < 0.3] = np.nan
    ranking = om.ReliefRanker(per_target=True).fit(X, rng.integers(0, 2, 80)).ranking_
    np.testing.assert_array_equal(ranking.per_target.scores, ranking.scores[None])


def test_labels_of_a_hierarchy_have_the_f1_distance():
    data, _ = om.datasets.make_hierarchical_multi_label(60, random_state=0)
    np.testing.assert_array_equal(scores(data), scores(data, target_distance="f1"))
    assert not np.allclose(scores(data), scores(data, target_distance="hamming"))
