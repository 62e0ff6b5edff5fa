"""A task from outside the package, one module: every method and the evaluation run on it by its name."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import omnirank as om
from omnirank.core import registry
from omnirank.data import task_registry
from omnirank.data.task_registry import TASKS
from omnirank.errors import DataError, DataTypeError, ParameterError
from omnirank.measures import MEASURES, measures_of, primary_measure
from omnirank.tasks import register_task, unregister_task
from omnirank.tasks.variables import Regression
from omnirank.testing import ranker_checks, tiny_dataset
from reference.circular_task import Circular


@pytest.fixture
def circular():
    yield register_task(Circular())
    unregister_task("circular")


def wind(n=240, labelled=None, seed=0):
    """Directions, a noisy feature that follows them around north without a jump there, and three of noise."""
    rng = np.random.default_rng(seed)
    direction = rng.uniform(0, 360, n)
    follows = (direction + 180 + rng.normal(0, 10, n)) % 360
    X = np.column_stack([rng.normal(size=n), follows, rng.normal(size=n), rng.normal(size=n)])
    y = direction.copy()
    if labelled is not None:
        y[labelled:] = np.nan
    return om.Dataset(X, y, task="circular", name="wind")


def around_north(dataset):
    y = dataset.y
    return dataset.take((y < 40) | (y > 320))


@pytest.mark.usefixtures("circular")
@pytest.mark.parametrize("score", ["genie3", "symbolic", "permutation", "unbiased"])
def test_a_forest_ranks_for_it(score):
    ranker = om.EnsembleRanker(score, n_trees=20, random_state=0).fit(wind())
    assert ranker.task_ == ranker.ranking_.task == "circular"
    assert ranker.ranking_.top(1) == ["x1"]


@pytest.mark.usefixtures("circular")
@pytest.mark.parametrize("supervision", ["auto", 0.5])
def test_a_forest_ranks_with_few_labels(supervision):
    ranker = om.EnsembleRanker(n_trees=10, supervision=supervision, random_state=0).fit(wind(labelled=80))
    assert ranker.ranking_.top(1) == ["x1"]


@pytest.mark.usefixtures("circular")
def test_relief_uses_its_distance():
    data = wind()

    def scores(task, turned):
        y = (data.y + turned) % 360
        return om.ReliefRanker(task=task, per_target=True, random_state=0).fit(data.X, y).ranking_

    assert scores("circular", 0).top(1) == ["x1"]
    # where north is does not matter on a circle; on a line it does
    np.testing.assert_allclose(scores("circular", 90).scores, scores("circular", 0).scores, atol=1e-12)
    assert np.abs(scores("regression", 90).scores - scores("regression", 0).scores).max() > 0.01
    np.testing.assert_allclose(scores("circular", 0).per_target.scores[0], scores("circular", 0).scores, atol=1e-12)
    with pytest.raises(ParameterError, match="target_distance='f1': choose 'auto' or 'chord' for circular"):
        om.ReliefRanker(target_distance="f1").fit(data)
    chosen = om.ReliefRanker(n_neighbors="auto", influence="cv", random_state=0).fit(wind(90, labelled=60))
    assert chosen.ranking_.top(1) == ["x1"]


@pytest.mark.usefixtures("circular")
def test_evaluation_gives_its_measures():
    train, test = wind(300), wind(100, seed=1)
    found = om.evaluate([0.0, 1.0, 0.0, 0.0], train, test)
    assert list(found) == ["angular_error", "within_quarter"]
    assert found["angular_error"] < 15
    assert om.evaluate([1.0, 0.0, 0.0, 0.0], train, test)["angular_error"] > 60
    assert found == om.evaluate([0.0, 1.0, 0.0, 0.0], train, test, n_neighbors=7)
    assert MEASURES["angular_error"].title == "angular error"
    assert primary_measure("circular") == measures_of("circular")[0] == MEASURES["angular_error"]


@pytest.mark.usefixtures("circular")
def test_predictors_take_it():
    train, test = wind(300), around_north(wind(400, seed=1))

    def error(task):
        settings = {"n_trees": 20, "max_depth": 3, "random_state": 0}
        model = om.PCTForestRegressor(task=task, **settings).fit(train.X, train.y)
        apart = np.radians(model.predict(test.X) - test.y)
        return np.degrees(np.abs(np.arctan2(np.sin(apart), np.cos(apart)))).mean()

    assert error("circular") < error("regression") / 2
    with pytest.raises(ParameterError, match=r"choose one of auto, classification, .* for PCTClassifier"):
        om.PCTClassifier(task="circular").fit(train.X, train.y)


@pytest.mark.usefixtures("circular")
def test_lists_of_tasks_know_it():
    assert list(TASKS)[-1] == "circular"
    assert "circular" in om.PCTRegressor.supported_tasks
    assert {"genie3", "relief", "univariate"} <= {method.name for method in om.methods(task="circular")}
    assert tiny_dataset("circular").task == "circular"
    assert "fits circular" in dict(ranker_checks(om.UnivariateRanker()))
    with pytest.raises(DataError, match="task='circular' takes one target, but there are 2"):
        om.Dataset(np.eye(2), np.eye(2), task="circular")


def test_a_task_that_was_taken_away_is_unknown():
    assert "circular" not in TASKS
    with pytest.raises(ParameterError, match="task='circular': choose one of auto"):
        om.Dataset(np.eye(2), [0.0, 1.0], task="circular")


# -- registration -------------------------------------------------------------------------------------


def test_names_are_registered_once(circular):
    with pytest.raises(ParameterError, match="there is a task called 'circular' already"):
        register_task(Circular())
    assert register_task(Circular(), replace=True) is not circular


def renamed(base=Circular, **attributes):
    return type("Odd", (base,), attributes)()


@pytest.mark.parametrize(
    ("task", "error", "message"),
    [
        (Circular, DataTypeError, "is no task: give an instance"),
        (renamed(name="auto"), ParameterError, "'auto' is no name"),
        (renamed(kind="angles"), ParameterError, "kind 'angles'.* kinds: classes, numbers, labels, mixed, none"),
    ],
)
def test_what_is_no_task_is_refused(task, error, message):
    with pytest.raises(error, match=message):
        register_task(task)


def test_a_measure_has_one_meaning():
    other = Circular.measures[0].__class__("rrmse", "mine", "something else", True)
    with pytest.raises(ParameterError, match="task 'odd': there is another measure called 'rrmse' already"):
        register_task(renamed(Regression, name="odd", measures=(other,)))


def test_entry_points_of_third_parties(monkeypatch):
    monkeypatch.setattr(task_registry, "_tasks", dict(task_registry._tasks))
    monkeypatch.setattr(task_registry, "_loaded", False)
    plugin = type(sys)(f"{__name__}_plugin")
    plugin.TASK = Circular()
    monkeypatch.setitem(sys.modules, plugin.__name__, plugin)
    points = [
        EntryPoint("good", f"{__name__}_plugin:TASK", "omnirank.tasks"),
        EntryPoint("bad", "no_such_module:TASKS", "omnirank.tasks"),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    with pytest.warns(RuntimeWarning, match="the tasks of no_such_module:TASKS are not available"):
        assert om.Dataset(np.eye(2), [10.0, 350.0], task="circular").task == "circular"
