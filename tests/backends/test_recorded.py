"""Results stay what they were: the order of the features and scores to 1e-10, on any machine.

A change that is meant to change results records them anew (``python -m backends.record``) and says why. ``make test``
runs two tasks first: they compile most kernels that it needs, and hardly any of them both.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from backends.record import FILE, recorded_cases, scores_of
from omnirank.data.task_registry import TASKS

RECORDED = json.loads(FILE.read_text())
CASES = recorded_cases()


def test_all_cases_are_recorded():
    assert CASES.keys() == RECORDED.keys()


def cases_of(task):
    return [name for name in CASES if next(filter(TASKS.__contains__, name.split(", ")), None) == task]


QUICK = ("classification", "hierarchical-multi-label")


@pytest.mark.parametrize(
    "task", [task if task in QUICK else pytest.param(task, marks=pytest.mark.slow) for task in (*TASKS, None)]
)
def test_results_are_those_recorded(task):
    for name in cases_of(task):
        found, expected = scores_of(CASES[name]()), RECORDED[name]
        assert found.keys() == expected.keys(), name
        for which, scores in found.items():
            kept = np.array(expected[which])
            largest = np.abs(kept).max(initial=0.0)
            np.testing.assert_allclose(scores, kept, rtol=1e-10, atol=1e-10 * largest, err_msg=name)
            if (np.diff(np.sort(kept)) > 1e-9 * largest).all():  # features that tie may come in any order
                assert np.argsort(scores).tolist() == np.argsort(kept).tolist(), name


def test_every_task_has_recorded_cases():
    counts = {task: len(cases_of(task)) for task in (*TASKS, None)}
    assert min(counts.values()) > 0
    assert sum(counts.values()) == len(CASES)
