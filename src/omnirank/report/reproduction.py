"""Sections on how it was done: a paragraph to paste, the parameters, and the lines that rank again."""

from __future__ import annotations

import inspect
import platform
from importlib.metadata import version
from typing import Any

from omnirank.core.immutable import thawed_json
from omnirank.core.ranking.certainty import COPIES_TEST, OUT_OF_BAG_TEST
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.text import counted, top_of
from omnirank.data.dataset import FileSource
from omnirank.ensembles.plan import GrowingRules, features_per_node
from omnirank.relational.dataset import RelationalDataset
from omnirank.report.judgement import CORRECTION, p_value_test
from omnirank.report.page import Content, digits, listing
from omnirank.report.subject import Subject, known_method, seed_of

_STABILITY = (
    "Nogueira, Sechidis, Brown: On the stability of feature selection algorithms. Journal of Machine Learning "
    "Research 18, 2018"
)
_ONE_ERROR = "Breiman, Friedman, Olshen, Stone: Classification and regression trees, 1984 (one-standard-error rule)"
_FALSE_DISCOVERY = (
    "Benjamini, Hochberg: Controlling the false discovery rate. Journal of the Royal Statistical Society B 57, 1995"
)
_NAMED = 5
# What the sentence on trees tells, and what decides it.
_TOLD = ("n_trees", "ensemble", "bootstrap", "max_features", "min_samples_leaf", "supervision", "random_state")
_RULES = ("ensemble", "bootstrap", "max_features")
_NOT_RECORDED = "feature_weights"


def methods(subject: Subject) -> Content:
    """Return the paragraph and its references."""
    return {"text": paragraph(subject), "references": references(subject)}


def paragraph(subject: Subject) -> str:
    """Return what was done, in the words of a paper: enough to do it again."""
    ranking, data, method = subject.ranking, subject.data, subject.method
    n = counted(len(ranking), "feature")
    examples = "" if data is None else f" of {counted(data.n_examples, 'example')} ({data.name})"
    names = list(subject.targets)
    targets = listing(names) if len(names) <= _NAMED else f"{len(names)} targets"
    of = f" of {targets}" if names and targets != "y" else ""
    task = f" for {ranking.task}{of}" if ranking.task else ""
    what = "" if method is None else f" ({method.summary[0].lower()}{method.summary[1:]})"
    parts = [f"The {n}{examples} were ranked{task} by the method {ranking.method!r}{what}."]
    parts += _trees(subject)
    if data is not None and data.target is not None and not data.labelled.all():
        parts.append(f"{int(data.labelled.sum())} of the examples were labelled.")
    if data is not None and data.given_groups is not None:
        parts.append(f"Examples of the same group ({len(set(data.given_groups.tolist()))} groups) stayed together.")
    known = changed_parameters(ranking) or {}
    others = [f"{name}={value!r}" for name, value in known.items() if name not in _TOLD]
    if method is not None:
        changed = f"Further parameters: {', '.join(others)}; all others" if others else "All other parameters"
        parts.append(f"{changed} had their defaults.")
    if ranking.p_values is not None:
        parts.append(
            f"P values are those of {p_value_test(ranking)}. With {CORRECTION} correction for {n}, "
            f"{len(ranking.relevant())} were relevant at a false discovery rate of 0.05."
        )
    parts += _judged(subject)
    seed = seed_of(ranking)
    packages = ", ".join(f"{name} {version(name)}" for name in ("omnirank", "numpy", "scikit-learn"))
    software = f"{packages}, Python {platform.python_version()}"
    parts.append(f"{'' if seed is None else f'The seed was {seed}. '}Software: {software}.")
    return " ".join(parts)


def _trees(subject: Subject) -> list[str]:
    """How the trees of an ensemble were grown, with the numbers that defaults stand for."""
    ranking = subject.ranking
    grown, kind = ranking.parameters.get("n_trees"), ranking.parameters.get("ensemble")
    if not isinstance(grown, int) or not isinstance(kind, str):
        return []
    decided: dict[str, Any] = {name: ranking.parameters.get(name) for name in _RULES}
    rules = GrowingRules(**decided)
    replicates = "bootstrap replicates" if rules.bootstraps else "all examples"
    level, drawn = ranking.parameters.get("supervision_level"), ""
    # without supervision another rule decides
    if subject.data is not None and (level != 0 or rules.max_features is not None):
        drawn = f", {features_per_node(rules, subject.data)} of {len(ranking)} features were tried in each node"
    leaf = ranking.parameters.get("min_samples_leaf")
    leaves = "" if leaf is None else f", and a leaf had at least {leaf:g} {'example' if leaf == 1 else 'examples'}"
    how = " (the target alone counts)" if level == 1 else " (the features alone count)" if level == 0 else ""
    supervised = "" if level is None else f" The level of supervision was {level:g}{how}."
    were = "was" if grown == 1 else "were"
    return [f"{counted(grown, 'tree')} ({kind}) {were} grown on {replicates}{drawn}{leaves}.{supervised}"]


