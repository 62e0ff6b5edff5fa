"""Public signatures name what they take."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

import omnirank as om
from omnirank.core.types import FrameLike, SparseLike

TYPED = {"X", "y", "sample_weight", "random_state", "hierarchy", "feature_weights", "path", "ranking", "ranker"}


def public_callables():
    for name in om.__all__:
        thing = getattr(om, name)
        if inspect.isclass(thing):
            yield name, thing.__init__
            for method, function in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_") and function.__module__.startswith("omnirank"):
                    yield f"{name}.{method}", function
        elif inspect.isfunction(thing):
            yield name, thing


def test_data_seeds_and_paths_have_named_types():
    callables = dict(public_callables())
    assert len(callables) > 100
    nameless = [
        f"{name}({parameter.name})"
        for name, function in callables.items()
        if function.__module__.startswith("omnirank")
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name in TYPED and parameter.annotation in ("Any", inspect.Parameter.empty)
    ]
    assert nameless == []


def test_named_types_describe_the_containers_that_are_taken():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    for container in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert all(hasattr(container, name) for name in FrameLike.__dict__ if not name.startswith("_"))
        assert om.Dataset(container).feature_names == ("a",)
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        container = kind(np.eye(2))
        assert all(hasattr(container, name) for name in SparseLike.__dict__ if not name.startswith("_"))
        assert om.Dataset(container).n_features == 2
