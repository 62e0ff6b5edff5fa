"""Fingerprints of databases: equal facts have equal hashes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from omnirank.data.dataset import hash_arrays, target_parts

if TYPE_CHECKING:
    from omnirank.relational.database import Database
    from omnirank.relational.dataset import RelationalDataset


def fingerprint_of(dataset: RelationalDataset) -> str:
    """Return a hash of the facts, the examples, the target and the task."""
    digest = hashlib.sha256(database_fingerprint(dataset.database).encode())
    facts, arrays = target_parts(dataset.target, dataset.hierarchy)
    digest.update(repr([dataset.task, dataset.example_types, dataset.time_columns, *facts]).encode())
    hash_arrays(digest, [*dataset.example_codes, *arrays, *([] if dataset.times is None else [dataset.times])])
    return digest.hexdigest()[:32]


def database_fingerprint(database: Database) -> str:
    """Return a hash of all facts and identifiers; computed once."""
    kept = database._indexes.get("fingerprint")
    if kept is None:
        digest = hashlib.sha256()
        for kind, identifiers in sorted(database.objects.items()):
            digest.update(repr(kind).encode())
            _hash_identifiers(digest, identifiers)
        for relation in database.relations.values():
            digest.update(repr((relation.name, relation.components)).encode())
            hash_arrays(digest, [*relation.facts, *([] if relation.times is None else [relation.times])])
        kept = database._indexes["fingerprint"] = digest.hexdigest()
    return str(kept)


def _hash_identifiers(digest: hashlib._Hash, identifiers: np.ndarray) -> None:
    if identifiers.dtype.kind in "if":
        hash_arrays(digest, [identifiers])
    else:
        digest.update(repr(identifiers.tolist()).encode())
