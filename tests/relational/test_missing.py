"""Undefined values as missing cells, of which each test learns where they go."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.relational.plain import one_table
from tests.relational.test_growing import mixed_data
from tests.relational.test_learners import in_column_order, same_trees

import omnirank as om
from omnirank.errors import ParameterError
from omnirank.relational import (
    RelationalBoosting,
    RelationalDataset,
    RelationalForest,
    RelationalRanker,
    RelationalTree,
)


def shops(means, seed=0):
    """Shops with visits of about a mean, without any where it is NaN; they left if it is missing or below 5."""
    rng = np.random.default_rng(seed)
    n = len(means)
    visited = [(i, mean + rng.normal(0, 0.1)) for i, mean in enumerate(means) for _ in range(3) if not np.isnan(mean)]
    visits = pd.DataFrame(visited, columns=["shop_id", "spent"]).rename_axis("id").reset_index()
    left = np.where(np.isnan(means) | (np.array(means) < 5), "yes", "no")
    frames = {"shops": pd.DataFrame({"id": range(n), "left": left}), "visits": visits}
    return RelationalDataset.from_frames(frames, target="shops.left")


MEANS = [1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0, 9.0, np.nan, np.nan, np.nan]


@pytest.mark.parametrize("kind", ["classes", "numbers", "labels"])
def test_a_single_table_with_missing_cells_gives_the_tree_of_pct(kind):
    dataset = mixed_data(1, kind)
    plain = om.PCTRegressor if kind == "numbers" else om.PCTClassifier
    expected = plain(pruning=None, min_samples_leaf=1, random_state=0).fit(dataset)
    found = RelationalTree(missing="learned", aggregates=(), lookahead=1, random_state=0).fit(one_table(dataset))
    [tree] = in_column_order(found, dataset)
    same_trees(tree, expected.tree_)
    np.testing.assert_array_equal(found.predict_means(one_table(dataset)), expected.predict_means(dataset))


def test_a_test_sends_undefined_values_where_they_are_better():
    data = shops(MEANS)
    settings = {"aggregates": ["mean"], "max_depth": 1, "random_state": 0}
    extreme = RelationalTree(**settings).fit(data)
    learned = RelationalTree(missing="learned", **settings).fit(data)
    assert extreme.score(data) < 1
    assert learned.score(data) == 1
    other = shops([np.nan, 1.5, 9.5, np.nan], seed=1)
    assert learned.predict(other).tolist() == ["yes", "yes", "no", "yes"]
    assert "missing" in om.export_text(learned)


@pytest.mark.slow
@pytest.mark.parametrize("model", [RelationalForest, RelationalBoosting])
def test_ensembles_learn_it_too(model):
    data = shops(MEANS * 3)
    fitted = model(n_trees=5, missing="learned", aggregates=["mean"], random_state=0).fit(data)
    assert fitted.score(shops([np.nan, 1.5, 9.5, np.nan] * 3, seed=1)) == 1
    ranker = RelationalRanker(n_trees=3, missing="learned", random_state=0).fit(data)
    assert ranker.ranking_.parameters["missing"] == "learned"
    with pytest.raises(ParameterError, match="missing"):
        model(missing="never").fit(data)


def test_levels_of_nothing_are_missing_without_a_word():
    frames = {
        "shops": pd.DataFrame({"id": range(8), "left": list("yynnyynn")}),
        "visits": pd.DataFrame({"id": range(6), "shop_id": range(6), "day": list("aabbaa")}),
    }
    data = RelationalDataset.from_frames(frames, target="shops.left")
    model = RelationalTree(missing="learned", aggregates=["mode"], random_state=0).fit(data)
    assert model.score(data) == 1
    assert all(levels is None or "<none>" not in levels for levels in model._features.levels)
