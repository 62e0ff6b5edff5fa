"""``omnirank predict``: predict the target of the examples of files by a model that ``omnirank fit`` wrote."""

from pathlib import Path
from typing import Annotated, Any

import typer

from omnirank.cli.ending import ending_on_sigterm
from omnirank.cli.options import (
    EncodingOption,
    HeaderOption,
    IgnoreOption,
    JobsOption,
    MissingOption,
    SeparatorOption,
    check_out,
    text_options,
)
from omnirank.cli.output import say
from omnirank.core.text import counted

_ENDINGS = (".csv", ".csv.gz", ".parquet", ".pq")


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="File that omnirank fit wrote.", show_default=False)],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="ARFF, CSV, TSV, Parquet or MATLAB file (may be gzipped); a folder or pattern of Parquet files.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", help="File of predictions (.csv or .parquet); for a folder a new folder."
        ),
    ],
    key: Annotated[
        str | None, typer.Option("--key", help="Columns of the data that are written beside the predictions.")
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Write the probabilities of classes or labels too.")
    ] = False,
    threshold: Annotated[
        float | None, typer.Option(help="Frequency from which a label of a label set is predicted (default: 0.5).")
    ] = None,
    jobs: JobsOption = -1,
    ignore: IgnoreOption = None,
    header: HeaderOption = "auto",
    separator: SeparatorOption = None,
    missing: MissingOption = None,
    encoding: EncodingOption = "utf-8",
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            "--max-memory",
            help="What parts of a folder may take in memory, such as 500M or 2G.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Predict the target of the examples of a file, or of a folder of Parquet files."""
    from omnirank.ensembles.prediction_frame import prediction_frame

    in_parts = data.is_dir() or (any(sign in str(data) for sign in "*?[") and not data.exists())
    _check_files(data, out, memory, in_parts)
    fitted = _model(model, data)
    if "n_jobs" in fitted.get_params(deep=False):
        fitted.set_params(n_jobs=jobs)
    wanted: dict[str, Any] = {"probabilities": probabilities, "threshold": threshold}
    if in_parts:
        _predict_parts(fitted, data, out, {"key": key, "ignore": ignore, "max_memory": memory, **wanted})
        return
    text = text_options(header, separator, missing, encoding)
    found = prediction_frame(fitted, _features(fitted, data, key, ignore, text), **wanted)
    found = _with_keys(found, data, key, text)
    with ending_on_sigterm():
        _write(found, out)
    say(f"predictions for {counted(len(found), 'example')} written to {out}")


def _model(path: Path, data: Path) -> Any:
    """The model, unless the two files are exchanged."""
    from omnirank.core.errors import FileFormatError, ParameterError
    from omnirank.data.models import load_model

    try:
        return load_model(path)
    except FileFormatError:
        if not data.is_file():
            raise
        try:
            load_model(data)
        except FileFormatError:
            pass
        else:
            raise ParameterError(f"{data} is the model: it comes first, omnirank predict {data} {path}") from None
        raise


def _check_files(data: Path, out: Path, memory: str | None, in_parts: bool) -> None:
    from omnirank.core.errors import ParameterError

    if in_parts:
        return
    if memory is not None:
        raise ParameterError("--memory is for folders of Parquet files: leave it out")
    if not out.name.lower().endswith(_ENDINGS):
        raise ParameterError(f"{out}: the ending must be one of {', '.join(_ENDINGS)}")
    check_out(out, data)


def _predict_parts(model: Any, data: Path, out: Path, options: dict[str, Any]) -> None:
    from omnirank.ensembles.shard_predictions import predict_shards
    from omnirank.shards.source import ShardSource

    source = ShardSource(data, max_memory=options.pop("max_memory"))
    with ending_on_sigterm():
        files = predict_shards(model, source, out, **options)
    say(f"predictions for {counted(source.n_rows, 'example')} written to {counted(len(files), 'file')} in {out}")


def _features(model: Any, data: Path, key: str | None, ignore: str | None, text: dict[str, Any]) -> Any:
    """The features of the model as the file has them."""
    from omnirank.core.errors import ParameterError
    from omnirank.data.dataset import Dataset
    from omnirank.data.estimator_input import check_columns, columns_like
    from omnirank.data.load import load
    from omnirank.data.table import is_made_up

    training = model._features
    if is_made_up(training.names):
        dataset = load(data, task="clustering", ignore=ignore, key=key, **text)
        return Dataset(columns_like(dataset.features, training, by_name=False))
    nominal = [name for name, levels in zip(training.names, training.levels, strict=True) if levels is not None]
    try:
        dataset = load(data, task="clustering", features=list(training.names), nominal=nominal or None, **text)
    except ParameterError:
        # a column that is not there is named as such, not as one of those that options name
        check_columns(load(data, task="clustering", strings="drop", **text).feature_names, training)
        raise
    return Dataset(columns_like(dataset.features, training))


def _with_keys(found: Any, data: Path, key: str | None, text: dict[str, Any]) -> Any:
    """The predictions after the columns that tell the examples apart, which are written as they are read."""
    import numpy as np

    from omnirank.core.errors import ParameterError
    from omnirank.data.load import load

    if key is None:
        return found
    keys = load(data, task="clustering", features=key, nominal=key, **text).features.to_frame()
    for name in reversed(keys.columns):
        if name in found.columns:
            raise ParameterError(f"--key {name}: it is also a column of the predictions")
        found.insert(0, name, np.asarray(keys[name]))
    return found


def _write(found: Any, out: Path) -> None:
    from omnirank.core.files import replacing
    from omnirank.data.parquet import write_frame

    if out.name.lower().endswith((".parquet", ".pq")):
        write_frame(found, out)
        return
    with replacing(out) as file:
        found.to_csv(file, index=False, lineterminator="\n")
