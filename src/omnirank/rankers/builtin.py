"""The methods that come with omnirank: one entry each, names and import paths only; scores of trees have a table."""

from __future__ import annotations

from typing import Any

from omnirank.core.registry import Method
from omnirank.data.task_registry import TASKS, TaskNames
from omnirank.ensembles.scores import SCORES, score_method

_DISPERSION = "omnirank.rankers.controls:DispersionRanker"
_INFORMATION = "omnirank.rankers.information:InformationRanker"
_RELIEF = "omnirank.rankers.relief:ReliefRanker"
_SEMI_SUPERVISED = ("supervised", "semi-supervised")
_CONTROL: Any = {"tasks": TASKS, "uses_target": False}


def _of(*kinds: str, single: bool = False, supervision: tuple[str, ...] = ("supervised",)) -> Any:
    """Which tasks a method is for, and with which labels."""
    return {"tasks": TaskNames(*kinds, single=single), "supervision": supervision}


_NO_TARGET = _of("none", supervision=("unsupervised",))

METHODS = (
    *(score_method(name, score) for name, score in SCORES.items()),
    Method(
        "relief",
        _RELIEF,
        "How features differ where the targets of neighbours differ, minus where they are the same",
        tasks=TASKS,
        reference="Robnik-Sikonja, Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF. ML 53, 2003",
    ),
    Method(
        "relieff",
        _RELIEF,
        "Distance to the nearest examples of other classes minus that to the nearest of the same class",
        **_of("classes", single=True),
        parameters={"algorithm": "relieff"},
        reference="Kononenko: Estimating attributes: analysis and extensions of RELIEF. ECML 1994",
    ),
    Method(
        "rrelieff",
        _RELIEF,
        "Relief by the distance of the targets, for classes as well",
        tasks=TASKS,
        parameters={"algorithm": "rrelieff"},
        reference="Petkovic, Kocev, Dzeroski: Feature ranking for multi-target regression. ML 109, 2020",
    ),
    Method(
        "univariate",
        "omnirank.rankers.univariate:UnivariateRanker",
        "Share of the variance of the target (without one, of the other features) that the feature explains alone",
        tasks=TASKS,
        supervision=("supervised", "unsupervised"),
        reference="Guyon, Elisseeff: An introduction to variable and feature selection. JMLR 3, 2003",
    ),
    Method(
        "correlation",
        "omnirank.rankers.univariate:CorrelationRanker",
        "Absolute correlation of the feature with the target (Pearson)",
        **_of("numbers"),
        reference="Guyon, Elisseeff: An introduction to variable and feature selection. JMLR 3, 2003",
    ),
    *(
        Method(
            measure,
            _INFORMATION,
            summary,
            **_of("classes", "labels"),
            parameters={"measure": measure},
            reference=reference,
        )
        for measure, summary, reference in (
            ("information-gain", "Entropy of the class that the feature explains alone", "Quinlan: C4.5, 1993"),
            (
                "symmetrical-uncertainty",
                "Information gain relative to the entropies of feature and class",
                "Press et al.: Numerical recipes, 1988",
            ),
            (
                "chi2",
                "Chi-squared statistic of the table of feature and class",
                "Liu, Setiono: Chi2: feature selection and discretization of numeric attributes. ICTAI 1995",
            ),
        )
    ),
    Method(
        "mutual-information",
        _INFORMATION,
        "Mutual information of feature and target, of numbers by nearest neighbours",
        **_of("classes", "numbers", "labels", "mixed"),
        parameters={"measure": "mutual-information"},
        reference="Ross: Mutual information between discrete and continuous data sets. PLoS ONE 9, 2014",
    ),
    Method(
        "ml-mi",
        _INFORMATION,
        "Mutual information with each label, averaged over the labels",
        **_of("labels"),
        parameters={"measure": "mutual-information", "label_sets": "binary-relevance"},
        reference="Sechidis, Nikolaou, Brown: Information theoretic feature selection in multi-label data. S+SSPR 2014",
    ),
    Method(
        "ppt-mi",
        _INFORMATION,
        "Mutual information with the label sets that are not rare (pruned problem transformation)",
        **_of("labels"),
        parameters={"measure": "mutual-information", "label_sets": "pruned-powerset"},
        reference="Doquire, Verleysen: Mutual information-based feature selection. Neurocomputing 122, 2013",
    ),
    Method(
        "svm-rfe",
        "omnirank.rankers.svm_rfe:SVMRFERanker",
        "How long the feature stays while those of the smallest weights in linear SVMs are eliminated",
        **_of("classes", "labels"),
        reference="Guyon et al.: Gene selection for cancer classification using support vector machines. ML 46, 2002",
    ),
    Method(
        "agnos-s",
        "omnirank.rankers.agnos:AgnosRanker",
        "How much of the feature an auto-encoder keeps if it pays for it",
        **_NO_TARGET,
        reference="Doquet, Sebag: Agnostic feature selection. ECML PKDD 2019",
    ),
    Method(
        "variance",
        _DISPERSION,
        "Variance of the feature, whatever the target",
        **_CONTROL,
        parameters={"measure": "variance"},
    ),
    Method(
        "dispersion",
        _DISPERSION,
        "Ratio of means of the feature, scaled to its range, whatever the target",
        **_CONTROL,
        parameters={"measure": "dispersion"},
        reference="Ferreira, Figueiredo: Efficient feature selection filters for high-dimensional data. PRL 33, 2012",
    ),
    Method(
        "random",
        "omnirank.rankers.controls:RandomRanker",
        "Random scores: what any method must beat",
        **_CONTROL,
    ),
    Method(
        "uniform",
        "omnirank.rankers.controls:UniformRanker",
        "The same score for all features: no ranking at all",
        **_CONTROL,
    ),
    Method(
        "laplacian",
        "omnirank.rankers.laplacian:LaplacianRanker",
        "How little the feature varies between neighbouring examples, relative to its variance",
        **_NO_TARGET,
        reference="He, Cai, Niyogi: Laplacian score for feature selection. NIPS 2005",
    ),
    Method(
        "spec",
        "omnirank.rankers.laplacian:SPECRanker",
        "How smooth the feature is on the graph of all pairs of examples, by its spectrum",
        **_NO_TARGET,
        reference="Zhao, Liu: Spectral feature selection for supervised and unsupervised learning. ICML 2007",
    ),
    Method(
        "s-cls",
        "omnirank.rankers.few_labels:SCLSRanker",
        "How little the feature varies between examples that are neighbours or share labels",
        tasks=TaskNames("classes", "labels", "numbers", "none"),
        reference="Alalga, Benabdeslem, Taleb: Soft-constrained Laplacian score. KAIS 47, 2016",
    ),
    Method(
        "str-laplace",
        "omnirank.rankers.few_labels:STRLaplaceRanker",
        "How little the feature varies between neighbours and between examples with near targets",
        **_of("numbers", single=True, supervision=_SEMI_SUPERVISED),
        reference="Doquire, Verleysen: Semi-supervised feature selection for regression. Neurocomputing 121, 2013",
    ),
    Method(
        "mcfs",
        "omnirank.rankers.clusters:MCFSRanker",
        "Largest coefficient of the feature in sparse regressions that explain the clusters of a graph",
        **_NO_TARGET,
        reference="Cai, Zhang, He: Unsupervised feature selection for multi-cluster data. KDD 2010",
    ),
    Method(
        "ndfs",
        "omnirank.rankers.clusters:NDFSRanker",
        "Norm of the feature's coefficients in a row-sparse regression on non-negative indicators of clusters",
        **_NO_TARGET,
        reference="Li et al.: Unsupervised feature selection using nonnegative spectral analysis. AAAI 2012",
    ),
    Method(
        "udfs",
        "omnirank.rankers.clusters:UDFSRanker",
        "Norm of the feature's coefficients in coordinates that tell neighbourhoods apart",
        **_NO_TARGET,
        reference="Yang et al.: l2,1-norm regularized discriminative feature selection. IJCAI 2011",
    ),
    Method(
        "sfss",
        "omnirank.rankers.few_labels:SFSSRanker",
        "Norm of the feature's coefficients in a row-sparse regression on labels spread over a graph",
        **_of("classes", "labels", supervision=_SEMI_SUPERVISED),
        reference="Ma et al.: Discriminating joint feature analysis. IEEE Transactions on Multimedia 14, 2012",
    ),
    Method(
        "sefr",
        "omnirank.rankers.sefr:SEFRRanker",
        "Fall of accuracy when the feature is permuted, of trees that label unlabelled examples for each other",
        **_of("classes", single=True, supervision=_SEMI_SUPERVISED),
        reference="Bellal, Elghazel, Aussem: Semi-supervised feature ranking with ensembles. PRL 33, 2012",
    ),
    Method(
        "3-3fs",
        "omnirank.rankers.few_labels:ThreeWayRanker",
        "S-CLS on resamples of labelled examples, features and labels",
        tasks=TaskNames("classes", "labels", "numbers", "none"),
        reference="Alalga, Benabdeslem, Mansouri: 3-3FS, semi-supervised multi-label. KAIS 63, 2021",
    ),
    *(
        Method(
            f"relational-{name}",
            "omnirank.relational.ranker:RelationalRanker",
            summary,
            tasks=TaskNames("classes", "labels", "numbers", "mixed", "none"),
            parameters={"importance": name},
            reference="Petkovic et al.: Relational tree ensembles and feature rankings. Knowl.-Based Systems 251, 2022",
            data="relational",
        )
        for name, summary in (
            ("unbiased", "Several linked tables: how much impurity they take away among out-of-bag examples"),
            ("genie3", "Several linked tables: how much impurity the tests of a relation take away"),
            ("symbolic", "Several linked tables: how many examples reach the tests of a relation"),
            ("permutation", "Several linked tables: growth of the out-of-bag error when a relation is permuted"),
        )
    ),
)
