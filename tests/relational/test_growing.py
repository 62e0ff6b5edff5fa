"""Trees grown node by node, against those that are grown at once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.relational.plain import PlainConstruction

import omnirank as om
from omnirank.core.seeds import kernel_seed
from omnirank.data.table import Table
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.relational import RelationalTree, growing
from omnirank.relational.candidates import Bias
from omnirank.relational.growing import CandidateTables, RelationalConstruction, grow_tree
from omnirank.tasks import get_task
from omnirank.trees.layout import clustering_space


def mixed_data(seed: int, kind: str, n: int = 60) -> om.Dataset:
    """Numbers with ties, levels, missing cells of both, and a target of some kind."""
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n), rng.integers(0, 4, n).astype(float), rng.integers(0, 5, n), rng.integers(0, 70, n)]
    columns[0][rng.random(n) < 0.2] = np.nan
    columns[3][rng.random(n) < 0.2] = -1
    levels = [None, None, tuple("abcde"), tuple(f"v{i:02d}" for i in range(70))]
    codes = [column.astype(np.int32) for column in columns[2:]]
    table = Table.from_columns(["a", "b", "c", "d"], [*columns[:2], *codes], levels)
    signal = np.nan_to_num(columns[0]) + columns[1] + (columns[2] % 2) + rng.normal(size=n)
    if kind == "classes":
        y, task = np.array(["low", "middle", "high"])[np.digitize(signal, [1.5, 3])], "classification"
    elif kind == "numbers":
        y, task = np.column_stack([signal, rng.normal(size=n)]), "multi-target-regression"
    else:
        y, task = np.column_stack([signal > 1, signal > 3, rng.random(n) > 0.5]).astype(float), "multi-label"
    return om.Dataset(table, y, task=task)


def grown_both_ways(dataset: om.Dataset, i: int, rules: GrowingRules, drawn: str = "all"):
    plan = GrowingData(dataset, 3).plan(rules)
    counts, seed = plan.counts(i), kernel_seed(plan.entropy, i)
    expected = plan.coded.kernel(plan.space, plan.coded.cells, counts, plan.settings, seed)
    tables = CandidateTables(PlainConstruction(plan.dataset.features))
    return grow_tree(tables, plan.space, counts, plan.settings, seed, drawn), expected


def assert_same(found, expected):
    grown = found.grown
    numbers = np.array([feature.number for feature in found.features] + [-1])
    np.testing.assert_array_equal(numbers[grown.feature], expected.feature)
    names = ("right", "missing_left", "gain", "weight", "depth", "first", "last", "subsets", "rows", "row_weight")
    for name in names:
        np.testing.assert_array_equal(getattr(grown, name), getattr(expected, name), err_msg=name)
    inner = expected.feature >= 0
    np.testing.assert_array_equal(grown.cut[inner], expected.cut[inner])
    assert inner.any()


@pytest.mark.parametrize("kind", ["classes", "numbers", "labels"])
def test_the_same_candidates_give_the_same_tree(kind):
    rules = GrowingRules(ensemble="bagging", min_samples_leaf=1)
    for i in range(3):
        assert_same(*grown_both_ways(mixed_data(i, kind), i, rules))


@pytest.mark.parametrize("sample", ["iris", "linnerud", "digits"])
def test_drawn_candidates_are_those_of_a_random_forest(sample):
    data = om.datasets.load_sample(sample)
    assert_same(*grown_both_ways(data, 0, GrowingRules(ensemble="random-forest"), "sqrt"))


def small_tree(cells, y):
    data = om.Dataset(np.arange(len(y), dtype=float)[:, None], y)
    plan = GrowingData(data, 0).plan(GrowingRules(ensemble="bagging", bootstrap=False, min_samples_leaf=1))
    tables = CandidateTables(PlainConstruction(Table.from_numeric(np.asarray(cells, float)[:, None])))
    return grow_tree(tables, plan.space, np.ones(len(y)), plan.settings, np.uint64(1))


@pytest.mark.parametrize(
    ("cells", "y", "left"),
    [
        ([np.inf, 1, 5, np.inf], ["no", "yes", "yes", "no"], [1, 5, 1e300, -1e300]),
        ([-np.inf, 1, 5, -np.inf], ["no", "yes", "yes", "no"], [-np.inf]),
        ([-np.inf, np.inf, -np.inf], ["a", "b", "a"], [-np.inf, -3.0]),
    ],
)
def test_thresholds_beside_infinite_values_are_finite(cells, y, left):
    found = small_tree(cells, y)
    threshold = found.threshold[0]
    assert np.isfinite(threshold)
    assert (np.array(left) <= threshold).all()
    assert not (np.inf <= threshold)
    assert len(found.grown.feature) == 3  # one test separates them


def test_tables_that_are_made_again_change_nothing(monkeypatch):
    data = om.datasets.make_movies(random_state=1)
    kept = om.export_json(RelationalTree(random_state=0).fit(data))
    monkeypatch.setattr(CandidateTables.__init__, "__defaults__", (1,))
    assert om.export_json(RelationalTree(random_state=0).fit(data)) == kept


def test_little_memory_changes_no_tree():
    data = om.datasets.make_movies(80, random_state=0)
    construction = RelationalConstruction.of(data, Bias())
    columns = get_task(data.task).columns(data.target, None)
    space = clustering_space(columns, get_task(data.task).clustering(columns, None, None), None)
    settings = GrowingRules(ensemble="bagging", min_samples_leaf=1).settings(1)
    grown = []
    for most_bytes in (0, 2**30):
        tables = CandidateTables(construction, most_bytes)
        grown.append(grow_tree(tables, space, np.ones(80), settings, kernel_seed(0, 0)))
        assert (len(tables._tables) == 1) == (most_bytes == 0), "what is not needed now is forgotten"
        kept = sum(len(table.blocks) for table in tables._tables.values())
        assert len(tables._blocks) <= kept
    little, plenty = grown
    assert little.features == plenty.features
    for name in ("feature", "cut", "right", "gain", "weight"):
        np.testing.assert_array_equal(getattr(little.grown, name), getattr(plenty.grown, name), err_msg=name)
    np.testing.assert_array_equal(little.threshold, plenty.threshold)


def test_parts_of_the_relations_take_what_is_constructed_for_the_whole(monkeypatch):
    names = ["movies_year", "ratings_movie_id", "ratings_stars", "ratings_user_id", "users_age"]
    data, alike = (om.datasets.make_movies(80, random_state=0) for _ in range(2))
    alone = RelationalTree(max_depth=1, random_state=0).fit(alike.select_features(names).take(slice(20, None)))
    n_coded, plain = [], growing.code_groups
    monkeypatch.setattr(
        growing, "code_groups", lambda groups, *args: n_coded.append(len(groups)) or plain(groups, *args)
    )
    RelationalTree(max_depth=1, random_state=0).fit(data.take(slice(60)))
    assert sum(n_coded) > 0
    n_coded.clear()
    shared = RelationalTree(max_depth=1, random_state=0).fit(data.select_features(names).take(slice(20, None)))
    assert n_coded[0] == 0, "candidates of the root"
    assert om.export_json(shared) == om.export_json(alone)
