"""Models from files: the same bits, the same estimator, and a clear error where that cannot be."""

from __future__ import annotations

import dataclasses
import json
import os
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import omnirank as om
from omnirank.data.task_registry import unregister_task
from omnirank.errors import DataError, DataTypeError, FileFormatError
from omnirank.relational import RelationalBoosting, RelationalDataset, RelationalForest, RelationalTree
from omnirank.tasks import register_task
from reference.circular_task import Circular

N = 90
# What belongs to single training examples.
NOT_KEPT = {"_labelled", "oob_decision_function_", "oob_prediction_", "labels_"}


def features(seed=0):
    """Numbers, a nominal column of 3 and one of 70 levels, booleans, dates, and missing cells."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"])
    frame["kind"] = rng.choice(["x", "y", "z"], N)
    frame["town"] = pd.Categorical([f"t{i}" for i in rng.integers(0, 70, N)], [f"t{i}" for i in range(70)])
    frame["wet"] = rng.random(N) < 0.5
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, N), unit="D")
    frame.loc[rng.random(N) < 0.2, "b"] = np.nan
    frame.loc[rng.random(N) < 0.2, "kind"] = None
    return frame


def numbers(frame):
    return frame["a"].to_numpy() + (frame["kind"] == "x") + frame["town"].cat.codes.to_numpy() / 70


def labels(frame):
    y = numbers(frame)
    return np.column_stack([y > 0, y > 1, frame["wet"], frame["c"] > 0]).astype(float)


HIERARCHY = om.Hierarchy(("all", "some", "wet", "c"), ((), (0,), (), (2,)))


def closed(frame):
    return HIERARCHY.close(labels(frame).astype(int))


def hidden(y, share=0.6):
    y = np.array(y, dtype=float)
    y[np.random.default_rng(1).random(len(y)) < share] = np.nan
    return y


CLASSES = {
    "classes": lambda X: (X, np.where(numbers(X) > 0.5, "yes", "no"), {}),
    "numbered classes": lambda X: (X, (numbers(X) > 0.5).astype(int) + 3, {"class_weight": {3: 2.0}}),
    "several classes": lambda X: (X, pd.DataFrame({"u": X["kind"], "v": X["wet"]}).astype(str), {}),
    "labels": lambda X: (X, labels(X), {}),
    "sparse labels": lambda X: (X[["a", "b", "c"]], sparse.csr_array(labels(X)), {"task": "multi-label"}),
    "hierarchy": lambda X: (X, closed(X), {"hierarchy": HIERARCHY, "hierarchy_weight": 0.5}),
    "few classes": lambda X: (X, hidden(numbers(X) > 0.5), {"supervision": 0.5}),
    "sparse features": lambda X: (sparse.csr_array(np.where(X[["a", "c"]] > 0, X[["a", "c"]], 0)), X["wet"], {}),
    "one class": lambda X: (X, np.array(["only"] * N), {}),
}
NUMBERS = {
    "number": lambda X: (X, numbers(X), {}),
    "single precision": lambda X: (X[["a", "c"]].to_numpy(np.float32), numbers(X), {}),
    "several numbers": lambda X: (X, pd.DataFrame({"u": numbers(X), "v": X["c"]}), {"normalize_targets": False}),
    "numbers and classes": lambda X: (X, pd.DataFrame({"u": numbers(X), "v": X["wet"].astype(str)}), {}),
    "few numbers": lambda X: (X, hidden(numbers(X)), {"supervision": "auto", "feature_weights": np.ones(7)}),
    "parts of numbers": lambda X: (X, np.column_stack([hidden(numbers(X), 0.3), X["c"]]), {}),
    "shallow": lambda X: (X, numbers(X), {"max_depth": 3}),
}
CASES = [(om.PCTClassifier, name) for name in CLASSES] + [(om.PCTForestClassifier, name) for name in CLASSES]
CASES += [(om.PCTRegressor, name) for name in NUMBERS] + [(om.PCTForestRegressor, name) for name in NUMBERS]


def fitted(kind, name, **more):
    X, y, parameters = (CLASSES | NUMBERS)[name](features())
    parameters = parameters | {"random_state": 3} | more
    if "Forest" in kind.__name__:
        parameters = {"n_trees": 4} | parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return kind(**parameters).fit(X, y), X


def saved(model, tmp_path, name="model.omr"):
    model.save(tmp_path / name)
    return om.load_model(tmp_path / name)


def same(a, b, where="model"):
    """Assert that two values are the same bits of the same types."""
    a = a.item() if isinstance(a, np.generic) else a  # numbers and texts of NumPy come back as Python's
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray) and not a.size:
        assert (a.shape, a.dtype.kind) == (b.shape, b.dtype.kind), where
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        assert a.tobytes() == b.tobytes() if a.dtype != object else list(a) == list(b), where
        assert (a.flags.writeable, a.flags.c_contiguous) == (b.flags.writeable, b.flags.c_contiguous), where
    elif sparse.issparse(a):
        for part in ("data", "indices", "indptr") if a.shape[0] else ():
            same(getattr(a, part), getattr(b, part), f"{where}.{part}")
        assert a.shape == b.shape, where
    elif dataclasses.is_dataclass(a) and not isinstance(a, om.Hierarchy | om.Ranking):
        for field in dataclasses.fields(a):
            # pruning leaves gaps between the bits of levels; which levels are texts is for notes about data only
            if field.name not in ("subset_start", "subsets", "texts"):
                same(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    elif isinstance(a, dict):
        same(list(a), list(b), f"{where}: keys")
        for key in a:
            same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, (left, right) in enumerate(zip(a, b, strict=True)):
            same(left, right, f"{where}[{i}]")
    else:
        assert a == b or (a != a and b != b), where


def assert_same_state(model, back):
    known = {key: value for key, value in vars(model).items() if key not in NOT_KEPT}
    same(dict(sorted(known.items())), dict(sorted(vars(back).items())))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), CASES, ids=[f"{kind.__name__}-{name}" for kind, name in CASES])
def test_a_loaded_model_is_the_same_in_every_bit(kind, name, tmp_path):
    model, X = fitted(kind, name)
    back = saved(model, tmp_path)
    assert_same_state(model, back)
    new = features(5) if isinstance(X, pd.DataFrame) else X
    new = new[list(X.columns)] if isinstance(X, pd.DataFrame) else new
    found, expected = back.predict(new), model.predict(new)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    else:
        same(found, expected)
    same(back.predict_means(new), model.predict_means(new))
    same(back.feature_importances_, model.feature_importances_)
    if hasattr(model, "predict_proba"):
        same(back.predict_proba(new), model.predict_proba(new))
    same(back.apply(new), model.apply(new))
    assert om.export_json(back) == om.export_json(model)
    assert om.export_text(back) == om.export_text(model)


def test_clusterers(tmp_path):
    X = features()
    model = om.PCTClusterer(max_leaves=5, random_state=0).fit(X)
    back = saved(model, tmp_path)
    assert_same_state(model, back)
    same(back.predict(X), model.labels_)
    pd.testing.assert_frame_equal(back.cluster_prototypes_, model.cluster_prototypes_)
    assert om.export_json(back) == om.export_json(model)


def test_equal_models_are_equal_files_and_some_are_packed(tmp_path):
    for name in ("a", "b", "packed.gz"):
        model, X = fitted(om.PCTForestRegressor, "number")
        same(saved(model, tmp_path, name).predict(X), model.predict(X))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "packed.gz").read_bytes()[:2] == b"\x1f\x8b"


# -- an estimator like the one that was written ------------------------------------------------------------


def test_a_loaded_model_can_be_cloned_and_fitted_again(tmp_path):
    model, X = fitted(om.PCTForestClassifier, "hierarchy", n_jobs=2)
    back = saved(model, tmp_path)
    assert back.get_params() == model.get_params()
    y = closed(X)
    same(clone(back).fit(X, y).predict(X), model.predict(X))
    assert saved(back, tmp_path, "again").get_params() == model.get_params()


@pytest.mark.slow
def test_parameters_of_all_types(tmp_path):
    X = features()
    ranking = om.EnsembleRanker(n_trees=5, random_state=0).fit(X, numbers(X)).ranking_
    y = hidden(numbers(X) > 0.5)
    weights = [{0.0: np.float64(2.0), 1.0: 1}]
    model = om.PCTForestClassifier(n_trees=np.int64(2), class_weight=weights, feature_weights=ranking, supervision=0.5)
    back = saved(model.fit(X, y), tmp_path)
    assert back.feature_weights == ranking
    assert back.class_weight == weights
    assert back.n_trees == 2
    weighted = clone(model).set_params(feature_weights=pd.Series(np.arange(7.0)))
    assert saved(weighted.fit(X, y), tmp_path).feature_weights.tolist() == list(range(7))


def test_a_generator_as_seed_is_told_about(tmp_path):
    for seed in (np.random.default_rng(0), np.random.RandomState(0)):
        model, X = fitted(om.PCTForestRegressor, "number", random_state=seed)
        with pytest.warns(UserWarning, match="random_state is a .*None"):
            back = saved(model, tmp_path)
        assert back.random_state is None
        same(back.predict(X), model.predict(X))


def test_other_columns_are_refused_as_before(tmp_path):
    model, X = fitted(om.PCTForestRegressor, "number")
    back = saved(model, tmp_path)
    for wrong in (X[["a", "b"]], X.rename(columns={"a": "other"}), X.assign(a="text"), X[list(X.columns)[::-1]]):
        with pytest.raises(ValueError) as expected:  # noqa: PT011 - the same text as before
            model.predict(wrong)
        with pytest.raises(type(expected.value)) as found:
            back.predict(wrong)
        assert str(found.value) == str(expected.value)
    unseen = X.assign(kind="new")
    with pytest.warns(UserWarning, match="were not in the training data"):
        found = back.predict(unseen)
    with pytest.warns(UserWarning, match="were not in the training data"):
        same(found, model.predict(unseen))


def test_a_file_holds_the_out_of_bag_error(tmp_path):
    X = features()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few trees leave examples in every bag
        model = om.PCTForestRegressor(n_trees=3, oob_score=True).fit(X, numbers(X))
    back = saved(model, tmp_path)
    assert back.oob_error_ == model.oob_error_
    assert not hasattr(back, "oob_prediction_")


def test_tasks_of_others(tmp_path):
    register_task(Circular())
    try:
        X = features()[["a", "c"]]
        model = om.PCTForestRegressor(n_trees=3, task="circular", random_state=0)
        model.fit(X, np.random.default_rng(0).uniform(0, 360, N))
        back = saved(model, tmp_path)
        assert_same_state(model, back)
        same(back.predict(X), model.predict(X))
    finally:
        unregister_task("circular")
    with pytest.raises(FileFormatError, match="'circular' is no task of the model"):
        om.load_model(tmp_path / "model.omr")


# -- what cannot be written --------------------------------------------------------------------------------


class Special(om.PCTForestRegressor):
    """A forest of someone else."""


def test_models_that_cannot_be_written_say_so(tmp_path):
    X = features()[["a", "c"]]
    with pytest.raises(NotFittedError):
        om.PCTRegressor().save(tmp_path / "model")
    with pytest.raises(DataTypeError, match=r"Special cannot be written.*PCTForestClassifier"):
        Special(n_trees=2).fit(X, X["a"]).save(tmp_path / "model")
    intervals = pd.DataFrame({"age": pd.cut(X["a"], 3), "c": X["c"]})
    with pytest.raises(DataTypeError, match=r"level of feature 'age' is of type Interval"):
        om.PCTRegressor().fit(intervals, X["c"]).save(tmp_path / "model")
    model = om.PCTRegressor().fit(X, X["a"]).set_params(max_depth=make_pipeline)
    with pytest.raises(DataTypeError, match="parameter 'max_depth' is of type function"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RelationalTree, RelationalForest, RelationalBoosting])
def test_relational_models_come_back(tmp_path, kind):
    data = om.datasets.make_movies(60, random_state=0)
    model = kind(**({} if kind is RelationalTree else {"n_trees": 3}), random_state=0).fit(data)
    model.save(tmp_path / "model.omr")
    same = om.load_model(tmp_path / "model.omr")
    other = om.datasets.make_movies(30, random_state=1)
    for test in (data, other):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the other data have new levels
            np.testing.assert_array_equal(same.predict_proba(test), model.predict_proba(test))
    assert same.features_ == model.features_
    assert [feature.sentence for feature in same.features_] == [feature.sentence for feature in model.features_]
    assert same.get_params() == model.get_params()
    numbers = dataclasses.replace(
        data, target=om.Dataset(np.zeros((60, 1)), np.arange(60.0) / 7, task="regression").target, task="regression"
    )
    fitted = clone(model).fit(numbers)
    fitted.save(tmp_path / "numbers.omr")
    np.testing.assert_array_equal(om.load_model(tmp_path / "numbers.omr").predict(data), fitted.predict(data))


def test_relational_files_are_checked(tmp_path):
    frames = {"person": pd.DataFrame({"id": range(12), "age": np.arange(12.0), "rich": [0, 1] * 6})}
    data = RelationalDataset.from_frames(frames, target="person.rich")
    with pytest.raises(DataError, match="tests nothing"):
        RelationalTree(max_depth=0, random_state=0).fit(data).save(tmp_path / "leaf")
    RelationalTree(random_state=0).fit(data).save(tmp_path / "model")
    with_header(tmp_path / "model", facts__constructed={"tuple": []})
    with pytest.raises(FileFormatError, match="constructed"):
        om.load_model(tmp_path / "model")


# -- what is no model --------------------------------------------------------------------------------------


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(DataError, match="there is no file"):
        om.load_model(path)
    for content in (b"", b"a,b\n1,2\n", b"PK\x03\x04 and no more"):
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match="not a model"):
            om.load_model(path)
    with path.open("wb") as file:
        np.savez(file, a=np.arange(3))
    with pytest.raises(FileFormatError, match=r"not a model: .*'header\.json'"):
        om.load_model(path)
    fitted(om.PCTForestRegressor, "number")[0].save(path)
    rewritten(path, lambda members: members | {"more.py": b"print()"})
    with pytest.raises(FileFormatError, match=r"'more\.py' does not belong"):
        om.load_model(path)


def rewritten(path, change):
    """Write a file anew with changed members; `change` gets and returns a dictionary of bytes."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in change(members).items():
            archive.writestr(name, content)


