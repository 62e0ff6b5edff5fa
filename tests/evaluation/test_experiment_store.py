"""The store: every job once, and what happens when the file cannot be used."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys

import pytest

from omnirank.core.errors import DataError, FileFormatError, OmnirankError
from omnirank.evaluation.experiments.store import FORMAT, Job, Member, Store


def member(fold=0, data="iris"):
    return Member(data, "genie3", "", 0, 5, 0, fold)


def jobs(n, per_fit=1):
    return [(member(i), Job(f"k{i}", f"f{i // per_fit}", {"number": i})) for i in range(n)]


def result(value=0.5):
    return {"figures": {"accuracy": value}, "seconds": 1.0, "n_test": 10}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plan.sqlite"


@pytest.fixture
def store(path):
    with Store(path, create=True) as opened:
        opened.enlist("s", {}, jobs(4, per_fit=2))
        yield opened


def test_results_are_written_once(store):
    assert store.record({"k0": result(0.5)}, {"k1": {"error": "e", "traceback": "t"}}) == 2
    assert store.record({"k0": result(0.9)}, {}) == 0
    assert store.record({}, {"k0": {"error": "late", "traceback": ""}}) == 0
    rows = {facts["key"]: facts for _, facts in store.rows("s")}
    assert rows["k0"]["figures"] == {"accuracy": 0.5}
    assert rows["k0"]["error"] is None
    assert (rows["k1"]["state"], rows["k1"]["error"], rows["k1"]["traceback"]) == ("failed", "e", "t")
    assert store.states("s") == {"k0": "done", "k1": "failed", "k2": "pending", "k3": "pending"}
    assert store.record({"k1": result()}, {}) == 1, "a success after a failure counts"


@pytest.mark.slow
def test_one_run_uses_a_store_at_a_time(store, path):
    holding = f"""
import sys
from omnirank.evaluation.experiments import Store
with Store({str(path)!r}) as store, store.used_by_one_run():
    print("held", flush=True)
    sys.stdin.read()
"""
    other = subprocess.Popen([sys.executable, "-c", holding], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "held\n"
    with pytest.raises(OmnirankError, match="another run uses the store"), store.used_by_one_run():
        pass
    assert store.counts("s") == {"pending": 4}, "it can be read"
    other.kill()
    other.communicate()
    with store.used_by_one_run():  # a killed run holds nothing
        assert store.record({"k0": result()}, {}) == 1
    assert sorted(os.listdir(path.parent)) == ["plan.sqlite"]


def test_a_changed_plan_keeps_results_and_forgets_members(store):
    store.record({"k0": result(), "k1": result()}, {})
    renamed = [(member(0, "flowers"), jobs(1)[0][1]), (member(9), Job("new", "fn", {}))]
    store.enlist("s", {"a": 1}, renamed)
    assert {place.data: facts["state"] for place, facts in store.rows("s")} == {"flowers": "done", "iris": "pending"}
    assert store.studies() == {"s": {"a": 1}}
    store.enlist("other", {}, jobs(4))
    assert store.counts("other") == {"done": 2, "pending": 2}, "another study shares what is done"
    assert store.counts("s") == {"done": 1, "pending": 1}


def test_rankings_are_kept_in_full_precision(store):
    ranking = {"names": ["a", "ž"], "scores": [0.1, 1 / 3]}
    store.record({"k0": {**result(), "ranking": ranking}}, {})
    assert store.ranking("k0") == ranking
    assert store.ranking("k1") is None


# -- files that cannot be used --------------------------------------------------------------------


def test_a_full_disk_is_told_and_nothing_is_half_written(store):
    [pages] = store._db.execute("PRAGMA page_count").fetchone()
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    long = {"figures": {f"measure {i}": 0.123456789 for i in range(2000)}, "seconds": 1.0, "n_test": 10}
    with pytest.raises(OmnirankError, match="full"):
        store.record({"k0": result(), "k1": long}, {})
    assert store.counts("s") == {"pending": 4}
    store._db.execute(f"PRAGMA max_page_count = {pages + 1000}")
    assert store.record({"k0": result(), "k1": long}, {}) == 2


def test_a_store_of_a_newer_version_is_refused(store, path):
    store.close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {FORMAT + 1}")
    raw.close()
    with pytest.raises(FileFormatError, match=f"version {FORMAT + 1}.*upgrade"):
        Store(path)


def test_other_files_are_refused(tmp_path):
    foreign = tmp_path / "other.sqlite"
    with sqlite3.connect(foreign) as raw:
        raw.execute("CREATE TABLE t (x)")
    raw.close()
    with pytest.raises(FileFormatError, match="not a store of experiments"):
        Store(foreign, create=True)
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but a text that is long enough to be read as a page" * 20)
    with pytest.raises(FileFormatError, match="not a store of experiments, or damaged"):
        Store(text)
    with pytest.raises(DataError, match="there is no store"):
        Store(tmp_path / "absent.sqlite")
    with pytest.raises(DataError, match=r"folder .* does not exist"):
        Store(tmp_path / "absent" / "plan.sqlite", create=True)


def test_a_store_that_cannot_be_written_can_be_read(store, path):
    store.record({"k0": result()}, {})
    store.close()
    path.chmod(0o400)
    with Store(path) as read_only:
        assert read_only.counts("s") == {"done": 1, "pending": 3}
        if os.geteuid() != 0:  # who may write anything
            with pytest.raises(OmnirankError, match="readonly"):
                read_only.record({"k1": result()}, {})


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.enlist("s", {}, [(Member("a", "b", "", 0, 0, 0, 0), Job("k", "f", {}))] * 2),
        lambda store: store.enlist("name of a file \udc80", {}, []),
        lambda store: (store.close(), store.counts("s")),
    ],
)
def test_what_cannot_be_written_is_no_damage(store, write):
    with pytest.raises(OmnirankError, match=r"cannot be used now|not text in UTF-8") as caught:
        write(store)
    assert "damaged" not in str(caught.value)


@pytest.mark.parametrize("damage", ["a page of zeros", "half of the file", "a ranking", "a result"])
def test_a_damaged_store_is_an_error_that_says_what_to_do(store, path, damage):
    ranking = {"names": ["a"] * 2000, "scores": [i / 7 for i in range(2000)]}
    store.record({f"k{i}": {**result(), "ranking": ranking} for i in range(4)}, {})
    if damage == "a ranking":
        store._db.execute("UPDATE rankings SET content = x'00'")
    elif damage == "a result":
        store._db.execute("UPDATE jobs SET figures = '{'")
    store.close()
    content = path.read_bytes()
    if damage == "a page of zeros":
        path.write_bytes(content[:4096] + bytes(4096) + content[8192:])
    elif damage == "half of the file":
        path.write_bytes(content[: len(content) // 2])

    def read():
        with Store(path) as opened:
            opened.rows("s")
            opened.ranking("k0")

    with pytest.raises(FileFormatError, match=r"damaged .*delete it and run the plan again"):
        read()


def test_a_locked_store_is_told(store, path):
    store._db.execute("PRAGMA busy_timeout = 10")
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OmnirankError, match="locked"):
            store.record({"k0": result()}, {})
        other.execute("ROLLBACK")
    other.close()
    assert store.record({"k0": result()}, {}) == 1
