"""An auto-encoder of one hidden layer whose inputs are multiplied by slack variables, one per feature; and Adam."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

# The parameters of Adam that its authors recommend.
_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8
LOSSES = ("root", "squares")

Parameters = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """The loss of an auto-encoder and its gradients.

    Attributes
    ----------
    starts : ndarray of int
        First column of each feature.
    penalty : float
        Weight of the absolute values of the slack variables.
    loss : {"root", "squares"}
        How errors count.
    """

    starts: np.ndarray
    penalty: float
    loss: str

    def loss_and_gradients(self, parameters: Parameters, values: np.ndarray) -> tuple[float, Parameters]:
        """Return the loss of some examples and its derivatives by all parameters.

        Parameters
        ----------
        parameters : dict of str to ndarray
            As in `initial_parameters`.
        values : ndarray of shape (n, C)
            The columns of the examples.
        """
        n, n_columns = values.shape
        sizes = np.diff(np.append(self.starts, n_columns))
        slack = np.repeat(parameters["slack"], sizes)
        hidden = np.tanh((values * slack) @ parameters["encoder"] + parameters["encoder_bias"])
        errors = hidden @ parameters["decoder"] + parameters["decoder_bias"] - values
        squares = np.add.reduceat(np.einsum("ij,ij->j", errors, errors), self.starts) / n
        if self.loss == "root":
            roots = np.sqrt(squares)
            total = roots.sum()
            # a feature without any error stays where it is
            by_errors = errors / np.repeat(np.where(roots > 0, n * roots, np.inf), sizes)
        else:
            total = squares.sum()
            by_errors = 2 * errors / n
        by_input = by_errors @ parameters["decoder"].T * (1 - hidden**2)
        by_scaled = by_input @ parameters["encoder"].T
        gradients = {
            "slack": np.add.reduceat(np.einsum("ij,ij->j", by_scaled, values), self.starts)
            + self.penalty * np.sign(parameters["slack"]),
            "encoder": (values * slack).T @ by_input,
            "encoder_bias": by_input.sum(axis=0),
            "decoder": hidden.T @ by_errors,
            "decoder_bias": by_errors.sum(axis=0),
        }
        return float(total + self.penalty * np.abs(parameters["slack"]).sum()), gradients


def initial_parameters(n_features: int, n_columns: int, n_hidden: int, rng: np.random.Generator) -> Parameters:
    """Return slack variables of 1, weights drawn uniformly as Glorot and Bengio recommend, and biases of 0."""
    limit = np.sqrt(6 / (n_columns + n_hidden))
    return {
        "slack": np.ones(n_features),
        "encoder": rng.uniform(-limit, limit, (n_columns, n_hidden)),
        "encoder_bias": np.zeros(n_hidden),
        "decoder": rng.uniform(-limit, limit, (n_hidden, n_columns)),
        "decoder_bias": np.zeros(n_columns),
    }


class Adam:
    """Steps of stochastic gradient descent with adaptive moments."""

    def __init__(self, parameters: Parameters, learning_rate: float) -> None:
        self._rate = learning_rate
        self._first = {name: np.zeros_like(value) for name, value in parameters.items()}
        self._second = {name: np.zeros_like(value) for name, value in parameters.items()}
        self._n_steps = 0

    def step(self, parameters: Parameters, gradients: Parameters) -> None:
        """Change the parameters in place."""
        self._n_steps += 1
        rate = self._rate * np.sqrt(1 - _BETA_2**self._n_steps) / (1 - _BETA_1**self._n_steps)
        for name, gradient in gradients.items():
            first, second = self._first[name], self._second[name]
            first += (1 - _BETA_1) * (gradient - first)
            second += (1 - _BETA_2) * (gradient**2 - second)
            parameters[name] -= rate * first / (np.sqrt(second) + _EPSILON)


def epochs(
    network: Autoencoder,
    parameters: Parameters,
    values: np.ndarray,
    *,
    learning_rate: float,
    batch_size: int,
    rng: np.random.Generator,
) -> Iterator[float]:
    """Train for one epoch after the other; yield the mean loss of the batches of each.

    Parameters
    ----------
    network : Autoencoder
        The loss.
    parameters : dict of str to ndarray
        Changed in place.
    values : ndarray of shape (n, C)
        The columns of all examples.
    learning_rate, batch_size : float, int
        Of Adam.
    rng : Generator
        Draws the order of the examples.
    """
    optimizer = Adam(parameters, learning_rate)
    n = len(values)
    while True:
        order, total = rng.permutation(n), 0.0
        for start in range(0, n, batch_size):
            batch = order[start : start + batch_size]
            loss, gradients = network.loss_and_gradients(parameters, values[batch])
            optimizer.step(parameters, gradients)
            total += loss * len(batch)
        yield total / n
