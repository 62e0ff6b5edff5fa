"""The parameters of the ranking, and how to repeat it."""

from __future__ import annotations

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
            "command": subject.command or "",
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


def _plain(ranking: Ranking) -> dict[str, Any]:
    """The parameters that differ from the defaults of the ranker."""
    import inspect

    method = known_method(ranking)
    if method is None:
        return {}
    defaults = {name: known.default for name, known in inspect.signature(method.load()).parameters.items()}
    found = thawed_json(ranking.parameters)
    return {name: value for name, value in found.items() if name in defaults and value != defaults[name]}
