"""A study as its plan says it: data sets, methods, folds, evaluation; checked before anything runs."""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from omnirank.core.errors import DataTypeError, FileFormatError, OmnirankError, ParameterError
from omnirank.core.parameters import FLAG, Domain, choice, count, listed, number
from omnirank.core.registry import methods
from omnirank.core.text import did_you_mean
from omnirank.core.types import PathLike
from omnirank.data.load import load
from omnirank.data.samples import list_samples
from omnirank.evaluation.evaluate import NEIGHBOR_PREDICTORS, NEIGHBORS, evaluate
from omnirank.evaluation.experiments.fit import PREDICTORS, combinations, make, with_variables
from omnirank.evaluation.experiments.store import canonical_json, code_version, column_name
from omnirank.evaluation.folds import SCHEMES, scheme_parameters
from omnirank.tasks.measuring import MEASURES, VARIANCES, VARIANTS

BEST = "best"

# Parameters of methods and of `omnirank.evaluate` that the plan sets by other means.
_NOT_OF_METHODS = ("random_state", "n_jobs", "task", "hierarchy", "n_features_to_select")
_OF_CROSS_VALIDATION = ("n_folds", "cv", "sample_weight", "groups")
_NOT_OF_EVALUATION = ("ranking", "train", "test", "n_test", "random_state", "n_jobs", *_OF_CROSS_VALIDATION)

# A plan writes booleans in small letters.
_YES_OR_NO = Domain((), FLAG.tests, ("true", "false"))
_QUOTED = Domain((), (lambda value: isinstance(value, str),), ("a text in quotation marks",))


@dataclass(frozen=True)
class DataEntry:
    """A data set of the plan, and how to read it, JSON-like: as `load_source` of this package takes it."""

    name: str
    source: Mapping[str, Any]


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
        specifications = []
        for chosen in combinations(self.grid):
            label = " ".join(f"{name}={_shown(value)}" for name, value in chosen.items())
            specifications.append((label, same | {"parameters": dict(self.parameters) | chosen}))
        return specifications


@dataclass(frozen=True)
class FoldScheme:
    """How the examples are divided; ``random_state`` of the scheme is the seed unless it is given."""

    scheme: str = "cross-validation"
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Evaluation:
    """How a ranking is judged: by the predictions of neighbours in a distance that weighs features by it."""

    n_neighbors: tuple[int, ...] = ()
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
        Files of data are not looked at here: see `omnirank.evaluation.experiments.fit.check_files`.

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
        return _plan(Path("plan"), dict(path))
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
    return _plan(path, content)


class _Table:
    """A table of a plan, and where it is; every error names the file, the table and the key, and what is possible."""

    def __init__(self, content: Mapping[str, Any], where: str, known: Collection[str] | None = None) -> None:
        self.content = content
        self.where = where
        if known is not None:
            self.refuse_others(known)

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def error(self, problem: str) -> ParameterError:
        return ParameterError(f"{self.where}: {problem}")

    def refuse_others(self, known: Collection[str], of: str = "") -> None:
        """Refuse keys that are not known."""
        for key in self.content:
            if key not in known:
                hint = f"{did_you_mean(key, known)}; keys: {', '.join(known)}"
                raise self.error(f"{of}unknown key {key!r}{hint}")

    def get(self, key: str, domain: Domain, default: Any = None) -> Any:
        """Return the value of a key, which must be of the domain; the default where there is none."""
        return self.checked(key, self.content[key], domain) if key in self.content else default

    def checked(self, key: str, value: Any, domain: Domain) -> Any:
        """Return a value of the domain."""
        if value not in domain:
            raise self.error(f"{key} = {value!r}: {domain.advice(value)}")
        return value

    def text(self, key: str, default: str = "") -> str:
        """Return a text."""
        return str(self.get(key, _QUOTED, default))

    def several(self, key: str, domain: Domain, default: Sequence[Any] = (), *, or_one: bool = True) -> tuple[Any, ...]:
        """Return a list of different values of a domain; ``or_one`` allows one that stands for a list of it."""
        value = self.content.get(key, [])
        if value == []:
            return tuple(default)
        self.checked(key, value, listed(domain, or_one=or_one))
        values = value if isinstance(value, list) else [value]
        self.different(values, f"{key}: ")
        return tuple(values)

    def flag(self, key: str, default: bool = False) -> bool:
        """Return true or false."""
        return bool(self.get(key, _YES_OR_NO, default))

    def table(self, key: str) -> dict[str, Any]:
        """Return a table of plain values."""
        value = self.content.get(key, {})
        if not isinstance(value, dict):
            raise self.error(f"{key} must be a table such as {{ n_trees = 50 }}, not {value!r}")
        self.refuse_dates(key, value)
        return value

    def refuse_dates(self, key: str, value: Any) -> None:
        """Dates and the like have no JSON; infinite numbers have none either."""
        try:
            canonical_json(value)
        except (TypeError, ValueError):
            raise self.error(f"{key} holds {value!r}: give numbers, texts, true, false, lists and tables") from None

    def different(self, names: Sequence[Any], of: str = "", advice: str = "give different names (key name)") -> None:
        """Refuse names that are given twice."""
        twice = _twice(names)
        if twice is not None:
            raise self.error(f"{of}{twice!r} is there twice; {advice}")


