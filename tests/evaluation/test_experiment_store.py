"""The store: every job once, leases, and what happens when the file cannot be used."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import draws
from omnirank.core.errors import DataError, FileFormatError, OmnirankError
from omnirank.evaluation.experiments import store as store_module
from omnirank.evaluation.experiments.owners import is_gone, this_owner
from omnirank.evaluation.experiments.schema import SCHEMA_VERSION, StoreUnavailableError, reading
from omnirank.evaluation.experiments.store import Job, Member, Store


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


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 1000.0

        def time(self):
            return self.now

    found = Clock()
    monkeypatch.setattr(store_module, "time", found)
    return found


def test_jobs_of_one_fit_are_claimed_together_in_the_order_of_the_plan(store):
    first = store.claim("s", "a", 60)
    assert list(first.specs.items()) == [("k0", {"number": 0}), ("k1", {"number": 1})]
    assert list(store.claim("s", "b", 60).specs) == ["k2", "k3"]
    assert store.claim("s", "c", 60) is None
    assert store.counts("s") == {"running": 4}


def test_results_are_written_once(store):
    store.claim("s", "a", 60)
    assert store.record({"k0": result(0.5)}, {"k1": {"error": "e", "traceback": "t"}}) == 2
    assert store.record({"k0": result(0.9)}, {}) == 0
    assert store.record({}, {"k0": {"error": "late", "traceback": ""}}) == 0
    rows = {facts["key"]: facts for _, facts in store.rows("s")}
    assert rows["k0"]["figures"] == {"accuracy": 0.5}
    assert rows["k0"]["error"] is None
    assert (rows["k1"]["state"], rows["k1"]["error"], rows["k1"]["traceback"]) == ("failed", "e", "t")
    assert store.record({"k1": result()}, {}) == 1, "a success after a failure counts"


def test_an_expired_lease_is_taken_over_and_a_renewed_one_is_not(store, clock):
    store.claim("s", "a", 60)
    store.claim("s", "b", 60)
    clock.now += 50
    assert store.renew("a", 60) == 2
    clock.now += 50
    assert list(store.claim("s", "c", 60).specs) == ["k2", "k3"]
    assert store.claim("s", "c", 60) is None
    # the old owner finishes nevertheless: its result counts, that of the new owner changes nothing
    assert store.record({"k2": result(0.1)}, {}) == 1
    assert store.record({"k2": result(0.2)}, {}) == 0


@pytest.mark.slow
def test_jobs_of_a_process_that_has_ended_are_free_at_once(store):
    printed = "from omnirank.evaluation.experiments.owners import this_owner; print(this_owner())"
    owner = subprocess.run([sys.executable, "-c", printed], check=True, capture_output=True, text=True).stdout.strip()
    me = this_owner()
    store.claim("s", owner, 3600)
    store.claim("s", me, 3600)
    assert is_gone(owner)
    assert not is_gone(me)
    assert not is_gone(owner.replace("/", "-elsewhere/", 1)), "other machines are judged by their lease"
    assert list(store.claim("s", me, 3600).specs) == ["k0", "k1"]
    assert store.claim("s", me, 3600) is None


def test_what_was_tried_most_comes_last(store, clock):
    store.claim("s", "a", 60)
    clock.now += 100
    assert list(store.claim("s", "b", 60).specs) == ["k2", "k3"]
    assert list(store.claim("s", "b", 60).specs) == ["k0", "k1"]


def test_a_run_that_stops_in_order_gives_its_jobs_back(store):
    store.claim("s", "a", 60)
    store.release("a")
    assert store.counts("s") == {"pending": 4}
    assert {facts["attempts"] for _, facts in store.rows("s")} == {0}


def test_failures_are_retried_on_request_only(store):
    store.record({"k0": result()}, {"k1": {"error": "e", "traceback": "t"}})
    store.enlist("s", {}, jobs(4, per_fit=2))
    assert store.counts("s") == {"done": 1, "failed": 1, "pending": 2}
    assert store.retry_failed("s") == 1
    assert store.counts("s") == {"done": 1, "pending": 3}


def test_a_changed_plan_keeps_results_and_forgets_members(store):
    store.record({"k0": result(), "k1": result()}, {})
    renamed = [(member(0, "flowers"), jobs(1)[0][1]), (member(9), Job("new", "fn", {}))]
    store.enlist("s", {"a": 1}, renamed)
    assert {place.data: facts["state"] for place, facts in store.rows("s")} == {"flowers": "done", "iris": "pending"}
    assert store.studies() == {"s": {"a": 1}}
    store.enlist("other", {}, jobs(4))
    assert store.counts("other") == {"done": 2, "pending": 2}, "another study shares what is done"
    assert store.counts("s") == {"done": 1, "pending": 1}


def test_members_of_data_that_vanished_stay(store):
    store.enlist("s", {}, [(member(0, "wine"), Job("w", "w", {}))], kept=("iris",))
    assert {place.data for place, _ in store.rows("s")} == {"iris", "wine"}


def test_rankings_are_kept_in_full_precision(store):
    ranking = {"names": ["a", "ž"], "scores": [0.1, 1 / 3]}
    store.record({"k0": {**result(), "ranking": ranking}}, {})
    assert store.ranking("k0") == ranking
    assert store.ranking("k1") is None


@draws(7)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["claim", "done", "fail", "die", "stop"])), max_size=25)
)
def test_whatever_processes_do_every_job_ends_done_once(tmp_path_factory, steps):
    """Random histories of three processes; then one finishes. Figures are those of the first to finish a job."""
    path = tmp_path_factory.mktemp("store") / "plan.sqlite"
    first: dict[str, float] = {}
    held: dict[str, list[str]] = {"a": [], "b": [], "c": []}
    with Store(path, create=True) as store:
        store.enlist("s", {}, jobs(6, per_fit=2))
        for number, (owner, step) in enumerate(steps):
            if step == "claim":
                claim = store.claim("s", owner, 3600)
                held[owner] += [] if claim is None else list(claim.specs)
            elif step == "die":  # its leases run out; it may still record later
                store.renew(owner, -1)
            elif step == "stop":
                store.release(owner)
                held[owner] = []
            elif held[owner]:
                key = held[owner].pop()
                if step == "done":
                    store.record({key: result(float(number))}, {})
                    first.setdefault(key, float(number))
                else:
                    store.record({}, {key: {"error": "e", "traceback": ""}})
        for owner in "abc":
            store.renew(owner, -1)
        store.retry_failed("s")
        while (claim := store.claim("s", "z", 60)) is not None:
            store.record({key: result(99.0) for key in claim.specs}, {})
        rows = store.rows("s")
    assert [facts["state"] for _, facts in rows] == ["done"] * 6
    assert {facts["key"]: facts["figures"]["accuracy"] for _, facts in rows} == {
        f"k{i}": first.get(f"k{i}", 99.0) for i in range(6)
    }


# -- files that cannot be used --------------------------------------------------------------------


def test_a_full_disk_is_told_and_nothing_is_half_written(store):
    [pages] = store._db.execute("PRAGMA page_count").fetchone()
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    long = {"figures": {f"measure {i}": 0.123456789 for i in range(2000)}, "seconds": 1.0, "n_test": 10}
    with pytest.raises(StoreUnavailableError, match="full"):
        store.record({"k0": result(), "k1": long}, {})
    assert store.counts("s") == {"pending": 4}
    store._db.execute(f"PRAGMA max_page_count = {pages + 1000}")
    assert store.record({"k0": result(), "k1": long}, {}) == 2


def test_a_store_of_a_newer_version_is_refused(store, path):
    store.close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    raw.close()
    with pytest.raises(FileFormatError, match=f"version {SCHEMA_VERSION + 1}.*upgrade"):
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


def test_a_store_that_cannot_be_written_can_be_read(store, path, monkeypatch):
    store.record({"k0": result()}, {})
    store.close()
    monkeypatch.setattr("os.access", lambda *_: False)
    with Store(path) as read_only:
        assert read_only.counts("s") == {"done": 1, "pending": 3}
        with pytest.raises(StoreUnavailableError, match="readonly"):
            read_only.claim("s", "a", 60)


def test_a_store_that_cannot_be_written_is_read_while_another_process_writes_it(store, path, monkeypatch):
    store.record({"k0": result()}, {})  # in the log beside the file, until the store is closed
    monkeypatch.setattr("os.access", lambda *_: False)
    with Store(path) as read_only:
        assert read_only.counts("s") == {"done": 1, "pending": 3}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_BUSY, "another process has locked it"),
        (sqlite3.SQLITE_FULL, "the disk is full"),
        (sqlite3.SQLITE_READONLY, "it is read-only: check the permissions"),
        (sqlite3.SQLITE_PERM, "it is read-only: check the permissions"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened: check the permissions"),
        (sqlite3.SQLITE_IOERR_WRITE, "the disk reports an error"),
        (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, "SQLite reports: as it says"),
        (sqlite3.SQLITE_NOMEM, "SQLite reports: as it says"),
        (None, "SQLite reports: as it says"),
    ],
)
def test_only_damage_is_called_damage(tmp_path, code, words):
    error = sqlite3.Error("as it says")
    if code is not None:
        error.sqlite_errorcode = code
    with pytest.raises(OmnirankError, match=words) as caught, reading(tmp_path / "s.sqlite"):
        raise error
    assert "damaged" not in str(caught.value)
    assert "as it says" in str(caught.value)
    assert not isinstance(caught.value, FileFormatError)


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.enlist("s", {}, [(Member("a", "b", "", 0, 0, 0, 0), Job("k", "f", {}))] * 2),
        lambda store: store.enlist("name of a file \udc80", {}, []),
        lambda store: (store.close(), store.counts("s")),
    ],
)
def test_what_cannot_be_written_is_no_damage(store, write):
    with pytest.raises(OmnirankError, match=r"cannot be used: SQLite reports|not text in UTF-8") as caught:
        write(store)
    assert "damaged" not in str(caught.value)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_CORRUPT_INDEX, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR])
def test_damage_is_called_damage(tmp_path, code):
    error = sqlite3.DatabaseError("as it says")
    error.sqlite_errorcode = code
    with pytest.raises(FileFormatError, match=r"damaged \(as it says\)"), reading(tmp_path / "s.sqlite"):
        raise error


def test_a_locked_store_is_told(store, path, monkeypatch):
    store._db.execute("PRAGMA busy_timeout = 10")
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match="locked"):
            store.claim("s", "a", 60)
        other.execute("ROLLBACK")
    other.close()
    assert store.claim("s", "a", 60) is not None
