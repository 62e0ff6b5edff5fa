"""Modules of users behind methods and tasks: an edit computes their jobs anew, and no others."""

from __future__ import annotations

import re
import sys
import textwrap
from contextlib import suppress
from types import ModuleType

import pytest

from omnirank.core.registry import unregister
from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import unregister_task
from omnirank.errors import ParameterError
from omnirank.evaluation.experiments import fit, read_plan, read_results, run_plan
from omnirank.evaluation.experiments.fit import Loaded, load_source
from omnirank.evaluation.experiments.jobs import jobs_of
from omnirank.evaluation.experiments.store import own_modules
from reference.experiment_plans import in_process

RANKER = """
    from reference.experiment_methods import OddRanker
    from omnirank.core.registry import Method, register
    from {package}.weights import level
    from . import constants

    class Mine(OddRanker):
        def _rank(self, dataset):
            from .late import shift
            return super()._rank(dataset)

    register(Method("mine", __name__ + ":Mine", "own", tasks=("classification",)), replace=True)
"""


@pytest.fixture
def package(tmp_path, monkeypatch, request):
    """A package with a method; a function writes one of its files."""
    name = re.sub(r"\W", "_", f"own_{request.node.name}")
    folder = tmp_path / name
    (folder / "sub").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)

    def write(file, text):
        (folder / file).write_text(textwrap.dedent(text))
        return name

    write("__init__.py", "")
    write("ranker.py", RANKER.format(package=name))
    write("weights.py", "from .sub.deep import base\nlevel = base\n")
    write("constants.py", "one = 1\n")
    write("late.py", "shift = 0\n")
    write("sub/__init__.py", "")
    write("sub/deep.py", "base = 1.0\n")
    write("unused.py", "picture = None\n")
    yield write
    for forget, registered in ((unregister, "mine"), (unregister_task, "own-task")):
        with suppress(ParameterError):  # this test has registered none
            forget(registered)


def keys(plan):
    found = {}
    for place, job in jobs_of(plan, plan.data[0], load_source(plan.data[0].source)):
        found.setdefault(place.method, set()).add(job.key)
    return found


def plan_of(name, **study):
    return {
        "study": {"modules": [f"{name}.ranker"], "code": "pinned", **study},
        "folds": {"n_folds": 2},
        "data": [{"sample": "iris"}],
        "method": [{"use": "mine"}, {"use": "univariate"}],
    }


@pytest.mark.parametrize(
    "file", ["ranker.py", "weights.py", "constants.py", "late.py", "sub/deep.py", "__init__.py", "sub/__init__.py"]
)
def test_an_edited_module_behind_a_method_gives_its_jobs_other_keys(package, file):
    plan = read_plan(plan_of(package("unused.py", "")))
    before = keys(plan)
    package("unused.py", "picture = 2\n")
    assert keys(plan) == before, "no method imports it"
    text = RANKER.format(package=package("unused.py", "")) if file == "ranker.py" else "base = level = one = shift = 0"
    package(file, textwrap.dedent(text) + "\n# edited\n")
    after = keys(plan)
    assert not after["mine"] & before["mine"]
    assert after["univariate"] == before["univariate"]


def test_an_edited_method_is_run_again_by_workers_that_have_not_imported_it_before(package, tmp_path, monkeypatch):
    in_process(monkeypatch)
    plan, store = plan_of(package("late.py", "shift = 0\n")), tmp_path / "results.sqlite"
    assert run_plan(plan, store=store).n_new == 4
    assert run_plan(plan, store=store).n_new == 0
    package("late.py", "shift = 1\n")
    summary = run_plan(plan, store=store)
    assert summary.n_new == 2
    assert summary.counts == {"done": 2, "failed": 2}
    assert "have been edited" in read_results(store)["plan"].failures()["error"].iloc[0]
    fit._own.clear()  # as in a new process
    assert run_plan(plan, store=store, retry_failed=True).counts == {"done": 4}


def test_what_a_registration_fixes_is_part_of_the_method(package):
    registration = """
        from omnirank.core.registry import Method, register
        where = "omnirank.rankers.univariate:UnivariateRanker"
        register(Method("mine", where, "own", tasks=("classification",), parameters={parameters}), replace=True)
    """
    name = package("ranker.py", registration.format(parameters={}))
    before = keys(read_plan(plan_of(name)))
    exec(textwrap.dedent(registration.format(parameters={"n_features_to_select": 2})), {})
    after = keys(read_plan(plan_of(name)))
    assert not after["mine"] & before["mine"]
    assert after["univariate"] == before["univariate"]


def test_an_edited_task_or_measure_gives_all_its_jobs_other_keys(package):
    task = """
        from omnirank.tasks.variables import Classification
        from omnirank.tasks import register_task
        from .measures import good

        class Own(Classification):
            name = "own-task"

        register_task(Own(), replace=True)
    """
    package("tasks.py", task)
    package("measures.py", "good = 1\n")
    name = package("ranker.py", RANKER.format(package=package("unused.py", "")) + "\n    from . import tasks\n")
    plan = plan_of(name)
    plain = read_plan(plan)
    loaded = load_source(plain.data[0].source)
    owned = Loaded(Dataset(loaded.dataset.features, loaded.dataset.target, task="own-task"), None)

    def of_task():
        return {place.method: job.key for place, job in jobs_of(plain, plain.data[0], owned)}

    before = of_task()
    package("measures.py", "good = 2\n")
    after = of_task()
    assert all(after[name] != before[name] for name in ("mine", "univariate"))


def test_an_edited_module_of_another_folder_gives_its_jobs_other_keys(package, tmp_path, monkeypatch):
    elsewhere, name = tmp_path / "elsewhere", package("weights.py", "from shared_by_studies import level\n")
    elsewhere.mkdir()
    monkeypatch.syspath_prepend(elsewhere)
    found = []
    for level in (1, 2):
        (elsewhere / "shared_by_studies.py").write_text(f"level = {level}\n")
        found.append(keys(read_plan(plan_of(name))))
    assert not found[0]["mine"] & found[1]["mine"]
    assert found[0]["univariate"] == found[1]["univariate"]


def test_installed_packages_and_our_own_are_not_read(package, monkeypatch):
    monkeypatch.setitem(sys.modules, "handmade", ModuleType("handmade"))
    name = package("weights.py", "import numpy\nimport json\nimport absent\nfrom sklearn.base import clone\n")
    assert set(own_modules([f"{name}.weights"])) == {name, f"{name}.weights"}
    assert not own_modules(["omnirank.rankers.univariate", "json", "builtins", "handmade", "absent"])
    assert "joblib" in own_modules(["joblib"]), "a method may come from an installed package"


def test_a_module_that_is_no_python_counts_as_it_is(package):
    name = package("weights.py", "this is no Python (\n")
    before = own_modules([f"{name}.weights"])
    package("weights.py", "nor is (this\n")
    assert own_modules([f"{name}.weights"]) != before
