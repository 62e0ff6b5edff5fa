"""Sparse containers with wrong indices: an error, never a crash; in a process of its own, so that a crash is seen."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import omnirank as om
from omnirank.data.containers import checked_sparse
from omnirank.errors import DataError

FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


def matrix(kind):
    cells = np.random.default_rng(0).integers(0, 3, (6, 4)).astype(float)
    return sparse.coo_array(cells).asformat(kind)


@pytest.mark.parametrize("kind", FORMATS)
def test_whole_containers_stay_as_they_are(kind):
    given = matrix(kind)
    found = checked_sparse(given)
    assert (found is given) == (kind in ("csr", "csc", "coo", "bsr"))
    np.testing.assert_array_equal(found.toarray(), given.toarray())


def test_any_order_and_cells_that_come_twice():
    given = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3, 3])), shape=(2, 3))
    assert om.Dataset(given).features.matrix.toarray().tolist() == [[2.0, 0.0, 5.0], [0.0, 0.0, 0.0]]


CHANGES = {
    "index too large": lambda m: m.indices.__setitem__(0, 99),
    "index far too large": lambda m: m.indices.__setitem__(-1, 2**31 - 1),
    "index negative": lambda m: m.indices.__setitem__(0, -1),
    "starts too large": lambda m: m.indptr.__setitem__(-1, 10**6),
    "starts fall": lambda m: m.indptr.__setitem__(1, 10**6),
    "starts negative": lambda m: m.indptr.__setitem__(1, -5),
    "first start": lambda m: m.indptr.__setitem__(0, 1),
    "too few starts": lambda m: setattr(m, "indptr", m.indptr[:-2]),
    "too few indices": lambda m: setattr(m, "indices", m.indices[:-2]),
    "too few values": lambda m: setattr(m, "data", m.data[:-2]),
    "fractions": lambda m: setattr(m, "indices", m.indices + 0.5),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
def test_wrong_indices(kind, change):
    damaged = matrix(kind)
    CHANGES[change](damaged)
    with pytest.raises(DataError, match="damaged sparse matrix"):
        checked_sparse(damaged)


def test_wrong_coordinates():
    for axis, problem in ((0, "axis 0 index 6"), (1, "axis 1 index 4")):
        damaged = matrix("coo")
        damaged.coords[axis][0] = damaged.shape[axis]
        with pytest.raises(DataError, match=problem):
            checked_sparse(damaged)
    damaged = matrix("lil")
    damaged.rows[2][0] = 77
    with pytest.raises(DataError, match="damaged sparse matrix"):
        checked_sparse(damaged)


_PROGRAM = """
import numpy as np, omnirank as om
from omnirank.errors import OmnirankError
from scipy import sparse

def broken(kind):
    found = sparse.random_array((40, 6), density=0.5, format=kind, random_state=np.random.default_rng(0))
    found.indices[:] = 2**30
    return found

whole = sparse.random_array((40, 6), density=0.5, format="csr", random_state=np.random.default_rng(0))
y = np.arange(40) % 2
fitted = om.PCTClassifier().fit(whole, y)
hierarchy = om.Hierarchy.flat(range(6))
calls = {
    "fit": lambda m: om.EnsembleRanker(n_trees=2).fit(m, y),
    "relief": lambda m: om.ReliefRanker().fit(m, y),
    "target": lambda m: om.PCTClassifier().fit(whole, m),
    "predict": lambda m: fitted.predict(m),
    "dataset": lambda m: om.Dataset(m, y),
    "close": lambda m: hierarchy.close(m),
    "transform": lambda m: om.UnivariateRanker(n_features_to_select=2).fit(whole, y).transform(m),
}
for name, call in calls.items():
    for kind in ("csr", "csc"):
        try:
            call(broken(kind))
        except OmnirankError as error:
            assert "sparse matrix" in str(error), (name, error)
        else:
            raise AssertionError(name)
print("all refused")
"""


@pytest.mark.slow
def test_no_public_function_crashes():
    command = [sys.executable, "-X", "faulthandler", "-W", "ignore", "-c", _PROGRAM]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[-2000:]
    assert found.stdout.strip() == "all refused"
