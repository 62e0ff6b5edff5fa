"""Parameters chosen inside the training examples, against the definition of the choice."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.core.ranking.ranking import Ranking
from omnirank.evaluation import cross
from omnirank.evaluation.experiments import fit
from omnirank.evaluation.experiments.fit import chosen_method

METHOD = {"use": "reference.one-feature", "parameters": {}, "grid": {"feature": [0, 1]}}


@pytest.fixture(autouse=True)
def fits(monkeypatch):
    """Methods that rank one feature first, and on how many examples, and labelled ones, they were fitted."""
    sizes = []

    def models(methods, train, seed):
        sizes.append((train.n_examples, int(train.labelled.sum())))
        return {
            key: Ranking(train.feature_names, np.eye(train.n_features)[method["parameters"]["feature"]], "one")
            for key, method in methods.items()
        }

    monkeypatch.setattr(fit, "models_of_one_fit", models)
    monkeypatch.setattr(fit, "fit_parts", lambda method: ({"use": method["use"]}, {}))
    return sizes


def test_the_choice_is_made_on_examples_that_do_not_train(fits):
    """An example that trains is its own nearest neighbour: then all features predict perfectly, and the first wins."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    data = om.Dataset(X, np.where(X[:, 1] > 0, "a", "b")).keep_labels(42, random_state=0)
    found = chosen_method(METHOD | {"select": {"n_folds": 3}}, data, 0, {"n_neighbors": 1})
    assert found["parameters"] == {"feature": 1}
    assert fits == [(60 - 14, 28)] * 3  # unlabelled examples train every time


def test_folds_count_by_their_examples(monkeypatch):
    """Four examples in three folds: one of two examples counts as much as both others."""
    figures = {2: (1.0, 0.0), 1: (0.0, 0.7)}

    def judged(model, parts, evaluation):
        return {"r2": figures[parts.test.n_examples][int(np.argmax(model.scores))]}

    monkeypatch.setattr(cross, "judge", judged)
    data = om.Dataset(np.arange(8.0).reshape(4, 2), [0.5, 1.5, 2.5, 3.5])
    found = chosen_method(METHOD | {"select": {"n_folds": 3, "measure": "r2"}}, data, 0, {})
    assert found["parameters"] == {"feature": 0}
