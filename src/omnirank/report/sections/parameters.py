"""The parameters of the ranking, and how to repeat it."""

from __future__ import annotations

from omnirank.core.immutable import thawed_json
from omnirank.report.repeating import python_code, rank_command
from omnirank.report.section import Section
from omnirank.report.subject import Subject


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
            "command": subject.command or rank_command(ranking, subject.source),
            "code": python_code(ranking, subject.source),
            "repeated": repeated,
            "costs": costs,
            "fingerprint": ranking.fingerprint or "",
        },
    )