def _twice(names: Sequence[Any]) -> Any:
    return next((name for i, name in enumerate(names) if name in names[:i]), None)


def _plan(path: Path, content: dict[str, Any]) -> StudyPlan:
    """Turn the tables of a file into a checked plan."""
    whole = _Table(content, str(path), ("study", "data", "method", "folds", "evaluation"))
    study = _single(whole, "study", ("name", "seeds", "measures", "folder", "code", "modules", "keep_rankings"))
    modules = study.several("modules", _QUOTED, or_one=False)
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            raise study.error(f"modules names {module!r}, which cannot be imported ({error})") from None
    folder = path.parent / _folder(study)
    plan = StudyPlan(
        path=path,
        name=study.text("name", path.stem),
        seeds=study.several("seeds", count(0), (0,)),
        measures=_measures(study, "measures"),
        data=tuple(_data(table, folder) for table in _several(whole, "data")),
        methods=tuple(entry for table in _several(whole, "method") for entry in _methods(table)),
        folds=_folds(_single(whole, "folds")),
        evaluation=_evaluation(_single(whole, "evaluation")),
        code=study.text("code", code_version()),
        modules=modules,
        keep_rankings=study.flag("keep_rankings"),
    )
    _check_names(plan)
    return plan


def _check_names(plan: StudyPlan) -> None:
    """Refuse data sets and methods that tables and the store could not tell apart."""
    _Table({}, f"{plan.path}, [[data]]").different([entry.name for entry in plan.data])
    table = _Table({}, f"{plan.path}, [[method]]")
    table.different([entry.name for entry in plan.methods])
    twice = _twice([column_name(entry.name, choice) for entry in plan.methods for choice, _ in entry.choices()])
    if twice is not None:
        advice = "leave out one (in a grid, a number beside the same text), or give another name"
        raise table.error(f"{twice!r} stands for two methods: {advice}")
    best = next((entry.name for entry in plan.methods if entry.select == BEST), None)
    if best is not None and isinstance(plan.evaluation.parameters.get("top"), list):
        raise ParameterError(
            f"{plan.path}: several values of top do not go with select = 'best' of method {best!r}, "
            "which would choose among them, too: give one value, or leave out select"
        )


def _single(whole: _Table, name: str, known: Collection[str] | None = None) -> _Table:
    content = whole.content.get(name, {})
    if not isinstance(content, dict):
        raise whole.error(f"[{name}] must be a table, written once, not {content!r}")
    return _Table(content, f"{whole.where}, [{name}]", known)


def _several(whole: _Table, name: str) -> list[_Table]:
    tables = whole.content.get(name, [])
    if isinstance(tables, dict):
        raise whole.error(
            f"[{name}] is one table, but there may be several: write [[{name}]], in two pairs of brackets (a list of "
            "dictionaries in Python)"
        )
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise whole.error(f"there must be at least one table [[{name}]], in two pairs of brackets")
    return [_Table(table, f"{whole.where}, [[{name}]] number {i}") for i, table in enumerate(tables, start=1)]


def _folder(study: _Table) -> Path:
    """The folder of the data, in which ``${NAME}`` and ``${NAME:-default}`` stand for environment variables.

    What a variable holds is a path of its own: it starts at the current folder, not at that of the plan.
    """

    def absolute(name: str) -> str | None:
        held = os.environ.get(name)
        return str(Path(held).absolute()) if held else None

    return Path(with_variables(study.text("folder"), absolute, f"{study.where}: folder"))


def _measures(table: _Table, key: str) -> tuple[str, ...]:
    return tuple(table.checked(key, name, choice(*MEASURES)) for name in table.several(key, _QUOTED))


# -- data -----------------------------------------------------------------------------------------


def _data(table: _Table, folder: Path) -> DataEntry:
    sources = [key for key in ("sample", "path", "train") if key in table]
    if len(sources) != 1:
        raise table.error("give one of sample, path or train (with test)")
    kind = sources[0]
    if (kind == "train") != ("test" in table):
        raise table.error("train and test come together; a single file is a path")
    if kind == "sample":
        table.refuse_others(("name", "sample", "n_irrelevant"))
        source = {"sample": table.get("sample", choice(*list_samples()))}
        n_irrelevant = table.get("n_irrelevant", count(0), 0)
        noise = {"n_irrelevant": n_irrelevant} if n_irrelevant else {}
        return DataEntry(table.text("name", source["sample"]), source | noise)
    known = tuple(name for name in inspect.signature(load).parameters if name not in ("path", "name"))
    options = _options(table, ("name", "path", "train", "test"), known)
    # a training set may be published in parts, such as one to learn from and one to validate on
    listed_files = isinstance(table.content[kind], list) and kind == "train"
    named = table.several(kind, _QUOTED) if listed_files else (table.text(kind),)
    if not named:
        raise table.error("train lists no file")
    file, *more = (str(folder / name) for name in named)
    source = {"path": file, "options": options}
    if kind == "train":
        source["test"] = str(folder / table.text("test"))
    if more:
        source["more"] = more
    if "labels" in options:
        options["labels"] = str(folder / table.text("labels"))
    return DataEntry(table.text("name", Path(file).name.partition(".")[0]), source)


