"""Which examples Relief looks at, where these are in parts that do not fit in memory."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np

from omnirank.core.errors import logger, setting
from omnirank.core.seeds import stream
from omnirank.data.dataset import Dataset
from omnirank.data.notes import caller_outside
from omnirank.rankers._relief_amounts import several
from omnirank.relief.target_facts import TargetFacts
from omnirank.shards.dataset import ShardedDataset

# What "all examples" are beyond memory, where the time for the neighbours of all grows as the square of their number.
# In memory parameters are chosen by as many.
_MOST_ANCHORS = 1000
# Examples on which parameters are chosen beyond memory: at most, and at least where memory allows fewer.
_MOST_SAMPLED, _FEWEST_SAMPLED = 20_000, 1000


def anchors_in_parts(wanted: Any, n_examples: int) -> list[Any]:
    """Return numbers of iterations in which "all examples" (1.0) are at most a thousand, with a warning.

    Examples
    --------
    >>> from omnirank.rankers._relief_drawing import anchors_in_parts
    >>> anchors_in_parts([50, 0.1, 1.0], 800)
    [50, 0.1, 800]
    """
    found = [amount if isinstance(amount, Integral) or amount != 1 else n_examples for amount in several(wanted)]
    if found == several(wanted) or n_examples <= _MOST_ANCHORS:
        return found
    given = setting("n_iterations", 1.0)
    warnings.warn(
        f"the examples do not fit in memory: the neighbours of {_MOST_ANCHORS} of them, drawn at random, are looked "
        f"at, not those of all {n_examples} ({given}); give n_iterations as a number of examples for more or fewer",
        UserWarning,
        stacklevel=caller_outside(),
    )
    return [min(amount, _MOST_ANCHORS) if amount == n_examples else amount for amount in found]


def drawn(entropy: int, n_examples: int) -> np.ndarray:
    """Return the permutation by which examples are visited in memory, with the bytes per example that it needs.

    Examples
    --------
    >>> from omnirank.core.seeds import stream
    >>> from omnirank.rankers._relief_drawing import drawn
    >>> bool((drawn(7, 1000) == stream(7, 0).permutation(1000)).all())
    True
    """
    order = np.arange(n_examples, dtype=np.int32 if n_examples < 2**31 else np.int64)
    stream(entropy, 0).shuffle(order)
    return order


def sample_of(data: ShardedDataset, target: TargetFacts, entropy: int) -> Dataset:
    """Return examples on which parameters are chosen: all, or a sample in which labelled ones are half at least.

    Parameters
    ----------
    data : ShardedDataset
        The data.
    target : TargetFacts
        What is known of their targets.
    entropy : int
        Seed.
    """
    share = data.source.max_memory // 4 * data.n_examples // max(1, data.n_bytes)
    most = int(np.clip(share, _FEWEST_SAMPLED, _MOST_SAMPLED))
    labelled = target.labelled_rows if len(target.labelled_rows) else np.arange(data.n_examples)
    unlabelled = np.setdiff1d(np.arange(data.n_examples), labelled, assume_unique=True)
    if target.n_examples == target.n_labelled:
        unlabelled = unlabelled[:0]
    if len(labelled) + len(unlabelled) <= most:
        return data.take(np.sort(np.concatenate([labelled, unlabelled])))
    logger.info("parameters are chosen on a sample of %d examples", most)
    rng = stream(entropy, 4)
    in_proportion = round(most * len(labelled) / (len(labelled) + len(unlabelled)))
    n_labelled = min(len(labelled), max(in_proportion, most // 2))
    rows = [
        rng.choice(labelled, n_labelled, replace=False),
        rng.choice(unlabelled, min(len(unlabelled), most - n_labelled), replace=False),
    ]
    return data.take(np.sort(np.concatenate(rows)))
