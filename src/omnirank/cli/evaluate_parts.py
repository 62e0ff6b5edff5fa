"""``omnirank evaluate`` of data in parts that do not fit in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnirank.cli.evaluate_output import describe, print_measures
from omnirank.core.text import counted

if TYPE_CHECKING:
    from omnirank.shards.dataset import ShardedDataset


def _refuse(given: dict[str, Any]) -> None:
    from omnirank.core.errors import ParameterError

    for name, value in given.items():
        if value:
            raise ParameterError(
                f"{name} needs all examples in memory: rank the training examples (omnirank rank), then give --ranking "
                "and --test"
            )


def judge_in_parts(
    data: ShardedDataset,
    judged: Any,
    test: Any,
    neighbors: list[int] | None,
    options: dict[str, Any],
    csv: bool,
    unfit: dict[str, Any],
) -> None:
    """Print how well a ranking helps neighbours to predict test examples, or some that are held out.

    Parameters
    ----------
    data : ShardedDataset
        The training examples.
    judged : Ranking or ranker
        The ranking, or what makes one of the training examples.
    test : Dataset, ShardedDataset or None
        The test examples; None: a sample of the data is held out.
    neighbors : list of int or None
        Numbers of neighbours.
    options : dict
        Further parameters of `omnirank.evaluate`.
    csv : bool
        Whether measures are printed as CSV.
    unfit : dict
        What was given of the options that need all examples in memory: folds, hidden labels, a method that ranks the
        training part of each test.
    """
    import numpy as np

    from omnirank.core.parallel import progress_bars
    from omnirank.evaluation.evaluate import evaluate, evaluate_counts

    _refuse(unfit)
    counts = evaluate_counts(neighbors or None, data.task)
    with progress_bars():
        ranking = judged.fit(data) if hasattr(judged, "fit") else judged
        measured = evaluate(ranking, data, test, counts, **options)
        blind = evaluate(np.ones(data.n_features), data, test, counts, **options | {"top": None})
    size = f"{counted(data.n_examples, 'example')} in {counted(data.n_shards, 'shard')}"
    n_test = getattr(measured[counts[0]], "n_test", 0) or test.n_examples
    how = f"{counted(n_test, 'example')} held out" if test is None else counted(n_test, "test example")
    print_measures(measured, blind, "equal weights", None if csv else f"{describe(data, size)}, {how}")
