"""Trees that see some of the examples: samples of a given size, as many as settle the ranking, or as fit in memory."""

from __future__ import annotations

import os
import subprocess
import sys

import joblib
import numpy as np
import pytest

import omnirank as om
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.ensembles.example_samples import change, samples_of, settled
from omnirank.ensembles.plan import GrowingData
from omnirank.errors import ParameterError
from tools.memory import PEAK, needs_peak


@pytest.fixture(scope="module")
def numbers():
    return om.datasets.make_regression(300, n_relevant=3, n_irrelevant=5, random_state=0)[0]


@pytest.fixture(scope="module")
def many():
    return om.datasets.make_regression(12_000, n_relevant=3, n_irrelevant=5, random_state=0)[0]


def samples(data, size, seed=0):
    """The examples of each sample."""
    growing = GrowingData(data, seed)
    dealt = samples_of(growing, size)
    groups = dealt.groups(np.arange(data.n_examples), data.labelled)
    return [np.isin(groups, dealt.groups_of(s)) for s in range(dealt.n_samples)]


@pytest.mark.parametrize("importance", ["unbiased", "permutation"])
def test_each_tree_sees_one_sample(numbers, importance):
    parts = samples(numbers, 100)
    assert len(parts) == 3
    np.testing.assert_array_equal(np.sum(parts, axis=0), 1)
    assert all(70 < rows.sum() < 130 for rows in parts)
    found = om.EnsembleRanker(importance, n_trees=7, max_samples=100, random_state=0).fit(numbers)
    trees = [
        om.EnsembleRanker(importance, n_trees=1, first_tree=i, random_state=0).fit(numbers.take(parts[i % 3])).ranking_
        for i in range(7)
    ]
    np.testing.assert_allclose(found.ranking_.scores, np.mean([tree.scores for tree in trees], axis=0), rtol=1e-12)
    assert found.max_samples_ == found.ranking_.parameters["max_samples"] == 100
    assert "(7 trees of 100 examples each)" in found.certainty_.summary
    assert found.ranking_.certainty().n_examples == 100


@pytest.mark.parametrize("size", [300, 5000, 1.0, None])
def test_all_examples_are_all_examples(numbers, size):
    whole = om.EnsembleRanker(n_trees=3, random_state=0).fit(numbers)
    found = om.EnsembleRanker(n_trees=3, max_samples=size, random_state=0).fit(numbers)
    assert found.ranking_ == whole.ranking_
    assert found.max_samples_ == 300


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_change_no_bit(numbers, backend):
    ranker = om.EnsembleRanker(n_trees=6, max_samples=0.4, random_state=0)
    alone = ranker.fit(numbers).ranking_
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert ranker.fit(numbers).ranking_ == alone


def test_parts_of_a_run_merge(numbers):
    first, second = (
        om.EnsembleRanker(n_trees=4, first_tree=i, max_samples=100, random_state=0).fit(numbers).ranking_
        for i in (0, 4)
    )
    whole = om.EnsembleRanker(n_trees=8, max_samples=100, random_state=0).fit(numbers).ranking_
    np.testing.assert_allclose(first.merge(second).scores, whole.scores, rtol=1e-12)


def test_weights_are_those_of_the_sample(numbers):
    weight = np.ones(300)
    weight[samples(numbers, 100)[1]] = 3
    even, uneven = (
        om.EnsembleRanker(n_trees=3, max_samples=100, random_state=0).fit(numbers, sample_weight=w).ranking_
        for w in (np.ones(300), weight)
    )
    assert even.fingerprint != uneven.fingerprint
    assert (even.scores != uneven.scores).any()


@pytest.mark.parametrize("supervision", [0.5, 0, 1, "auto"])
def test_few_labels(supervision):
    data, _ = om.datasets.make_regression(400, n_relevant=3, n_irrelevant=5, random_state=0)
    few = data.keep_labels(60, random_state=0)
    found = om.EnsembleRanker(n_trees=6, max_samples=100, supervision=supervision, random_state=0).fit(few)
    assert found.ranking_.scores.any()
    assert found.n_trees_ == 6


def test_a_sample_without_a_class_has_no_test():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), np.zeros(400, int)
    y[:2] = 1  # two samples of eight hold them
    found = om.EnsembleRanker("genie3", n_trees=8, max_samples=50, min_samples_leaf=1, random_state=0).fit(X, y)
    assert found.n_trees_ == 8
    assert (found.ranking_.scores > 0).any()


@pytest.mark.slow
def test_enough_examples_are_chosen(many):
    found = om.EnsembleRanker(n_trees=30, max_samples="auto", checkpoints=[10, 30], random_state=0).fit(many)
    assert found.max_samples_ in (4000, 8000)
    assert sorted(found.checkpoints_) == [10, 30]
    assert found.ranking_.parameters["max_samples"] == found.max_samples_
    again = om.EnsembleRanker(n_trees=30, max_samples=found.max_samples_, random_state=0).fit(many)
    assert again.ranking_ == found.ranking_
    whole = om.EnsembleRanker(n_trees=30, random_state=0).fit(many).ranking_
    assert sorted(found.ranking_.top(3)) == sorted(whole.top(3))
    assert settled(found.ranking_.state, whole.state)


