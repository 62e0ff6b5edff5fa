"""The parameters of the ranking, and how to repeat it."""

from __future__ import annotations

import inspect
import shlex
from typing import Any

from omnirank.core.immutable import thawed_json
from omnirank.core.ranking import Ranking
from omnirank.report.section import Section
from omnirank.report.subject import Subject, known_method


def parameters(subject: Subject) -> Section:
    """Return the parameters, the lines that repeat the ranking, and whether they did."""
    ranking = subject.ranking
    pairs = [(name, "none" if value is None else str(value)) for name, value in thawed_json(ranking.parameters).items()]
    repeated = {
        None: "",
        True: "Ranking again gave the same scores, bit for bit.",
        False: "Ranking again gave other scores: the data, the version or the seed are not those of the ranking.",
    }[subject.found.repeats]
    costs = [(what, f"{seconds:.3g} s") for what, seconds in subject.found.costs.items()]
    return Section(
        "parameters",
        "Parameters, and how to repeat it",
        {
            "pairs": pairs,
            "command": subject.command or rank_command(ranking),
            "code": python_code(ranking),
            "repeated": repeated,
            "costs": costs,
            "fingerprint": ranking.fingerprint or "",
        },
    )


def python_code(ranking: Ranking) -> str:
    """Return the lines of Python that rank again; nothing where the method is not registered."""
    method = known_method(ranking)
    if method is None:
        return ""
    known = {name: value for name, value in _plain(ranking).items() if name not in method.parameters}
    given = "".join(f", {name}={value!r}" for name, value in known.items())
    lines = ("import omnirank as om", "", f"ranker = om.make_ranker({ranking.method!r}{given})")
    return "\n".join([*lines, "ranking = ranker.fit(data).ranking_"])


def rank_command(ranking: Ranking) -> str:
    """Return the command that ranks again; nothing where the method is not registered.

    Examples
    --------
    >>> import omnirank as om
    >>> from omnirank.report.sections.parameters import rank_command
    >>> ranker = om.EnsembleRanker("genie3", n_trees=5, random_state=3).fit(om.datasets.load_sample("iris"))
    >>> rank_command(ranker.ranking_)
    'omnirank rank DATA --target TARGET --method genie3 --seed 3 --set n_trees=5'
    """
    method = known_method(ranking)
    if method is None:
        return ""
    known = {name: value for name, value in _plain(ranking).items() if name not in method.parameters}
    target = ["--target", "TARGET"] if ranking.targets else []
    seed = known.pop("random_state", None)
    words = ["omnirank", "rank", "DATA", *target, "--method", ranking.method]
    words += [] if seed is None else ["--seed", str(seed)]
    for name, value in known.items():
        words += ["--set", f"{name}={value}"]
    return shlex.join(words)


def _plain(ranking: Ranking) -> dict[str, Any]:
    """The parameters that differ from the defaults of the ranker."""
    method = known_method(ranking)
    if method is None:
        return {}
    defaults = {name: known.default for name, known in inspect.signature(method.load()).parameters.items()}
    found = thawed_json(ranking.parameters)
    return {name: value for name, value in found.items() if name in defaults and value != defaults[name]}
