"""The checks for rankers of third parties: they pass what is right, and can fail."""

from __future__ import annotations

import warnings

import pytest

import omnirank as om
from omnirank.testing import check_ranker


class Broken(om.UnivariateRanker):
    """Forgets the seed."""

    calls = 0

    def _rank(self, dataset, sample_weight=None):
        Broken.calls += 1
        found = super()._rank(dataset, sample_weight)
        return self._ranking(dataset, found.scores + Broken.calls, "broken")


def test_checks_can_fail():
    with pytest.raises(AssertionError, match="Broken fails takes or refuses data without known target"):
        check_ranker(Broken())


class NoUnsupervised(om.UnivariateRanker):
    supported_supervision = ("supervised",)
    supported_tasks = ("classification", "regression")


def test_checks_pass_for_a_supervised_ranker():
    check_ranker(NoUnsupervised())
    with pytest.raises(ValueError, match="needs a target"):
        NoUnsupervised().fit([[1.0], [2.0]])


def test_checks_say_nothing_about_their_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_ranker(NoUnsupervised())
