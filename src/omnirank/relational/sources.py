"""Where relational data sets come from: data frames, folders, databases, facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from omnirank.core.types import FrameLike, PathLike
from omnirank.data.hierarchy import Hierarchy
from omnirank.relational.schema import Schema

if TYPE_CHECKING:
    from omnirank.relational.dataset import RelationalDataset

TargetColumn = str | tuple[str, str]


class RelationalSources:
    """The constructors of :class:`omnirank.RelationalDataset`."""

    @classmethod
    def from_frames(
        cls,
        frames: Mapping[str, FrameLike],
        *,
        target: TargetColumn | Sequence[TargetColumn],
        keys: Mapping[Any, Any] | None = None,
        types: Mapping[Any, str] | None = None,
        exclude: Sequence[Any] | str | None = None,
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
        exclude: Sequence[Any] | str | None = None,
        time: Mapping[str, str] | Sequence[TargetColumn] | None = None,
        task: str = "auto",
        encoding: str = "utf-8",
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
        encoding : str
            The encoding of text files.
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
            like=like, encoding=encoding, name=name,
        )  # fmt: skip

    @classmethod
    def from_database(
        cls,
        source: Any,
        *,
        target: TargetColumn | Sequence[TargetColumn],
        schema: str | None = None,
        tables: Sequence[str] | str | None = None,
        keys: Mapping[Any, Any] | None = None,
        types: Mapping[Any, str] | None = None,
        exclude: Sequence[Any] | str | None = None,
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

    @classmethod
    def from_facts(
        cls,
        facts: PathLike | Sequence[PathLike],
        target_facts: PathLike | tuple[PathLike, PathLike],
        settings: PathLike | None = None,
        *,
        task: str = "auto",
        hierarchy: Hierarchy | None = None,
        exclude: Sequence[str] | str | None = None,
        encoding: str = "utf-8",
        name: str | None = None,
    ) -> RelationalDataset:
        """Make a data set from files of facts, one ``name(argument, argument)`` per line; each may be gzipped.

        Parameters
        ----------
        facts : str, Path or sequence of those
            The descriptive facts.
        target_facts : str, Path or pair of those
            Facts of the target, whose last argument is the value to predict, the others identify the example. A pair:
            positive and negative facts, of which all arguments identify the example. With a task of label sets, several
            facts of an example are its labels.
        settings : str or Path, optional
            Types of the arguments, aggregates and modes: sections ``[Relations]`` (the target first), ``[Aggregates]``
            and ``[AtomTests]``, or lines ``mode: name(+type, -type, #type).``; without it types are inferred (`notes`
            tells).
        task, hierarchy
            As in :class:`omnirank.Dataset`.
        exclude : sequence of str, optional
            Predicates to leave out.
        encoding : str
            The encoding of the files.
        name : str, optional
            Name of the data set; by default that of the first file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import omnirank as om
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     facts, target = pathlib.Path(folder, "facts.txt"), pathlib.Path(folder, "target.txt")
        ...     _ = facts.write_text("likes(ana, beef).\\nlikes(bob, eggs).\\n")
        ...     _ = target.write_text("vegetarian(ana, no).\\nvegetarian(bob, yes).\\n")
        ...     om.RelationalDataset.from_facts(facts, target)
        <RelationalDataset 'facts': 2 examples, 1 table, 1 relation, classification, 2 labelled>
        """
        from omnirank.relational.from_facts import dataset_from_facts

        return dataset_from_facts(
            facts, target_facts, settings, task=task, hierarchy=hierarchy, exclude=exclude, encoding=encoding, name=name
        )
