"""Messages that once misled: limits, pickles, methods that are not registered."""

from __future__ import annotations

import numpy as np
import pytest

import omnirank as om
from omnirank.core.ranking.accumulators import MeanAccumulator
from omnirank.core.seeds import SeedRanges
from omnirank.errors import DataError

X, Y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]


def ranking(method, entropy):
    trees = MeanAccumulator.empty(1).update([[1.0]])
    seeds = SeedRanges.of(entropy, 0, 1)
    return om.Ranking.from_state(["a"], trees, method, fingerprint="f", seeds=seeds, parameters={"n_trees": 1})


def test_rankings_of_an_unknown_method_are_not_merged():
    assert om.Ranking.merge(ranking("genie3", 1), ranking("genie3", 2)).parameters["n_trees"] == 2
    with pytest.raises(DataError, match="the method 'unheard-of' is not registered here"):
        om.Ranking.merge(ranking("unheard-of", 1), ranking("unheard-of", 2))


def test_classes_that_look_like_label_sets():
    told = om.Dataset(X, ["p", "p;q", "q", "p"], target_names=["kinds"]).notes
    assert told == (
        "the classes of 'kinds' look like label sets ('p;q'); if they are, give each label a column of 0 and 1 "
        "(pandas: frame['kinds'].str.get_dummies(';')), and none where unlabelled (.where(frame['kinds'].notna()))",
    )
    assert om.Dataset(X, ["p", "p; or not", "q", "p"]).notes == ()
