"""Predictions that are judged: what a task's measures are computed from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from omnirank.tasks.columns import PrototypeColumns


@dataclass(frozen=True, eq=False)
class Case:
    """Predicted means of labelled examples, beside the truth.

    Attributes
    ----------
    truth : PrototypeColumns
        The coded target of the examples.
    means : ndarray (n, P)
        What is predicted for its columns.
    training : PrototypeColumns
        The coded training target.
    variant, variance, threshold
        As in `omnirank.measures.measure`.
    """

    truth: PrototypeColumns
    means: np.ndarray
    training: PrototypeColumns
    variant: str = "standard"
    variance: str = "training"
    threshold: float = 0.5

    @property
    def normal(self) -> PrototypeColumns:
        """The set that the user chose: errors are relative to its impurities, in its units."""
        return self.training if self.variance == "training" else self.truth

    @property
    def is_nominal(self) -> np.ndarray:
        """Which variables are nominal."""
        return np.array([levels is not None for levels in self.truth.levels], dtype=bool)

    def classes(self, variable: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes (-1 = unknown) of a nominal variable, and the predicted frequencies of its levels."""
        own = self.truth.variable == variable
        actual = self.truth.matrix[:, own]
        codes = np.where(np.isnan(actual[:, 0]), -1, np.argmax(actual, axis=1))
        return codes, self.means[:, own]

    def numbers(self, variables: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the true values of numeric variables, the predicted ones, their variances, and the units of these."""
        at = np.flatnonzero(np.isin(self.truth.variable, variables))
        normal = self.normal
        return self.truth.matrix[:, at], self.means[:, at], normal.impurity[variables], normal.unit[at]
