"""The parameters that all generators share, written once: types, descriptions, signatures."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypedDict, TypeVar, cast

from omnirank.core.types import RandomState
from omnirank.data.dataset import Dataset
from omnirank.data.generators_features import FeaturePlan, Relevance

_FEATURES_DOC = """\
n_relevant : int
    Number of features that matter by themselves.
n_redundant : int
    Number of noisy linear copies of relevant features.
n_irrelevant : int
    Number of features that are not informative.
n_interacting : int
    Number of features that matter only together: in pairs (and one triple where the number is odd), by the
    sign of their product; one of them alone is independent of everything else.
share_nominal : float in [0, 1]
    Share of the features that are binned into 2, 4 or 6 levels named by letters.
missing_features : float in [0, 1)
    Share of the feature cells that are missing, at random.
noise : float
    Standard deviation of the noise, as a multiple of that of the signal.
shuffle : bool
    Whether the features are put in random order; else the relevant ones come first, then the
    interacting, the redundant and the irrelevant ones.
random_state : None, int, RandomState or Generator
    Seed; the same seed gives the same data."""

_TARGETS_DOC = """
labelled : float in [0, 1] or int
    Share (float) or number (int) of examples that are labelled. With the same seed the features stay the same
    and fewer labelled examples are a subset of more.
sparse : bool
    Text-like data: features are words, 1 in a few examples and else 0, in a sparse matrix; nominal
    features have the levels absent and present. Label sets are held in a sparse matrix too.
word_share : float in (0, 1)
    Share of the examples that hold a word (with ``sparse`` only)."""


class FeatureOptions(TypedDict, total=False):
    """Parameters of all generators; their defaults are those of `FeaturePlan`."""

    n_relevant: int
    n_redundant: int
    n_irrelevant: int
    n_interacting: int
    share_nominal: float
    missing_features: float
    noise: float
    shuffle: bool
    random_state: RandomState


class TargetOptions(FeatureOptions, total=False):
    """Parameters of all generators with a target."""

    labelled: float
    sparse: bool
    word_share: float


_Generator = TypeVar("_Generator", bound=Callable[..., tuple[Dataset, Relevance]])


def _shared(options: type, text: str) -> Callable[[_Generator], _Generator]:
    """Show the shared parameters in signature and docstring as if they were written out; refuse others."""

    def complete(function: _Generator) -> _Generator:
        written = inspect.signature(function)
        own = [p for p in written.parameters.values() if p.kind is not p.VAR_KEYWORD]
        defaults = inspect.signature(FeaturePlan).parameters
        shared = [defaults[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in options.__annotations__]
        signature = written.replace(parameters=[*own, *shared])

        @wraps(function)
        def generator(*args: Any, **kwargs: Any) -> tuple[Dataset, Relevance]:
            signature.bind(*args, **kwargs)
            return function(*args, **kwargs)

        generator.__doc__ = inspect.cleandoc(function.__doc__ or "").replace("{shared}", text)
        generator.__signature__ = signature  # type: ignore[attr-defined]
        return cast(_Generator, generator)

    return complete


with_features = _shared(FeatureOptions, _FEATURES_DOC)
with_target = _shared(TargetOptions, _FEATURES_DOC + _TARGETS_DOC)
