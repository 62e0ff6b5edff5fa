"""The method registry."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import omnirank as om
from omnirank.core import registry
from omnirank.core.registry import Method, get_method, make_ranker, methods, register
from omnirank.core.types import FrameLike, SparseLike
from omnirank.errors import ParameterError

UNIVARIATE = "omnirank.rankers.univariate:UnivariateRanker"


def _modules_after(code):
    """Names of the modules that a new Python has after importing omnirank and running the code."""
    code = f"import sys, omnirank; {code}\nprint(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(found.stdout.split())


@pytest.fixture
def own_registry(monkeypatch):
    """A copy that the test may change."""
    methods()
    monkeypatch.setattr(registry, "_methods", dict(registry._methods))


def test_get_method_by_name_in_any_case():
    assert get_method("Random") is get_method("random")
    with pytest.raises(ParameterError, match=r"no method 'randm' \(did you mean 'random'\?\); methods: .*uniform"):
        get_method("randm")


def test_make_ranker_refuses_what_the_ranker_does_not_have():
    assert make_ranker("random", random_state=3).get_params()["random_state"] == 3
    with pytest.raises(ParameterError, match=r"n_job=2: .* has no such parameter \(did you mean 'n_jobs'\?\)"):
        make_ranker("random", n_job=2)


def test_preset_parameters_are_fixed(own_registry):
    register(Method("third", UNIVARIATE, "a third", ("regression",), parameters={"n_features_to_select": 0.3}))
    assert make_ranker("third", n_jobs=2).get_params()["n_features_to_select"] == 0.3
    assert make_ranker("third", n_features_to_select=0.3).n_features_to_select == 0.3
    with pytest.raises(ParameterError, match=r"n_features_to_select=0\.5: method 'third' has it fixed at 0\.3"):
        make_ranker("third", n_features_to_select=0.5)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ranker": "nowhere"}, "package.module:Class"),
        ({"supervision": ("some",)}, "not 'some'"),
        ({"supervision": ()}, "must name"),
    ],
)
def test_malformed_methods(fields, message):
    with pytest.raises(ParameterError, match=message):
        Method(**({"name": "m", "ranker": UNIVARIATE, "summary": "", "tasks": ("regression",)} | fields))


def test_entry_points_of_third_parties(own_registry, monkeypatch):
    monkeypatch.setattr(registry, "_methods", {})
    monkeypatch.setattr(registry, "_loaded", False)
    points = [
        EntryPoint("good", f"{__name__}_plugin:METHODS", "omnirank.methods"),
        EntryPoint("bad", "no_such_module:METHODS", "omnirank.methods"),
    ]
    plugin = type(sys)(f"{__name__}_plugin")
    plugin.METHODS = [Method("theirs", UNIVARIATE, "from elsewhere", ("regression",))]
    monkeypatch.setitem(sys.modules, plugin.__name__, plugin)
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    with pytest.warns(RuntimeWarning, match="no_such_module:METHODS are not available"):
        names = [method.name for method in methods()]
    assert "theirs" in names
    assert "univariate" in names


HEAVY = {"matplotlib", "networkx", "numba", "polars", "rich", "typer"}


def test_importing_omnirank_stays_light():
    assert not (HEAVY | {"numpy", "pandas", "pyarrow", "sklearn"}) & _modules_after("")


@pytest.mark.slow
def test_listing_methods_imports_no_ranker_and_basic_types_stay_light():
    # pandas itself imports pyarrow where it is installed, and scikit-learn imports rich
    modules = _modules_after("omnirank.Dataset, omnirank.Hierarchy, omnirank.Ranking, omnirank.methods()")
    assert [name for name in modules if name.startswith("omnirank.rankers.")] == ["omnirank.rankers.builtin"]
    assert not HEAVY & modules


def test_every_public_name_exists():
    for name in om.__all__:
        assert getattr(om, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        om.nothing  # noqa: B018


# -- public signatures name what they take ---------------------------------------------------------


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
