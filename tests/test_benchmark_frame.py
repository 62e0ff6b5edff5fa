"""The benchmark frame itself, on work of microseconds; the benchmarks are not part of the tests."""

from __future__ import annotations

import copy
from functools import partial
from pathlib import Path

import pytest
from benchmarks import (
    Bar,
    Benchmark,
    Contestant,
    compare,
    figure,
    machine_facts,
)
from benchmarks import __main__ as command
from benchmarks._measure import Comparison, Timing
from benchmarks._report import DETAILS, PAGE, as_details, as_markdown, describe, missed
from benchmarks._results import as_record, changes, previous_record, read_records, write_record

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent


def comparison(ours=(1.0, 1.1, 0.9), theirs=(4.0, 4.4, 4.5), bar=None) -> Comparison:
    timings = (Timing("ours", ours, 2**20, {"accuracy": 0.9}), Timing("theirs", theirs))
    return Comparison("case", timings, {"absent": "absent_package is not installed"}, bar)


def record_of(*results) -> dict:
    return as_record(Benchmark("sample", "bench_sample", "A sample.", lambda quick: results), results)


# -- measuring ------------------------------------------------------------------------------------


def test_contestants_alternate_after_one_untimed_run():
    calls = []
    contestants = [
        Contestant("a", lambda: "data of a", calls.append, quality=lambda output: {"size": 4}),
        Contestant("b", lambda: "data of b", calls.append, warm_up=lambda: calls.append("warm")),
    ]
    result = compare("x", contestants, repetitions=3, memory=False)
    assert calls == ["data of a", "warm", *["data of a", "data of b"] * 3]
    assert [len(timing.seconds) for timing in result.timings] == [3, 3]
    assert result.as_dict()["contestants"][0]["quality"] == {"size": 4.0}


@pytest.mark.parametrize("module", ["no_such_module", "no_such_package.part"])
def test_absent_contestant_is_skipped_with_a_message(module, capsys):
    present = Contestant("ours", lambda: 1, abs)
    absent = Contestant("theirs", lambda: 1, abs, requires=("json", module))
    result = compare("x", [present, absent], repetitions=3, memory=False, bar=Bar(at_least=2))
    assert result.skipped == {"theirs": f"{module} is not installed"}
    assert "theirs skipped" in capsys.readouterr().out
    assert result.met() is None


def test_bars():
    assert Bar(at_least=4).met(4.0)
    assert not Bar(at_least=4).met(3.99)
    assert not Bar(at_least=1, at_most=2).met(float("nan"))
    assert comparison(bar=Bar(at_least=4)).met() is True
    assert comparison(bar=Bar(at_least=5, against="theirs")).met() is False
    assert figure("growth", 2.5, bar=Bar(at_most=2)).met() is False
    with pytest.raises(ValueError, match="at_least or at_most"):
        Bar()


# -- keeping and comparing ------------------------------------------------------------------------


def test_record_round_trip(tmp_path):
    record = record_of(comparison(bar=Bar(at_least=4)), figure("growth", 1.5, "x", spread=0.1))
    path = write_record(record, tmp_path)
    assert path == tmp_path / "sample.json"
    (tmp_path / "notes.json").write_text("{}")
    assert read_records(tmp_path) == [record]
    assert previous_record("sample", tmp_path) == record
    assert previous_record("another", tmp_path) is None
    write_record(record | {"version": 99}, tmp_path)
    with pytest.raises(ValueError, match="newer"):
        read_records(tmp_path)


def test_changes_beyond_the_noise_are_named():
    before = record_of(comparison(), figure("size", 100, bar=Bar(at_most=200)), figure("count", 10))
    assert changes(before, before) == []
    noisy = [record_of(comparison(ours=ours)) for ours in ((0.5, 1.0, 1.5), (0.7, 1.3, 1.6))]
    assert "case / ours / seconds" not in [change.what for change in changes(*noisy)]
    slower = comparison(ours=(2.0, 2.1, 2.2))
    after = record_of(slower, figure("size", 50, bar=Bar(at_most=200)), figure("count", 12), figure("new", 1))
    found = {change.what: change.better for change in changes(before, after)}
    assert found == {
        "case / ours / seconds": False,
        "case / ratio to theirs": False,
        "size": True,
        "count": None,
    }


def test_only_ratios_are_compared_across_machines():
    before = record_of(comparison(), figure("size", 100))
    after = copy.deepcopy(record_of(comparison(ours=(2.0, 2.1, 2.2)), figure("size", 1)))
    after["machine"]["cpu"] = "another processor"
    assert [change.what for change in changes(before, after)] == ["case / ratio to theirs"]


def test_markdown_says_it_all():
    record = record_of(comparison(bar=Bar(at_least=5)), figure("growth|factor", 1.5, "x", bar=Bar(at_most=2)))
    page = as_details([record])
    assert "| ours | 1.00 ± 0.10 s |  | 1 MiB | accuracy 0.9 |" in page
    assert "| theirs | 4.40 ± 0.25 s | 4.40 ± 0.50 |" in page
    assert "absent: skipped, absent_package is not installed." in page
    assert "Bar: at least 5: missed." in page
    assert r"| growth\|factor | 1.5 x | at most 2: met |" in page
    assert f"numpy {machine_facts()['numpy']}" in page
    assert "| sample | A sample. | case: 4.40 ± 0.50 (theirs) | at least 5 | 1 of 2 |" in as_markdown([record])
    assert missed(record) == ["case"]
    assert any("at least 5: missed" in line for line in describe(record))


def test_committed_page_shows_the_committed_results():
    records = read_records()
    for file, text in ((PAGE, as_markdown(records)), (DETAILS, as_details(records))):
        assert file.read_text(encoding="utf-8") == text, "run: python -m benchmarks --page"


# -- the command ----------------------------------------------------------------------------------


@pytest.fixture
def stage(tmp_path, monkeypatch):
    """The command with one benchmark of its own and a folder of its own."""

    def install(function):
        item = Benchmark("sample", "bench_sample", "A sample.", function)
        monkeypatch.setattr(command, "discover", lambda: [item])

    monkeypatch.setattr(command, "write_record", partial(write_record, folder=tmp_path))
    monkeypatch.setattr(command, "read_records", partial(read_records, folder=tmp_path))
    monkeypatch.setattr(command, "previous_record", partial(previous_record, folder=tmp_path))
    monkeypatch.setattr(command, "write_page", lambda records: (tmp_path / "page").write_text(as_markdown(records)))
    return install


def test_command_keeps_compares_and_reports(stage, tmp_path, capsys):
    stage(lambda quick: figure("size", 100, bar=Bar(at_most=200)))
    assert command.main([]) == 0
    assert "no committed result" in capsys.readouterr().out
    stage(lambda quick: figure("size", 300, bar=Bar(at_most=200)))
    assert command.main(["sample"]) == 1
    output = capsys.readouterr().out
    assert "WORSE: size: 100 -> 300" in output
    assert "MISSED: size" in output
    assert "300" in (tmp_path / "page").read_text()


def test_a_failure_is_reported_and_not_kept(stage, tmp_path, capsys):
    def broken(quick):
        raise ZeroDivisionError("inside")

    stage(broken)
    assert command.main([]) == 1
    captured = capsys.readouterr()
    assert "FAILED" in captured.out
    assert "ZeroDivisionError: inside" in captured.err
    assert not (tmp_path / "sample.json").exists()
