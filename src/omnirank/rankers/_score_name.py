"""A parameter called ``score`` in a library that takes an attribute of that name for a method."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from omnirank.data.estimator_input import read_features

__all__ = ["ScoreName"]


class ScoreName(str):
    """The name of a score, as the attribute ``score`` of a ranker.

    scikit-learn calls ``estimator.score(X, y)`` wherever there is such an attribute. Asked like that, a ranker
    checks X and answers NaN: it predicts nothing that could be judged.

    Examples
    --------
    >>> import omnirank as om
    >>> ranker = om.EnsembleRanker(score="symbolic", n_trees=2).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> ranker.score
    'symbolic'
    >>> ranker.score([[1.0]])
    nan
    """

    ranker: Any

    def __new__(cls, name: str, ranker: Any) -> ScoreName:
        """Return the name, bound to its ranker."""
        bound = super().__new__(cls, name)
        bound.ranker = ranker
        return bound

    def __call__(self, X: Any, y: Any = None) -> float:
        """Check X and return NaN."""
        check_is_fitted(self.ranker)
        read_features(self.ranker, X, reset=False)
        return float("nan")
