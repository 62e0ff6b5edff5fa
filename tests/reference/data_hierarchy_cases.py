"""Random hierarchies and label sets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from omnirank.data.hierarchy import Hierarchy

NAN = np.nan


@st.composite
def hierarchies(draw, tree=None, max_labels=9):
    """Trees and DAGs of which the label order has nothing to do with the order of levels."""
    n_labels = draw(st.integers(1, max_labels))
    place = draw(st.permutations(range(n_labels)))
    most = 1 if (draw(st.booleans()) if tree is None else tree) else 3
    parents = [()] * n_labels
    for i in range(1, n_labels):
        above = draw(st.sets(st.integers(0, i - 1), max_size=most))
        parents[place[i]] = tuple(place[p] for p in above)
    return Hierarchy(tuple(f"n{i}" for i in range(n_labels)), tuple(parents))


@st.composite
def label_matrices(draw, hierarchy, cells=(0.0, 1.0, NAN)):
    n_rows = draw(st.integers(0, 5))
    row = st.lists(st.sampled_from(cells), min_size=len(hierarchy), max_size=len(hierarchy))
    rows = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    return np.array(rows, dtype=float).reshape(n_rows, len(hierarchy))


def csr_of(values, container=sparse.csr_array):
    """Sparse form of 0, 1, NaN: zeros absent."""
    return container(np.asarray(values))


def assert_canonical(matrix):
    """Indices ascend strictly within each row: looked at, not asked of the matrix's own flags."""
    for start, end in pairwise(matrix.indptr):
        assert np.all(np.diff(matrix.indices[start:end]) > 0)
    assert np.all(matrix.data != 0)