def _options(table: _Table, own: Sequence[str], options: Sequence[str]) -> dict[str, Any]:
    """The keys that say how data are read."""
    table.refuse_others((*own, *options))
    chosen = {key: value for key, value in table.content.items() if key in options}
    table.refuse_dates("options", chosen)
    return chosen


# -- methods --------------------------------------------------------------------------------------


def _methods(table: _Table) -> list[MethodEntry]:
    table.refuse_others(("use", "name", "parameters", "grid", "select", "labelled_only", "single_target"))
    if "use" not in table:
        raise table.error("'use' is missing: the name of a method, or a list of names")
    known = choice(*(method.name for method in methods()), *PREDICTORS)
    uses = [str(table.checked("use", use, known)) for use in table.several("use", _QUOTED)]
    shown = table.text("name")
    entries = []
    for use in uses:
        entry = MethodEntry(
            name=" ".join(part for part in (shown, use if len(uses) > 1 or not shown else "") if part),
            use=use,
            parameters=table.table("parameters"),
            grid=_grid(table),
            select=_select(table),
            labelled_only=table.flag("labelled_only"),
            single_target=table.flag("single_target"),
        )
        _check_parameters(entry, table)
        entries.append(entry)
    return entries


def _check_parameters(entry: MethodEntry, table: _Table) -> None:
    """Refuse parameters that the method does not have, that its name fixes, or that the plan sets elsewhere."""
    for name in sorted({*entry.parameters, *entry.grid} & set(_NOT_OF_METHODS)):
        raise table.error(f"method {entry.use!r} cannot be given {name!r}: seeds, folds and the data decide it")
    try:
        make(entry.use, {**entry.parameters, **{name: values[0] for name, values in entry.grid.items()}}, seed=0)
    except OmnirankError as error:
        raise table.error(str(error)) from None


def _grid(table: _Table) -> dict[str, list[Any]]:
    """Lists of values by parameter."""
    grid = table.table("grid")
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise table.error(f"grid: {name} must be a list of values, not {values!r}")
        table.different(values, f"grid: {name}: ", "give it once")
    return grid


def _select(table: _Table) -> str | dict[str, Any] | None:
    """How a combination of a grid is chosen: not at all, "best", or by internal cross-validation."""
    value = table.content.get("select")
    if value is None:
        return None
    if "grid" not in table:
        raise table.error("select chooses from a grid, but there is none")
    if value == BEST:
        return BEST
    if not isinstance(value, dict):
        raise table.error(f'select must be "best" or a table such as {{ n_folds = 4 }}, not {value!r}')
    own = _Table(value, f"{table.where}: select", ("n_folds", "measure"))
    measure = {"measure": _measures(own, "measure")[0]} if "measure" in own else {}
    return {"n_folds": own.get("n_folds", count(2), 4)} | measure


# -- folds and evaluation -------------------------------------------------------------------------


def _folds(table: _Table) -> FoldScheme:
    scheme = table.get("scheme", choice(*SCHEMES), "cross-validation")
    parameters = {key: value for key, value in table.content.items() if key != "scheme"}
    _Table(parameters, table.where).refuse_others(scheme_parameters(scheme), f"scheme {scheme!r}: ")
    table.refuse_dates("parameters", parameters)
    for name in ("n_folds", "repetitions"):
        table.get(name, count(1))
    return FoldScheme(scheme, parameters)


def _evaluation(table: _Table) -> Evaluation:
    """How rankings are judged; a value that cannot be meant is refused at once."""
    table.refuse_others([name for name in inspect.signature(evaluate).parameters if name not in _NOT_OF_EVALUATION])
    domains = {"variant": choice(*VARIANTS), "variance": choice(*VARIANCES), "threshold": number(0, 1)}
    domains |= {"weighted": _YES_OR_NO, "scaled": _YES_OR_NO, "predictor": choice(*NEIGHBOR_PREDICTORS)}
    domains["neighbors"] = choice(*NEIGHBORS)
    parameters = {key: table.get(key, domain) for key, domain in domains.items() if key in table}
    tops = table.several("top", count(1))
    if tops:
        parameters["top"] = list(tops) if len(tops) > 1 else tops[0]
    return Evaluation(table.several("n_neighbors", count(1)), parameters)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)
