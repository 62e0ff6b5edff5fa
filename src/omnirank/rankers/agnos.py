"""AgnoS-S: which inputs an auto-encoder keeps if it pays for each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from omnirank.core.blas_threads import one_blas_thread
from omnirank.core.parallel import counted_steps
from omnirank.core.parameters import Domain, choice, count, number
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.seeds import root_entropy, stream
from omnirank.data.dataset import Dataset
from omnirank.data.task_registry import TaskNames
from omnirank.graphs.columns import GraphColumns, graph_columns
from omnirank.rankers.base import BaseRanker, warn_unless

# Means over so many epochs are compared: single ones depend on the order of the examples.
_WINDOW = 10
# Examples from which the intrinsic dimension is estimated, and the share of them that is left out as too far apart.
_MOST_EXAMPLES, _LEFT_OUT = 5000, 0.1
# The parameters of Adam that its authors recommend.
_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8

Parameters = dict[str, np.ndarray]


@dataclass(eq=False, repr=False)
class AgnosRanker(BaseRanker):
    r"""Rank features without a target by what an auto-encoder needs to reconstruct all of them (AgnoS-S).

    Each feature :math:`x_i` (standardised, the 0/1 columns of a nominal one together) is multiplied by a slack variable
    :math:`a_i` before it enters a network with one hidden layer of tanh units, which reconstructs the features as they
    were. The loss

    .. math:: \sum_i \sqrt{\frac1n \sum_k \| \hat x_i(k) - x_i(k) \|^2} + \lambda \sum_i |a_i|

    is minimised by Adam from :math:`a_i = 1`; the importance is :math:`|a_i|`. Features that tell about others keep
    their slack; noise, and what others tell, loses it. Constant features get 0. Missing cells take the mean or the most
    frequent level of the known ones.

    Parameters
    ----------
    n_hidden : int or "auto"
        Width of the hidden layer; "auto": the intrinsic dimension of the examples, estimated from the ratios of the
        distances to their two nearest neighbours.
    penalty : float
        Weight :math:`\lambda` of the slack variables, at most a million.
    n_epochs : int
        The largest number of passes through the examples. Training ends before if the mean loss over ten epochs is not
        smaller by the share ``tolerance`` than over the ten epochs before, and warns if it does not.
    tolerance : float
        See there.
    learning_rate : float
        Of Adam, at most 1: by larger steps no training settles.
    batch_size : int
        Number of examples in a step.
    task, hierarchy, n_features_to_select, n_jobs
        As in all rankers; one worker trains the network.
    random_state : None, int, RandomState or Generator
        Seed of the weights at the beginning and of the order of the examples.

    Attributes
    ----------
    n_hidden_ : int
        Width of the hidden layer.
    losses_ : ndarray
        Mean loss in each epoch.

    References
    ----------
    Doquet, Sebag: Agnostic feature selection. ECML PKDD 2019. Facco et al.: Estimating the intrinsic dimension of
    datasets by a minimal neighborhood information. Scientific Reports 7, 2017. Kingma, Ba: Adam. ICLR 2015.

    Examples
    --------
    >>> import numpy as np
    >>> import omnirank as om
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(100, 1))
    >>> X = np.hstack([hidden + 0.1 * rng.normal(size=(100, 3)), rng.normal(size=(100, 3))])
    >>> sorted(om.rankers.AgnosRanker(n_hidden=1, random_state=0).fit(X).ranking_.order[:2].tolist())
    [0, 2]
    """

    _parameter_checks: ClassVar[dict[str, Domain]] = {
        "n_hidden": choice("auto") | count(1),
        "penalty": number(0, 1e6),
        "n_epochs": count(1),
        "tolerance": number(0),
        "learning_rate": number(above=0, most=1),
        "batch_size": count(1),
    }
    supported_tasks = TaskNames("none")
    supported_supervision = ("unsupervised",)

    n_hidden: int | str = "auto"
    penalty: float = 1.0
    n_epochs: int = 1000
    tolerance: float = 1e-3
    learning_rate: float = 0.01
    batch_size: int = 8

    def _rank(self, dataset: Dataset) -> Ranking:
        scores = np.zeros(dataset.n_features)
        # products of matrices add in another order with more threads
        with one_blas_thread():
            columns = graph_columns(dataset.features)
            self.n_hidden_, self.losses_ = 0, np.empty(0)
            if len(columns.feature):
                varying = np.unique(columns.feature)
                scores[varying] = self._slack(columns, np.searchsorted(columns.feature, varying))
        return self._ranking(dataset, scores, "agnos-s")

    def _slack(self, columns: GraphColumns, starts: np.ndarray) -> np.ndarray:
        """Absolute values of the slack variables after the training."""
        entropy = root_entropy(self.random_state)
        values = columns.values
        wanted = self.n_hidden
        self.n_hidden_ = intrinsic_dimension(values, stream(entropy, 0)) if isinstance(wanted, str) else int(wanted)
        rng = stream(entropy, 1)
        network = Autoencoder(starts, float(self.penalty))
        parameters = initial_parameters(len(starts), values.shape[1], self.n_hidden_, rng)
        training = epochs(
            network, parameters, values, learning_rate=self.learning_rate, batch_size=self.batch_size, rng=rng
        )
        losses: list[float] = []
        latest: deque[float] = deque(maxlen=2 * _WINDOW)
        for _ in counted_steps(self.n_epochs, "training an auto-encoder"):
            losses.append(next(training))
            latest.append(losses[-1])
            if len(latest) == 2 * _WINDOW and _has_converged(np.array(latest), self.tolerance):
                break
        else:
            warn_unless(False, "agnos-s", self.n_epochs)
        self.losses_ = np.array(losses)
        return np.abs(parameters["slack"])


def _has_converged(losses: np.ndarray, tolerance: float) -> bool:
    """Whether the mean loss of the second half is lower than that of the first one by this share of it at most.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.rankers.agnos import _WINDOW, _has_converged
    >>> losses = np.repeat([4.0, 3.0], _WINDOW)
    >>> _has_converged(losses, 0.25), _has_converged(losses, 0.24)
    (True, False)
    """
    before, now = losses[:_WINDOW].mean(), losses[_WINDOW:].mean()
    return bool(before - now <= tolerance * abs(before))


def intrinsic_dimension(values: np.ndarray, rng: np.random.Generator) -> int:
    """Return the dimension of the examples, from the ratios of the distances to their two nearest neighbours.

    With ratios mu in ascending order, the dimension is the slope of -log(1 - i / n) by log mu through the origin; the
    largest tenth is left out. It is at least 1 and at most the number of columns, or of examples.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        The examples.
    rng : Generator
        Draws 5000 of them, where there are more.

    Examples
    --------
    >>> import numpy as np
    >>> from omnirank.rankers.agnos import intrinsic_dimension
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.random((1000, 2)) @ rng.normal(size=(2, 6))
    >>> intrinsic_dimension(plane, rng)
    2
    """
    from sklearn.neighbors import NearestNeighbors

    if len(values) > _MOST_EXAMPLES:
        values = values[np.sort(rng.choice(len(values), _MOST_EXAMPLES, replace=False))]
    n = len(values)
    if n < 3:
        return 1
    nearest = NearestNeighbors(n_neighbors=3).fit(values).kneighbors(values, return_distance=False)
    # exact, since examples that are there twice say nothing about distances: rounding would part them
    _, first, second = np.sort([np.linalg.norm(values - values[near], axis=1) for near in nearest.T], axis=0)
    ratios = np.sort(second[first > 0] / first[first > 0])
    kept = int(len(ratios) * (1 - _LEFT_OUT))
    logs = np.log(ratios[:kept])
    if not logs.any():
        return 1
    heights = -np.log1p(-np.arange(1, kept + 1) / len(ratios))
    return int(np.clip(np.rint(logs @ heights / (logs @ logs)), 1, min(values.shape)))


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """The loss of an auto-encoder and its gradients.

    Attributes
    ----------
    starts : ndarray of int
        First column of each feature.
    penalty : float
        Weight of the absolute values of the slack variables.
    """

    starts: np.ndarray
    penalty: float

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
        roots = np.sqrt(squares)
        # a feature without any error stays where it is
        by_errors = errors / np.repeat(np.where(roots > 0, n * roots, np.inf), sizes)
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
        return float(roots.sum() + self.penalty * np.abs(parameters["slack"]).sum()), gradients


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
