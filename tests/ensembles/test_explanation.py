"""Explanations: contributions add up to predictions, agree with their definition, and become rankings and words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.draws import draws
from tests.reference.ensembles_explanation import contributions

import omnirank as om
from omnirank.ensembles.predictions import prediction_frame
from omnirank.errors import DataError, ParameterError
from omnirank.trees.tree import routing_matrix

TASKS = ("number", "numbers", "class", "classes", "labels", "mixed", "few")


def features(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Numbers with ties and missing cells, levels, a constant."""
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.integers(0, 3, n) * 1.0, "c": rng.normal(size=n)})
    frame.loc[rng.random(n) < 0.2, "a"] = np.nan
    frame["kind"] = pd.Categorical(np.where(rng.random(n) < 0.2, None, rng.choice(["u", "v", "w"], n)))
    return frame.assign(same=1.0)


def fitted(task: str, rng: np.random.Generator, n: int) -> tuple[Any, pd.DataFrame]:
    """Fit a small forest of a task."""
    X = features(rng, n)
    number = X["c"].to_numpy() + (X["kind"] == "u").to_numpy() + 0.1 * rng.normal(size=n)
    word = np.where(number > 0, "yes", np.where(X["b"] > 1, "perhaps", "no"))
    y: Any = {
        "number": number,
        "numbers": np.column_stack([number, 1e4 * rng.normal(size=n)]),
        "class": word,
        "classes": pd.DataFrame({"p": word, "q": np.where(X["b"] > 0, "s", "t")}),
        "labels": [{"up"} if x > 1 else {"up", "down"} if x > 0 else {"other"} for x in number],
        "mixed": pd.DataFrame({"p": word, "r": number}),
        "few": np.where(rng.random(n) < 0.5, np.nan, number),
    }[task]
    if task in ("class", "classes", "labels"):
        forest: Any = om.PCTForestClassifier
    else:
        forest = om.PCTForestRegressor
    level = {"supervision": 0.5} if task == "few" else {}
    return forest(n_trees=4, random_state=0, **level).fit(X, y), X


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("task", TASKS)
@draws(3)
@given(seed=st.integers(0, 1000))
def test_agrees_with_the_definition_and_adds_up(task: str, seed: int) -> None:
    model, X = fitted(task, np.random.default_rng(seed), 40)
    told = model.explain(X)
    means = model.predict_means(X)
    scale = np.abs(means).max()
    np.testing.assert_allclose(told.prediction, means, rtol=1e-12, atol=1e-12 * scale)
    cells = routing_matrix(model._table(X))
    for i in (0, 7, 39):
        base, own = contributions(model.trees_, cells[i], means.shape[1])
        np.testing.assert_allclose(told.base[i], base, rtol=1e-12, atol=1e-12 * scale)
        np.testing.assert_allclose(told.contributions[i], own, rtol=1e-12, atol=1e-12 * scale)
    assert not told.contributions[:, 4].any()  # a constant feature


def test_out_of_bag_uses_trees_that_have_not_seen_the_example() -> None:
    X = features(np.random.default_rng(0), 60)
    model = om.PCTForestRegressor(n_trees=30, oob_score=True, random_state=0, n_jobs=2).fit(X, X["c"])
    told = model.explain(X, oob=True)
    np.testing.assert_allclose(told.prediction[:, 0], model.oob_prediction_, rtol=1e-12, atol=1e-12)
    cells, seen = routing_matrix(model._table(X)), np.unpackbits(model._seen, axis=1, count=60)
    unseen = [tree for tree, bag in zip(model.trees_, seen[:, 3], strict=True) if not bag]
    np.testing.assert_allclose(told.contributions[3], contributions(unseen, cells[3], 1)[1], atol=1e-12)
    with pytest.raises(ParameterError, match="training data, in the same order"):
        model.explain(X[::-1], oob=True)
    with pytest.raises(ParameterError, match="training data, of 60 examples"):
        model.explain(X[:5], oob=True)
    with pytest.raises(ParameterError, match="oob_score=True"):
        fitted("number", np.random.default_rng(0), 40)[0].explain(X, oob=True)