def test_few_examples_are_all_seen(numbers):
    found = om.EnsembleRanker(n_trees=5, max_samples="auto", random_state=0).fit(numbers)
    assert found.ranking_ == om.EnsembleRanker(n_trees=5, random_state=0).fit(numbers).ranking_


def test_what_needs_more_examples_gets_them():
    """Two features matter only together with a third, in cells that few examples cannot fill."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6))
    y = X[:, 5] + 2 * np.sign(np.prod(X[:, :3], axis=1))
    hard = om.EnsembleRanker("genie3", n_trees=20, max_samples="auto", max_depth=9, random_state=0).fit(X, y)
    easy = om.EnsembleRanker("genie3", n_trees=20, max_samples="auto", random_state=0).fit(X, X[:, 5])
    assert easy.max_samples_ < hard.max_samples_


def test_no_time_for_more_examples(many, monkeypatch):
    from omnirank.rankers import _ensemble_in_memory as module

    clock = iter(np.arange(0, 1000, 1.0))

    class Clock:
        @staticmethod
        def monotonic():
            return next(clock)

    monkeypatch.setattr(module, "time", Clock)
    found = om.EnsembleRanker(n_trees=20, max_samples="auto", max_seconds=5, random_state=0).fit(many)
    assert found.max_samples_ == 2000
    assert str(found.certainty_).endswith("; there was no time for more than 2000 examples per tree")


def sums_of(x, error=0.0, n=10):
    return MeanAccumulator(n, np.asarray(x, float), np.full(len(x), error**2 * n * (n - 1)))


def test_change_is_a_share_of_the_variance():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    assert change(sums_of(x), sums_of(5 * x)) == pytest.approx(0)
    other = x + 0.3 * rng.normal(size=2000)
    assert change(sums_of(x), sums_of(other)) == pytest.approx(0.09, abs=0.01)
    noisy = x + 0.3 * rng.normal(size=2000)
    assert change(sums_of(x), sums_of(noisy, error=0.3)) == pytest.approx(0, abs=0.02)
    assert not settled(None, sums_of(x))


PROGRAM = """
import logging
import sys
import numpy as np
import omnirank as om
logging.basicConfig()
logging.getLogger("omnirank.compiling").setLevel("INFO")
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 50)); y = X[:, 0] + rng.normal(size=len(X))
data = om.Dataset(X, y)
om.EnsembleRanker(n_trees=2, random_state=0, max_samples=2000).fit(data)
before = peak()
memory = None if sys.argv[1] == "None" else sys.argv[1]
ranker = om.EnsembleRanker(n_trees=4, max_memory=memory, n_jobs=4, random_state=0).fit(data)
print(ranker.max_samples_, (peak() - before) / 1024)
"""


def peak(memory):
    """Where kernels are compiled, which takes memory too, it is the second run that counts."""
    settings = {name: value for name, value in os.environ.items() if name != "OMNIRANK_PICKLED_WORK"}
    command = [sys.executable, "-c", PEAK + PROGRAM, str(memory)]
    for _ in range(2):
        run = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
        if "compiling" not in run.stderr:
            break
    size, megabytes = run.stdout.split()
    return int(size), float(megabytes)


@pytest.mark.slow
@needs_peak
def test_memory_is_kept():
    size, megabytes = peak("60M")
    assert 2000 < size < 200_000
    assert megabytes < 60
    whole, more = peak(None)
    assert whole == 200_000
    assert more > 90


def test_memory_that_is_enough_changes_nothing(numbers):
    whole = om.EnsembleRanker(n_trees=3, random_state=0).fit(numbers)
    assert om.EnsembleRanker(n_trees=3, max_memory="1G", random_state=0).fit(numbers).ranking_ == whole.ranking_
    less = om.EnsembleRanker(n_trees=3, max_memory=100_000, random_state=0).fit(numbers)
    assert 50 <= less.max_samples_ < 300
    assert str(less.certainty_).endswith(f"there was no memory for more than {less.max_samples_} examples per tree")
    again = om.EnsembleRanker(n_trees=3, max_samples=less.max_samples_, random_state=0).fit(numbers)
    assert again.ranking_ == less.ranking_


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("max_samples", value) for value in (0, 10, 1.5, "many", True)),
        *(("max_memory", value) for value in ("much", 1000)),
    ],
)
def test_other_sizes_are_refused(numbers, name, value):
    with pytest.raises(ParameterError, match=f"{name}="):
        om.EnsembleRanker(**{name: value}).fit(numbers)


def test_what_needs_all_examples_is_refused(numbers):
    with pytest.raises(ParameterError, match="warm_start=True: it is for trees that see all examples"):
        om.EnsembleRanker(max_samples=100, n_trees=2, warm_start=True).fit(numbers)


@pytest.mark.slow
def test_p_values_on_the_way_are_those_of_so_many_trees(many):
    """Sizes that are tried hold their sums by example apart."""
    whole = om.EnsembleRanker(
        n_trees=30, checkpoints=[7, 20], max_samples="auto", p_values=True, random_state=0, n_jobs=2
    ).fit(many)
    size = whole.max_samples_
    assert size < many.n_examples
    for n_trees in (7, 20):
        few = om.EnsembleRanker(n_trees=n_trees, max_samples=size, p_values=True, random_state=0).fit(many).ranking_
        assert whole.checkpoints_[n_trees]["unbiased"].p_values.tolist() == few.p_values.tolist()
