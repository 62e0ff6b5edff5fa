"""One short text for any result: two results have the same digest only where they have the same bits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import omnirank as om


def digest(result: Any) -> str:
    """Return the hash of a result of any type that omnirank returns.

    >>> from backends.digests import digest
    >>> digest([0.1 + 0.2, None]) == digest([0.3, None])
    False
    """
    found = hashlib.blake2b(digest_size=10)
    for part in _parts(result):
        found.update(part)
    return found.hexdigest()


def _parts(result: Any) -> Iterator[bytes]:
    yield type(result).__name__.encode()
    match result:
        case None | str() | int() | float() | np.generic():
            yield repr(result).encode()
        case np.ndarray() if result.dtype == object:
            yield from _parts(result.tolist())
        case np.ndarray():
            yield f"{result.dtype}{result.shape}".encode()
            yield np.ascontiguousarray(result).tobytes()
        case _ if sparse.issparse(result):
            cells = sparse.csr_array(result)
            yield from _parts([cells.shape, cells.indptr, cells.indices, cells.data])
        case pd.DataFrame():
            yield from _parts({name: result[name].to_numpy() for name in result.columns})
        case Mapping():
            for key, value in result.items():
                yield repr(key).encode()
                yield from _parts(value)
        case om.Ranking():
            by_target = None if result.per_target is None else result.per_target.scores
            yield from _parts([result.names, result.scores, result.standard_errors, by_target])
        case list() | tuple():
            for item in result:
                yield from _parts(item)
        case _ if is_dataclass(result):  # a tree
            yield from _parts([getattr(result, field.name) for field in fields(result)])
        case _:
            raise TypeError(f"no digest of a {type(result).__name__}")
