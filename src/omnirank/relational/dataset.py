"""A data set of several linked tables: examples are rows of one of them, described by all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from omnirank.core.errors import DataError
from omnirank.core.plurals import counted
from omnirank.core.types import FrameLike, PathLike
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.table import chosen_numbers
from omnirank.data.target import Target
from omnirank.relational.database import Database
from omnirank.relational.fingerprints import fingerprint_of
from omnirank.relational.remarks import RelationalRemarks
from omnirank.relational.schema import Schema

TargetColumn = str | tuple[str, str]


class RelationalDataset:
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
        self._remarks = RelationalRemarks() if remarks is None else remarks

    # -- where it comes from ------------------------------------------------------------------------

    @classmethod
    def from_frames(
        cls,
        frames: Mapping[str, FrameLike],
        *,
        target: TargetColumn | Sequence[TargetColumn],
        keys: Mapping[Any, Any] | None = None,
        types: Mapping[Any, str] | None = None,
        exclude: Sequence[Any] | None = None,
        time: Mapping[str, str] | Sequence[TargetColumn] | None = None,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        like: RelationalDataset | Schema | None = None,
        name: str = "data",
    ) -> RelationalDataset:
        """Make a data set from data frames (pandas, polars, pyarrow).

        Identifiers and foreign keys that are not given are inferred from names and values; `notes` tells which. The
        order of rows says nothing: examples come in the order of their identifiers (`example_ids`).

        Parameters
        ----------
        frames : mapping of str to data frame
            The tables.
        target : str, pair of str, or list of those
            The target column, ``"table.column"`` or ``(table, column)``; several columns of a table give several
            targets. The name of a table: its rows are examples without a target.
        keys : mapping, optional
            Identifiers: ``{"movies": "id"}``, a list of columns, None for none, "*" to take every row as an object of
            its own. Foreign keys: ``{"ratings.movie": "movies"}``; a type of objects without a table, or None for none.
        types : mapping, optional
            Kinds of columns: ``{"atoms.type": "nominal"}``; also "numeric", "date", and "nominal:<domain>".
        exclude : sequence, optional
            Tables and columns to leave out.
        time : mapping or sequence, optional
            Columns that say when a row was known, ``{"orders": "date", "customers": "asked_on"}`` or
            ``["orders.date", "customers.asked_on"]``; that of the target table is the examples' cut-off time.
        task, hierarchy
            As in :class:`omnirank.Dataset`.
        like : RelationalDataset or Schema, optional
            Takes keys and kinds from a data set of the same schema, instead of inferring them.
        name : str
            What the data set is called in reports.

        Examples
        --------
        >>> import pandas as pd
        >>> import omnirank as om
        >>> orders = pd.DataFrame({"order": [1, 2], "by": ["ana", "ana"], "paid": [True, False]})
        >>> data = om.RelationalDataset.from_frames(
        ...     {"orders": orders}, keys={"orders": "order", "orders.by": "customer"}, target="orders.paid"
        ... )
        >>> data.database.relations["orders_by"].components[1].type
        'customer'
        """
        from omnirank.relational.from_tables import dataset_from_tables

        return dataset_from_tables(
            frames, target=target, keys=keys, types=types, exclude=exclude, time=time, task=task, hierarchy=hierarchy,
            like=like, name=name,
        )  # fmt: skip

    @classmethod
    def from_folder(
        cls,
        path: PathLike,
        *,
        target: TargetColumn | Sequence[TargetColumn] | None = None,
        keys: Mapping[Any, Any] | None = None,
        types: Mapping[Any, str] | None = None,
        exclude: Sequence[Any] | None = None,
        time: Mapping[str, str] | Sequence[TargetColumn] | None = None,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        like: RelationalDataset | Schema | None = None,
        name: str | None = None,
    ) -> RelationalDataset:
        """Make a data set from a folder of CSV, TSV and Parquet files (each may be gzipped), one per table.

        A file ``schema.toml`` or ``schema.json`` in the folder may say the target, identifiers, foreign keys, kinds of
        columns, what to leave out and time columns; the parameters correct it.

        Parameters
        ----------
        path : str or Path
            The folder.
        target, keys, types, exclude, time, task, hierarchy, like
            As in :meth:`from_frames`.
        name : str, optional
            Name of the data set; by default that of the folder.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import omnirank as om
        >>> frames = om.datasets.make_movies(as_frames=True, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for table, frame in frames.items():
        ...         frame.to_csv(pathlib.Path(folder, f"{table}.csv"), index=False)
        ...     data = om.RelationalDataset.from_folder(folder, target="movies.genre", name="movies")
        >>> data.fingerprint == om.datasets.make_movies(random_state=0).fingerprint
        True
        """
        from omnirank.relational.folders import dataset_from_folder

        return dataset_from_folder(
            path, target=target, keys=keys, types=types, exclude=exclude, time=time, task=task, hierarchy=hierarchy,
            like=like, name=name,
        )  # fmt: skip

    @classmethod
    def from_database(
        cls,
        source: Any,
        *,
        target: TargetColumn | Sequence[TargetColumn],
        schema: str | None = None,
        tables: Sequence[str] | None = None,
        keys: Mapping[Any, Any] | None = None,
        types: Mapping[Any, str] | None = None,
        exclude: Sequence[Any] | None = None,
        time: Mapping[str, str] | Sequence[TargetColumn] | None = None,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        like: RelationalDataset | Schema | None = None,
        name: str | None = None,
    ) -> RelationalDataset:
        """Make a data set from a database, through SQLAlchemy (``pip install 'omnirank[databases]'``).

        Keys are those that the database declares; where it declares no foreign key at all, they are inferred. All
        tables are read in one transaction, which sees one state of the database. Nothing is written.

        Parameters
        ----------
        source : str, sqlalchemy.URL or sqlalchemy.Engine
            The database, such as ``sqlite:///movies.db`` or ``postgresql+psycopg://user@host/movies``.
        target, keys, types, exclude, time, task, hierarchy, like
            As in :meth:`from_frames`.
        schema : str, optional
            The schema of the database that holds the tables; by default the usual one.
        tables : sequence of str, optional
            The tables to read; by default all.
        name : str, optional
            Name of the data set; by default that of the database.

        Examples
        --------
        >>> import pathlib, sqlite3, tempfile
        >>> import omnirank as om
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "movies.db")
        ...     connection = sqlite3.connect(path)
        ...     for table, frame in om.datasets.make_movies(as_frames=True, random_state=0).items():
        ...         _ = frame.to_sql(table, connection, index=False)
        ...     connection.close()
        ...     om.RelationalDataset.from_database(f"sqlite:///{path}", target="movies.genre")
        <RelationalDataset 'movies.db': 200 examples, 4 tables, 12 relations, classification, 200 labelled>
        """
        from omnirank.relational.sql import dataset_from_database

        return dataset_from_database(
            source, target=target, schema=schema, tables=tables, keys=keys, types=types, exclude=exclude, time=time,
            task=task, hierarchy=hierarchy, like=like, name=name,
        )  # fmt: skip

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
        tables = {relation.table for relation in self.database.relations.values()} | set(
            () if self.schema is None else self.schema.tables
        )
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

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the facts, the examples and the target; the same for any order of the tables' rows."""
        return fingerprint_of(self)
