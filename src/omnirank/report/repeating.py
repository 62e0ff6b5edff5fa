"""The lines that repeat a ranking, as they stand: on the command line, and in Python."""

from __future__ import annotations

import inspect
import shlex
from typing import Any

from omnirank.core.immutable import thawed_json
from omnirank.core.multiplicity import COPIES_TEST, OUT_OF_BAG_TEST
from omnirank.core.ranking import Ranking
from omnirank.data.dataset import FileSource
from omnirank.report.subject import known_method, seed_of

# Options of ``omnirank rank`` that are arguments of `omnirank.load`; what else was given has no option.
_OPTIONS = (
    "target",
    "labels",
    "features",
    "key",
    "ignore",
    "nominal",
    "task",
    "separator",
    "encoding",
    "strings",
    "duplicates",
)
_NOT_RECORDED = "feature_weights"


def python_code(ranking: Ranking, source: FileSource | None) -> str:
    """Return the lines of Python that rank again; nothing where the ranking does not tell enough.

    Examples
    --------
    >>> from omnirank.core.ranking import Ranking
    >>> from omnirank.data.dataset import FileSource
    >>> from omnirank.report.repeating import python_code
    >>> print(python_code(Ranking(["a"], [1.0], "univariate"), FileSource("plants.csv", {"target": "kind"})))
    import omnirank as om
    <BLANKLINE>
    data = om.load('plants.csv', target='kind')
    ranker = om.make_ranker('univariate')
    ranking = ranker.fit(data).ranking_
    """
    known = changed_parameters(ranking)
    if known is None:
        return ""
    given = "".join(f", {name}={value!r}" for name, value in known.items())
    read = "data = om.Dataset(X, y)  # X and y as they were ranked"
    if source is not None:
        options = "".join(f", {name}={_plain(value)!r}" for name, value in source.options.items())
        read = f"data = om.load({source.path!r}{options})"
    tested = _tested(ranking)
    last = "ranking = ranker.fit(data).ranking_"
    if tested is not None:
        last = f"ranking = om.significance(ranker, data{f', method={tested!r}' if tested else ''})"
    lines = ["import omnirank as om", "", read, f"ranker = om.make_ranker({ranking.method!r}{given})"]
    return "\n".join([*lines, last])


def rank_command(ranking: Ranking, source: FileSource | None) -> str:
    """Return the command that ranks the file again; nothing where the data are no file, or no option says it.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.data.dataset import FileSource
    >>> from omnirank.report.repeating import rank_command
    >>> ranker = om.EnsembleRanker("genie3", n_trees=5, random_state=3).fit(om.datasets.load_sample("iris"))
    >>> rank_command(ranker.ranking_, FileSource("my iris.csv", {"target": "species"}))
    "omnirank rank 'my iris.csv' --target species --method genie3 --seed 3 --set n_trees=5"
    """
    known = changed_parameters(ranking)
    reading = None if source is None else _reading(source)
    tested = _tested(ranking)
    if known is None or reading is None or tested:  # no option chooses the test
        return ""
    seed = known.pop("random_state", None)
    words = ["omnirank", "rank", *reading, "--method", ranking.method]
    words += [] if seed is None else ["--seed", str(seed)]
    for name, value in known.items():
        words += ["--set", f"{name}={value}"]
    words += [] if tested is None else ["--significance"]
    return shlex.join(words)


def _tested(ranking: Ranking) -> str | None:
    """The test that gives the p values again: "" for that of the method, else its name; None where none does."""
    method = known_method(ranking)
    if method is None or ranking.p_values is None or ranking.p_value_test not in (None, OUT_OF_BAG_TEST, COPIES_TEST):
        return None
    own = getattr(method.make(), "with_p_values", lambda: None)()
    return "copies" if own is not None and ranking.p_value_test == COPIES_TEST else ""


def changed_parameters(ranking: Ranking) -> dict[str, Any] | None:
    """Return the parameters that differ from the defaults of the ranker, with the seed that was used.

    None where the method is not registered, or where the ranking does not keep what was given.
    """
    method = known_method(ranking)
    found = thawed_json(ranking.parameters)
    if method is None or found.get(_NOT_RECORDED) is not None:
        return None
    defaults = {name: known.default for name, known in inspect.signature(method.load()).parameters.items()}
    changed = {name: value for name, value in found.items() if name in defaults and value != defaults[name]}
    seed = seed_of(ranking)
    if "random_state" in defaults and seed is not None:
        changed["random_state"] = seed
    return {name: value for name, value in changed.items() if name not in method.parameters}


def _reading(source: FileSource) -> list[str] | None:
    """The file and the options that read it; None where there is no option for what was given."""
    words = [source.path]
    for name, value in source.options.items():
        if name == "header":
            words += ["--header", "yes" if value else "no"]
        elif name == "missing":
            words += [word for text in value for word in ("--missing", text)]
        elif name in _OPTIONS:
            text = _as_text(_plain(value))
            if text is None:
                return None
            words += [f"--{name}", text]
        else:
            return None
    return words


def _as_text(value: Any) -> str | None:
    """Columns as they are typed; None where a name has a comma, which would part it."""
    if isinstance(value, list):
        texts = [str(part) for part in value]
        return None if any("," in text for text in texts) else ",".join(texts)
    return "\\t" if value == "\t" else str(value)


def _plain(value: Any) -> Any:
    """A value that reads back: paths as texts, sequences as lists."""
    if isinstance(value, str | int | float | bool | None):
        return value
    return [_plain(part) for part in value] if hasattr(value, "__iter__") else str(value)
