"""How well the top features predict, by their number, and the smallest number that predicts as well as the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omnirank.core.decimals import with_error
from omnirank.core.errors import DataError
from omnirank.core.plurals import counted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


# A mean that is worse by exactly one standard error is within it, however it was rounded.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class SelectionCurve:
    """Cross-validated performance over the number of top features.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of top features, increasing.
    values : array-like of shape (n_folds, n_sizes)
        The measure in each fold; NaN where it is not defined.
    measure : str
        Name of the measure.
    larger_is_better : bool
        Its direction.
    judged_by : str
        Who predicts: "neighbors" or "forest".

    Examples
    --------
    >>> from omnirank.evaluation.selection_curve import SelectionCurve
    >>> folds = [[0.5, 0.89, 0.9], [0.6, 0.8, 0.9], [0.7, 0.95, 0.9]]
    >>> curve = SelectionCurve([1, 2, 4], folds, "accuracy", True, "neighbors")
    >>> curve.best_size, curve.chosen_size
    (4, 4)
    >>> folds[2][1] = 1.0
    >>> curve = SelectionCurve([1, 2, 4], folds, "accuracy", True, "neighbors")
    >>> curve.means.round(3).tolist(), curve.standard_errors.round(3).tolist()
    ([0.6, 0.897, 0.9], [0.058, 0.058, 0.0])
    """

    sizes: np.ndarray
    values: np.ndarray
    measure: str
    larger_is_better: bool
    judged_by: str

    def __post_init__(self) -> None:
        sizes = np.array(self.sizes, dtype=np.int64)
        values = np.array(self.values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1:] != sizes.shape or (np.diff(sizes) <= 0).any():
            raise DataError("a selection curve has a column of values for each of its sizes, which increase")
        if np.isnan(values).all():
            raise DataError(f"{self.measure!r} is not defined in any fold: use fewer folds or another measure")
        for name, array in (("sizes", sizes), ("values", values)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.values)

    @property
    def means(self) -> np.ndarray:
        """Mean of the measure over the folds in which it is defined, for each size."""
        return _over_folds(self.values)[0]

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard error of each mean; 0 where only one fold is defined."""
        return _over_folds(self.values)[1]

    @property
    def best_size(self) -> int:
        """The size with the best mean, the smallest of equals."""
        return int(self.sizes[self._best])

    @property
    def limit(self) -> float:
        """The mean of the best size, worse by one standard error: what a size must reach to be chosen."""
        error = self.standard_errors[self._best]
        return float(self.means[self._best] + (-error if self.larger_is_better else error))

    @property
    def chosen_size(self) -> int:
        """The smallest size whose mean is within one standard error of the best."""
        needed = self.limit if self.larger_is_better else -self.limit
        return int(self.sizes[np.argmax(self._gains >= needed - _ROUNDING * abs(self.means[self._best]))])

    @property
    def _gains(self) -> np.ndarray:
        """Means, larger for better; undefined ones are never chosen."""
        means = self.means
        return np.where(np.isnan(means), -np.inf, means if self.larger_is_better else -means)

    @property
    def _best(self) -> int:
        return int(np.argmax(self._gains))

    @property
    def summary(self) -> str:
        """The choice in words.

        Examples
        --------
        >>> from omnirank.evaluation.selection_curve import SelectionCurve
        >>> SelectionCurve([1, 2, 4], [[0.5, 0.8, 0.9], [0.5, 0.9, 0.8]], "accuracy", True, "neighbors").summary
        'the top 2 features of 4 suffice: accuracy 0.850 ± 0.050, the best of all sizes (2 folds, by neighbours)'
        """
        from omnirank.tasks.measuring import MEASURES

        title = MEASURES[self.measure].title if self.measure in MEASURES else self.measure
        chosen, best = (int(np.searchsorted(self.sizes, size)) for size in (self.chosen_size, self.best_size))
        by = "neighbours" if self.judged_by == "neighbors" else self.judged_by
        n = int(self.sizes[-1])
        which = "the best feature" if self.chosen_size == 1 else f"the top {counted(self.chosen_size, 'feature')}"
        said = f"{which} of {n} {'suffices' if self.chosen_size == 1 else 'suffice'}"
        if self.chosen_size == n > 1:
            said = f"all {n} features are needed, no smaller number that was tried is as good"
        reached = f"{title} {self._shown(chosen)}"
        if chosen == best:
            compared = "the best of all sizes"
        else:
            compared = f"the best is {self._shown(best)} with {self.best_size}"
        return f"{said}: {reached}, {compared} ({self.n_folds} folds, by {by})"

    def _shown(self, i: int) -> str:
        return with_error(float(self.means[i]), float(self.standard_errors[i]))

    def to_frame(self) -> pd.DataFrame:
        """Return a table: size, mean, standard_error, and whether a size is the best one or the chosen one."""
        import pandas as pd

        return pd.DataFrame(
            {
                "size": self.sizes,
                "mean": self.means,
                "standard_error": self.standard_errors,
                "best": self.sizes == self.best_size,
                "chosen": self.sizes == self.chosen_size,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: numbers, strings and lists; undefined means are None."""
        return {
            "measure": self.measure,
            "larger_is_better": self.larger_is_better,
            "judged_by": self.judged_by,
            "n_folds": self.n_folds,
            "sizes": self.sizes.tolist(),
            "means": [None if np.isnan(mean) else mean for mean in self.means.tolist()],
            "standard_errors": [None if np.isnan(error) else error for error in self.standard_errors.tolist()],
            "best_size": self.best_size,
            "chosen_size": self.chosen_size,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve; see `omnirank.plots.plot_selection`."""
        from omnirank.plots.curves import plot_selection

        return plot_selection(self, ax=ax)


def selection_sizes(n_features: int) -> list[int]:
    """Return the sizes that are tried: powers of the square root of 2, rounded, and all features.

    Examples
    --------
    >>> from omnirank.evaluation.selection_curve import selection_sizes
    >>> selection_sizes(20)
    [1, 2, 3, 4, 6, 8, 11, 16, 20]
    """
    powers = {round(2 ** (i / 2)) for i in range(2 * n_features.bit_length())}
    return sorted({size for size in powers if size < n_features} | {n_features})


def _over_folds(values: Sequence[Any] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and their standard errors over the folds in which the measure is defined."""
    values = np.asarray(values)
    known = ~np.isnan(values)
    n = known.sum(axis=0)
    means = np.where(n > 0, np.where(known, values, 0.0).sum(axis=0) / np.maximum(n, 1), np.nan)
    squares = (np.where(known, values - means, 0.0) ** 2).sum(axis=0)
    errors = np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1))
    return means, np.where(n > 0, errors, np.nan)
