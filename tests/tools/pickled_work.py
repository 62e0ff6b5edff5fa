"""All work for workers goes through pickles: what processes would lose is lost here too, with one worker as well."""

import os
import pickle
from functools import partial

from omnirank.core import parallel

VARIABLE = "OMNIRANK_PICKLED_WORK"
_results = parallel.parallel_results


def through_pickles(function, items, *settings, **options):
    """As `parallel_results`; function, items and results are pickled while the variable is set."""
    if os.environ.get(VARIABLE):
        function = partial(_call, _pickled(function))
    return _results(function, items, *settings, **options)


def install():
    """Let all work of this process go through pickles."""
    os.environ.setdefault(VARIABLE, "1")
    parallel.parallel_results = through_pickles


def _call(function, item):
    return pickle.loads(_pickled(pickle.loads(function)(pickle.loads(_pickled(item)))))


def _pickled(work):
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(f"worker processes cannot be given {work!r}, or cannot return it: {error}") from error
