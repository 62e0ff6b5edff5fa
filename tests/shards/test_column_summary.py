"""What is kept of a column while its cells pass by."""

from __future__ import annotations

import numpy as np
import pytest

from omnirank.shards.summary import ColumnSummary


def test_blocks_of_one_part_are_taken_together():
    summary = ColumnSummary()
    for cells in ([-4.0, 9.0], [np.nan, 1.0], [2.0]):
        summary.add_numbers(np.array(cells), "a")
    assert (summary.n_known, summary.low, summary.high) == (4, -4.0, 9.0)
    assert summary.mean == pytest.approx(2.0)
    assert summary.variance == pytest.approx(np.var([-4.0, 9.0, 1.0, 2.0]))


@pytest.mark.parametrize("number", [0.5, 2.0**60])
def test_a_number_that_is_no_class_ends_the_counting_of_classes(number):
    summary = ColumnSummary(values={})
    summary.add_numbers(np.array([1.0, 2.0, 2.0]), "y")
    assert not summary.has_fractions
    assert summary.counts == {1.0: 1, 2.0: 2}
    summary.add_numbers(np.array([3.0, number]), "y")
    assert summary.has_fractions
    assert list(summary.counts) == [number]
