r"""Rows that go along with the rows before them: measurements in time, several rows of a subject.

P values and cross-validation take rows as independent. In the order of the rows (of the first date, if there is one),
let :math:`r` be the correlation of successive cells. If a feature has :math:`r_x` and the target :math:`r_y`, the
variance of their chance correlation is :math:`1 + 2 r_x r_y / (1 - r_x r_y)` times that for independent rows, provided
both decay like autoregressions. Features are compared after a regression on the target, so that rows in the order of
their classes are no reason for a note.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from omnirank.core.blas_threads import one_blas_thread
from omnirank.data.table import Table
from omnirank.data.target import Target

# Rows and features that are looked at, and the least number of rows.
_MOST_ROWS, _MOST_FEATURES, _LEAST_ROWS = 1000, 30, 40
# Product of correlations from which on a note says so (chance varies by a fifth more), and how sure each must be.
_WORTH_A_NOTE, _SURE = 0.1, 4.0


def order_note(features: Table, target: Target | None) -> tuple[str, ...]:
    """Return a note on rows that go along with those before them, where most numeric features and the target do so.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.data.notes.order import order_note
    >>> from omnirank.data.table import Table
    >>> from omnirank.data.target import Target
    >>> steps = np.random.default_rng(0).normal(size=(200, 4))
    >>> walks = np.cumsum(steps, axis=0)
    >>> [len(order_note(Table.from_numeric(x[:, :3]), Target.numeric(x[:, 3:], ["y"]))) for x in (steps, walks)]
    [0, 1]
    """
    numeric = np.array([f for f in np.flatnonzero(~features.is_nominal) if features.names[f] not in features.dates])
    if target is None or features.is_sparse or features.n_rows < _LEAST_ROWS or not len(numeric):
        return ()
    rows = np.arange(features.n_rows)
    dates = sorted(features.dates, key=features.names.index)
    if dates:
        rows = np.argsort(features.column(features.names.index(dates[0])), kind="stable")
    rows = rows[target.labelled[rows]][:_MOST_ROWS]
    chosen = numeric[np.linspace(0, len(numeric) - 1, min(len(numeric), _MOST_FEATURES)).astype(int)]
    z = _columns_of(target, rows)
    x = _centred(pd.DataFrame({f: features.column(f)[rows] for f in chosen.tolist()}))
    with one_blas_thread():  # others would spin for longer than this takes
        x = x - z @ np.linalg.lstsq(z, x, rcond=None)[0]
    of_target, of_features = _along(z), float(np.median([_along(column[:, None]) for column in x.T]))
    sure = len(rows) >= _LEAST_ROWS and min(of_target, of_features) * np.sqrt(len(rows)) >= _SURE
    if not sure or of_target * of_features < _WORTH_A_NOTE:
        return ()
    order = f"in the order of {dates[0]!r}" if dates else "in their order"
    return (
        f"rows are like the rows before them {order}: successive values of the target and of most features are "
        "correlated. P values and cross-validation take rows as independent: name the rows that belong together "
        "(subjects, sites, blocks of time) with groups=",
    )


def _columns_of(target: Target, rows: np.ndarray) -> np.ndarray:
    """The target as centred columns: ranks of numbers, indicators of classes."""
    numbers = np.arange(min(target.n_targets, _MOST_FEATURES))
    values = target.values[rows][:, numbers]
    cells = pd.DataFrame(values.toarray() if target.is_sparse else values)
    nominal = [t for t in numbers.tolist() if target.is_nominal[t]]
    return _centred(pd.get_dummies(cells, columns=nominal, dtype=float))


def _centred(cells: pd.DataFrame) -> np.ndarray:
    """Ranks of the cells less their mean; 0 where cells are missing."""
    ranks = cells.rank()
    return (ranks - ranks.mean()).fillna(0.0).to_numpy(np.float64)


def _along(columns: np.ndarray) -> float:
    """Correlation of successive rows, over all columns."""
    squares = np.sum(columns**2)
    return float(np.sum(columns[1:] * columns[:-1]) / squares) if squares > 0 else 0.0
