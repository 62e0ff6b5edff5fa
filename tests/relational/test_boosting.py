"""Relational gradient boosting, against the algorithm as it is written down."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.relational.plain import one_table

import omnirank as om
from omnirank.core.seeds import kernel_seed, stream
from omnirank.ensembles.plan import GrowingRules
from omnirank.relational import RelationalBoosting, RelationalDataset
from omnirank.relational.candidates import Bias
from omnirank.relational.construction import CandidateTables, RelationalConstruction
from omnirank.relational.evaluation import feature_columns
from omnirank.relational.growing import grow_tree
from omnirank.trees.kernels.spaces import OneColumn

MOVIES = om.datasets.make_movies(random_state=0)


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
    stages = list(model.staged_predict(MOVIES))
    assert len(stages) == 3
    assert stages[-1].tolist() == model.predict(MOVIES).tolist()
    shares = model.predict_proba(MOVIES)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares.min() >= 0


def shops(seed: int) -> RelationalDataset:
    rng = np.random.default_rng(seed)
    n = 60
    sales = pd.DataFrame({"shop_id": rng.integers(0, n, 6 * n), "price": rng.normal(size=6 * n)})
    mean = sales.groupby("shop_id")["price"].mean().reindex(range(n)).fillna(0)
    table = pd.DataFrame(
        {"id": range(n), "rich": np.where(mean > 0, "yes", "no"), "profit": 2 * mean + 0.1 * rng.normal(size=n)}
    )
    data = RelationalDataset.from_frames(
        {"shops": table, "sales": sales}, target="shops.rich", exclude=["shops.profit"], keys={"sales.shop_id": "shops"}
    )
    return data, RelationalDataset.from_frames(
        {"shops": table, "sales": sales}, target="shops.profit", exclude=["shops.rich"], keys={"sales.shop_id": "shops"}
    )


@pytest.mark.slow
def test_two_classes_take_one_tree():
    data, _ = shops(0)
    model = RelationalBoosting(n_trees=5, random_state=0).fit(data)
    assert [len(together) for together in model.trees_] == [1] * 5
    means = model.predict_means(data)
    assert (model.predict(data) == np.where(means[:, 1] > 0.5, "yes", "no")).all()
    assert model.score(data) > 0.9
    assert "residual" not in om.export_text(model, tree=2)


@pytest.mark.slow
def test_a_number():
    _, data = shops(0)
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