def _judged(subject: Subject) -> list[str]:
    halves = subject.halves
    if halves is None:
        return []
    own, same = (digits(float(halves.values(of).mean()), 3) for of in ("worth", "uniform"))
    how = "with scores as weights" if halves.top is None else f"by {top_of(halves.top)}"
    same_of = "equal weights" if halves.top is None else "all features"
    parts = [
        f"Rankings were judged by {counted(halves.judge.n_neighbors, 'nearest neighbour')}, {how}, on {halves.n} "
        f"halves of the examples that were not used to rank: {halves.measure.title} {own}, with {same_of} {same}."
    ]
    if not subject.why_no_cut:
        parts.append(f"By the one-standard-error rule {counted(halves.curve.chosen_size, 'feature')} sufficed.")
    k, index = halves.stability.k, halves.stability.indices["top_k"].value
    return [*parts, f"The stability of {top_of(k)} over these halves was {index:.2f} (index of Nogueira et al.)."]


def references(subject: Subject) -> list[str]:
    """Return what the paragraph cites."""
    method, cited = subject.method, []
    if method is not None and method.reference:
        cited.append(method.reference)
    if subject.ranking.p_values is not None:
        cited.append(_FALSE_DISCOVERY)
    if subject.halves is not None:
        if not subject.why_no_cut:
            cited.append(_ONE_ERROR)
        cited.append(_STABILITY)
    return cited


def parameters(subject: Subject) -> Content:
    """Return the parameters, the lines that repeat the ranking, and whether they did."""
    ranking = subject.ranking
    pairs = [(name, "none" if value is None else str(value)) for name, value in thawed_json(ranking.parameters).items()]
    if subject.seconds is not None:
        pairs.append(("time of the ranking", f"{subject.seconds:.3g} s"))
    repeated = {
        None: "",
        True: "Ranking again gave the same scores, bit for bit.",
        False: "Ranking again gave other scores: the data, the version or the seed are not those of the ranking.",
    }[subject.repeats]
    source = None if subject.data is None else subject.data.source
    return {
        "pairs": pairs,
        "command": subject.command or "",
        "code": python_code(ranking, source, subject.database),
        "repeated": repeated,
        "fingerprint": ranking.fingerprint or "",
    }


def python_code(ranking: Ranking, source: FileSource | None, tables: RelationalDataset | None = None) -> str:
    """Return the lines of Python that rank again; nothing where the ranking does not tell enough.

    Examples
    --------
    >>> from omnirank.core.ranking.ranking import Ranking
    >>> from omnirank.data.dataset import FileSource
    >>> from omnirank.report.reproduction import python_code
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
    if tables is not None:
        target = tables.target_name.split(", ")
        given = repr(target if len(target) > 1 else target[0])
        read = f"data = om.relational.RelationalDataset.from_folder(folder, target={given})  # as the tables were read"
    elif source is not None:
        options = "".join(f", {name}={_plain(value)!r}" for name, value in source.options.items())
        read = f"data = om.load({source.path!r}{options})"
    tested = _tested(ranking)
    last = "ranking = ranker.fit(data).ranking_"
    if tested is not None:
        last = f"ranking = om.significance(ranker, data{f', method={tested!r}' if tested else ''})"
    lines = ["import omnirank as om", "", read, f"ranker = om.make_ranker({ranking.method!r}{given})"]
    return "\n".join([*lines, last])


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
    recorded = thawed_json(ranking.parameters)
    if method is None or recorded.get(_NOT_RECORDED) is not None:
        return None
    defaults = {name: known.default for name, known in inspect.signature(method.load()).parameters.items()}
    changed = {name: value for name, value in recorded.items() if name in defaults and value != defaults[name]}
    seed = seed_of(ranking)
    if "random_state" in defaults and seed is not None:
        changed["random_state"] = seed
    return {name: value for name, value in changed.items() if name not in method.parameters}


def _plain(value: Any) -> Any:
    """A value that reads back: paths as texts, sequences as lists."""
    if isinstance(value, str | int | float | bool | None):
        return value
    return [_plain(part) for part in value] if hasattr(value, "__iter__") else str(value)
