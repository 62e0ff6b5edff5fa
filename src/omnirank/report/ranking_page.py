"""The page of a ranking: what was given is checked, further fits are made, and each section is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from omnirank.core.errors import DataError, DataTypeError, ParameterError
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.types import PathLike
from omnirank.data.containers import in_memory
from omnirank.data.dataset import Dataset
from omnirank.evaluation.alignment import ranking_of_data
from omnirank.rankers.refits import is_ranker
from omnirank.relational.dataset import RelationalDataset
from omnirank.report.features import all_features, by_target, groups, label_hierarchy, redundant
from omnirank.report.judgement import agreement, how_many, scores, significance, stability, worth
from omnirank.report.overview import data_check, schema, summary, supervision
from omnirank.report.page import Content, Section, check_page, drawing, write_page
from omnirank.report.reproduction import methods, parameters
from omnirank.report.subject import NO_DATA, Subject, fit_further, remade_ranker

# Group, key, title and content of each section, in the order of the page.
_SECTIONS: tuple[tuple[str, str, str, Callable[[Subject], Content]], ...] = (
    ("", "summary", "In short", summary),
    ("What matters", "features", "All features", all_features),
    ("What matters", "by-target", "Features by target", by_target),
    ("What matters", "hierarchy", "Label hierarchy", label_hierarchy),
    ("What matters", "groups", "Groups of features", groups),
    ("What matters", "redundant", "Features that say the same", redundant),
    ("How sure", "worth", "Does it help to predict?", worth),
    ("How sure", "how-many", "How many features", how_many),
    ("How sure", "scores", "Scores and chance", scores),
    ("How sure", "significance", "Significance", significance),
    ("How sure", "stability", "Stability", stability),
    ("How sure", "agreement", "Agreement of methods", agreement),
    ("The data", "schema", "Tables and links", schema),
    ("The data", "data", "Data check", data_check),
    ("The data", "supervision", "Few labels", supervision),
    ("How it was done", "methods", "Methods, ready to paste", methods),
    ("How it was done", "parameters", "Parameters, and how to repeat it", parameters),
)
_SEVERAL_TABLES = (
    "the data are several tables, but this section needs one: omnirank features (RelationalFeatures) makes one"
)


def write_report(
    rankings: Ranking | Sequence[Ranking] | Mapping[str, Ranking],
    path: PathLike,
    data: Dataset | None = None,
    *,
    fits: bool = True,
    ranker: Any = None,
    seconds: float | None = None,
    command: str | None = None,
    title: str | None = None,
    n_jobs: int | None = None,
) -> None:
    """Write a report of a ranking: one HTML file that needs no network, for any browser.

    Parameters
    ----------
    rankings : Ranking, sequence of Ranking or mapping of str to Ranking
        What is reported; of several, of the same features, the first is, and the others are compared with it.
    path : str or Path
        The file (``.html``).
    data : Dataset, ShardedDataset or RelationalDataset, optional
        What was ranked. Without it there is no check of the data, and nothing that needs further fits; so also where
        parts do not fit into memory, and for several tables.
    fits : bool
        Whether to fit the ranker further: once more for p values, on ten halves of the examples (worth, number of
        features, stability), for a shuffled target, and other methods. That takes about seven times as long as the
        ranking. False: sections that need it are left out.
    ranker : ranker, optional
        What ranked the data, fitted or not; by default one with the parameters that the ranking records.
    seconds : float, optional
        How long the ranking took, for the summary.
    command : str, optional
        The command that repeats the ranking.
    title : str, optional
        Title of the page; by default the name of the data.
    n_jobs : int or None
        Number of workers of further fits; None: that of the ranker.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> from omnirank.report import write_report
    >>> data = om.datasets.load_sample("iris")
    >>> ranker = om.UnivariateRanker().fit(data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "iris.html")
    ...     write_report(ranker.ranking_, path, data, ranker=ranker, fits=False)
    ...     "petal width (cm)" in path.read_text(encoding="utf-8")
    True
    """
    check_page(path)
    named = _named(rankings)
    first = named.pop(next(iter(named)))
    name = f"ranking by {first.method}" if data is None else getattr(data, "name", "data")
    table, no_data = one_table(data)
    if table is not None:
        first = ranking_of_data(first, table)
        if ranker is None and fits:
            with suppress(DataError, ParameterError):  # it does not tell enough
                ranker = remade_ranker(first)
        if ranker is not None and not is_ranker(ranker):
            raise ParameterError("ranker", ranker, "give a ranker of omnirank, fitted or not")
    same = first.fingerprint in (None, *(getattr(known, "fingerprint", None) for known in (data, table)))
    database = data if isinstance(data, RelationalDataset) else None
    subject = Subject(first, table, ranker, named, seconds, command, same, no_data, database)
    fit_further(subject, fits=fits, n_jobs=n_jobs)
    if not hasattr(subject.ranker, "ranking_"):
        subject.ranker = None
    if table is not data and not subject.repeats:
        # what was ranked in parts need not be the same to the last bit
        subject.repeats = None
    with drawing():
        contents = [(key, heading, make(subject), group) for group, key, heading, make in _SECTIONS]
    sections = [Section(*section) for section in contents if section[2] is not None]
    write_page(path, title or f"{name}: which features matter", sections)


def _named(rankings: Any) -> dict[str, Ranking]:
    """Rankings by name; those without one are called after their method, and numbered where that is not enough."""
    if isinstance(rankings, Ranking):
        return {rankings.method: rankings}
    if isinstance(rankings, Mapping):
        named = dict(rankings)
    else:
        named = {}
        for ranking in rankings:
            method = getattr(ranking, "method", "")
            again = sum(name.partition(" #")[0] == method for name in named)
            named[f"{method} #{again + 1}" if again else method] = ranking
    if not named:
        raise DataError("there is no ranking to report")
    for ranking in named.values():
        if not isinstance(ranking, Ranking):
            raise DataTypeError(f"a report is made of rankings, not of {type(ranking).__name__}: give ranker.ranking_")
    return named


def one_table(data: Any) -> tuple[Dataset | None, str]:
    """Return data as one table in memory, or None and why there is none.

    Examples
    --------
    >>> from omnirank.report.ranking_page import one_table
    >>> one_table(None)[1][:23]
    'the data were not given'
    """
    if data is None:
        return None, NO_DATA
    if isinstance(data, RelationalDataset):
        return None, _SEVERAL_TABLES
    try:
        table = in_memory(data)
    except DataError as error:
        return None, str(error)
    if not isinstance(table, Dataset):
        kind = type(data).__name__
        raise DataTypeError(f"data must be a Dataset, not {kind}: make one with om.Dataset(X, y) or om.load(path)")
    return table, ""