def test_examples_in_every_bag_are_not_ranked() -> None:
    X = features(np.random.default_rng(0), 30)
    with pytest.warns(UserWarning, match="in the bag of every tree"):
        model = om.PCTForestRegressor(n_trees=2, oob_score=True, random_state=0).fit(X, X["c"])
    told = model.explain(X, oob=True)
    lacking = np.isnan(told.base[:, 0])
    assert 0 < lacking.sum() < 30
    np.testing.assert_array_equal(told.ranking().scores, told.ranking(~lacking).scores)
    with pytest.raises(DataError, match="no example to explain"):
        told.ranking(lacking)


def test_rankings_frames_and_words() -> None:
    model, X = fitted("class", np.random.default_rng(1), 60)
    told = model.explain(X, columns=["yes", "no"])
    whole = model.explain(X)
    assert told.column_names == ("yes", "no")
    np.testing.assert_allclose(told.contributions, whole.contributions[:, :, [2, 0]])
    toward_yes = np.abs(whole.contributions[:, :, 2])
    np.testing.assert_allclose(told.ranking(column="yes").scores, toward_yes.mean(axis=0))
    np.testing.assert_allclose(told.ranking([1, 2], "yes").scores, toward_yes[1:3].mean(axis=0))
    groups = ["s"] * 20 + [None] * 20 + ["t"] * 20
    by_group = told.rankings(groups, "yes")
    assert list(by_group) == ["s", "t"]
    np.testing.assert_allclose(by_group["t"].scores, toward_yes[40:].mean(axis=0))
    predicted = whole.prediction.argmax(axis=1)
    frame = whole.to_frame()
    np.testing.assert_allclose(frame.loc[5, "c"], whole.contributions[5, 2, predicted[5]])
    first = whole.example(5)
    assert (first["contribution"].abs().diff().dropna() <= 0).all()
    words = prediction_frame(model, X, explain=2)["because"]
    top = first.iloc[:2]
    shown = [f"{name} {own:+.3g}" for name, own in zip(top["feature"], top["contribution"], strict=True)]
    assert words[5] == ", ".join(shown)
    assert not told.contributions.flags.writeable
    with pytest.raises(ParameterError, match="did you mean 'yes'"):
        told.ranking(column="yess")
    with pytest.raises(ParameterError, match="did you mean 'yes'"):
        model.explain(X, columns=["yess"])
    with pytest.raises(DataError, match="groups of 3 examples for 60"):
        told.rankings([1, 2, 3])
    ax = whole.plot(5, k=2)
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(ends[-1], whole.prediction[5].max())
    assert "example 5, y = " in ax.get_title(loc="left").replace("\n", " ")


def test_several_targets_need_a_column_and_are_scaled() -> None:
    model, X = fitted("numbers", np.random.default_rng(2), 60)
    told = model.explain(X)
    one, other = (np.abs(told.contributions[:, :, c]).mean(axis=0) for c in (0, 1))
    spread = model._column_spread
    np.testing.assert_allclose(told.ranking().scores, (one / spread[0] + other / spread[1]) / 2)
    with pytest.raises(ParameterError, match="several targets: give column="):
        told.example(0)
    assert prediction_frame(model, X, explain=1)["because"][0].count(": ") == 2
    labels, X = fitted("labels", np.random.default_rng(2), 60)
    frame = prediction_frame(labels, X, explain=1)
    for text, row in zip(frame["because"], frame.drop(columns="because").to_numpy(), strict=True):
        assert len([part for part in text.split("; ") if part]) == row.sum()


def test_sparse_features_and_single_trees() -> None:
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((60, 8)) < 0.3, rng.normal(size=(60, 8)), 0.0)
    y = dense[:, 0] - dense[:, 1]
    forest = om.PCTForestRegressor(n_trees=5, random_state=0).fit(sparse.csr_array(dense), y)
    told = forest.explain(sparse.csr_array(dense))
    np.testing.assert_array_equal(told.contributions, forest.explain(dense).contributions)
    assert set(told.ranking().top(2)) == {"x0", "x1"}
    tree = om.PCTRegressor(random_state=0).fit(dense, y)
    np.testing.assert_allclose(tree.explain(dense).prediction[:, 0], tree.predict(dense), rtol=1e-12, atol=1e-12)
