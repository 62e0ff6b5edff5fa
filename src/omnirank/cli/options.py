"""The options with which every command reads its data: written once, shared by all."""

# no postponed annotations: typer reads them as objects

import ast
import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

CsvOption = Annotated[bool, typer.Option("--csv", help="Print only numbers and names, as CSV.")]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", help="Number of workers, -1 for all cores.")]
_FEW = "Few labels"
LabelledOption = Annotated[
    str | None,
    typer.Option(
        "--labelled",
        metavar="N",
        help="Keep the labels of this number or share (0.1) of the examples, drawn by the seed; hide the others.",
        show_default=False,
        rich_help_panel=_FEW,
    ),
]
SupervisionOption = Annotated[
    str | None,
    typer.Option(
        "--supervision",
        metavar="W",
        help="How much the target counts beside the features: from 0 to 1 (labelled examples only), auto or cv.",
        show_default=False,
        rich_help_panel=_FEW,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Parameter of the method; may be repeated.", show_default=False),
]

_CONSTANTS = {"none": None, "true": True, "false": False}
_HEADERS: dict[str, Any] = {"auto": "auto", "yes": True, "no": False}
_PANEL = "Reading the data"
_REREAD = "read_like_data"
# Options that name files to write.
_WRITTEN = ("out", "report", "plot")


def _option(*names: str, text: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_PANEL, show_default=False)


IgnoreOption = Annotated[str | None, _option("--ignore", text="Columns to leave out.")]
HeaderOption = Annotated[
    str, _option("--header", text="Whether a text file starts with names: yes or no (default: auto).")
]
SeparatorOption = Annotated[str | None, _option("--separator", text="Character between the cells of a text file.")]
MissingOption = Annotated[
    list[str] | None,
    _option("--missing", text="What stands for a missing cell of a text file besides ?, NA, NaN; may be repeated."),
]

EncodingOption = Annotated[str, _option("--encoding", text="Encoding of a text file, such as cp1252 (default: utf-8).")]


def text_options(header: str, separator: str | None, missing: list[str] | None, encoding: str) -> dict[str, Any]:
    """Return what the options say of a text file, as `omnirank.load` takes it."""
    from omnirank.core.parameters import check, choice

    check("header", header, choice(*_HEADERS))
    separator = "\t" if separator == "\\t" else separator
    return {"header": _HEADERS[header], "separator": separator, "missing": missing or (), "encoding": encoding}


def _data_argument(text: str) -> Any:
    return typer.Argument(metavar="DATA", help=text, show_default=False)


def load_one_table(
    data: Annotated[str, _data_argument("ARFF, CSV, TSV, Parquet, MATLAB or CLUS settings file; each may be gzipped.")],
    target: Annotated[
        str | None,
        _option(
            "--target",
            "-t",
            text="Target columns: names, positions from 1, ranges (17-30, last, last:14) or patterns (y_*), "
            "separated by commas. Without target the features are ranked by how they cluster the data.",
        ),
    ] = None,
    labels: Annotated[Path | None, _option("--labels", text="Label file of Mulan (.xml).")] = None,
    features: Annotated[str | None, _option("--features", text="Feature columns (default: all others).")] = None,
    ignore: IgnoreOption = None,
    key: Annotated[str | None, _option("--key", text="Columns that identify the examples.")] = None,
    nominal: Annotated[str | None, _option("--nominal", text="Columns of numbers to be taken as nominal.")] = None,
    task: Annotated[str, _option("--task", text="The task (default: inferred from the target).")] = "auto",
    header: HeaderOption = "auto",
    separator: SeparatorOption = None,
    missing: MissingOption = None,
    encoding: EncodingOption = "utf-8",
    strings: Annotated[
        str, _option("--strings", text="String attributes of ARFF: error or drop (default: error).")
    ] = "error",
    duplicates: Annotated[
        str, _option("--duplicates", text="Columns of the same name: error or number (default: error).")
    ] = "error",
) -> Any:
    """Read the file that a user names, with the options that say how."""
    from omnirank.data.load import load

    return load(
        data,
        target,
        labels=labels,
        features=features,
        ignore=ignore,
        key=key,
        nominal=nominal,
        task=task,
        strings=strings,
        duplicates=duplicates,
        **text_options(header, separator, missing, encoding),
    )


def _check_labels(labels: Path | None) -> None:
    """Refuse what is no label file but looks like something else that the user had in mind."""
    from omnirank.core.errors import ParameterError

    text = str(labels)
    if labels is None or labels.suffix.lower() == ".xml" or labels.exists():
        return
    if text.replace(".", "", 1).isdigit():
        raise ParameterError(f"--labels {text}: it names a label file (.xml); --labelled {text} keeps so many labels")
    if not any(c.isalnum() for c in text):
        raise ParameterError(
            f"--labels {text!r}: it names a label file (.xml); label sets in one column are not read from text files: "
            "give each label a column of 0 and 1 (pandas: column.str.get_dummies(sep))"
        )


def with_data(command: Callable[..., None], read: Callable[..., Any] = load_one_table) -> Callable[..., None]:
    """Give a command, whose first parameter is a Dataset, the options that say how to read it.

    A parameter ``read_like_data`` of the command becomes a function that reads another file with the same options.
    ``read`` is the function that reads, whose parameters the options are.
    """
    shared = list(inspect.signature(read).parameters.values())
    own = list(inspect.signature(command).parameters.values())[1:]
    rereads = any(parameter.name == _REREAD for parameter in own)
    own = [parameter for parameter in own if parameter.name != _REREAD]

    @wraps(command)
    def wrapper(**given: Any) -> None:
        options = {parameter.name: given.pop(parameter.name) for parameter in shared}
        for name in _WRITTEN:
            if given.get(name) is not None:
                check_out(given[name], Path(options["data"]))
        _check_labels(options["labels"])
        if rereads:
            again = getattr(read, "again", read)
            given[_REREAD] = lambda path: again(**options | {"data": str(path)})
        command(read(**options), **given)

    merged = [p.replace(kind=p.KEYWORD_ONLY) for p in (shared[0], *own, *shared[1:])]
    wrapper.__signature__ = inspect.Signature(merged)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in merged}
    return wrapper


