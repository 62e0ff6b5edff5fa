"""A task that was inferred with doubt is told: the same rule for arrays, frames and files."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import omnirank as om
from omnirank.errors import DataWarning

N = 300


def features(n=N):
    return np.random.default_rng(1).normal(size=(n, 3))


def prices(n=N, kinds=229):
    """Whole numbers, of which each of ``kinds`` occurs."""
    rng = np.random.default_rng(0)
    return rng.permutation(np.concatenate([np.arange(kinds), rng.integers(kinds, size=n - kinds)])) + 10


def doubts(y, **options):
    return [text for text in om.Dataset(features(len(y)), y, **options).notes if "task" in text or "text" in text]


@pytest.mark.parametrize(
    "given",
    [
        lambda y: y,
        lambda y: y.astype(float),
        lambda y: y.tolist(),
        lambda y: pd.Series(y, name="y"),
        lambda y: pd.DataFrame({"y": y}),
        lambda y: pl.Series("y", y),
    ],
)
def test_many_whole_numbers_are_classes_and_the_user_is_told(given):
    data = om.Dataset(features(), given(prices()))
    assert data.task == "classification"
    assert doubts(given(prices())) == [
        "the whole numbers of 'y' are taken as 229 classes; if they are quantities, say task='regression'"
    ]


def test_a_file_follows_the_same_rule(tmp_path):
    for kinds in (11, 10):
        frame = pd.DataFrame(features(150), columns=["a", "b", "c"]).assign(y=prices(150, kinds))
        frame.to_csv(tmp_path / "prices.csv", index=False)
        told = [text for text in om.load(tmp_path / "prices.csv", target="y").notes if "task" in text]
        assert told == doubts(frame["y"])
        assert len(told) == (kinds == 11)


@pytest.mark.parametrize(
    ("y", "told"),
    [
        (prices(kinds=10), False),  # few classes
        (prices(kinds=16), True),
        (np.random.default_rng(0).poisson(5, N), True),
        (np.where(np.arange(N) == 0, "n.d.", prices().astype(str)), True),
        (prices(n=1000, kinds=50), False),  # a twentieth of the examples
        (prices(n=1000, kinds=51), True),
        (np.append(np.repeat(np.arange(30), 100), 77), True),  # a class of one example
        (np.repeat(np.arange(30), 100), False),
        (prices() + 0.5, False),  # no whole numbers: regression, no doubt
        (prices().astype(str), True),
        ([f"town {i}" for i in prices()], False),
        (pd.Categorical(prices()), False),  # declared
        (np.where(np.arange(N) % 2 == 0, np.nan, prices()), True),  # half of them unknown
    ],
)
def test_when_there_is_doubt(y, told):
    assert bool(doubts(y)) == told


def test_a_task_that_was_named_is_not_in_doubt():
    for task in ("classification", "regression"):
        assert doubts(prices(), task=task) == []


def test_several_columns():
    y = np.column_stack([prices(), np.arange(N) % 3, prices()[::-1]])
    assert doubts(y) == [
        "the whole numbers of 'y1' and 1 more target are taken as classes (229 of them); if they are quantities, say "
        "task='multi-target-regression'"
    ]


@pytest.mark.slow
def test_rankers_warn_and_the_warning_can_be_silenced():
    with pytest.warns(DataWarning, match="229 classes; if they are quantities, say task='regression'"):
        om.EnsembleRanker(n_trees=3).fit(features(), prices())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        om.EnsembleRanker(n_trees=3).fit(features(), prices())
        om.PCTClassifier().fit(features(), prices())
        warnings.simplefilter("error")
        om.EnsembleRanker(n_trees=3, task="regression").fit(features(), prices())
        om.PCTRegressor().fit(features(), prices())


@pytest.mark.slow
def test_a_classifier_was_asked_for():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        om.PCTClassifier().fit(features(), prices())


def test_whole_floats_are_doubted_from_six_values_on():
    X = np.random.default_rng(0).normal(size=(300, 2))
    for n, doubted in ((5, False), (6, True)):
        values = np.arange(300) % n
        assert bool(om.Dataset(X, values.astype(float)).notes) == doubted
        assert not om.Dataset(X, values).notes
        assert not om.Dataset(X, values.astype(str)).notes
