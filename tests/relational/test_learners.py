"""Relational trees, forests and boosting: a single table, other databases, workers, errors, words."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from tests.relational.plain import one_table

import omnirank as om
from omnirank import relational
from omnirank.core.seeds import kernel_seed, stream
from omnirank.ensembles.plan import GrowingRules
from omnirank.errors import DataError, DataTypeError, DataWarning, ParameterError
from omnirank.relational import RelationalBoosting, RelationalDataset, RelationalForest, RelationalTree
from omnirank.relational.candidates import Bias
from omnirank.relational.evaluation import feature_columns
from omnirank.relational.growing import CandidateTables, RelationalConstruction, grow_tree
from omnirank.trees.kernels.spaces import OneColumn


def single_tables():
    """Data sets of all kinds of targets, without missing cells."""
    rng = np.random.default_rng(0)
    n = 80
    frame = pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.integers(0, 5, n), "c": pd.Categorical(rng.choice(list("uvwxy"), n))}
    )
    signal = frame["a"].to_numpy() + frame["b"].to_numpy() + (frame["c"] == "v") + rng.normal(size=n)
    yield "classes", om.Dataset(frame, np.array(["low", "middle", "high"])[np.digitize(signal, [1.5, 3])])
    yield "number", om.Dataset(frame, signal)
    yield "numbers", om.Dataset(frame, np.column_stack([signal, rng.normal(size=n)]), task="multi-target-regression")
    labels = np.column_stack([signal > 1, signal > 3, rng.random(n) > 0.5]).astype(float)
    yield "labels", om.Dataset(frame, labels, task="multi-label")
    hierarchy = om.Hierarchy.from_paths(["a/b", "a/c", "d/e"])
    chosen = [{hierarchy.labels[i] for i in rng.integers(0, len(hierarchy.labels), 2)} for _ in range(n)]
    yield "hierarchy", om.Dataset(frame, chosen, hierarchy=hierarchy)


SINGLE = dict(single_tables())


def same_trees(one, other):
    for name in ("feature", "threshold", "right", "missing_left", "gain", "weight", "depth", "subset_start", "subsets"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(dense(one.values), dense(other.values))


def dense(values):
    return values.toarray() if hasattr(values, "toarray") else values


def in_column_order(model, dataset):
    """A relational tree with the features numbered as the columns of the table."""
    place = {f"rows_{name}": i for i, name in enumerate(dataset.feature_names)}
    numbers = np.array([place[feature.path[0].relation] for feature in model.features_] + [-1], np.int32)
    return [replace(tree, feature=numbers[tree.feature]) for tree in model._trees()]


@pytest.mark.every(5)
@pytest.mark.parametrize("kind", SINGLE)
def test_a_single_table_gives_the_tree_of_pct(kind):
    dataset = SINGLE[kind]
    plain = om.PCTRegressor if kind in ("number", "numbers") else om.PCTClassifier
    expected = plain(pruning=None, min_samples_leaf=1, random_state=5).fit(dataset)
    data = one_table(dataset)
    for preset, lookahead in (("AGG-All", 1), ("AGG-All", 2), ("NO-Rel", 2)):
        found = RelationalTree(aggregates=preset, lookahead=lookahead, random_state=5).fit(data)
        [tree] = in_column_order(found, dataset)
        same_trees(tree, expected.tree_)
        np.testing.assert_array_equal(found.predict(data), expected.predict(dataset))
        assert found.score(data) == expected.score(dataset)
        used = found.feature_importances_
        assert sorted(used) == sorted(v for v in expected.feature_importances_ if v)
    assert found.task_ == dataset.task
    assert found.target_names_ == dataset.target_names


@pytest.mark.parametrize("ensemble", ["bagging", "random-forest"])
def test_a_single_table_gives_the_forest_of_pct(ensemble):
    dataset = SINGLE["classes"]
    expected = om.PCTForestClassifier(ensemble, n_trees=20, min_samples_leaf=1, oob_score=True, random_state=2)
    expected.fit(dataset)
    found = RelationalForest(ensemble, n_trees=20, oob_score=True, random_state=2).fit(one_table(dataset))
    for one, other in zip(in_column_order(found, dataset), expected.trees_, strict=True):
        same_trees(one, other)
    np.testing.assert_array_equal(found.oob_decision_function_, expected.oob_decision_function_)
    assert found.oob_error_ == expected.oob_error_


@pytest.mark.parametrize("make", [RelationalTree, RelationalForest, RelationalBoosting])
def test_the_data_say_whether_classes_or_numbers_are_predicted(make):
    classes, number = one_table(SINGLE["classes"]), one_table(SINGLE["number"])
    model = make(max_depth=2, random_state=0)
    assert not is_classifier(model)
    assert not is_regressor(model)
    model.fit(classes)
    assert is_classifier(model)
    assert model.predict_proba(classes).shape == (80, 3)
    assert model.score(classes) == (model.predict(classes) == classes.y).mean()
    model.fit(number)
    assert is_regressor(model)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "predict_proba")
    assert model.score(number) == pytest.approx(np.corrcoef(number.y, model.predict(number))[0, 1] ** 2, abs=0.2)
    with pytest.raises(ParameterError, match="class_weight"):
        make(class_weight="balanced").fit(number)


def test_a_forest_of_numbers_has_out_of_bag_predictions():
    number = one_table(SINGLE["number"])
    model = RelationalForest(n_trees=30, oob_score=True, random_state=0).fit(number)
    assert model.oob_prediction_.shape == (80,)
    assert not hasattr(model, "oob_decision_function_")
    assert model.oob_error_ > 0


def test_a_missing_cell_is_no_fact():
    dataset = om.Dataset([[1.0], [2.0], [np.nan], [np.nan]], ["a", "b", "c", "c"])
    model = RelationalTree(aggregates=["mean"], random_state=0).fit(one_table(dataset))
    assert model.predict(one_table(dataset)).tolist() == ["a", "b", "c", "c"]
    text = om.export_text(model)
    assert "is defined" in text
    assert "e+308" not in text


MOVIES = om.datasets.make_movies(random_state=0)


def test_a_random_forest_that_draws_all_candidates_is_bagging():
    bagging = RelationalForest("bagging", n_trees=3, random_state=1).fit(MOVIES)
    forest = RelationalForest("random-forest", n_trees=3, max_features="all", random_state=1).fit(MOVIES)
    sampled = RelationalForest("random-forest", n_trees=3, random_state=1).fit(MOVIES)
    assert bagging.features_ == forest.features_ != sampled.features_
    for one, other in zip(bagging.trees_, forest.trees_, strict=True):
        same_trees(one, other)


def test_the_order_of_rows_changes_nothing():
    frames = om.datasets.make_movies(as_frames=True, random_state=0)
    shuffled = {name: frame.sample(frac=1, random_state=7) for name, frame in frames.items()}
    models = []
    for tables in (frames, shuffled):
        data = RelationalDataset.from_frames(tables, target=MOVIES.target_name, like=MOVIES)
        models.append(RelationalForest(n_trees=3, random_state=1).fit(data))
    assert models[0].features_ == models[1].features_
    for one, other in zip(models[0].trees_, models[1].trees_, strict=True):
        same_trees(one, other)


def trees_as_text(n_jobs: int | None, estimator: str) -> str:
    model = getattr(relational, estimator)(n_trees=4, random_state=3, n_jobs=n_jobs).fit(MOVIES)
    return json.dumps([om.export_json(model, tree=i) for i in range(4)], default=str)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["RelationalForest", "RelationalBoosting"])
def test_the_number_of_workers_changes_nothing(estimator):
    assert trees_as_text(1, estimator) == trees_as_text(3, estimator)


@pytest.mark.slow
def test_worker_processes_change_nothing():
    script = (
        "import joblib\n"
        "from tests.relational.test_learners import trees_as_text\n"
        "with joblib.parallel_config('loky', n_jobs=2):\n"
        "    print(trees_as_text(None, 'RelationalForest'))\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert found.stdout.strip() == trees_as_text(1, "RelationalForest")


@pytest.mark.slow
def test_another_database_of_the_same_schema():
    model = RelationalForest(n_trees=20, random_state=0).fit(MOVIES)
    other = om.datasets.make_movies(random_state=1)
    assert set(other.database.objects) == set(MOVIES.database.objects)
    accuracy = model.score(other)
    assert accuracy > pd.Series(other.y).value_counts(normalize=True).max() + 0.1
    np.testing.assert_array_equal(model.predict(other.take([4])), model.predict(other)[[4]])


def test_a_database_without_a_used_relation_is_refused():
    from omnirank.relational.database import Database

    model = RelationalTree(random_state=0).fit(MOVIES)
    lost = model.features_[0].path[0].relation
    database = MOVIES.database
    fewer = Database(database.objects, {n: r for n, r in database.relations.items() if n != lost})
    other = RelationalDataset(fewer, MOVIES.example_types, MOVIES.example_codes, MOVIES.target, MOVIES.task)
    with pytest.raises(DataError, match=lost):
        model.predict(other)


def test_levels_that_training_has_not_seen_are_missing():
    def shop_kinds(first):
        frame = pd.DataFrame({"id": range(6), "kind": [first, *"pqqrr"], "y": list("aabbcc")})
        options = {"keys": {"shops": "id"}, "types": {"shops.kind": "nominal"}}
        return RelationalDataset.from_frames({"shops": frame}, target="shops.y", **options)

    model = RelationalTree(random_state=0).fit(shop_kinds("p"))
    for first, words in (("new", "new"), (None, "nothing to aggregate")):
        with pytest.warns(UserWarning, match=words):
            assert model.predict(shop_kinds(first))[1:].tolist() == list("abbcc")


def test_unlabelled_examples_and_those_without_weight_are_not_used():
    dataset = SINGLE["classes"]
    y = np.array(dataset.y, object)
    y[:10] = None
    partly = om.Dataset(dataset.features, y)
    weight = np.ones(len(y))
    weight[10:20] = 0
    found = RelationalTree(supervision=1, random_state=0).fit(one_table(partly), sample_weight=weight)
    expected = RelationalTree(random_state=0).fit(one_table(dataset).take(slice(20, None)))
    same_trees(found.tree_, expected.tree_)
    guessed = RelationalTree(supervision=1, random_state=0).transduce(one_table(partly))
    assert len(guessed) == 10


def test_a_column_that_gives_the_target_away_is_told_once():
    rng = np.random.default_rng(0)
    shops = pd.DataFrame({"id": range(80), "size": rng.normal(size=80), "y": rng.choice(["no", "yes"], 80)})
    shops["leak"] = np.where(shops["y"] == "yes", "ja", "nein")
    data = RelationalDataset.from_frames({"shops": shops}, keys={"shops": "id"}, target="shops.y")
    with pytest.warns(DataWarning, match="leak"):
        RelationalTree().fit(data)
    RelationalTree().fit(data.take(slice(0, 40)))  # and not again


def test_limits_of_a_tree():
    model = RelationalTree(max_depth=2, min_samples_leaf=5, random_state=0).fit(MOVIES)
    assert model.get_depth() == 2
    assert model.tree_.weight.min() >= 5
    assert RelationalTree(max_depth=0).fit(MOVIES).get_n_leaves() == 1
    assert max(len(feature.path) for feature in model.features_) <= 4


def test_a_constant_target_gives_leaves():
    dataset = om.Dataset([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    with pytest.warns(UserWarning, match="one class or value only"):
        model = RelationalForest(n_trees=2).fit(one_table(dataset))
    assert model.predict(one_table(dataset)).tolist() == ["a", "a", "a"]
    assert model.features_ == ()


def test_what_is_refused():
    for model, data, error, message in (
        (RelationalTree(), [[1.0]], DataTypeError, "RelationalDataset"),
        (RelationalBoosting(), one_table(SINGLE["labels"]), DataError, "does not handle multi-label"),
        (RelationalTree(aggregates="all"), MOVIES, ParameterError, "aggregates"),
        (RelationalForest("extra-trees"), MOVIES, ParameterError, "ensemble"),
        (RelationalForest(max_features="some"), MOVIES, ParameterError, "max_features"),
        (RelationalTree(), replace(MOVIES, target=None), DataError, "needs a target"),
    ):
        with pytest.raises(error, match=message):
            model.fit(data)
    with pytest.raises(NotFittedError):
        RelationalTree().predict(MOVIES)
    with pytest.raises(ParameterError, match="y must not be given"):
        RelationalTree().fit(MOVIES, y=MOVIES.y)


@pytest.mark.parametrize("name", ["RelationalTree", "RelationalForest", "RelationalBoosting", "RelationalRanker"])
def test_parameters_are_kept_as_they_are(name):
    made = getattr(relational, name)()
    assert clone(made).get_params() == made.get_params()
    assert repr(clone(made.set_params(lookahead=1))) == f"{name}(lookahead=1)"


def test_a_tree_reads_as_sentences():
    model = RelationalTree(max_depth=2, random_state=0).fit(MOVIES)
    text = om.export_text(model)
    assert "its ratings" in text
    assert model.feature_names_in_.tolist() == [feature.sentence for feature in model.features_]
    assert len(json.loads(om.export_json(model))["nodes"]) == model.tree_.n_nodes
    assert model.apply(MOVIES).max() < model.tree_.n_nodes


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_left_out_candidates_are_told_once_per_fit(n_jobs):
    movies = om.datasets.make_movies(60, random_state=0)
    model = RelationalForest(n_trees=4, max_candidates=8, random_state=0, n_jobs=n_jobs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(movies)
    told = [warning for warning in caught if "more than 8 candidate" in str(warning.message)]
    assert len(told) == 1
    assert told[0].filename == __file__


# -- boosting ----------------------------------------------------------------------------------------


def written_down(data, columns, n_iterations, shrinkage, chosen, max_depth, seed):
    """F_mk of all training examples, by the formulas; returns also the gains of each tree."""
    n, k = columns.shape
    tables = CandidateTables(RelationalConstruction.of(data, Bias(max_path_length=4)))
    settings = GrowingRules(min_samples_leaf=1, max_depth=max_depth).settings(1)
    sums = np.tile(columns.mean(axis=0), (n, 1))
    gains = []
    for m in range(n_iterations):
        residuals = columns - sums
        for j in range(k):
            i = m * k + j
            mask = np.zeros(n)
            mask[stream(seed, i).choice(n, int(chosen * n), replace=False)] = 1
            values = np.ascontiguousarray(residuals[:, j])
            found = grow_tree(tables, OneColumn(values), mask, settings, kernel_seed(seed, i), 0.6)
            tree = found.tree()
            cells = feature_columns(data, found.features)
            from omnirank.trees.tree import routing_matrix

            leaves = tree.apply(routing_matrix(cells))
            for leaf in np.unique(leaves):
                here = leaves == leaf
                sums[here, j] += shrinkage * residuals[here & (mask > 0), j].mean()
            gains.append(tree.gain.sum())
    return sums, gains


@pytest.mark.slow
def test_three_classes():
    columns = (np.asarray(MOVIES.y)[:, None] == np.array(MOVIES.target.levels[0])).astype(float)
    model = RelationalBoosting(n_trees=3, shrinkage=0.3, chosen_examples=0.7, max_depth=3, random_state=4)
    model.fit(MOVIES)
    expected, gains = written_down(MOVIES, columns, 3, 0.3, 0.7, 3, 4)
    np.testing.assert_allclose(model.predict_means(MOVIES), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose([tree.gain.sum() for tree in model._trees()], gains, rtol=1e-12)
    assert [len(together) for together in model.trees_] == [3, 3, 3]
    assert model.predict(MOVIES).tolist() == model.classes_[expected.argmax(axis=1)].tolist()
    shares = model.predict_proba(MOVIES)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares.min() >= 0


def selling(seed: int) -> RelationalDataset:
    rng = np.random.default_rng(seed)
    n = 60
    sales = pd.DataFrame({"shop_id": rng.integers(0, n, 6 * n), "price": rng.normal(size=6 * n)})
    mean = sales.groupby("shop_id")["price"].mean().reindex(range(n)).fillna(0)
    table = pd.DataFrame(
        {"id": range(n), "rich": np.where(mean > 0, "yes", "no"), "profit": 2 * mean + 0.1 * rng.normal(size=n)}
    )
    given = {"frames": {"shops": table, "sales": sales}, "keys": {"sales.shop_id": "shops"}}
    targets = ["shops.rich", "shops.profit"]
    return [RelationalDataset.from_frames(**given, target=one, exclude=[*{*targets} - {one}]) for one in targets]


@pytest.mark.slow
def test_two_classes_take_one_tree():
    data, _ = selling(0)
    model = RelationalBoosting(n_trees=5, random_state=0).fit(data)
    assert [len(together) for together in model.trees_] == [1] * 5
    means = model.predict_means(data)
    assert (model.predict(data) == np.where(means[:, 1] > 0.5, "yes", "no")).all()
    assert model.score(data) > 0.9
    assert "residual" not in om.export_text(model, tree=2)


@pytest.mark.slow
def test_a_number():
    _, data = selling(0)
    few = RelationalBoosting(n_trees=2, random_state=0).fit(data)
    many = RelationalBoosting(n_trees=60, random_state=0).fit(data)
    assert few.score(data) < many.score(data)
    assert many.score(data) > 0.95
    expected, _ = written_down(data, np.asarray(data.y)[:, None], 2, 0.2, 0.8, 4, 0)
    np.testing.assert_allclose(few.predict(data), expected[:, 0], rtol=1e-12)


def test_a_constant_target_is_its_mean():
    dataset = om.Dataset([[1.0], [2.0], [3.0]], [2.5, 2.5, 2.5])
    with pytest.warns(UserWarning, match="one class or value only"):
        model = RelationalBoosting(n_trees=2).fit(one_table(dataset))
    assert model.predict(one_table(dataset)).tolist() == [2.5, 2.5, 2.5]


@pytest.mark.parametrize(("parameter", "value"), [("shrinkage", 0), ("chosen_examples", 1.5), ("n_trees", 0)])
def test_parameters_out_of_range(parameter, value):
    with pytest.raises(om.errors.ParameterError, match=parameter):
        RelationalBoosting(**{parameter: value}).fit(MOVIES)
