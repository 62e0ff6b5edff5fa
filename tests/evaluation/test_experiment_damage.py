"""Damaged stores: errors of omnirank only, no changed figure, and everything that is whole is saved."""

from __future__ import annotations

import random
import shutil
import sqlite3

import pytest
from typer.testing import CliRunner

import omnirank as om
from omnirank.cli.app import app
from omnirank.errors import DataError, FileFormatError, OmnirankError, ParameterError
from omnirank.evaluation.experiments import Store
from omnirank.evaluation.experiments.store import Job, Member
from reference.experiment_plans import write_plan

DATA = [f"data{i}" for i in range(8)]
METHODS = ["a", "b", "c"]
N_FOLDS = 10
N_DONE = 240 - 7 * 3
FACTS = {
    "measures": ["accuracy"],
    "data": DATA,
    "methods": METHODS,
    "best_of_grid": [],
    "tasks": dict.fromkeys(DATA, "classification"),
}


def result(number):
    figures = {"accuracy": round(0.5 + number / 1000, 3), "kappa": number / 7}
    ranking = {"names": [f"x{i}" for i in range(20)], "scores": [i / (number + 1) for i in range(20)]}
    return {"figures": figures, "seconds": 1.0 + number % 3, "n_test": 10 + number, "ranking": ranking}


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A store of 240 jobs, most done, with specifications that need several pages."""
    path = tmp_path_factory.mktemp("whole") / "s.sqlite"
    members = []
    for number in range(len(DATA) * len(METHODS) * N_FOLDS):
        place = Member(DATA[number % 8], METHODS[number // 8 % 3], "", 0, 5, 0, number // 24)
        key = f"{(number * 2654435761) % 2**32:08x}".rjust(32, "0")
        spec = {"number": number, "long": "x" * (6000 if number % 50 == 0 else 300)}
        members.append((place, Job(key, key, spec)))
    with Store(path, create=True) as store:
        store.remember_data('["s","data0"]', {"task": "classification"})
        store.enlist("s", FACTS, members)
        keys = [job.key for _, job in members]
        for number, (place, job) in enumerate(members):
            if place.data != "data7" or place.fold < 3:
                store.record({job.key: result(number)}, {})
        store.record({}, {keys[-1]: {"error": "Boom", "traceback": "where"}})
    return path


@pytest.fixture(scope="module")
def truth(original):
    """What the store holds: figures by key, and places."""
    with Store(original) as store:
        rows = store.rows("s")
        return {row["key"]: (row["state"], row["figures"], row["seconds"], row["n_test"]) for _, row in rows}, rows


def use(path):
    """Call whatever reads a store."""
    results = om.read_results(path)
    for study in results:
        study.table("accuracy")
        study.times()
        study.failures()
        study.compare("accuracy")
    om.read_rankings(path, "s", "data0", "a")


def overwritten(content, randomness):
    content = bytearray(content)
    for _ in range(randomness.randrange(1, 4)):
        at = randomness.randrange(len(content))
        n = randomness.choice([1, 1, 4, 100, 4096])
        content[at : at + n] = randomness.randbytes(min(n, len(content) - at))
    return bytes(content)


def flipped(content, randomness):
    content = bytearray(content)
    content[randomness.randrange(len(content))] ^= 1 << randomness.randrange(8)
    return bytes(content)


def page_of_zeros(content, randomness):
    at = 4096 * randomness.randrange(len(content) // 4096)
    return content[:at] + bytes(4096) + content[at + 4096 :]


def truncated(content, randomness):
    return content[: randomness.randrange(len(content))]


def page_moved(content, randomness):
    pages = [content[at : at + 4096] for at in range(0, len(content), 4096)]
    first, second = randomness.sample(range(1, len(pages)), 2)
    pages[first], pages[second] = pages[second], pages[first]
    return b"".join(pages)


KINDS = (overwritten, flipped, page_of_zeros, truncated, page_moved)


@pytest.mark.every(28)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(12))
def test_bytes_lost(original, truth, tmp_path, kind, seed):
    path = tmp_path / "s.sqlite"
    damaged = kind(original.read_bytes(), random.Random(seed))
    path.write_bytes(damaged)
    try:
        check = om.check_store(path, out=tmp_path / "saved.sqlite")
    except OmnirankError as error:
        if "nothing of a store" not in str(error):
            raise
        assert len(damaged) < 3 * 4096, "a page of rows is left"
        check = None
    assert path.read_bytes() == damaged, "the damaged file is only read"
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("s.sq")] == ["s.sqlite"]
    if check is not None:
        check_saved(tmp_path / "saved.sqlite", truth[0], check)
    try:
        use(path)
    except OmnirankError:
        assert check is None or not check.is_whole
    else:
        if check is not None and check.is_whole:
            check_figures(path, truth[0], everything=True)


def check_saved(path, truth, check):
    """What was saved is what was written; what is not there is named as lost."""
    with Store(path) as store:
        saved = dict(store._db.execute("SELECT key, state FROM jobs").fetchall())
        assert {key for key, state in saved.items() if state == "done"} <= {
            key for key, facts in truth.items() if facts[0] == "done"
        }
        n_done = sum(state == "done" for state in saved.values())
        assert n_done == check.counts["done"]
        assert {one.key for one in check.lost} <= truth.keys()
        assert store.problem() == ""
    if check.studies:
        check_figures(path, truth)


def check_figures(path, truth, everything=False):
    with Store(path) as store:
        for _, row in store.rows("s"):
            if row["state"] == "done":
                assert (row["state"], row["figures"], row["seconds"], row["n_test"]) == truth[row["key"]]
            elif everything:
                assert truth[row["key"]][0] != "done"


def pages_of_results(content):
    """Yield the pages of the table of jobs that hold results, with their bytes."""
    for number in range(len(content) // 4096):
        page = content[number * 4096 : (number + 1) * 4096]
        if page[:1] in (b"\x0a", b"\x02") and b'"accuracy":' in page:
            yield number, page


@pytest.mark.slow
def test_one_lost_page_costs_the_jobs_on_it_and_no_other(original, truth, tmp_path):
    content = original.read_bytes()
    done = {key for key, facts in truth[0].items() if facts[0] == "done"}
    n_tried = 0
    for number, page in pages_of_results(content):
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(content[: number * 4096] + bytes(4096) + content[(number + 1) * 4096 :])
        check = om.check_store(path)
        on_page = {key for key in done if key.encode() in page}
        assert not check.is_whole
        lost = {one.key for one in check.lost} & done
        assert lost
        assert lost <= on_page  # which names some jobs that have moved to another page, too
        assert check.counts["done"] == len(done - lost)
        n_tried += 1
    assert n_tried > 10


@pytest.mark.parametrize("at", [0, 1, 99, 100, 5000, 20_000, 50_000])
def test_cut_anywhere(original, tmp_path, at):
    path = tmp_path / "s.sqlite"
    path.write_bytes(original.read_bytes()[:at])
    for call in (om.read_results, om.check_store, lambda path: om.read_rankings(path, "s", "data0", "a")):
        if call is om.check_store and at > 4096:
            continue
        with pytest.raises(OmnirankError):
            call(path)


@pytest.mark.every(15)
@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE jobs",
        "DROP TABLE members",
        "DROP TABLE studies",
        "DROP TABLE rankings",
        "UPDATE jobs SET figures = '{'",
        "UPDATE jobs SET figures = '[1]' WHERE position = 3",
        "UPDATE jobs SET figures = CAST(x'ff00ff' AS TEXT) WHERE position = 3",
        "UPDATE jobs SET figures = x'00' WHERE position = 3",
        "UPDATE jobs SET figures = NULL WHERE position = 3",
        "UPDATE jobs SET figures = replace(figures, '0.5', '0.9') WHERE position = 3",
        "UPDATE jobs SET seconds = 'long' WHERE position = 3",
        "UPDATE jobs SET n_test = 'many' WHERE position = 3",
        "UPDATE jobs SET n_test = n_test + 1 WHERE position = 3",
        "UPDATE jobs SET seal = NULL WHERE position = 3",
        "DELETE FROM jobs WHERE position = 3",
        "UPDATE members SET fold = fold + 100 WHERE data = 'data1'",
        "UPDATE members SET method = x'00' WHERE data = 'data1' AND method = 'a' AND fold = 0",
        "UPDATE members SET key = 'other' WHERE data = 'data1'",
        "UPDATE studies SET facts = '{}'",
        "UPDATE studies SET facts = 'x'",
        "UPDATE studies SET facts = CAST(x'ff' AS TEXT)",
        "UPDATE rankings SET content = x'00'",
        "UPDATE rankings SET content = 'text'",
        f"UPDATE studies SET facts = '{'[' * 100_000}'",
        "PRAGMA user_version = -3",
        "PRAGMA application_id = 5",
    ],
)
def test_cells_changed(original, tmp_path, change):
    path = tmp_path / "s.sqlite"
    shutil.copyfile(original, path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(change)
    connection.close()
    with pytest.raises(OmnirankError) as raised:
        use(path)
    assert "s.sqlite" in str(raised.value)
    check = om.check_store(path, out=tmp_path / "saved.sqlite")
    assert not check.is_whole
    if "DROP TABLE jobs" not in change and "figures = '{'" not in change:
        assert check.counts["done"] >= N_DONE - 1
    if check.studies and "DROP TABLE" not in change:
        om.read_results(tmp_path / "saved.sqlite")


def test_files_that_are_no_stores(tmp_path, original):
    foreign = tmp_path / "foreign.sqlite"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE t (a TEXT PRIMARY KEY, b) WITHOUT ROWID")
    connection.execute("INSERT INTO t VALUES ('a', 'b')")
    connection.commit()
    connection.close()
    text = tmp_path / "text.sqlite"
    text.write_text("not a database, but long enough " * 50)
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    for path in (foreign, text, empty):
        before = path.read_bytes()
        for call in (om.read_results, om.check_store, use):
            with pytest.raises(FileFormatError, match=path.name):
                call(path)
        assert path.read_bytes() == before
    with pytest.raises(DataError, match="there is no store"):
        om.check_store(tmp_path)
    with pytest.raises(DataError, match="there is no store"):
        om.check_store(tmp_path / "absent.sqlite")
    with pytest.raises(ParameterError, match="exists"):
        om.check_store(original, out=foreign)


def test_a_store_of_a_newer_version_is_not_judged(tmp_path):
    path = tmp_path / "new.sqlite"
    Store(path, create=True).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    for call in (om.read_results, om.check_store):
        with pytest.raises(FileFormatError, match=r"newer omnirank.*version 99"):
            call(path)


def test_a_store_of_the_first_version_is_sealed_when_it_is_opened(original, truth, tmp_path):
    path = tmp_path / "s.sqlite"
    shutil.copyfile(original, path)
    connection = sqlite3.connect(path, isolation_level=None)
    for table in ("jobs", "members", "studies"):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN seal")
    connection.execute("PRAGMA user_version = 1")
    connection.execute("VACUUM")
    connection.close()
    check = om.check_store(path)
    assert check.is_whole
    assert check.counts["done"] == N_DONE
    check_figures(path, truth[0], everything=True)
    assert om.check_store(path).is_whole


def test_results_that_only_the_log_holds_are_saved(original, truth, tmp_path):
    """A run that was killed leaves results in the log beside the store."""
    source, path = tmp_path / "a.sqlite", tmp_path / "s.sqlite"
    members = [(Member("data0", "a", "", 0, 5, 0, i), Job(f"k{i}", f"k{i}", {})) for i in range(30)]
    with Store(source, create=True) as store:
        store.enlist("s", FACTS, members)
        store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for i in range(30):
            store.record({f"k{i}": result(i)}, {})
        shutil.copyfile(source, path)
        shutil.copyfile(f"{source}-wal", f"{path}-wal")
    assert om.check_store(path).is_whole
    assert om.check_store(path).counts["done"] == 30
    path.write_bytes(path.read_bytes()[:4096])
    check = om.check_store(path, out=tmp_path / "saved.sqlite")
    assert not check.is_whole
    assert check.counts["done"] == 30


@pytest.mark.slow
def test_what_is_lost_is_computed_again_and_nothing_else(tmp_path):
    path = write_plan(tmp_path, '\n[[method]]\nuse = ["univariate", "uniform"]\n')
    before = om.run_plan(path)
    store = path.with_suffix(".sqlite")
    content = store.read_bytes()
    number, _ = next(pages_of_results(content))
    content = content[: number * 4096] + bytes(4096) + content[(number + 1) * 4096 :]
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(content)
    saved = tmp_path / "saved.sqlite"
    shown = CliRunner().invoke(app, ["experiment", "check", str(damaged), "--out", str(saved)])
    assert shown.exit_code == 1, shown.output
    assert "saved in" in shown.output
    n_done = om.check_store(saved).counts["done"]
    assert n_done < before.counts["done"]
    again = om.run_plan(path, store=saved)
    assert again.counts == before.counts
    assert again.n_new == before.counts["done"] - n_done
    first, second = om.read_results(store)["small"].figures, om.read_results(saved)["small"].figures
    assert first.equals(second)
    whole = CliRunner().invoke(app, ["experiment", "check", str(store)])
    assert whole.exit_code == 0
    assert "intact" in whole.output
