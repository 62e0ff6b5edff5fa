"""Trees grown by the processes of a Dask cluster are the same trees."""

from __future__ import annotations

import joblib
import numpy as np
import pytest

import omnirank as om
from omnirank.testing import tiny_dataset

distributed = pytest.importorskip("distributed", reason="needs omnirank[dask]")

# What the cluster's own processes say when they are shut down is none of our business.
pytestmark = pytest.mark.filterwarnings("ignore:.*:ResourceWarning", "ignore:.*:DeprecationWarning")


@pytest.fixture(scope="module")
def client():
    """Two worker processes of one thread each, reached by the loopback address only."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            worker_dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def n_executed(client):
    """Tasks that the worker processes have done so far."""
    return sum(client.run(lambda dask_worker: dask_worker.state.executed_count).values())


@pytest.mark.parametrize("task", ["multi-target-regression", "hierarchical-multi-label"])
def test_a_cluster_of_two_processes_gives_the_same_bits(client, task):
    assert len(client.scheduler_info()["workers"]) == 2
    data = tiny_dataset(task)
    options = {"importance": "permutation", "n_trees": 12, "per_target": True, "random_state": 0}
    expected = om.EnsembleRanker(**options, n_jobs=1).fit(data)
    before = n_executed(client)
    with joblib.parallel_config(backend="dask"):
        found = om.EnsembleRanker(**options).fit(data)
    assert n_executed(client) > before
    assert found.rankings_.keys() == expected.rankings_.keys()
    for name, ranking in expected.rankings_.items():
        assert found.rankings_[name] == ranking
        np.testing.assert_array_equal(found.rankings_[name].scores, ranking.scores)
