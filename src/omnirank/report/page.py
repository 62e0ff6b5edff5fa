"""The page: sections put together, with the script and the styles inside."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnirank.core.atomic_file import replacing
from omnirank.core.errors import DataError, DataTypeError, ParameterError
from omnirank.core.parameters import check, number
from omnirank.core.ranking import Ranking
from omnirank.core.types import PathLike
from omnirank.data.containers import in_memory
from omnirank.data.dataset import Dataset
from omnirank.evaluation.alignment import ranking_of_data
from omnirank.rankers.refits import is_ranker
from omnirank.relational.dataset import RelationalDataset
from omnirank.report.budget import Budget
from omnirank.report.findings import NO_DATA, find
from omnirank.report.section import Section
from omnirank.report.sections import SECTIONS
from omnirank.report.subject import Subject, remade_ranker
from omnirank.report.vector import drawing

if TYPE_CHECKING:
    from jinja2 import Environment

PAGES = (".html", ".htm")
_SEVERAL_TABLES = (
    "the data are several tables, and this section needs one: omnirank features (RelationalFeatures) makes one "
    "of them, which can be ranked and reported in full"
)


def write_report(
    rankings: Ranking | Sequence[Ranking] | Mapping[str, Ranking],
    path: PathLike,
    data: Dataset | None = None,
    *,
    budget: float = 3.0,
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
    budget : float
        How many times the time of the ranking further fits may take, 5 seconds at least: p values, rankings of halves
        of the examples (worth, number of features, stability), a shuffled target, other methods. What is not begun when
        the budget ends is left out. 0: no further fits.
    ranker : ranker, optional
        What ranked the data, fitted or not; by default one with the parameters that the ranking records.
    seconds : float, optional
        How long the ranking took; by default measured by ranking again.
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
    ...     write_report(ranker.ranking_, path, data, ranker=ranker, budget=0)
    ...     "petal width (cm)" in path.read_text(encoding="utf-8")
    True
    """
    check("budget", budget, number(0))
    check_page(path)
    named = _named(rankings)
    first = next(iter(named.values()))
    name = f"ranking by {first.method}" if data is None else getattr(data, "name", "data")
    given, (data, no_data) = data, one_table(data)
    if data is not None:
        first = ranking_of_data(first, data)
        named |= {next(iter(named)): first}
        if ranker is None and budget > 0:
            ranker = _remade(first)
    if ranker is not None and data is not None and not is_ranker(ranker):
        raise ParameterError("ranker", ranker, "give a ranker of omnirank, fitted or not")
    found = find(first, data, ranker, Budget(budget, seconds), n_jobs, no_data=no_data)
    # one that was made anew tells what its fit found only after ranking again
    fitted = ranker if hasattr(ranker, "ranking_") else found.fitted
    if data is not given and not found.repeats:
        # what was ranked in parts need not be the same to the last bit
        found.repeats = None
    same = first.fingerprint in (None, *(getattr(known, "fingerprint", None) for known in (given, data)))
    subject = Subject(named, data, fitted, found.seconds, command, found, same)
    with drawing():
        sections = [section for make in SECTIONS if (section := make(subject)) is not None]
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
    >>> from omnirank.report.page import one_table
    >>> one_table(None)[1][:23]
    'the data were not given'
    """
    if data is None:
        return None, NO_DATA
    if isinstance(data, RelationalDataset):
        return None, _SEVERAL_TABLES
    try:
        found = in_memory(data)
    except DataError as error:
        return None, str(error)
    if not isinstance(found, Dataset):
        kind = type(data).__name__
        raise DataTypeError(f"data must be a Dataset, not {kind}: make one with om.Dataset(X, y) or om.load(path)")
    return found, ""


def check_page(path: PathLike) -> None:
    """Refuse, before anything is fitted, a file that is no page or cannot be written.

    Examples
    --------
    >>> from omnirank.report.page import check_page
    >>> check_page("report.pdf")
    Traceback (most recent call last):
    omnirank.core.errors.ParameterError: report.pdf: a report is a page: the ending must be .html or .htm
    """
    file = Path(path)
    if file.is_dir():
        raise ParameterError(f"cannot write {path}: it is a folder; name a file in it, such as report.html")
    if file.suffix.lower() not in PAGES:
        raise ParameterError(f"{path}: a report is a page: the ending must be {' or '.join(PAGES)}")
    if not file.parent.is_dir():
        raise ParameterError(f"cannot write {path}: the folder {file.parent} does not exist")


def _remade(ranking: Ranking) -> Any:
    """The ranker that the ranking tells of; None where it does not tell enough."""
    try:
        return remade_ranker(ranking)
    except (DataError, ParameterError):
        return None


def write_page(path: PathLike, title: str, sections: Sequence[Section]) -> None:
    """Write sections to an HTML file.

    Parameters
    ----------
    path : str or Path
        The file.
    title : str
        Title of the page.
    sections : sequence of Section
        In the order of the page.
    """
    script, style = (_static(name) for name in ("report.js", "report.css"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = _environment()
    bodies = [
        (section, "" if section.left_out else environment.get_template(section.file).render(section.content))
        for section in sections
    ]
    text = environment.get_template("page.html").render(
        title=title, bodies=bodies, script=script, style=style, digest=digest
    )
    with replacing(path) as file:
        # names may hold half a pair of surrogates, which no encoding takes
        file.write(text.encode("utf-8", errors="replace"))


@cache
def _environment() -> Environment:
    """The templates; all that they show is escaped, unless it is markup of ours."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("omnirank.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["island"] = island
    return made


def island(value: Any) -> Any:
    """Return JSON that can stand inside a script element, whatever texts it holds.

    Examples
    --------
    >>> from omnirank.report.page import island
    >>> str(island("</script>"))
    '"\\\\u003c/script\\\\u003e"'
    """
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=True)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


@cache
def _static(name: str) -> str:
    return files("omnirank.report").joinpath("static", name).read_text(encoding="utf-8")
