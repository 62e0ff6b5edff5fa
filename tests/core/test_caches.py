"""Shared objects may be pickled while another thread fills their caches."""

from __future__ import annotations

import pickle
import threading
from functools import cached_property

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.data.dataset import Dataset


def cached_names(shared):
    return [name for base in type(shared).__mro__ for name, v in vars(base).items() if isinstance(v, cached_property)]


class FillsCaches:
    """An attribute that fills all caches of its owner while that is being pickled, as another thread may do."""

    def __init__(self, owner):
        self.owner = owner

    def __reduce__(self):
        for name in cached_names(self.owner):
            getattr(self.owner, name)
        return int, ()


def labels():
    rng = np.random.default_rng(0)
    return om.Dataset(rng.normal(size=(20, 3)), rng.integers(0, 2, (20, 2)))


def parts(folder):
    frame = labels().features.to_frame().assign(y=np.arange(20) / 7)
    frame.to_parquet(folder / "part.parquet")
    return om.open_shards(folder, target="y")


SHARED = {
    "data": lambda _: labels(),
    "view": lambda _: labels().take(slice(5)),
    "table": lambda _: om.Dataset(sparse.csr_array(np.eye(3))).features,
    "target": lambda _: labels().target,
    "hierarchy": lambda _: om.Hierarchy.from_paths(["a", "a/b"]),
    "tree": lambda _: om.PCTClassifier().fit(labels()).tree_,
    "stability": lambda _: om.stability(om.UnivariateRanker(), labels(), n_resamples=4, random_state=0),
    "parts": parts,
    "relational": lambda _: om.datasets.make_movies(random_state=0),
}


@pytest.mark.parametrize("name", SHARED)
def test_pickled_while_caches_are_filled(name, tmp_path):
    shared = SHARED[name](tmp_path)
    filled = cached_names(shared)
    assert filled
    vars(shared)["_other_thread"] = FillsCaches(shared)
    for _ in range(2):  # with empty caches, and with full ones
        copy = pickle.loads(pickle.dumps(shared))
        assert not set(filled) & set(vars(copy))


def test_fits_fill_caches_of_the_data_in_the_thread_of_the_caller(monkeypatch):
    threads, compute = [], Dataset.fingerprint.func

    def traced(data):
        threads.append(threading.get_ident())
        return compute(data)

    monkeypatch.setattr(Dataset, "fingerprint", property(traced))
    rng = np.random.default_rng(0)
    ranker = om.EnsembleRanker(n_trees=2, n_jobs=2, random_state=0)
    fingerprint = ranker.fit(om.Dataset(rng.normal(size=(30, 2)), rng.integers(0, 2, 30))).ranking_.fingerprint
    monkeypatch.undo()
    rng = np.random.default_rng(0)
    assert fingerprint == om.Dataset(rng.normal(size=(30, 2)), rng.integers(0, 2, 30)).fingerprint
    assert set(threads) == {threading.get_ident()}
