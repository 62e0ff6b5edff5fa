"""A study as its plan says it: data sets, methods, folds, evaluation; checked before anything runs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from omnirank.core.errors import DataTypeError, FileFormatError, ParameterError
from omnirank.core.types import PathLike
from omnirank.evaluation.experiments import plan_checks as checks
from omnirank.evaluation.experiments.keys import code_version
from omnirank.evaluation.experiments.relational_sources import SOURCES, relational_options

BEST = "best"


@dataclass(frozen=True)
class DataEntry:
    """A data set of the plan: a sample, a file, files to train (``more`` after ``path``) and one to test, or tables."""

    name: str
    sample: str | None = None
    n_irrelevant: int = 0
    path: Path | None = None
    test: Path | None = None
    more: tuple[Path, ...] = ()
    relational: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> dict[str, Any]:
        """How to read it, JSON-like."""
        if self.sample is not None:
            noise = {"n_irrelevant": self.n_irrelevant} if self.n_irrelevant else {}
            return {"sample": self.sample} | noise
        if self.relational is not None:
            return {"relational": dict(self.relational), "options": dict(self.options)}
        files: dict[str, Any] = {"path": str(self.path)} | ({} if self.test is None else {"test": str(self.test)})
        if self.more:
            files["more"] = [str(path) for path in self.more]
        return files | {"options": dict(self.options)}


@dataclass(frozen=True)
class MethodEntry:
    """A method of the plan, with one or several values of its parameters."""

    name: str
    use: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    select: str | Mapping[str, Any] | None = None
    labelled_only: bool = False
    single_target: bool = False

    def choices(self) -> list[tuple[str, dict[str, Any]]]:
        """Return what is to be run: a name of the choice and a JSON-like specification each.

        A grid gives one for each combination, unless internal cross-validation chooses: then it is part of the work.
        """
        same = {"use": self.use, "labelled_only": self.labelled_only, "single_target": self.single_target}
        if isinstance(self.select, Mapping):
            inner = {"grid": dict(self.grid), "select": dict(self.select)}
            return [("", same | {"parameters": dict(self.parameters)} | inner)]
        names = sorted(self.grid)
        found = []
        for values in product(*(self.grid[name] for name in names)):
            chosen = dict(zip(names, values, strict=True))
            label = " ".join(f"{name}={checks.shown(value)}" for name, value in chosen.items())
            found.append((label, same | {"parameters": dict(self.parameters) | chosen}))
        return found


@dataclass(frozen=True)
class FoldScheme:
    """How the examples are divided; ``random_state`` of the scheme is the seed unless it is given."""

    scheme: str = "cross-validation"
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Evaluation:
    """How a ranking is judged: by the predictions of neighbours in a distance that weighs features by it."""

    predictor: str | None = None
    n_neighbors: tuple[int, ...] = ()
    neighbors: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyPlan:
    """A checked plan.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        Name of the study.
    seeds : tuple of int
        The study is repeated with each.
    measures : tuple of str
        What reports show; all measures are recorded.
    data, methods, folds, evaluation
        The parts.
    code : str
        Version of the code that is part of every job's key.
    modules : tuple of str
        Modules to import, for the methods that they register.
    share_fits : bool
        Whether scores, sizes and numbers of neighbours that one fit gives come from one fit.
    keep_rankings : bool
        Whether the store keeps the scores of the features.
    """

    path: Path
    name: str
    seeds: tuple[int, ...]
    measures: tuple[str, ...]
    data: tuple[DataEntry, ...]
    methods: tuple[MethodEntry, ...]
    folds: FoldScheme
    evaluation: Evaluation
    code: str
    modules: tuple[str, ...]
    share_fits: bool
    keep_rankings: bool

    @property
    def store_path(self) -> Path:
        """Where the results go: beside the plan."""
        return self.path.with_suffix(".sqlite")


def read_plan(path: PathLike | Mapping[str, Any]) -> StudyPlan:
    """Read and check a plan.

    Parameters
    ----------
    path : str, Path or mapping
        A TOML file (``omnirank experiment example`` prints one), or what would be in it, as a dictionary: its name is
        "plan" then, and paths start at the current folder.

    Returns
    -------
    StudyPlan
        Files of data are not looked at here: see `omnirank.evaluation.experiments.sources.check_files`.

    Raises
    ------
    FileFormatError
        When the file is not TOML.
    ParameterError
        When something in it is unknown or impossible; the message names the table and the key.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from omnirank.evaluation.experiments import example_plan, read_plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "plan.toml")
    ...     _ = path.write_text(example_plan())
    ...     plan = read_plan(path)
    >>> plan.name, [entry.name for entry in plan.data]
    ('example', ['iris', 'wine', 'breast-cancer', 'digits'])
    >>> read_plan({"data": [{"sample": "iris"}], "method": [{"use": "univariate"}]}).name
    'plan'
    """
    if isinstance(path, Mapping):
        return _Reader(Path("plan"), dict(path)).plan()
    if not isinstance(path, str | Path):
        kind = type(path).__name__
        raise DataTypeError(f"a plan is the path of a TOML file or a dictionary of its content, not {kind}")
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FileFormatError(f"not a text file in UTF-8 ({error.reason})", path=path) from None
    except tomllib.TOMLDecodeError as error:
        if path.suffix != ".toml":
            example = "omnirank experiment example prints one"
            raise FileFormatError(f"not a plan, which is a TOML file: {example} ({error})", path=path) from None
        raise FileFormatError(f"not valid TOML: {error}", path=path) from None
    except (ValueError, RecursionError):  # integers of thousands of digits, deep nesting
        raise FileFormatError("not valid TOML: too long numbers, or too many values within values", path=path) from None
    return _Reader(path, content).plan()


class _Reader:
    """Turns the tables of a file into a StudyPlan; every error names the file, the table and the key."""

    def __init__(self, path: Path, content: dict[str, Any]) -> None:
        self._path = path
        self._content = content
        self._folder = path.parent

    def plan(self) -> StudyPlan:
        """Return the checked plan."""
        content = self._content
        checks.known_keys(content, ("study", "data", "method", "folds", "evaluation"), f"{self._path}")
        study = self._table("study")
        where = f"{self._path}, [study]"
        known = ("name", "seeds", "measures", "folder", "code", "modules", "share_fits", "keep_rankings")
        checks.known_keys(study, known, where)
        self._folder = self._path.parent / checks.folder(study.get("folder", ""), where, "folder")
        modules = checks.texts(study.get("modules", []), where, "modules")
        checks.import_modules(modules, where)
        plan = StudyPlan(
            path=self._path,
            name=checks.text(study.get("name", self._path.stem), where, "name"),
            seeds=checks.counts(study.get("seeds", [0]), where, "seeds", least=0),
            measures=checks.measures(study.get("measures", []), where),
            data=self._entries("data", self._data),
            methods=self._entries("method", self._methods),
            folds=self._folds(),
            evaluation=self._evaluation(),
            code=checks.text(study.get("code", code_version()), where, "code"),
            modules=modules,
            share_fits=checks.yes_or_no(study.get("share_fits", True), where, "share_fits"),
            keep_rankings=checks.yes_or_no(study.get("keep_rankings", False), where, "keep_rankings"),
        )
        for part, entries in (("data", plan.data), ("method", plan.methods)):
            checks.different([entry.name for entry in entries], f"{self._path}, [[{part}]]")
        best = next((entry.name for entry in plan.methods if entry.select == BEST), None)
        if best is not None and isinstance(plan.evaluation.parameters.get("top"), list):
            raise ParameterError(
                f"{self._path}: several values of top do not go with select = 'best' of method {best!r}, "
                "which would choose among them, too: give one value, or leave out select"
            )
        return plan

    def _table(self, name: str) -> dict[str, Any]:
        found = self._content.get(name, {})
        if not isinstance(found, dict):
            raise ParameterError(f"{self._path}: [{name}] must be a table, written once, not {found!r}")
        return found

    def _entries(self, name: str, read: Any) -> tuple[Any, ...]:
        tables = self._content.get(name, [])
        if isinstance(tables, dict):
            raise ParameterError(
                f"{self._path}: [{name}] is one table, but there may be several: write [[{name}]], in two pairs of "
                "brackets (a list of dictionaries in Python)"
            )
        if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
            raise ParameterError(f"{self._path}: there must be at least one table [[{name}]], in two pairs of brackets")
        return tuple(
            entry
            for number, table in enumerate(tables, start=1)
            for entry in read(table, f"{self._path}, [[{name}]] number {number}")
        )

    def _data(self, table: dict[str, Any], where: str) -> list[DataEntry]:
        sources = [key for key in ("sample", "path", "train", *SOURCES) if key in table]
        if len(sources) != 1:
            several = ", ".join(SOURCES)
            raise ParameterError(f"{where}: give one of sample, path or train (with test); of several tables {several}")
        kind = sources[0]
        if kind in SOURCES:
            return [self._relational(kind, table, where)]
        if (kind == "train") != ("test" in table):
            raise ParameterError(f"{where}: train and test come together; a single file is a path")
        if kind == "sample":
            checks.known_keys(table, ("name", "sample", "n_irrelevant"), where)
            sample = checks.one_of(table["sample"], checks.samples(), where, "sample")
            [noise] = checks.counts([table.get("n_irrelevant", 0)], where, "n_irrelevant", least=0)
            return [DataEntry(checks.text(table.get("name", sample), where, "name"), sample, noise)]
        options = checks.load_options(table, ("name", "path", "train", "test"), where)
        # a training set may be published in parts, such as one to learn from and one to validate on
        listed = isinstance(table[kind], list) and kind == "train"
        named = checks.texts(table[kind], where, kind) if listed else (table[kind],)
        if not named:
            raise ParameterError(f"{where}: train lists no file")
        file, *more = (self._file(name, where, kind) for name in named)
        test = self._file(table["test"], where, "test") if kind == "train" else None
        if "labels" in options:
            options["labels"] = str(self._file(options["labels"], where, "labels"))
        name = checks.text(table.get("name", file.name.partition(".")[0]), where, "name")
        return [DataEntry(name, path=file, test=test, more=tuple(more), options=options)]

    def _relational(self, kind: str, table: dict[str, Any], where: str) -> DataEntry:
        """A data set of several tables; the URL of a database stays as it is written."""
        of_facts = ("facts", "target_facts", "settings")
        own = of_facts if kind == "facts" else (kind,)
        options = checks.load_options(table, ("name", *own), where, relational_options(kind))
        if kind == "facts" and "target_facts" not in table:
            raise ParameterError(f"{where}: facts and target_facts come together")
        named: dict[str, Any] = {}
        for key in own:
            given = table.get(key)
            if isinstance(given, list) and key in ("facts", "target_facts"):
                named[key] = [str(self._file(one, where, key)) for one in checks.texts(given, where, key)]
            elif given is not None:
                named[key] = checks.text(given, where, key) if key == "database" else str(self._file(given, where, key))
        first = named[kind] if isinstance(named[kind], str) else named[kind][0]
        name = checks.text(table.get("name", Path(first).name.partition(".")[0]), where, "name")
        return DataEntry(name, relational=named, options=options)

    def _file(self, given: Any, where: str, key: str) -> Path:
        return self._folder / checks.text(given, where, key)

    def _methods(self, table: dict[str, Any], where: str) -> list[MethodEntry]:
        known = ("use", "name", "parameters", "grid", "select", "labelled_only", "single_target")
        checks.known_keys(table, known, where)
        if "use" not in table:
            raise ParameterError(f"{where}: 'use' is missing: the name of a method, or a list of names")
        given = [table["use"]] if isinstance(table["use"], str) else table["use"]
        uses = [checks.method_name(use, where) for use in checks.texts(given, where, "use")]
        shown = checks.text(table.get("name", ""), where, "name")
        entries = []
        for use in uses:
            name = " ".join(part for part in (shown, use if len(uses) > 1 or not shown else "") if part)
            entry = MethodEntry(
                name=name,
                use=use,
                parameters=checks.table_of(table.get("parameters", {}), where, "parameters"),
                grid=checks.grid(table.get("grid", {}), where),
                select=checks.selection(table.get("select"), "grid" in table, where),
                labelled_only=checks.yes_or_no(table.get("labelled_only", False), where, "labelled_only"),
                single_target=checks.yes_or_no(table.get("single_target", False), where, "single_target"),
            )
            checks.method_parameters(entry.use, {*entry.parameters, *entry.grid}, entry.parameters, where)
            entries.append(entry)
        return entries

    def _folds(self) -> FoldScheme:
        table = dict(self._table("folds"))
        where = f"{self._path}, [folds]"
        scheme = checks.fold_scheme(table.pop("scheme", "cross-validation"), table, where)
        return FoldScheme(scheme, table)

    def _evaluation(self) -> Evaluation:
        table = self._table("evaluation")
        where = f"{self._path}, [evaluation]"
        own = ("predictor", "n_neighbors", "neighbors")
        more = checks.evaluation_parameters()
        checks.known_keys(table, (*own, *more), where)
        given = table.get("n_neighbors", [])
        counts = () if given == [] else checks.counts(given, where, "n_neighbors", least=1)
        return Evaluation(
            predictor=checks.neighbor_setting(table, "predictor", where),
            n_neighbors=counts,
            neighbors=checks.neighbor_setting(table, "neighbors", where),
            parameters=checks.evaluation_values({key: table[key] for key in table if key not in own}, where),
        )
