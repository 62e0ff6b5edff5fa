"""Results stay what they were: the order of the features and scores to 1e-10, on any machine.

A change that is meant to change results records them anew (``python -m backends.record``) and says why.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from backends.record import FILE, recorded_cases, scores_of

RECORDED = json.loads(FILE.read_text())
CASES = recorded_cases()


def test_all_cases_are_recorded():
    assert CASES.keys() == RECORDED.keys()


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_recorded(name):
    found, expected = scores_of(CASES[name]()), RECORDED[name]
    assert found.keys() == expected.keys()
    for which, scores in found.items():
        kept = np.array(expected[which])
        np.testing.assert_allclose(scores, kept, rtol=1e-10, atol=1e-10 * np.abs(kept).max(initial=0.0))
        clear = np.abs(np.diff(np.sort(kept))) > 1e-9 * np.abs(kept).max(initial=0.0)
        if clear.all():  # features that tie may come in any order
            assert np.argsort(scores).tolist() == np.argsort(kept).tolist()