def with_optional_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, whose parameter ``data`` is a Dataset or None, the option --data and those of reading it."""
    shared = list(inspect.signature(load_one_table).parameters.values())
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "data"]
    annotation = Annotated[str | None, _option("--data", text="What was ranked: a file, as in omnirank rank.")]
    data = shared[0].replace(annotation=annotation, default=None)

    @wraps(command)
    def wrapper(**given: Any) -> None:
        options = {parameter.name: given.pop(parameter.name) for parameter in shared}
        if options["data"] is not None:
            check_out(given["out"], Path(options["data"]))
            _check_labels(options["labels"])
        command(**given, data=None if options["data"] is None else load_one_table(**options))

    merged = [p.replace(kind=p.KEYWORD_ONLY) for p in (*own, data, *shared[1:])]
    wrapper.__signature__ = inspect.Signature(merged)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in merged}
    return wrapper


def check_out(out: Path, data: Path) -> None:
    """Refuse, before anything is computed, a file that cannot be written or that would take the place of the data."""
    from omnirank.core.errors import ParameterError

    if out.is_dir():
        raise ParameterError(f"cannot write {out}: it is a folder")
    if not out.parent.is_dir():
        raise ParameterError(f"cannot write {out}: the folder {out.parent} does not exist")
    if out.exists() and data.exists() and out.samefile(data):
        raise ParameterError(f"cannot write {out}: it is the data file itself; give another name")


def refuse_given(given: dict[str, Any], read: Callable[..., Any], what: str) -> None:
    """Refuse what was given of some options, which the function that reads declares; they are for something else."""
    from omnirank.core.errors import ParameterError, setting

    default = {name: p.default for name, p in inspect.signature(read).parameters.items()}
    for name, value in given.items():
        if value and value != default.get(name):
            raise ParameterError(f"{setting(name, value)} is {what}")


def with_few_labels(dataset: Any, labelled: str | None, seed: int | None) -> Any:
    """Return the data set in which only this number (or share) of the examples stay labelled."""
    from omnirank.core.errors import ParameterError

    if labelled is None:
        return dataset
    if dataset.target is None:
        raise ParameterError("--labelled keeps some labels, but there is no target: name it with --target")
    return dataset.keep_labels(label_amount(labelled), random_state=seed)


def label_amount(text: str) -> int | float:
    """Return the number or the share of examples that a user writes."""
    from omnirank.core.errors import ParameterError

    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise ParameterError("labelled", text, "choose a count or a share in (0, 1]") from None


def assignments(given: list[str] | None) -> dict[str, Any]:
    """Return the parameters in ``NAME=VALUE`` texts.

    Examples
    --------
    >>> from omnirank.cli.options import assignments
    >>> assignments(["n-trees=50", "bootstrap=none"])
    {'n_trees': 50, 'bootstrap': None}
    """
    from omnirank.core.errors import ParameterError

    found: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ParameterError("set", text, "write NAME=VALUE")
        found[name.strip().replace("-", "_")] = value_of(value.strip())
    return found


def value_of(text: str) -> Any:
    """Return what a text stands for: none, true, false, a number or another Python literal; else itself."""
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def supervision_of(text: str) -> str | float:
    """Return the level of supervision that a user writes."""
    from omnirank.core.errors import ParameterError

    if text in ("auto", "cv"):
        return text
    try:
        return float(text)
    except ValueError:
        raise ParameterError("supervision", text, "choose auto, cv or a number in [0, 1]") from None
