"""Traps among the features are told, once, cheaply, and only where there are any."""

from __future__ import annotations

import pickle
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import omnirank as om
from omnirank.errors import DataWarning
from omnirank.evaluation.cross import evaluate_folds
from omnirank.evaluation.folds import make_folds

N = 200


def rng(seed=0):
    """Other numbers on every line, the same in every run."""
    return np.random.default_rng([sys._getframe(1).f_lineno, seed])


def noise(n=N, p=3):
    return pd.DataFrame(rng().normal(size=(n, p)), columns=[f"noise {i}" for i in range(p)])


def classes(n=N, k=2):
    return rng().integers(k, size=n)


def notes(frame, y=None, **options):
    return om.Dataset(frame, y, **options).notes


def test_near_copies_have_a_note_and_no_warning():
    frame = noise(p=4).set_axis(["a", "b", "c", "d"], axis=1)
    frame.loc[::3, "b"] = np.nan
    frame.loc[20:, "d"] = np.nan
    frame = frame.assign(level="z", e=(1.8 * frame["a"] + 32).round(2), f=-frame["b"], g=frame["c"], h=frame["d"] ** 2)
    told = notes(frame)
    assert told[-1].startswith("features 'e', 'f', 'g' are nearly copies of earlier features (the first of 'a'): ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        om.make_ranker("variance").fit(om.Dataset(frame.drop(columns="level")))
    close = frame["a"] + 0.1 * frame["c"]
    others = frame[["a", "b"]].assign(x=close, huge=frame["c"] * 1e300, none=0.0)
    assert notes(others) == ("feature 'none' holds one value only",)


def test_values_that_repeat_a_few_times_have_a_hint_to_groups_and_no_warning(tmp_path):
    subject = np.repeat(np.arange(N // 4 + 1), 4)[:N]
    frame = noise(p=2).assign(
        subject=[f"S{i}" for i in subject], town=[f"T{i}" for i in subject], colour=["red", "blue"] * (N // 2)
    )
    frame["Patient No"] = (subject * 7919.0) % 61
    told = notes(frame, classes())
    assert len(told) == 1
    assert told[0].startswith("features 'subject' and 'Patient No' have few examples for each value: if examples of")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        om.make_ranker("univariate").fit(om.Dataset(frame, classes()))
    frame[["subject", "colour"]].assign(y=classes()).to_csv(tmp_path / "a.csv", index=False)
    told = om.load(tmp_path / "a.csv", "y").notes
    assert told[-1].endswith("(repeated measurements), choose it as groups (groups='subject')")
    assert not any("repeated" in text for text in om.load(tmp_path / "a.csv", "y", groups="subject").notes)


def test_a_table_with_genes_in_rows_has_a_hint_to_transpose_it():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(600, 12))).add_prefix("s")
    frame.insert(0, "gene", [f"ENSG{i:04}" for i in range(600)])
    hint = "if rows are features, such as genes, transpose the table"
    assert hint in notes(frame)[-1]
    assert not any(
        hint in text for text in (*notes(frame[:100]), *notes(frame, [0, 1] * 300), *notes(frame[frame.columns[1:]]))
    )


def test_plain_data_have_no_notes():
    assert notes(noise(), classes()) == ()
    assert notes(noise(), rng().normal(size=N)) == ()
    assert notes(noise()) == ()


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (np.full(N, 3.5), "feature 'odd' holds one value only"),
        (np.where(np.arange(N) % 2 == 0, np.nan, 3.5), "feature 'odd' holds one value only"),
        (["a"] * N, "feature 'odd' holds one value only"),
        (np.full(N, np.nan), "feature 'odd' has no known value"),
        ([None] * N, "feature 'odd' has no known value"),
        (np.arange(N), "feature 'odd' changes by the same step from row to row: it is a running number"),
        (np.arange(N)[::-1] * 10.0, "feature 'odd' changes by the same step from row to row"),
        (rng().permutation(N) + 1000, "feature 'odd' has a different whole number in every row: is it an identifier?"),
        ([f"customer {i}" for i in range(N)], "feature 'odd' has 200 levels for 200 examples: is it an identifier?"),
        ([f"customer {i}" for i in range(N - 50)] + ["x"] * 50, "'odd' has 151 levels for 200 examples"),
        (pd.date_range("2020-01-31", periods=N).to_numpy()[rng().permutation(N)], "feature 'odd' is a date, taken as"),
        ([f"2020-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)], "feature 'odd' holds dates or times as text"),
        ([f"{i % 24}:{i % 60:02}" for i in range(N)], "feature 'odd' holds dates or times as text"),
    ],
)
def test_each_trap_has_its_note(cells, told):
    found = notes(noise().assign(odd=cells), classes())
    assert len(found) == 1, found
    assert told in found[0]


@pytest.mark.parametrize(
    "cells",
    [
        np.append(np.full(N - 1, 3.5), 4.0),  # one other value
        np.append(np.arange(N - 1), 0.0),
        rng().integers(10**6, size=N),  # whole numbers, distinct by chance
        np.arange(N) % 150,
        rng().normal(size=N).cumsum(),
        np.array([f"town {i % 90}" for i in range(N)]),
        pd.Categorical(["a", "b"] * (N // 2), categories=[str(i) for i in range(N)] + ["a", "b"]),  # levels not in use
        ["2020-01-01", "today"] * (N // 2),
    ],
)
def test_no_false_alarm(cells):
    assert notes(noise().assign(odd=cells), classes()) == ()


def test_names_decide_where_numbers_do_not():
    apart = rng().choice(10**9, N, replace=False)
    assert "is it an identifier" in notes(noise().assign(customer_id=apart))[0]
    assert "is it an identifier" in notes(noise().assign(customerID=apart))[0]
    assert notes(noise().assign(salary=apart)) == ()
    assert notes(noise().assign(humid=apart)) == ()


def test_sparse_features():
    X = sparse.random(N, 6, density=0.3, format="lil", random_state=0)
    X[:, 1] = 0
    X[:, 2] = 2.0
    X[:, 3] = np.nan
    y = classes()
    assert notes(sparse.csr_array(X), y, feature_names=list("abcdef")) == (
        "feature 'd' has no known value",
        "features 'b' and 'c' hold one value only",
    )


# -- the target among the features --------------------------------------------------------------------


def leaks(x, y, **options):
    return any("perfectly" in text for text in notes(noise(len(x)).assign(x=x), y, **options))


def test_a_feature_that_predicts_classes():
    y = classes(k=3)
    assert leaks(y + rng().uniform(-0.3, 0.3, N), y)
    assert leaks(np.array(["p", "q", "r"])[y], y)
    assert leaks([f"{c} {i % 8}" for i, c in enumerate(y)], y)  # levels are finer than the classes
    assert leaks(np.where(y == 1, np.nan, y * 1.0), y)  # what is missing tells
    assert not leaks(np.where(rng(1).random(N) < 0.1, rng(2).integers(3, size=N), y) * 1.0, y)  # one in ten is wrong
    assert not leaks((y > 0) * 1.0, y)  # two classes in one
    # half of the values are 0 and of one class, the others tell nothing
    assert not leaks(np.where(np.arange(N) < N // 2, 0, rng().normal(size=N)), classes() * (np.arange(N) >= N // 2))


def test_a_rare_class():
    n = 5000
    y = (np.arange(n) % 100 == 0).astype(int)
    assert leaks(y + rng().normal(scale=0.05, size=n), y)
    assert not leaks(rng().normal(size=n), y)


def test_a_feature_that_predicts_numbers():
    y = rng().lognormal(sigma=2, size=N)
    assert leaks(np.log(y), y)
    assert leaks(-y + rng().normal(scale=1e-3, size=N), y)
    assert not leaks(y + rng().normal(scale=y.std() / 5, size=N), y)
    counts = rng().integers(4, size=N)
    assert leaks([f"level {c}" for c in counts], counts * 0.5)


def test_slow_series_do_not_predict_each_other():
    n = 1000
    clock, wave = np.linspace(0, 1, n) ** 2, np.sin(np.linspace(0, 9, n))
    assert not leaks(clock, wave)


@pytest.mark.usefixtures("small_blocks")
def test_one_of_several_targets():
    y = rng().normal(size=(N, 3))
    told = notes(noise().assign(x=2 * y[:, 1]), y, target_names=["u", "v", "w"])
    assert told[0].startswith("feature 'x' predicts the target 'v' (nearly) perfectly on its own")
    labels = rng().random((N, 40)) < 0.2
    rarest, *_, often = labels.sum(axis=0).argsort()  # of many labels, only the most frequent ones are looked at
    for y in (labels.astype(int), sparse.csr_array(labels.astype(int))):
        [told] = notes(noise().assign(x=labels[:, often], z=labels[:, rarest]), y)
        assert told.startswith(f"feature 'x' predicts the target 'y{often + 1}' (nearly) perfectly on its own")


@pytest.mark.parametrize(
    ("features", "target", "told"),
    [
        (["a", "b", "y2", "c"], "y1", ["y2"]),
        (["a", "b", "label", "c"], "kind", ["label"]),
        (["a", "b", "Class", "c", "d"], "kind", ["Class"]),
        (["a", "b", "c"], "y1", []),
        (["y2", "y3", "y4"], "y1", []),  # all of them: so are features called here
        (["1", "2", "a", "b", "c"], "7", []),
        (["classic", "labels of", "a"], "kind", []),
    ],
)
def test_another_target_among_the_features(features, target, told):
    frame = noise(p=len(features)).set_axis(features, axis=1)
    found = [text for text in notes(frame, classes(), target_names=[target]) if "called like" in text]
    assert [name for name in features if any(repr(name) in text for text in found)] == told


# -- told once ----------------------------------------------------------------------------------------


def trapped():
    return om.Dataset(noise().assign(nr=np.arange(N), same=1.0), classes())


def told_by(action):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        action()
    return [str(w.message) for w in told if issubclass(w.category, DataWarning)]


@pytest.mark.parametrize(
    "ranker",
    [
        om.EnsembleRanker(n_trees=3, random_state=0),
        om.ReliefRanker(n_neighbors=3),
        om.PCTForestClassifier(n_trees=3, random_state=0),
        om.PCTClassifier(random_state=0),
    ],
)
def test_a_fit_tells_once(ranker):
    data = trapped()
    assert len(told_by(lambda: ranker.fit(data))) == 2
    assert len(told_by(lambda: ranker.fit(data.X, data.y))) == 2
    assert told_by(lambda: ranker.fit(data.take(slice(100)))) == []  # of the same data: it was told before


def test_inner_fits_tell_nothing():
    labels = rng().random((N, 3)) < 0.4
    data = om.Dataset(noise().assign(nr=np.arange(N)), labels.astype(int))
    assert len(told_by(lambda: om.PerTargetRanker(om.EnsembleRanker(n_trees=2)).fit(data))) == 1
    partly = trapped().keep_labels(60, random_state=0)
    assert len(told_by(lambda: om.EnsembleRanker(n_trees=3, random_state=0).fit(partly))) == 2


def test_folds_tell_once():
    data = trapped()
    ranker = om.EnsembleRanker(n_trees=2, random_state=0)
    folds = make_folds(data, "cross-validation", n_folds=3, random_state=0)
    assert len(told_by(lambda: evaluate_folds(ranker, data, folds, 3, n_jobs=2))) == 2
    assert told_by(lambda: ranker.fit(pickle.loads(pickle.dumps(data)))) == []


def test_the_warning_points_to_the_caller():
    with pytest.warns(DataWarning) as told:
        om.EnsembleRanker(n_trees=2).fit(trapped())
    assert {w.filename for w in told} == {__file__}


def test_the_search_is_cheap():
    X = rng().normal(size=(20_000, 100))
    y = classes(20_000)
    om.Dataset(X[:100], y[:100]).notes  # noqa: B018  (imports)
    data = om.Dataset(X, y)
    started = time.process_time()
    assert data.notes == ()
    searching = time.process_time() - started
    np.sort(X, axis=0)
    assert searching < 3 * (time.process_time() - started - searching)


# -- texts --------------------------------------------------------------------------------------------


def as_text(numbers, *marks):
    return pd.Series([*marks, *map(str, numbers[len(marks) :])], dtype=object)


CURE = "if it is a quantity, pd.to_numeric(frame['odd'], errors='coerce') makes numbers of it"


@pytest.mark.parametrize(
    "cells",
    [
        as_text(rng().normal(size=N)),
        as_text(rng().normal(size=N).round(1), "n.d.", "n.d.", "nan", "nan"),
        as_text(rng().integers(30, size=N), "n.d."),
        as_text(rng().integers(5, size=N) / 2),
    ],
)
def test_numbers_as_text_are_told_with_the_cure(cells):
    told = (f"feature 'odd' holds numbers as text, taken as categories: {CURE}",)
    assert notes(noise().assign(odd=cells), classes()) == told
    assert notes(noise().assign(odd=cells.astype("string")), classes()) == told
    assert notes(noise().assign(odd=cells)[5:24]) == told
    with pytest.warns(DataWarning, match="numbers as text"):
        om.EnsembleRanker(n_trees=2).fit(noise().assign(odd=cells), classes())
    declared = notes(noise().assign(odd=cells.astype("category")), classes())
    by_name = notes(noise().assign(odd=cells), classes(), nominal=["odd"])
    assert not any("numbers as text" in text for text in declared + by_name)


def test_numbers_as_text_in_an_array_and_in_a_file(tmp_path):
    array = np.column_stack([rng().normal(size=N).astype(str), np.array(["u", "v"])[classes()]])
    (told,) = notes(array)
    assert told.startswith("feature 'x0' holds numbers as text")
    frame = noise().assign(odd=as_text(rng().normal(size=N)))
    assert len(notes(frame.assign(other=frame["odd"]))) == 1
    frame.to_parquet(tmp_path / "a.parquet")
    assert "numbers as text" in om.load(tmp_path / "a.parquet").notes[-1]
    assert "numbers as text" not in "".join(om.load(tmp_path / "a.parquet", nominal="odd").notes)


@pytest.mark.parametrize(
    "cells", [as_text(np.arange(N) % 10), as_text(np.arange(N) % 3, "n.d."), [f"a{i % 90}" for i in range(N)]]
)
def test_few_whole_numbers_as_text_are_codes(cells):
    assert notes(noise().assign(odd=cells), classes()) == ()


def test_the_text_nan_is_told():
    cells = np.array(["pos", "neg", np.nan])[np.arange(N) % 3]
    advice = "for missing values use None with dtype=object"
    assert notes(cells.reshape(-1, 1), classes()) == (f"feature 'x0' has the text 'nan' as a category: {advice}",)
    for task in ("auto", "classification"):
        assert notes(noise(), cells, task=task) == (f"the text 'nan' is a class of 'y' (66 examples): {advice}",)
    assert notes(noise(), np.where(cells == "nan", None, cells)) == ()


def test_a_class_of_one_labelled_example_is_told():
    y = pd.Series(["healthy"] * 39 + ["sick"] + [None] * (N - 40), name="state")
    (told,) = notes(noise(), y)
    assert told.startswith("class 'sick' of 'state' has 1 labelled example:")
    assert notes(noise(), y.where(y.index != 0, "sick")) == ()
    assert notes(noise(), y, task="clustering") == ()


def test_classes_that_look_like_label_sets():
    told = om.Dataset(np.arange(8.0).reshape(4, 2), ["p", "p;q", "q", "p"], target_names=["kinds"]).notes
    assert told == (
        "the classes of 'kinds' look like label sets ('p;q'); if they are, give each label a column of 0 and 1 "
        "(pandas: frame['kinds'].str.get_dummies(';')), and none where unlabelled (.where(frame['kinds'].notna()))",
    )
    assert om.Dataset(np.arange(8.0).reshape(4, 2), ["p", "p; or not", "q", "p"]).notes == ()
