"""A data set of several linked tables: examples are rows of one of them, described by all.

Another database of the same schema is made comparable with the one that a model was fitted to by its `Signature`.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from omnirank.core.errors import DataError, DataTypeError, DataWarning, setting
from omnirank.core.immutable import PickledWithoutCaches
from omnirank.core.parameters import check, count, number, share
from omnirank.core.seeds import root_entropy, stream
from omnirank.core.text import counted, did_you_mean
from omnirank.core.types import FrameLike, PathLike, RandomState
from omnirank.data.dataset import hash_arrays, target_parts
from omnirank.data.generators import movie_tables
from omnirank.data.hierarchy import Hierarchy
from omnirank.data.notes import caller_outside
from omnirank.data.table import Levels, chosen_numbers
from omnirank.data.target import Target
from omnirank.relational.database import Component, Database, Relation, with_levels
from omnirank.relational.schema import Schema
from omnirank.relational.summary import RelationalRemarks, describe, table_names


class NoTargetError(DataError):
    """No target is named; the error knows the tables that there are.

    Examples
    --------
    >>> from omnirank.relational.dataset import NoTargetError
    >>> print(NoTargetError(["films", "roles"], "'shop'"))
    'shop' holds the tables films, roles: name the target by target='table.column', or by a table alone
    """

    def __init__(self, tables: Iterable[str], where: str) -> None:
        self.tables = tuple(tables)
        named = setting("target", "table.column")
        super().__init__(
            f"{where} holds the tables {', '.join(self.tables)}: name the target by {named}, or by a table alone"
        )


_SHOWN = 3


@dataclass(frozen=True)
class Signature:
    """What a model must know of the data that it was fitted to.

    Parameters
    ----------
    example_types : tuple of str
        Types of the objects that identify an example.
    relations : mapping of str to tuple of Component
        The components of each relation, with their levels.
    columns : mapping of str to str
        For each relation, the table and column behind it, as messages name them.
    """

    example_types: tuple[str, ...]
    relations: Mapping[str, tuple[Component, ...]]
    columns: Mapping[str, str]

    @classmethod
    def of(cls, dataset: RelationalDataset) -> Signature:
        """Return the signature of a data set."""
        relations = dataset.database.relations
        columns = {name: r.table if r.column is None else f"{r.table}.{r.column}" for name, r in relations.items()}
        return cls(dataset.example_types, {name: r.components for name, r in relations.items()}, columns)

    def needed_of(self, dataset: RelationalDataset, used: Collection[str]) -> Signature:
        """Return what a data set must have: all the relations, or only those used where it has others than these."""
        if set(self.relations) == set(dataset.database.relations):
            return self
        return replace(self, relations={name: parts for name, parts in self.relations.items() if name in used})


def _found(database: Database, name: str, signature: Signature) -> Relation:
    """The relation of a name, of the kinds that the model knows."""
    where, components = signature.columns[name], signature.relations[name]
    relation = database.relations.get(name)
    if relation is None:
        hint = did_you_mean(name, list(database.relations))
        raise DataError(f"there is no {where}, which the model was fitted to (relation {name!r}){hint}")
    if _objects(relation.components) != _objects(components):
        raise DataError(f"{where} has other keys than in the data that the model was fitted to")
    for here, there in zip(relation.components, components, strict=True):
        if here.kind != there.kind and relation.n_facts:
            raise DataError(f"{where} is {here.kind} here, but {there.kind} in the data that the model was fitted to")
    return relation


def _objects(components: tuple[Component, ...]) -> list[str | None]:
    return [component.type if component.kind == "object" else None for component in components]


def _as_fitted(relation: Relation, name: str, signature: Signature, unseen: dict[str, list[str]]) -> Relation:
    """The relation with the levels of the signature, then new ones, which are noted by column."""
    components = signature.relations[name]
    if not relation.n_facts:
        empty = tuple(np.empty(0, np.float64 if part.kind == "numeric" else np.int32) for part in components)
        return replace(relation, components=components, facts=empty)
    levels: dict[int, Levels] = {}
    for i, (here, there) in enumerate(zip(relation.components, components, strict=True)):
        if there.levels is not None and here.levels is not None:
            known = set(there.levels)
            new = [level for level in here.levels if level not in known]
            levels[i] = (*there.levels, *new)
            if new:
                unseen[signature.columns[name]] = [str(level) for level in new]
    return with_levels(relation, levels)


def _tell(unseen: Mapping[str, list[str]]) -> None:
    shown = [
        f"{where} ({', '.join(levels[:_SHOWN])}{', ...' if len(levels) > _SHOWN else ''})"
        for where, levels in unseen.items()
    ]
    warnings.warn(
        f"values that the data of the fit did not have, taken as members of no set: {'; '.join(shown)}",
        DataWarning,
        stacklevel=caller_outside(),
    )


TargetColumn = str | tuple[str, str]


def check_relational(given: Any, learner: str) -> RelationalDataset:
    """Return what a learner is given, which must be a relational data set."""
    if not isinstance(given, RelationalDataset):
        raise DataTypeError(
            f"{learner} takes a RelationalDataset, not {type(given).__name__}: make one by "
            "RelationalDataset.from_frames, from_folder, from_database or from_facts. For one table, there are "
            "PCTForestClassifier, PCTForestRegressor and EnsembleRanker"
        )
    return given


@dataclass(eq=False, repr=False)
class RelationalDataset(PickledWithoutCaches):
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
    _remarks : RelationalRemarks, optional
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
    >>> tables = {"movies": movies, "ratings": ratings}
    >>> data = om.relational.RelationalDataset.from_frames(tables, target="movies.genre")
    >>> data
    <RelationalDataset 'data': 3 examples, 2 tables, 2 relations, classification, 3 labelled>
    >>> list(data.database.relations)
    ['ratings_user', 'ratings_stars']
    """

    database: Database
    example_types: tuple[str, ...]
    example_codes: tuple[np.ndarray, ...]
    target: Target | None
    task: str
    _: KW_ONLY
    hierarchy: Hierarchy | None = None
    name: str = "data"
    target_name: str = ""
    schema: Schema | None = None
    times: np.ndarray | None = None
    time_columns: Mapping[str, str] = field(default_factory=dict)
    _remarks: RelationalRemarks = field(default_factory=RelationalRemarks)
    groups = None  # of examples that stay together; functions take them as an argument
    modes: Mapping[str, tuple[tuple[str, ...], ...]] | None = None
    aggregates: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.target is not None and self.target.n_examples != self.n_examples:
            raise DataError(f"{counted(self.n_examples, 'example')}, but the target has {self.target.n_examples}")

    # -- sources ------------------------------------------------------------------------------------

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
        >>> data = om.relational.RelationalDataset.from_frames(
        ...     {"orders": orders}, keys={"orders": "order", "orders.by": "customer"}, target="orders.paid"
        ... )
        >>> data.database.relations["orders_by"].components[1].type
        'customer'
        """
        from omnirank.relational.tables import dataset_from_tables

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
        hierarchy: Hierarchy | None = None,
        like: RelationalDataset | Schema | None = None,
        encoding: str = "utf-8",
        name: str | None = None,
    ) -> RelationalDataset:
        """Make a data set from a folder of CSV, TSV and Parquet files (each may be gzipped), one per table.

        A file ``schema.toml`` or ``schema.json`` in the folder may say the target, identifiers, foreign keys, kinds of
        columns, what to leave out and time columns; the parameters correct it.

        Parameters
        ----------
        path : str or Path
            The folder.
        target : str, pair or sequence of those, optional
            As in :meth:`from_frames`; by default that of the schema file.
        encoding : str
            The encoding of text files.
        name : str, optional
            Name of the data set; by default that of the folder.
        keys, types, exclude, time, task, hierarchy, like
            As in :meth:`from_frames`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import omnirank as om
        >>> frames = om.datasets.make_movies(as_frames=True, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for table, frame in frames.items():
        ...         frame.to_csv(pathlib.Path(folder, f"{table}.csv"), index=False)
        ...     data = om.relational.RelationalDataset.from_folder(folder, target="movies.genre", name="movies")
        >>> data.fingerprint == om.datasets.make_movies(random_state=0).fingerprint
        True
        """
        from omnirank.relational.readers import dataset_from_folder

        columns: dict[str, Any] = {"target": target, "keys": keys, "types": types, "exclude": exclude, "time": time}
        return dataset_from_folder(path, encoding, name, **columns, task=task, hierarchy=hierarchy, like=like)

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
        target : str, pair or sequence of those
            As in :meth:`from_frames`.
        schema : str, optional
            The schema of the database that holds the tables; by default the usual one.
        tables : sequence of str, optional
            The tables to read; by default all.
        name : str, optional
            Name of the data set; by default that of the database.
        keys, types, exclude, time, task, hierarchy, like
            As in :meth:`from_frames`.

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
        ...     om.relational.RelationalDataset.from_database(f"sqlite:///{path}", target="movies.genre")
        <RelationalDataset 'movies.db': 200 examples, 4 tables, 12 relations, classification, 200 labelled>
        """
        from omnirank.relational.readers import dataset_from_database

        options: dict[str, Any] = {"keys": keys, "types": types, "exclude": exclude, "time": time, "task": task}
        return dataset_from_database(
            source, schema, tables, name, target=target, hierarchy=hierarchy, like=like, **options
        )

    @classmethod
    def from_facts(
        cls,
        facts: PathLike | Sequence[PathLike],
        target_facts: PathLike | tuple[PathLike, PathLike],
        settings: PathLike | None = None,
        *,
        types: Mapping[str, str] | None = None,
        duplicates: str = "once",
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
        types : mapping of str to str, optional
            Types of single arguments, in place of inferred ones: ``{"rings.2": "atoms.1"}`` says that the second
            argument of rings identifies the same objects as the first of atoms. Also "numeric", "nominal",
            "nominal:<domain>", and any other name for objects of their own.
        duplicates : {"once", "count"}
            Whether a fact that is repeated counts once, or as often as it stands there.
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
        ...     om.relational.RelationalDataset.from_facts(facts, target)
        <RelationalDataset 'facts': 2 examples, 1 table, 1 relation, classification, 2 labelled>
        """
        from omnirank.relational.facts import dataset_from_facts

        return dataset_from_facts(
            facts, target_facts, settings, types, duplicates, exclude, encoding, name, task, hierarchy
        )

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
    def feature_names(self) -> tuple[str, ...]:
        """Names of the relations: what rankings rank and selections keep."""
        return tuple(self.database.relations)

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
        return tuple(dict.fromkeys((*self._remarks.of_reader, *self._remarks.warnings(self))))

    def refuse_as_one(self, *_: Any, **__: Any) -> NoReturn:
        """Raise a DataError: the caller needs one table."""
        raise DataError(
            f"{self.name!r} holds several tables, but one is needed. RelationalForest, RelationalTree and "
            "RelationalRanker take several, RelationalFeatures makes one of them; om.select and "
            "omnirank.evaluation.cross.evaluate_relational judge what was learned"
        )

    __array__ = refuse_as_one

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
        return replace(
            self,
            example_codes=tuple(codes[chosen] for codes in self.example_codes),
            target=None if self.target is None else self.target.take(chosen),
            times=None if self.times is None else self.times[chosen],
        )

    def select_features(self, columns: Sequence[str] | Sequence[int] | np.ndarray) -> RelationalDataset:
        """Return a view of the given relations (names or numbers), in this order; all objects and examples stay.

        Examples
        --------
        >>> import omnirank as om
        >>> om.datasets.make_movies(random_state=0).select_features(["ratings_stars", "ratings_movie_id"])
        <RelationalDataset 'movies': 200 examples, 4 tables, 2 relations, classification, 200 labelled>
        """
        names = [name if isinstance(name, str) else self.feature_names[name] for name in columns]
        for name in names:
            if name not in self.database.relations:
                raise DataError(f"there is no relation {name!r}{did_you_mean(name, self.feature_names)}")
        database = self.database.restricted(names)
        modes = None if self.modes is None else {name: ways for name, ways in self.modes.items() if name in names}
        return replace(self, database=database, modes=modes)

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
        return replace(self, target=self.target.hide(chosen_numbers(rows, self.n_examples)))

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
        signature = training if isinstance(training, Signature) else Signature.of(training)
        if self.example_types != signature.example_types:
            raise DataError(
                f"the examples are {' and '.join(self.example_types)}, but the model was fitted to "
                f"{' and '.join(signature.example_types)}"
            )
        own, unseen = self.database, dict[str, list[str]]()
        known = {name: _found(own, name, signature) for name in signature.relations}
        relations = {name: _as_fitted(relation, name, signature, unseen) for name, relation in known.items()}
        if unseen:
            _tell(unseen)
        same = len(relations) == len(own.relations) and all(r is own.relations[name] for name, r in relations.items())
        return self if same else replace(self, database=Database(own.objects, relations))

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
        digest = hashlib.sha256(self.database.fingerprint.encode())
        facts, arrays = target_parts(self.target, self.hierarchy)
        digest.update(repr([self.task, self.example_types, self.time_columns, *facts]).encode())
        hash_arrays(digest, [*self.example_codes, *arrays, *([] if self.times is None else [self.times])])
        return digest.hexdigest()[:32]


_MOVIE_LINKS = {"ratings.movie_id": "movies", "ratings.user_id": "users", "users.nation_id": "nations"}


def make_movies(
    n_movies: int = 200,
    n_users: int = 150,
    mean_ratings: float = 8.0,
    noise: float = 0.05,
    *,
    as_frames: bool = False,
    random_state: RandomState = None,
) -> Any:
    """Generate a database of movies, whose genre depends on their ratings and on who gave them.

    A movie is a thriller unless the mean of its stars is above 5.5; then it is a drama if the mean age of those who
    rated it is above 42, else a comedy. So the stars of ratings and the age of users matter, with the links that lead
    to them; year, length and country of a movie, weekday of a rating, gender, nation and region do not.

    Parameters
    ----------
    n_movies, n_users : int
        Numbers of movies (the examples) and of users.
    mean_ratings : float
        Mean number of ratings of a movie; each has one at least.
    noise : float in [0, 1]
        Share of the movies that have another genre than the rule says.
    as_frames : bool
        Whether to return the tables as pandas DataFrames by name.
    random_state : None, int, RandomState or Generator
        Seed; the same seed gives the same data.

    Returns
    -------
    RelationalDataset or dict of str to DataFrame
        The data, with the target ``movies.genre``; or the tables movies, ratings, users and nations.

    Examples
    --------
    >>> from omnirank.datasets import make_movies
    >>> make_movies(random_state=0)
    <RelationalDataset 'movies': 200 examples, 4 tables, 12 relations, classification, 200 labelled>
    >>> make_movies(5, as_frames=True, random_state=0)["movies"].columns.tolist()
    ['id', 'year', 'minutes', 'country', 'genre']
    """
    check("n_movies", n_movies, count(1))
    check("n_users", n_users, count(1))
    check("mean_ratings", mean_ratings, number(1))
    check("noise", noise, share())
    frames = movie_tables(n_movies, n_users, mean_ratings, noise, stream(root_entropy(random_state), 0))
    if as_frames:
        return frames
    return RelationalDataset.from_frames(
        frames, keys=dict.fromkeys(frames, "id") | _MOVIE_LINKS, target="movies.genre", name="movies"
    )
