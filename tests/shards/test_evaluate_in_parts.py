"""Rankings judged on data in parts: the figures of the same examples in memory, and clear refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import omnirank as om
from omnirank.core.seeds import root_entropy, stream
from omnirank.errors import DataError
from omnirank.evaluation.cross import evaluate_folds
from omnirank.evaluation.folds import make_folds
from shards.test_sharded_dataset import both, frame_of, written

TARGETS = ["kind", "count", "size", "l1,l2", "kind,wet", "size,a", "size,kind", "wet"]


def scores_of(data, seed=0):
    return np.random.default_rng(seed).random(data.n_features) - 0.2


def parts_of(data, n_test, seed):
    """Training and test examples in memory, as `om.evaluate` draws them."""
    entropy = root_entropy(seed)
    labelled = np.flatnonzero(data.labelled)
    rows = np.sort(stream(entropy, 0).choice(labelled, n_test, replace=False))
    return data.sample(entropy, rows), data.take(rows)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_a_sample_is_judged_as_in_memory(tmp_path, target, missing):
    parts, _ = written(tmp_path, frame_of(200, 0, missing), [20, 120])
    for data in both(parts, target, 100_000):
        scores = scores_of(data)
        for options in (
            {"neighbors": "published", "n_neighbors": 4},
            {"scaled": False, "n_neighbors": 4},
            {"weighted": False, "n_neighbors": 4},
            {"top": 3, "n_neighbors": [1, 6]},
        ):
            found = om.evaluate(scores, data, n_test=15, random_state=3, **options)
            assert repr(found) == repr(om.evaluate(scores, *parts_of(data, 15, 3), **options)), options


@pytest.mark.every(8)
@pytest.mark.parametrize("target", ["kind", "size"])
def test_test_data_of_every_kind(tmp_path, target):
    frame = frame_of(240, missing=0.1)
    for name, rows in (("train", slice(0, 160)), ("test", slice(160, 240))):
        (tmp_path / name).mkdir()
        written(tmp_path / name, frame.iloc[rows].reset_index(drop=True), [50])
    whole, _ = both(tmp_path / "train" / "parts", target)
    test, streamed_test = both(tmp_path / "test" / "parts", target, 5000)
    scores = scores_of(whole)
    expected = om.evaluate(scores, whole.read(), test.read())
    for train in (whole, whole.read()):
        assert repr(om.evaluate(scores, train, test)) == repr(expected)
        assert repr(om.evaluate(scores, train, test.read())) == repr(expected)
        drawn = om.evaluate(scores, train, streamed_test, n_test=20)
        assert repr(om.evaluate(scores, train, test, n_test=20)) == repr(drawn)


def test_other_examples_are_no_training_examples(tmp_path):
    """Every example has a twin in the data, but itself it must not see."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.permutation(500) * 1.0, "b": rng.normal(size=500)})
    frame["y"] = np.where(rng.random(500) < 0.5, "x", "z")  # noise
    parts, _ = written(tmp_path, frame, [100])
    _, streamed = both(parts, "y", 10_000)
    found = om.evaluate([1.0, 0.0], streamed, n_neighbors=1, n_test=200)
    assert 0.3 < found["accuracy"] < 0.7


@pytest.mark.slow
def test_the_sample_is_at_most_half_of_the_labelled_examples(tmp_path):
    frame = frame_of(300, missing=0.0)
    frame["kind"] = frame["kind"].where(np.arange(300) % 5 == 0)
    parts, _ = written(tmp_path, frame, [100])
    _, streamed = both(parts, "kind", 200_000)
    with pytest.warns(UserWarning, match="n_neighbors=40, but there are only 30 labelled training examples"):
        om.evaluate(scores_of(streamed), streamed, n_neighbors=40)


# -- what needs all examples at once -----------------------------------------------------------------------


def folds(data):
    return [fold.test.tolist() for fold in make_folds(data, n_folds=3, random_state=0)]


@pytest.mark.every(12)
@pytest.mark.parametrize(
    "used",
    [
        lambda data, _: om.significance(om.UnivariateRanker(), data, n_rounds=3, random_state=0).scores.tolist(),
        lambda data, _: om.stability(om.UnivariateRanker(), data, n_resamples=5, random_state=0).mean_ranks.tolist(),
        lambda data, whole: om.UnivariateRanker().fit(whole).transform(data).X.to_csv(),
        lambda data, _: folds(data),
        lambda data, whole: evaluate_folds(
            [1.0] * 8, data, make_folds(whole, n_folds=3, random_state=0)
        ).summary.to_csv(),
    ],
    ids=["significance", "stability", "transform", "make_folds", "evaluate_folds"],
)
def test_what_fits_is_used_and_what_does_not_is_refused(tmp_path, used):
    parts, _ = written(tmp_path, frame_of(100, missing=0.0), [50])
    data, streamed = both(parts, "l1,l2", 5000)
    whole = data.read()
    assert used(data, whole) == used(whole, whole)
    with pytest.raises(DataError, match=r"MB in memory, more than max_memory=5000: .*take some"):
        used(streamed, whole)


@pytest.mark.slow
def test_redundancy_reads_what_it_draws(tmp_path):
    frame = frame_of(400, missing=0.2)
    frame["copy"] = frame["a"] * 3
    parts, _ = written(tmp_path, frame, [150])
    whole, streamed = both(parts, "kind")
    scores = scores_of(whole)
    expected = om.redundancy(scores, whole.read(), max_examples=100)
    assert om.redundancy(scores, streamed, max_examples=100).groups == expected.groups
    of_all = om.redundancy(scores, whole.read(), max_examples=1000)
    assert om.redundancy(scores, whole, max_examples=1000).groups == of_all.groups
    assert "copy" in {name for group in expected.groups for name in (group.representative, *group.others)}
    with pytest.raises(DataError, match=r"take some of the examples"):
        om.redundancy(scores, streamed)