def with_header(path, **more):
    def change(members):
        header = json.loads(members["header.json"])
        for key, value in more.items():
            inside = header
            *above, last = key.split("__")
            for part in above:
                inside = inside[part]
            inside[last] = value
        return members | {"header.json": json.dumps(header).encode()}

    rewritten(path, change)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"version": 2}, "written by omnirank .* in version 2 of the format.*upgrade"),
        ({"model": "os.system"}, "there is no model 'os.system' of which files are read"),
        ({"model": "PCTForestClassifier"}, "task: 'regression' is no task of the model"),
        ({"parameters__n_tree": 3}, "n_tree: PCTForestRegressor has no such parameter .*n_trees"),
        ({"parameters__n_trees": -3}, "parameters: n_trees=-3"),
        ({"parameters__n_trees": {"call": []}}, "parameters.n_trees: there is no type 'call'"),
        ({"facts__task": "nothing"}, "facts.task: 'nothing' is no task"),
        ({"facts__targets": []}, "facts.targets: there are none"),
        ({"facts__targets": [{"name": "y", "levels": ["a"]}]}, "the levels do not go with regression"),
        ({"facts__cells": "object"}, "cells of an unknown type"),
        ({"facts__had_missing": [True]}, "not one true or false per feature"),
        ({"facts__parents": [[]]}, "facts.parents: a hierarchy does not go with regression"),
        ({"facts__sparse": 1}, "facts.sparse: 1 is neither true nor false"),
        ({"facts__supervision_curve": 3}, "supervision_curve: not a table"),
    ],
)
def test_what_is_wrong_with_a_header_and_where(more, problem, tmp_path):
    fitted(om.PCTForestRegressor, "number")[0].save(tmp_path / "model")
    with_header(tmp_path / "model", **more)
    with pytest.raises(FileFormatError, match=problem):
        om.load_model(tmp_path / "model")


def test_a_hierarchy_must_fit_its_labels(tmp_path):
    fitted(om.PCTClassifier, "hierarchy")[0].save(tmp_path / "model")
    with_header(tmp_path / "model", facts__parents=[[], [0], [3], [2]])
    with pytest.raises(FileFormatError, match=r"facts.parents: malformed .*cycle"):
        om.load_model(tmp_path / "model")
    with_header(tmp_path / "model", facts__parents=None)
    with pytest.raises(FileFormatError, match=r"facts.parents: a hierarchy .* is missing"):
        om.load_model(tmp_path / "model")


def test_a_file_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    model = fitted(om.PCTForestRegressor, "number")[0]
    model.save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DataError, match=r"cannot write .*No space left"):
        model.save(tmp_path / "model")
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model").read_bytes() == before
