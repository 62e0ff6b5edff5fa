"""Files of models: size, and time to write and to read a forest, beside pickle."""

from __future__ import annotations

import pickle
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import omnirank as om
from benchmarks import Bar, Contestant, compare, figure

SIZES = (20_000, 50, 100)
QUICK_SIZES = (500, 10, 5)


def fitted(n_examples: int, n_features: int, n_trees: int) -> Any:
    """A forest of fully grown trees for one number, of which no two values are equal: the largest files."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_examples, n_features))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.3 * rng.normal(size=n_examples)
    return om.PCTForestRegressor(n_trees=n_trees, random_state=0, n_jobs=-1).fit(X, y)


def save_omnirank(model: Any, path: Path) -> None:
    model.save(path)


def save_pickle(model: Any, path: Path) -> None:
    path.write_bytes(pickle.dumps(model))


def load_pickle(path: Path) -> Any:
    return pickle.loads(path.read_bytes())


def itself(value: Any) -> Any:
    return value


def run(quick: bool = False) -> list:
    """A forest of 100 trees on 20,000 x 50: at most 20 MB, and a second to write and to read."""
    model = fitted(*(QUICK_SIZES if quick else SIZES))
    second, most = (None, None) if quick else (Bar(at_most=1), Bar(at_most=20))
    with tempfile.TemporaryDirectory() as folder:
        own, other = Path(folder, "model.omr"), Path(folder, "model.pickle")
        save_omnirank(model, own)
        save_pickle(model, other)
        writing = [
            Contestant("omnirank", partial(itself, model), partial(save_omnirank, path=own)),
            Contestant("pickle", partial(itself, model), partial(save_pickle, path=other)),
        ]
        reading = [
            Contestant("omnirank", partial(itself, own), om.load_model),
            Contestant("pickle", partial(itself, other), load_pickle),
        ]
        written = compare("writing a forest", writing, repetitions=3, memory=False)
        read = compare("reading a forest", reading, repetitions=3, memory=False)
        return [
            written,
            read,
            figure("seconds to write a forest", written.timings[0].median, bar=second),
            figure("seconds to read a forest", read.timings[0].median, bar=second),
            figure("megabytes of the file", own.stat().st_size / 1e6, bar=most),
            figure("size of the file / that of a pickle", own.stat().st_size / other.stat().st_size),
        ]
