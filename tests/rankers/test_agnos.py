"""AgnosRanker: loss and gradients against plain loops, training, and the truths it must know."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import omnirank as om
from draws import draws
from omnirank.rankers.agnos import Adam, Autoencoder, epochs, initial_parameters, intrinsic_dimension
from reference import rankers_agnos as reference


def network(seed, penalty):
    """Values of three features, the second of two columns, and parameters of a small network."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(5, 4))
    parameters = initial_parameters(3, 4, 2, rng)
    # none of them 0, where the absolute value has no derivative
    parameters = {name: value + rng.uniform(0.1, 0.5, value.shape) for name, value in parameters.items()}
    parameters["slack"][1] *= -1
    return values, parameters, Autoencoder(np.array([0, 1, 3]), penalty)


@draws(5)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5]))
def test_loss_and_gradients_agree_with_the_reference(seed, penalty):
    values, parameters, model = network(seed, penalty)
    features = [0, 1, 1, 2]
    found, gradients = model.loss_and_gradients(parameters, values)
    assert found == pytest.approx(reference.loss(parameters, values, features, penalty), rel=1e-12)
    assert gradients.keys() == parameters.keys()
    for name, gradient in gradients.items():
        expected = reference.derivatives(parameters, name, values, features, penalty)
        np.testing.assert_allclose(gradient.ravel(), expected, rtol=1e-4, atol=1e-6)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6))
def test_adam_agrees_with_the_reference(gradients):
    parameters = {"x": np.array([0.7])}
    adam = Adam(parameters, 0.05)
    for gradient in gradients:
        adam.step(parameters, {"x": np.array([gradient])})
    np.testing.assert_allclose(parameters["x"][0], reference.adam(0.7, gradients, 0.05), rtol=1e-9)


def test_an_epoch_sees_every_example_once():
    values, parameters, model = network(0, 0.0)
    seen = []

    class Watched(Autoencoder):
        def loss_and_gradients(self, parameters, values):
            seen.append(values)
            return super().loss_and_gradients(parameters, values)

    watched = Watched(model.starts, model.penalty)
    training = epochs(watched, parameters, values, learning_rate=0.01, batch_size=2, rng=np.random.default_rng(0))
    next(training)
    assert [len(batch) for batch in seen] == [2, 2, 1]
    np.testing.assert_array_equal(np.sort(np.concatenate(seen), axis=0), np.sort(values, axis=0))


@draws(8)
@given(st.integers(0, 10**6), st.integers(3, 30), st.sampled_from([1, 2, 4, 20]))
def test_intrinsic_dimension_agrees_with_the_reference(seed, n, d):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))[rng.integers(n, size=n)]  # some are there twice or more often
    assert intrinsic_dimension(points, rng) == reference.dimension(points.tolist())


def test_intrinsic_dimension_of_many_examples_and_of_few():
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(6000, 3))
    assert intrinsic_dimension(np.hstack([ball, ball, ball]), rng) == 3
    assert intrinsic_dimension(np.zeros((2, 4)), rng) == 1
    assert intrinsic_dimension(np.array([[0.0, 0], [0, 1], [1, 0]]), rng) == 2
    assert intrinsic_dimension(np.zeros((9, 4)), rng) == 1


def clustered(seed, n=200):
    """Ten features of three hidden ones, then ten of noise."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 3))
    own = np.tanh(hidden @ rng.normal(size=(3, 10))) + 0.1 * rng.normal(size=(n, 10))
    return np.hstack([own, rng.normal(size=(n, 10))])


@pytest.mark.slow
def test_features_that_tell_about_others_come_first():
    right = 0
    for seed in range(6):
        ranker = om.rankers.AgnosRanker(n_hidden=3, random_state=seed).fit(clustered(seed))
        right += (ranker.ranking_.order[:10] < 10).sum()
        assert ranker.losses_[-1] < ranker.losses_[0]
    # 30 by chance, with a standard deviation of 2.8; one seed alone differs by the processor's rounding
    assert right >= 48


def test_too_few_epochs_are_told():
    X = clustered(6, 50)
    with pytest.warns(ConvergenceWarning, match="agnos-s has not converged in 5 iterations"):
        ranker = om.rankers.AgnosRanker(n_epochs=5, random_state=0).fit(X)
    assert len(ranker.losses_) == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(om.rankers.AgnosRanker(tolerance=1.0, random_state=0).fit(X).losses_) == 20
