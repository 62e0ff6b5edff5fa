"""Targets of mixed kinds, numeric and nominal; so is clustering, where the features are the targets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from omnirank.data.table import categorical
from omnirank.measures.classes import ACCURACY, F1_MACRO, class_measures
from omnirank.measures.numbers import RRMSE, number_measures
from omnirank.measures.table import Measure, mean_defined, smaller
from omnirank.tasks.base import Task, majority_codes, mean_squared_error, wrong_share
from omnirank.tasks.case import Case
from omnirank.tasks.columns import PrototypeColumns

_MIXED_ERROR = smaller("mixed_error", "mixed error", "mean over targets of MSE / variance and wrong share / Gini index")


class MixedTargets(Task):
    """Numbers and classes together; every variable counts relative to its training impurity.

    Error: (1/T) sum_j err_j / I_j with the mean squared error and the variance of a number, the share of
    wrong levels and the Gini index of a nominal variable; variables constant in training are left out.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from omnirank.data.infer import target_from
    >>> from omnirank.tasks import get_task
    >>> target, name = target_from(pd.DataFrame({"kind": ["a", "b"], "size": [0.5, 1.5]}))
    >>> task = get_task(name)
    >>> task.predict(np.array([[0.3, 0.7, 1.25]]), task.columns(target))
      kind  size
    0    b  1.25
    """

    name = "mixed-targets"
    kind = "mixed"
    measures: ClassVar[tuple[Measure, ...]] = (_MIXED_ERROR, ACCURACY, F1_MACRO, RRMSE)
    distances = ("absolute",)

    def predict(self, means: np.ndarray, columns: PrototypeColumns, threshold: float = 0.5) -> Any:
        """Return a DataFrame with the mean of each number and the most frequent level of each class."""
        found: dict[str, Any] = {}
        for v, (name, levels) in enumerate(zip(columns.names, columns.levels, strict=True)):
            if levels is None:
                found[name] = means[:, columns.variable == v][:, 0]
            else:
                found[name] = categorical(majority_codes(means, columns, v), levels)
        return pd.DataFrame(found, index=pd.RangeIndex(len(means)))

    def error(self, truth: PrototypeColumns, means: np.ndarray, columns: PrototypeColumns) -> float:
        """Return the mean over variables of their error relative to their training impurity."""
        impurity = columns.impurity
        parts = []
        for v in np.flatnonzero(impurity > 0).tolist():
            if columns.levels[v] is None:
                column = int(np.argmax(columns.variable == v))
                error = mean_squared_error(truth, means, column, columns.unit[column])
            else:
                error = wrong_share(truth, means, v)
            parts.append(error / impurity[v])
        return float(np.mean(parts)) if parts else 0.0

    def measure(self, case: Case) -> dict[str, float]:
        """Return the error, the RRMSE of the numbers and two measures of the classes."""
        nominal = case.is_nominal
        found = [class_measures(*case.classes(int(v))) for v in np.flatnonzero(nominal)]
        return {
            "mixed_error": self.error(case.truth, case.means, case.training),
            "accuracy": mean_defined([one["accuracy"] for one in found]),
            "f1_macro": mean_defined([one["f1_macro"] for one in found]),
            "rrmse": number_measures(*case.numbers(np.flatnonzero(~nominal)))["rrmse"],
        }
