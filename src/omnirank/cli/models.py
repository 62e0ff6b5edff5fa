"""``omnirank fit`` writes a forest or a tree as a model; ``omnirank predict`` predicts by it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli import options, reading
from omnirank.cli.options import option, refuse
from omnirank.cli.output import data_notes, examples_in_words, note, say
from omnirank.cli.reading import ReadOptions, read_data
from omnirank.cli.tree import single_tree
from omnirank.cli.writing import check_ending, check_out, ending_on_sigterm
from omnirank.core.text import counted, supervision_lines

if TYPE_CHECKING:
    from omnirank.data.dataset import Dataset
    from omnirank.shards.dataset import ShardedDataset

_PREDICTIONS = (".csv", ".csv.gz", ".parquet", ".pq")
_SINGLE = "One pruned tree instead of a forest; without target, a tree of clusters."
_EXPLAIN = "Write the N features that contribute most to each prediction too."
_OUT = "Predictions (.csv or .parquet); for a folder of Parquet files, a new folder."
_DATA = "A file (ARFF, CSV, TSV, Parquet, MATLAB; .gz too), or a folder or pattern of Parquet files."


def fit(
    ctx: typer.Context,
    out: Annotated[Path, option("--out -o MODEL", "File of the model, such as plants.omr.")],
    single: Annotated[bool, option("--single", _SINGLE)] = False,
    trees: Annotated[int | None, option("--trees N", "Number of trees (default: 100).", min=1)] = None,
    supervision: options.Supervision = None,
    parameters: options.Set = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
) -> None:
    """Fit a forest or a tree that predicts, and write it."""
    from omnirank.data.containers import in_memory

    data = read_data(ctx.obj, parts=True, writes=(out,))
    if single:
        refuse({"--trees": trees}, "is for forests: leave it out")
        model = single_tree(in_memory(data), supervision, random_state=seed)
    else:
        settings = {"n_trees": trees, "supervision": supervision, "random_state": seed, "n_jobs": jobs}
        model = _forest(data, **options.given_settings(**settings))
    options.with_parameters(model, options.assignments(parameters))
    model.fit(data)
    note(*data_notes(data), *supervision_lines(model)[:1])
    with ending_on_sigterm():
        model.save(out)
    grown = model._trees()
    size = f"{counted(len(grown), 'tree')} with {counted(sum(tree.n_nodes for tree in grown), 'node')}"
    say(f"{examples_in_words(data)}, {counted(data.n_features, 'feature')}, {data.task}: {size}")
    if hasattr(model, "oob_error_"):
        say(f"out-of-bag error {model.oob_error_:.4g}")
    say(f"model written to {out}")


def _forest(data: "Dataset | ShardedDataset", **settings: Any) -> Any:
    from omnirank.core.errors import ParameterError
    from omnirank.ensembles.pct import PCTForestClassifier, PCTForestRegressor

    if not data.n_targets:
        raise ParameterError(
            "a forest needs a target: name it with --target (--single grows a tree of clusters without)"
        )
    kind = PCTForestClassifier if data.task in PCTForestClassifier.supported_tasks else PCTForestRegressor
    return kind(**settings)


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="File that omnirank fit wrote.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help=_DATA)],
    out: Annotated[Path, option("--out -o FILE", _OUT)],
    key: Annotated[list[str] | None, option("--key COLUMNS", "Columns to write beside the predictions.")] = None,
    probabilities: Annotated[bool, option("--probabilities", "Write probabilities of classes or labels too.")] = False,
    threshold: Annotated[
        float | None, option("--threshold P", "Smallest probability of a predicted label (default: 0.5).")
    ] = None,
    explain: Annotated[int | None, option("--explain N", _EXPLAIN, min=1)] = None,
    jobs: options.Jobs = -1,
    ignore: reading.Ignore = None,
    decimal: reading.Decimal = None,
    missing: reading.Missing = None,
    censored: reading.Censored = None,
    skip: reading.Skip = None,
    sheet: reading.Sheet = None,
    read: reading.Read = None,
) -> None:
    """Predict the target of new examples by a model."""
    from omnirank.data.models import load_model
    from omnirank.ensembles.predictions import prediction_frame

    cells: dict[str, Any] = {"decimal": decimal, "missing": missing, "censored": censored}
    cells |= {"skip": skip, "sheet": sheet, "read": read}
    how = ReadOptions(str(data), ignore=ignore, key=key, **cells).keywords()
    in_parts = data.is_dir() or (any(sign in str(data) for sign in "*?[") and not data.exists())
    if not in_parts:
        refuse({"--read max_memory": how.get("max_memory")}, "is for folders of Parquet files: leave it out")
        check_ending(out, _PREDICTIONS)
        check_out(out, data)
    fitted = load_model(model)
    if "n_jobs" in fitted.get_params(deep=False):
        fitted.set_params(n_jobs=jobs)
    wanted: dict[str, Any] = {"probabilities": probabilities, "threshold": threshold, "explain": explain}
    if in_parts:
        _predict_parts(fitted, data, out, how, wanted)
        return
    keys = how.pop("key", None)
    predictions = prediction_frame(fitted, _features(fitted, data, keys, how), **wanted)
    how.pop("ignore", None)
    predictions = _with_keys(predictions, data, keys, how)
    with ending_on_sigterm():
        _write(predictions, out)
    say(f"predictions for {counted(len(predictions), 'example')} written to {out}")


def _predict_parts(model: Any, data: Path, out: Path, how: dict[str, Any], wanted: dict[str, Any]) -> None:
    from omnirank.ensembles.predictions import predict_shards
    from omnirank.shards.source import ShardSource

    of_text = {name: True for name in how if name not in ("key", "ignore", "max_memory")}
    refuse(of_text, "is not for folders of Parquet files: leave it out")
    source = ShardSource(data, max_memory=how.pop("max_memory", None))
    with ending_on_sigterm():
        files = predict_shards(model, source, out, **how, **wanted)
    say(f"predictions for {counted(source.n_rows, 'example')} written to {counted(len(files), 'file')} in {out}")


def _features(model: Any, data: Path, key: str | None, how: dict[str, Any]) -> Any:
    """The features of the model as the file has them."""
    from omnirank.core.errors import ParameterError
    from omnirank.data.dataset import Dataset
    from omnirank.data.estimator_input import check_columns, columns_like
    from omnirank.data.load import load
    from omnirank.data.table import is_made_up

    training = model._features
    if is_made_up(training.names):
        dataset = load(data, task="clustering", key=key, **how)
        return Dataset(columns_like(dataset.features, training, by_name=False))
    # the model knows which columns count, and which of them are nominal
    how = {name: value for name, value in how.items() if name not in ("ignore", "nominal")}
    nominal = [name for name, levels in zip(training.names, training.levels, strict=True) if levels is not None]
    try:
        dataset = load(data, task="clustering", features=list(training.names), nominal=nominal or None, **how)
    except ParameterError:
        # a column that is not there is named as such, not as one of those that options name
        check_columns(load(data, task="clustering", **{"strings": "drop"} | how).feature_names, training)
        raise
    return Dataset(columns_like(dataset.features, training))


def _with_keys(predictions: Any, data: Path, key: str | None, how: dict[str, Any]) -> Any:
    """The predictions after the columns that identify the examples, which are written as they are read."""
    import numpy as np

    from omnirank.core.errors import ParameterError
    from omnirank.data.load import load

    if key is None:
        return predictions
    how = {name: value for name, value in how.items() if name != "nominal"}
    keys = load(data, task="clustering", features=key, nominal=key, **how).features.to_frame()
    for name in reversed(keys.columns):
        if name in predictions.columns:
            raise ParameterError(f"--key {name}: it is also a column of the predictions")
        predictions.insert(0, name, np.asarray(keys[name]))
    return predictions


def _write(predictions: Any, out: Path) -> None:
    from omnirank.core.files import replacing
    from omnirank.data.parquet import write_frame

    if out.name.lower().endswith((".parquet", ".pq")):
        write_frame(predictions, out)
        return
    with replacing(out) as file:
        predictions.to_csv(file, index=False, lineterminator="\n")
