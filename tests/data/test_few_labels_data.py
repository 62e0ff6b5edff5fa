"""Hiding labels at random."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.errors import DataError, ParameterError


def test_so_many_labels_are_kept():
    data = om.Dataset(np.zeros((40, 1)), np.arange(40.0) + 0.5).hide_labels(slice(0, 10))
    assert data.keep_labels(7, random_state=0).labelled.sum() == 7
    assert data.keep_labels(0.5, random_state=0).labelled.sum() == 15
    assert not data.keep_labels(30, random_state=0).labelled[:10].any()
    assert data.keep_labels(0, random_state=0).labelled.sum() == 0


def test_fewer_labels_are_some_of_more():
    data = om.Dataset(np.zeros((40, 1)), np.arange(40.0) + 0.5)
    few, more = (data.keep_labels(n, random_state=3).labelled for n in (5, 20))
    assert more[few].all()
    assert (data.keep_labels(5, random_state=4).labelled != few).any()
    kept = data.keep_labels(5, random_state=3)
    np.testing.assert_array_equal(kept.y[few], data.y[few])


@pytest.mark.parametrize("amount", [-1, 41, 1.5, 0.0, "few", True])
def test_amounts_that_make_no_sense(amount):
    with pytest.raises(ParameterError, match="labelled="):
        om.Dataset(np.zeros((40, 1)), np.arange(40.0)).keep_labels(amount)


def test_without_target_there_is_nothing_to_hide():
    with pytest.raises(DataError, match="no target"):
        om.Dataset(np.zeros((4, 1))).keep_labels(0)
