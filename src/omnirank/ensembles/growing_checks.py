"""What data must be like for growing trees: errors where none can be grown, warnings where they will not be useful."""

from __future__ import annotations

import warnings

import numpy as np

from omnirank.core.errors import DataError, logger, setting
from omnirank.data.notes import caller_outside
from omnirank.data.table import Table
from omnirank.tasks.columns import PrototypeColumns


def check_leaves(weight: np.ndarray, least: float, given: bool) -> None:
    """Raise a DataError where the weights (given, or 1 each) do not do for two leaves of ``least``."""
    if weight.sum() < 2 * least:
        hint = "use weights of mean 1" if given else "lower it"
        raise DataError(
            f"the examples weigh {weight.sum():g} together, less than two leaves of "
            f"{setting('min_samples_leaf', least)}: {hint}"
        )


def mostly_binary(table: Table) -> bool:
    """Whether most features have two values, or fewer."""
    binary = 0
    for f, levels in enumerate(table.levels):
        if levels is not None:
            binary += len(levels) <= 2
        elif table.is_sparse:
            stored = table.matrix.data[table.matrix.indptr[f] : table.matrix.indptr[f + 1]]
            binary += _two_values(np.append(stored, 0.0) if len(stored) < table.n_rows else stored)
        else:
            binary += _two_values(table.column(f))
    return binary > table.n_columns / 2


def _two_values(cells: np.ndarray) -> bool:
    known = cells[~np.isnan(cells)]
    return len(known) == 0 or bool(((known == known.min()) | (known == known.max())).all())


def what_is_constant(columns: PrototypeColumns) -> str:
    """Return why no tree can be grown for a target that does not vary."""
    name = repr(columns.names[0])
    if columns.n_variables > 1:
        return f"all {columns.n_variables} targets ({name}, ...) are constant: there is nothing to learn"
    if columns.levels[0] is not None:
        known = columns.matrix[columns.labelled]
        if not len(known):
            return f"no example with a positive weight has a known value of target {name}: there is nothing to learn"
        level = columns.levels[0][int(np.argmax(known[0]))]
        return f"target {name} has one class only ({_plain(level)!r}): there is nothing to learn"
    return f"target {name} is constant: there is nothing to learn"


def _plain(level: object) -> object:
    """The level as Python shows it: 'a', not numpy's str_('a')."""
    return level.item() if isinstance(level, np.generic) else level


def warn_about_few_labels(labelled: float, least: float) -> None:
    """Warn where no child can have labels: it has no labelled weight or at least ``least``, and there is less of it."""
    if labelled < least * (1 - 1e-9):  # weights are sums of floats
        warnings.warn(
            f"no split is admissible: the labelled examples weigh {labelled:g} together, less than one leaf of "
            f"{setting('min_labelled_leaf', least)}; lower it, or leave it at 0",
            UserWarning,
            stacklevel=3,
        )


def tell_undefined(importance: str, n_undefined: int, n_trees: int) -> None:
    """Tell of trees that contribute 0 to a score; warn where all do, as no score says anything then."""
    if n_undefined < n_trees or importance != "permutation":
        if n_undefined:
            logger.info("%d of %d trees have no out-of-bag error and contribute 0", n_undefined, n_trees)
        return
    warnings.warn(
        "all permutation scores are 0: no tree makes an error on its out-of-bag examples, so errors cannot grow "
        "relative to it. Leave out features that give the target away, or choose "
        f"{setting('importance', 'unbiased')}",
        UserWarning,
        stacklevel=caller_outside(),
    )
