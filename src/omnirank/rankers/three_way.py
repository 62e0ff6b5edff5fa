"""3-3FS: soft-constrained Laplacian scores on resamples of labelled examples, features and labels."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from omnirank.core.types import RandomState
from omnirank.data.hierarchy import Hierarchy
from omnirank.rankers.resampled import Resampling


class ThreeWayRanker(Resampling):
    r"""Rank features of label sets by resampling examples, features and labels at once (3-3FS).

    Each replicate has a bootstrap sample of the labelled examples, all unlabelled ones, :math:`\sqrt m` of the m
    features and :math:`\sqrt C` of the C labels; the features are ranked by the soft-constrained Laplacian score
    (S-CLS). The score of a feature is its mean over the replicates, of which there are
    :math:`10 \lceil \log 0.01 / \log(1 - 1 / \sqrt m) \rceil`.

    It is the `ResampledRanker` with ``examples="labelled-bootstrap"``, ``feature_share="sqrt"`` and
    ``label_share="sqrt"``. S-CLS has no place for weights of examples.

    Parameters
    ----------
    base : ranker or str
        What ranks the features in each replicate: a ranker, or the name of a method.
    n_iterations : int or "auto"
        Number of replicates.
    aggregate : {"mean", "rank-mean", "median"}
        What the scores of a feature become.
    task, hierarchy, n_features_to_select, random_state, n_jobs
        As in `ResampledRanker`.

    References
    ----------
    Alalga, Benabdeslem, Mansouri: 3-3FS: ensemble method for semi-supervised multi-label feature selection. Knowledge
    and Information Systems 63, 2021.

    Examples
    --------
    >>> import omnirank as om
    >>> data, truth = om.datasets.make_multi_label(200, n_relevant=2, n_irrelevant=8, random_state=1)
    >>> ranker = om.ThreeWayRanker("univariate", random_state=0).fit(data)
    >>> ranker.ranking_.method, ranker.n_iterations_
    ('3-3fs', 130)
    """

    examples = "labelled-bootstrap"
    example_share = 0.5
    feature_share = "sqrt"
    label_share = "sqrt"

    def __init__(
        self,
        base: BaseEstimator | str = "s-cls",
        n_iterations: int | str = "auto",
        aggregate: str = "mean",
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        n_features_to_select: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(task, hierarchy, n_features_to_select, random_state, n_jobs)
        self.base = base
        self.n_iterations = n_iterations
        self.aggregate = aggregate

    def _method(self, base: str) -> str:
        return "3-3fs"
