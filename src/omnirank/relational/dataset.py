"""A data set of several linked tables: examples are rows of one of them, described by all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from omnirank.core.caches import PickledWithoutCaches
from omnirank.core.errors import DataError, DataTypeError
from omnirank.core.plurals import counted
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import chosen_numbers
from omnirank.data.target import Target
from omnirank.relational.alignment import Signature, aligned
from omnirank.relational.database import Database
from omnirank.relational.fingerprints import fingerprint_of
from omnirank.relational.remarks import RelationalRemarks
from omnirank.relational.schema import Schema
from omnirank.relational.sources import RelationalSources
from omnirank.relational.summary import describe, table_names


class RelationalDataset(PickledWithoutCaches, RelationalSources):
    """Examples that are rows of one table of a database, with a target of any task.

    Made by :meth:`from_frames`, :meth:`from_folder`, :meth:`from_database` and :meth:`from_facts`; the constructor
    takes what they find.

    Parameters
    ----------
    database : Database
        The descriptive relations and their objects.
    example_types : tuple of str
        Types of the objects that identify an example; as a rule one.
    example_codes : tuple of ndarray
        For each of them, the int32 code of each example's object.
    target : Target or None
        The target.
    task : str
        The task.
    hierarchy : Hierarchy, optional
        Order of the labels.
    name : str
        What the data set is called in reports.
    target_name : str
        The target as it was named, such as ``movies.genre``.
    schema : Schema, optional
        Keys and kinds of the columns; None for facts.
    times : ndarray, optional
        Cut-off time of each example (inf: none): facts that were known later say nothing about it.
    time_columns : mapping of str to str, optional
        For each table with a time column, that column.
    remarks : RelationalRemarks, optional
        What to know before trusting a result.
    modes, aggregates : optional
        How a step may use each relation and which aggregates may be used, where settings of facts say it; to be given
        to learners.

    Examples
    --------
    >>> import pandas as pd
    >>> import omnirank as om
    >>> movies = pd.DataFrame({"id": [1, 2, 3], "genre": ["thriller", "drama", "drama"]})
    >>> ratings = pd.DataFrame({"movie_id": [1, 1, 2], "user": ["ana", "bob", "bob"], "stars": [3, 2, 3]})
    >>> data = om.RelationalDataset.from_frames({"movies": movies, "ratings": ratings}, target="movies.genre")
    >>> data
    <RelationalDataset 'data': 3 examples, 2 tables, 2 relations, classification, 3 labelled>
    >>> list(data.database.relations)
    ['ratings_user', 'ratings_stars']
    """

    def __init__(
        self,
        database: Database,
        example_types: tuple[str, ...],
        example_codes: tuple[np.ndarray, ...],
        target: Target | None,
        task: str,
        *,
        hierarchy: Hierarchy | None = None,
        name: str = "data",
        target_name: str = "",
        schema: Schema | None = None,
        times: np.ndarray | None = None,
        time_columns: Mapping[str, str] | None = None,
        remarks: RelationalRemarks | None = None,
        modes: Mapping[str, tuple[tuple[str, ...], ...]] | None = None,
        aggregates: tuple[str, ...] | None = None,
    ) -> None:
        if target is not None and target.n_examples != len(example_codes[0]):
            raise DataError(f"{counted(len(example_codes[0]), 'example')}, but the target has {target.n_examples}")
        self.database = database
        self.example_types = example_types
        self.example_codes = example_codes
        self.target = target
        self.task = task
        self.hierarchy = hierarchy
        self.name = name
        self.target_name = target_name
        self.schema = schema
        self.times = times
        self.time_columns: dict[str, str] = dict(time_columns or {})
        self.modes = modes
        self.aggregates = aggregates
        self._remarks = RelationalRemarks() if remarks is None else remarks

    # -- the parts ----------------------------------------------------------------------------------

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return len(self.example_codes[0])

    @property
    def n_targets(self) -> int:
        """Number of targets or labels."""
        return 0 if self.target is None else self.target.n_targets

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the targets or labels."""
        return () if self.target is None else self.target.names

    @property
    def y(self) -> Any:
        """The target as users write it: classes, numbers, a matrix, label sets; None without target."""
        return None if self.target is None else self.target.to_array()

    @cached_property
    def labelled(self) -> np.ndarray:
        """Mask of the examples with at least one known target value."""
        return np.zeros(self.n_examples, bool) if self.target is None else self.target.labelled

    @property
    def example_ids(self) -> Any:
        """Identifiers of the examples; pairs (or more) where several objects identify one."""
        found = [self.database.objects[t][c] for t, c in zip(self.example_types, self.example_codes, strict=True)]
        return found[0] if len(found) == 1 else list(zip(*(ids.tolist() for ids in found), strict=True))

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before trusting a result: how tables were read, inferred keys, columns that are traps."""
        return (*self._remarks.of_reader, *self._remarks.warnings(self))

    def __len__(self) -> int:
        return self.n_examples

    def __repr__(self) -> str:
        tables = table_names(self)
        return (
            f"<RelationalDataset {self.name!r}: {counted(self.n_examples, 'example')}, "
            f"{counted(len(tables), 'table')}, {counted(len(self.database.relations), 'relation')}, {self.task}, "
            f"{int(self.labelled.sum())} labelled>"
        )

    # -- views --------------------------------------------------------------------------------------

    def _with(self, **changes: Any) -> RelationalDataset:
        view = RelationalDataset.__new__(RelationalDataset)
        view.__dict__.update({k: v for k, v in self.__dict__.items() if k not in ("labelled", "fingerprint")} | changes)
        return view

    def take(self, rows: Any) -> RelationalDataset:
        """Return a view of the given examples; the database behind them stays whole.

        Parameters
        ----------
        rows : slice, mask or sequence of int
            Numbers of examples from 0, negative ones from the end; an example may be taken twice.

        Examples
        --------
        >>> import omnirank as om
        >>> data = om.datasets.make_movies(random_state=0)
        >>> len(data.take([0, 2])), data.take([0]).database is data.database
        (2, True)
        """
        chosen = chosen_numbers(rows, self.n_examples)
        return self._with(
            example_codes=tuple(codes[chosen] for codes in self.example_codes),
            target=None if self.target is None else self.target.take(chosen),
            times=None if self.times is None else self.times[chosen],
        )

    def hide_labels(self, rows: Any) -> RelationalDataset:
        """Return a view in which the given examples (slice, mask or numbers) are unlabelled.

        Examples
        --------
        >>> import omnirank as om
        >>> om.datasets.make_movies(random_state=0).hide_labels([0, 2]).labelled[:3].tolist()
        [False, True, False]
        """
        if self.target is None:
            raise DataError("there are no labels to hide: the data set has no target")
        return self._with(target=self.target.hide(chosen_numbers(rows, self.n_examples)))

    def describe(self) -> dict[str, Any]:
        """Return the facts about the data set as a flat dictionary, in reading order.

        Examples
        --------
        >>> import omnirank as om
        >>> om.datasets.make_movies(random_state=0).describe()["link relations"]
        3
        """
        return describe(self)

    @property
    def signature(self) -> Signature:
        """What a model must know of these data to be used on others: relations and their levels."""
        return Signature.of(self)

    def aligned_with(self, training: RelationalDataset | Signature) -> RelationalDataset:
        """Return the data set with the relations and levels of the data that a model was fitted to.

        A relation that is missing here is an error, as is one of another kind. Values that the other data did not have
        are put behind theirs, so that they are in no set of known values; a warning tells of them, and of nothing else.

        Parameters
        ----------
        training : RelationalDataset or Signature
            The other data set, or its `signature`.

        Examples
        --------
        >>> import omnirank as om
        >>> fitted, new = om.datasets.make_movies(random_state=0), om.datasets.make_movies(50, random_state=1)
        >>> known = fitted.database.relations["ratings_weekday"].components[1]
        >>> new.aligned_with(fitted).database.relations["ratings_weekday"].components[1] == known
        True
        """
        if not isinstance(training, Signature | RelationalDataset):
            raise DataTypeError(f"give the RelationalDataset to align with, not {type(training).__name__}")
        return aligned(self, training if isinstance(training, Signature) else Signature.of(training))

    def require_target(self, learner: str) -> None:
        """Refuse data without a target; a column without any known value is told from none.

        Parameters
        ----------
        learner : str
            What needs it.
        """
        if self.target is not None:
            return
        if self.schema is not None and self.target_name and self.target_name not in self.schema.tables:
            raise DataError(f"{learner} needs a target: {self.target_name} has no known value")
        raise DataError(f"{learner} needs a target: name a column of the table whose rows are the examples")

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the facts, the examples and the target; the same for any order of the tables' rows."""
        return fingerprint_of(self)
