"""The methods that come with omnirank: one entry each, names and import paths only; scores of trees have a table."""

from __future__ import annotations

from omnirank.core.registry import Method
from omnirank.data.task_registry import TASKS, TaskNames
from omnirank.ensembles.score_table import SCORES

_TREES = "omnirank.rankers.ensemble:EnsembleRanker"
_DISPERSION = "omnirank.rankers.dispersion:DispersionRanker"
_INFORMATION = "omnirank.rankers.information:InformationRanker"
_RELIEF = "omnirank.rankers.relief:ReliefRanker"

METHODS = (
    *(
        Method(name, _TREES, score.summary, TASKS, parameters={"importance": name}, reference=score.reference)
        for name, score in SCORES.items()
    ),
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
        tasks=TaskNames("classes", single=True),
        supervision=("supervised",),
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
        "Share of the target's variance that the feature explains alone",
        tasks=TASKS,
        supervision=("supervised", "unsupervised"),
        reference="Guyon, Elisseeff: An introduction to variable and feature selection. JMLR 3, 2003",
    ),
    Method(
        "correlation",
        "omnirank.rankers.correlation:CorrelationRanker",
        "Absolute correlation of the feature with the target (Pearson)",
        tasks=TaskNames("numbers"),
        supervision=("supervised",),
        reference="Guyon, Elisseeff: An introduction to variable and feature selection. JMLR 3, 2003",
    ),
    *(
        Method(
            measure,
            _INFORMATION,
            summary,
            tasks=TaskNames("classes", "labels"),
            supervision=("supervised",),
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
        tasks=TaskNames("classes", "numbers", "labels", "mixed"),
        supervision=("supervised",),
        parameters={"measure": "mutual-information"},
        reference="Ross: Mutual information between discrete and continuous data sets. PLoS ONE 9, 2014",
    ),
    Method(
        "ml-mi",
        _INFORMATION,
        "Mutual information with each label, averaged over the labels",
        tasks=TaskNames("labels"),
        supervision=("supervised",),
        parameters={"measure": "mutual-information", "label_sets": "binary-relevance"},
        reference="Sechidis, Nikolaou, Brown: Information theoretic feature selection in multi-label data. S+SSPR 2014",
    ),
    Method(
        "ppt-mi",
        _INFORMATION,
        "Mutual information with the label sets that are not rare (pruned problem transformation)",
        tasks=TaskNames("labels"),
        supervision=("supervised",),
        parameters={"measure": "mutual-information", "label_sets": "pruned-powerset"},
        reference="Doquire, Verleysen: Mutual information-based feature selection. Neurocomputing 122, 2013",
    ),
    Method(
        "svm-rfe",
        "omnirank.rankers.svm_rfe:SVMRFERanker",
        "How long the feature stays while those of the smallest weights in linear SVMs are eliminated",
        tasks=TaskNames("classes", "labels"),
        supervision=("supervised",),
        reference="Guyon et al.: Gene selection for cancer classification using support vector machines. ML 46, 2002",
    ),
    Method(
        "agnos-s",
        "omnirank.rankers.agnos:AgnosRanker",
        "How much of the feature an auto-encoder keeps if it pays for it",
        tasks=TaskNames("none"),
        supervision=("unsupervised",),
        reference="Doquet, Sebag: Agnostic feature selection. ECML PKDD 2019",
    ),
    Method(
        "variance",
        _DISPERSION,
        "Variance of the feature, whatever the target",
        tasks=TASKS,
        parameters={"measure": "variance"},
    ),
    Method(
        "dispersion",
        _DISPERSION,
        "Ratio of means of the feature, scaled to its range, whatever the target",
        tasks=TASKS,
        parameters={"measure": "dispersion"},
        reference="Ferreira, Figueiredo: Efficient feature selection filters for high-dimensional data. PRL 33, 2012",
    ),
    Method(
        "random",
        "omnirank.rankers.baselines:RandomRanker",
        "Random scores: what any method must beat",
        tasks=TASKS,
    ),
    Method(
        "uniform",
        "omnirank.rankers.baselines:UniformRanker",
        "The same score for all features: no ranking at all",
        tasks=TASKS,
    ),
)

_THREE_WAY = Method(
    "3-3fs",
    "omnirank.rankers.three_way:ThreeWayRanker",
    "S-CLS on resamples of labelled examples, features and labels",
    tasks=TaskNames("classes", "labels", "numbers", "none"),
    reference="Alalga, Benabdeslem, Mansouri: 3-3FS: ensemble method for semi-supervised multi-label. KAIS 63, 2021",
)
# it is made of another method
if any(method.name == "s-cls" for method in METHODS):
    METHODS += (_THREE_WAY,)
