"""Self-training forests against their rules, and the scores of their members row by row."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import omnirank as om
from omnirank.ensembles.plan import GrowingData, GrowingRules
from omnirank.ensembles.scores import out_of_bag
from omnirank.ensembles.self_training import Member, MemberGrower, rest_of_votes, self_train
from omnirank.errors import DataError
from omnirank.rankers.sefr import _member_scores
from omnirank.trees.prototypes import node_means
from omnirank.trees.tree import tree_from_grown
from reference import ensembles_self_training as reference


def some_labels(seed, n=60, n_classes=3, shown=0.4):
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 1.5 * classes
    X[:, 2] -= classes
    return X, np.where(rng.random(n) < shown, classes, -1)


def centroid_votes(X, member, classes, counts):
    """The votes of a classifier by weighted means, of two features that depend on the member."""
    own = X[:, [member % 4, (member + 2) % 4]]
    classes, counts = np.array(classes), np.array(counts)
    distances = []
    for c in range(3):
        weight = counts * (classes == c)
        centre = weight @ own / weight.sum() if weight.sum() else np.full(2, 1e9)
        distances.append(((own - centre) ** 2).sum(axis=1))
    return np.argmin(np.round(distances, 9), axis=0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("confidence", [0.5, 0.75])
def test_rounds_follow_the_rules(seed, confidence):
    X, classes = some_labels(seed)

    def grow(lesson):
        return Member(None, lesson, centroid_votes(X, lesson.member, lesson.classes, lesson.counts))

    def votes(member, found, counts):
        return centroid_votes(X, member, found, counts).tolist()

    lessons, expected, n_rounds = reference.self_train(votes, classes, 3, 7, confidence, 20, seed)
    # a function of this module cannot be sent to other processes
    found = _without_workers(grow, classes, confidence, seed)
    assert found.n_rounds == n_rounds > 1
    for member, (labels, counts), own in zip(found.members, lessons, expected, strict=True):
        np.testing.assert_allclose(member.lesson.counts, counts, rtol=1e-12)
        seen = member.lesson.counts > 0
        assert member.lesson.classes[seen].tolist() == np.array(labels)[seen].tolist()
        assert member.votes.tolist() == own


def _without_workers(grow, classes, confidence, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("omnirank.ensembles.self_training.run_parallel", lambda f, items, *_, **__: list(map(f, items)))
        return self_train(grow, classes, 3, 7, confidence, 20, seed)


def test_scores_of_a_member_are_falls_of_accuracy_row_by_row():
    X, classes = some_labels(1)
    y = np.array(["a", "b", "c", None], dtype=object)[classes]
    dataset = om.Dataset(X, y)
    grow = MemberGrower(GrowingData(dataset, 3), GrowingRules(min_samples_leaf=1))
    found = self_train(grow, classes, 3, 5, 0.6, 10, 3)
    votes = np.array([m.votes for m in found.members])
    for number, member in enumerate(found.members):
        others = rest_of_votes(votes, number, 3).argmax(axis=1)
        truth = np.where(classes >= 0, classes, others)
        plan = grow.plan(np.where(member.lesson.counts > 0, member.lesson.classes, truth))
        tree = tree_from_grown(member.grown, plan.dataset.features, *node_means(member.grown, plan.columns))
        order = out_of_bag(plan, member.grown, member.lesson.counts, number).order
        n = len(order.rows)
        donors = [[order.shuffled[(i + shift) % n] for i in range(n)] for shift in order.shift]

        def predict(cells, tree=tree):
            return int(np.argmax(tree.means(tree.apply(cells[None, :]))))

        expected = reference.falls_of_accuracy(predict, X, truth, order.rows.tolist(), donors)
        score = _member_scores(grow, votes, classes, 3, member)
        np.testing.assert_allclose(score, expected, atol=1e-12)


@pytest.mark.slow
def test_unlabelled_examples_are_learned_from_and_relevant_features_found():
    X, classes = some_labels(0, n=300, shown=0.25)
    X = np.column_stack([X, np.random.default_rng(9).normal(size=(300, 4))])
    y = np.where(classes >= 0, classes, np.nan)
    ranker = om.rankers.SEFRRanker(n_trees=50, task="classification", random_state=0).fit(X, y)
    assert set(ranker.ranking_.top(2)) == {"x0", "x2"}
    assert ranker.n_added_.min() > 0


def test_all_labelled_is_a_random_forest():
    X, classes = some_labels(0, shown=1.0)
    ranker = om.rankers.SEFRRanker(n_trees=10, random_state=0).fit(X, classes)
    assert ranker.n_added_.max() == 0
    assert ranker.n_rounds_ == 1


def test_names_of_classes_do_not_matter():
    X, classes = some_labels(2, n=120)
    one, other = (np.array([*names, None], dtype=object)[classes] for names in ("abc", "bca"))
    usual, rotated = (om.rankers.SEFRRanker(n_trees=10, random_state=0).fit(X, y) for y in (one, other))
    # votes that tie go to the first class by name: only those may differ
    assert usual.ranking_.top(1) == rotated.ranking_.top(1)


def test_what_it_is_not_for_is_refused_and_rounds_that_end_early_are_told():
    X, classes = some_labels(0)
    with pytest.raises(DataError, match=r"does not handle regression; it handles classification; methods that do"):
        om.rankers.SEFRRanker().fit(X, X[:, 0])
    with pytest.raises(DataError, match="one class only"):
        om.rankers.SEFRRanker(task="classification").fit(X, np.where(classes == 0, 0.0, np.nan))
    X, classes = some_labels(0, n=300, shown=0.25)
    y = np.where(classes >= 0, classes, np.nan)
    with pytest.warns(ConvergenceWarning, match="sefr has not converged in 1 iterations"):
        om.rankers.SEFRRanker(n_trees=9, confidence=0.5, max_rounds=1, task="classification", random_state=0).fit(X, y)
