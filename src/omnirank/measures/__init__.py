"""Measures of predictions for every task; scikit-learn's definitions wherever it has one.

`measure` gives all measures of a task and `MEASURES` describes them; families of them are plain functions of arrays.
"""

from typing import TYPE_CHECKING, Any

from omnirank.measures.labels import (
    auprc,
    auroc,
    hamming_loss,
    label_curve_measures,
    label_order_measures,
    label_set_measures,
    mean_auroc,
    pooled_auprc,
)
from omnirank.measures.table import Measure
from omnirank.measures.variables import (
    class_auroc,
    class_measures,
    confusion_matrix,
    confusion_measures,
    log_loss,
    mae,
    r2,
    rmse,
    rrmse,
    rrmse_by_target,
)

if TYPE_CHECKING:
    from omnirank.tasks.measuring import MEASURES, measure, measures_by_target, measures_of, primary_measure

# Tasks choose among the functions here, so that what depends on the task is imported late.
_BY_TASK = ["MEASURES", "measure", "measures_by_target", "measures_of", "primary_measure"]

__all__ = [
    "MEASURES",
    "Measure",
    "auprc",
    "auroc",
    "class_auroc",
    "class_measures",
    "confusion_matrix",
    "confusion_measures",
    "hamming_loss",
    "label_curve_measures",
    "label_order_measures",
    "label_set_measures",
    "log_loss",
    "mae",
    "mean_auroc",
    "measure",
    "measures_by_target",
    "measures_of",
    "pooled_auprc",
    "primary_measure",
    "r2",
    "rmse",
    "rrmse",
    "rrmse_by_target",
]


def __getattr__(name: str) -> Any:
    if name not in _BY_TASK:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from omnirank.tasks import measuring

    return getattr(measuring, name)
