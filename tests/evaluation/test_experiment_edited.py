"""A plan that is edited between runs: only what is new is run, and reports show what the plan says now."""

from __future__ import annotations

import random

import pytest
from typer.testing import CliRunner

from omnirank.cli.app import app
from omnirank.errors import OmnirankError
from omnirank.evaluation.experiments import example_plan, read_plan, read_results, run
from reference.experiment_plans import HEAD, InProcess, method, write_plan


@pytest.fixture
def specs(monkeypatch):
    """What was computed: the specifications of the jobs of all runs, as they come."""
    made = []

    def backend(*arguments):
        made.append(InProcess())
        return made[-1]

    monkeypatch.setattr(run, "WorkerPool", backend)

    def taken():
        found = [spec for one in made for order in one.orders for spec in order["specs"].values()]
        made.clear()
        return found

    return taken


def figures_of(path, data, name):
    study = read_results(path)["small"]
    found = study.figures
    return found[(found["data"] == data) & (found["method"] == name)].reset_index(drop=True)


@pytest.mark.slow
def test_a_changed_parameter_an_added_data_set_and_a_removed_method(tmp_path, specs):
    relief = method("relief", parameters="{ n_neighbors = 5 }")
    path = write_plan(tmp_path, method("univariate"), method("uniform"), relief)
    first = run.run_plan(path)
    assert first.counts == {"done": 2 * 3 * 2 * 2}
    assert len(specs()) == 24
    before = {data: figures_of(path, data, "univariate") for data in ("iris", "wine")}

    # another number of neighbours for Relief: its jobs, and no other
    relief = method("relief", parameters="{ n_neighbors = 7 }")
    write_plan(tmp_path, method("univariate"), method("uniform"), relief)
    assert run.run_plan(path).n_new == 8
    assert {spec["method"]["use"] for spec in specs()} == {"relief"}

    # a third data set: its jobs, and no other
    head = HEAD + '\n[[data]]\nsample = "linnerud"\n'
    write_plan(tmp_path, method("univariate"), method("uniform"), relief, head=head)
    assert run.run_plan(path).n_new == 12
    assert {spec["data"]["source"]["sample"] for spec in specs()} == {"linnerud"}

    # a method less: nothing is run, and reports do not show it
    write_plan(tmp_path, method("univariate"), relief, head=head)
    last = run.run_plan(path)
    assert last.n_new == 0
    assert not specs()
    assert last.counts == {"done": 3 * 2 * 2 * 2}
    study = read_results(path)["small"]
    assert set(study.jobs["method"]) == {"univariate", "relief"}
    assert list(study.table("accuracy").columns) == ["univariate", "relief"]
    for data, frame in before.items():
        assert figures_of(path, data, "univariate").equals(frame), "what was not edited is what it was"
    shown = CliRunner().invoke(app, ["compare", str(path), "--csv"]).output
    assert "uniform" not in shown

    # it comes back without being run
    write_plan(tmp_path, method("univariate"), method("uniform"), relief, head=head)
    assert run.run_plan(path).n_new == 0


def test_a_plan_that_was_edited_and_not_run_shows_its_gaps(tmp_path, specs, monkeypatch):
    """Interrupted after planning: old results stay, new places are open, and compare says so."""
    path = write_plan(tmp_path, method("univariate"))
    run.run_plan(path)
    write_plan(tmp_path, method("univariate"), method("uniform"))

    class Interrupted(InProcess):
        def submit(self, order):
            raise KeyboardInterrupt

    monkeypatch.setattr(run, "WorkerPool", lambda *arguments: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        run.run_plan(path)
    study = read_results(path)["small"]
    assert study.jobs.groupby("method")["state"].unique().map(set).to_dict() == {
        "uniform": {"pending"},
        "univariate": {"done"},
    }
    told = CliRunner().invoke(app, ["compare", str(path)])
    assert told.exit_code == 0
    assert "8 of 16 jobs are done" in " ".join(told.output.split())


@pytest.mark.slow
def test_changed_plans_are_plans_or_errors(tmp_path):
    path = tmp_path / "plan.toml"
    chance = random.Random(0)
    whole = example_plan()
    n_refused = 0
    for n in range(400):
        at = chance.randrange(len(whole))
        if n % 4 == 0:
            text = whole[:at]
        elif n % 4 == 1:
            text = whole[:at] + chance.choice("0-[]{}=\"'\n.x\0é") + whole[at + 1 :]
        else:
            text = whole[:at] + whole[at + chance.randrange(1, 30) :]
        path.write_bytes(text.encode() if n % 7 else text.encode()[:-1] + b"\xff")
        try:
            read_plan(path)
        except OmnirankError:
            n_refused += 1
    assert n_refused > 100
    path.write_text("a = " + "[" * 100_000)
    with pytest.raises(OmnirankError):
        read_plan(path)
