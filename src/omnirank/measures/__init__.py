"""Measures of predictions for every task; scikit-learn's definitions wherever it has one.

`measure` gives all measures of a task, `MEASURES` describes them, and each is a plain function of arrays as well.
"""

from typing import TYPE_CHECKING, Any

from omnirank.measures.classes import (
    accuracy,
    balanced_accuracy,
    class_auroc,
    class_f1_macro,
    cohen_kappa,
    confusion_matrix,
    confusion_measures,
    log_loss,
    matthews_coefficient,
)
from omnirank.measures.labels import (
    auprc,
    auroc,
    average_precision,
    coverage,
    f1_macro,
    f1_micro,
    f1_samples,
    hamming_loss,
    jaccard_samples,
    mean_auprc,
    mean_auroc,
    one_error,
    pooled_auprc,
    precision_macro,
    precision_micro,
    precision_samples,
    ranking_loss,
    recall_macro,
    recall_micro,
    recall_samples,
    subset_accuracy,
    weighted_auprc,
)
from omnirank.measures.numbers import mae, r2, rmse, rrmse, rrmse_by_target
from omnirank.measures.table import Measure

if TYPE_CHECKING:
    from omnirank.tasks.measuring import MEASURES, measure, measures_by_target, measures_of, primary_measure

__all__ = [
    "MEASURES",
    "Measure",
    "accuracy",
    "auprc",
    "auroc",
    "average_precision",
    "balanced_accuracy",
    "class_auroc",
    "class_f1_macro",
    "cohen_kappa",
    "confusion_matrix",
    "confusion_measures",
    "coverage",
    "f1_macro",
    "f1_micro",
    "f1_samples",
    "hamming_loss",
    "jaccard_samples",
    "log_loss",
    "mae",
    "matthews_coefficient",
    "mean_auprc",
    "mean_auroc",
    "measure",
    "measures_by_target",
    "measures_of",
    "one_error",
    "pooled_auprc",
    "precision_macro",
    "precision_micro",
    "precision_samples",
    "primary_measure",
    "r2",
    "ranking_loss",
    "recall_macro",
    "recall_micro",
    "recall_samples",
    "rmse",
    "rrmse",
    "rrmse_by_target",
    "subset_accuracy",
    "weighted_auprc",
]

# Tasks choose among the functions here, so that what depends on the task is imported late.
_BY_TASK = ("MEASURES", "measure", "measures_by_target", "measures_of", "primary_measure")


def __getattr__(name: str) -> Any:
    if name not in _BY_TASK:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from omnirank.tasks import measuring

    return getattr(measuring, name)
