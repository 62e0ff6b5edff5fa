"""``omnirank rank``: rank the features of a data set, or the relations of a database, by any registered method."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from omnirank.cli import options
from omnirank.cli.command import typed_command
from omnirank.cli.options import option, ranker_of, refuse, with_few_labels
from omnirank.cli.output import bar, data_notes, heading, n_labelled, note, print_frame, say, shortened, table
from omnirank.cli.reading import read_data
from omnirank.cli.writing import RankingFiles
from omnirank.core.text import counted, numbers, supervision_lines

if TYPE_CHECKING:
    from omnirank.core.ranking.ranking import Ranking
    from omnirank.data.dataset import Dataset
    from omnirank.evaluation.redundancy import Redundancy
    from omnirank.relational.dataset import RelationalDataset

_SHOWN = 20
_SHOWN_TARGETS = 20
_SHOWN_REDUNDANT = 12
_SIGNIFICANCE = "P values, and how many features are relevant; 25 more fits, except for unbiased."
_GIVEN = "With --significance: also whether a feature adds to what the others tell."
_REDUNDANCY = "Group features with at least this association, from 0 to 1, such as 0.9."
_OUT = "Write the whole ranking (.csv, .json), or a picture of the best features (.png, .svg, .pdf); repeatable."
_REPORT = "Write a report for people (.html); it takes about seven times as long as the ranking."


def rank(
    ctx: typer.Context,
    method: options.Method = None,
    top: options.Top = None,
    trees: options.Trees = None,
    parameters: options.Set = None,
    significance: Annotated[bool, option("--significance", _SIGNIFICANCE)] = False,
    given: Annotated[str | None, option("--given others", _GIVEN)] = None,
    redundancy: Annotated[float | None, option("--redundancy A", _REDUNDANCY, min=0, max=1)] = None,
    supervision: options.Supervision = None,
    labelled: options.Labelled = None,
    out: Annotated[list[Path] | None, option("--out -o FILE", _OUT)] = None,
    report: Annotated[Path | None, option("--report FILE", _REPORT)] = None,
    csv: options.Csv = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
) -> None:
    """Rank features by their relevance for the target.

    Of several tables, relations are ranked; --set by=column ranks columns.
    """
    from omnirank.data.dataset import Dataset
    from omnirank.shards.dataset import ShardedDataset

    files = RankingFiles(out or [], report)
    files.check()
    data = read_data(ctx.obj, tables=True, parts=True, writes=(*files.out, report))
    relational = not isinstance(data, Dataset | ShardedDataset)
    if relational:
        of_one_table = {"--labelled": labelled, "--significance": significance, "--given": given}
        refuse(of_one_table | {"--redundancy": redundancy is not None}, "is for one table: leave it out for several")
        method = relational_method(method)
    elif not isinstance(data, Dataset):
        reason = "needs all examples in memory: leave it out, or allow more by --read max_memory=..."
        refuse({"--labelled": labelled, "--redundancy": redundancy is not None, "--given": given}, reason)
    if given is not None:
        from omnirank.core.parameters import check, choice

        check("given", given, choice("others"))
        refuse({"--given": not significance}, "needs --significance")
    data = with_few_labels(data, labelled, seed)
    settings = {"random_state": seed, "n_jobs": jobs, "n_trees": trees}
    chosen, ranker = ranker_of(data.task, method, parameters, supervision=supervision, **settings)
    ranker, ranking, seconds = _ranked(ranker, data, significance, given)
    k = top or _SHOWN
    files.write(ranking, k, data, ranker=ranker, seconds=seconds, command=typed_command(ctx))
    note(*(*data.notes, *_interchangeable(ranker)) if relational else _notes(data, ranker, ranking))
    groups = _groups(ranking, data, redundancy, jobs)
    if csv:
        print_frame(_frame(ranking, groups), top)
        return
    say(f"{relational_heading(data)}, by {ranker.by}" if relational else heading(data))
    say(f"{chosen.name}: {chosen.summary}")
    _print_best(ranking, k, ranker)
    _print_groups(groups, k)
    files.say()


def _ranked(ranker: Any, data: Any, significance: bool, given: str | None) -> "tuple[Any, Ranking, float]":
    """The fitted ranker, its ranking, with p values if wanted, and its seconds."""
    start = time.perf_counter()
    own = getattr(ranker, "with_p_values", lambda: None)() if significance else ranker
    if own is None:
        from omnirank.evaluation.significance import significance as tested

        ranking = tested(ranker, data, given=given)
    else:  # its own fit gives p values
        ranker = own.fit(data)
        ranking = ranker.ranking_
        if given:
            from omnirank.evaluation.conditional import with_given_others

            ranking = with_given_others(ranking, data, None, ranker.random_state, ranker.n_jobs)
    return ranker, ranking, time.perf_counter() - start


def _notes(data: Any, ranker: Any, ranking: "Ranking") -> list[str]:
    unlabelled = data.n_targets and not n_labelled(data)
    notes = ["no example has a label: features are ranked without target"] if unlabelled else []
    notes += [*data_notes(data), *supervision_lines(ranker)[:1]]
    if len(ranking) > 1 and ranking.scores.min() == ranking.scores.max():
        equal = f"all scores are equal ({ranking.scores[0]:.4g})"
        notes.append(f"{equal}: the order is that of the data and means nothing")
    if ranking.p_given_others is not None:
        from omnirank.evaluation.conditional import told_by_another

        told = told_by_another(ranking, data, ranker.random_state, ranker.n_jobs)
        notes += [f"{one} tells nothing that {other} does not" for one, other in told.items()]
    return notes


def _interchangeable(ranker: Any) -> list[str]:
    """Relations whose tests are often equal to those of others."""
    pairs = [f"{row.relation} by {row.other} ({row.share:.0%})" for row in ranker.interchangeable_.itertuples()]
    return [f"equal tests of other relations could replace, by share of credit: {', '.join(pairs[:5])}"] * bool(pairs)


def relational_method(name: str | None) -> str:
    """Return the name of a method that ranks relations."""
    from omnirank.core.errors import ParameterError
    from omnirank.core.registry import get_method, methods

    chosen = get_method(name or "relational-unbiased")
    if chosen.data != "relational":
        relational = ", ".join(method.name for method in methods(data="relational"))
        raise ParameterError(f"method {chosen.name!r} ranks the columns of one table; of several: {relational}")
    return chosen.name


def relational_heading(data: "RelationalDataset") -> str:
    """Return one line on several tables: name, task, examples, relations."""
    n = len(data.database.relations)
    return f"{data.name}: {data.task}, {counted(data.n_examples, 'example')}, {counted(n, 'relation')}"


def _print_best(ranking: "Ranking", k: int, ranker: Any) -> None:
    """Print the k best features, in all and by target, the number of others, and how sure the ranking is."""
    print_ranking(ranking, k)
    if len(ranking) > k:
        say(f"... and {len(ranking) - k} more: --top shows more of them, --out writes all")
    certainty = getattr(ranker, "certainty_", None)
    if certainty is not None:
        say(certainty.summary)
    if ranking.p_values is not None:
        _print_relevance(ranking)
    _print_targets(ranking)
    links = getattr(ranker, "rankings_", {}).get("link")
    if links is not None and ranker.by == "relation" and links.scores.any():
        say("relations that only link tables take credit from the columns behind them: --set by=column ranks columns")


def _print_relevance(ranking: "Ranking") -> None:
    """Print how many features are relevant, and what the columns of p values are."""
    from omnirank.core.ranking.certainty import ALPHA, CORRECTIONS, p_value_columns

    test = "" if ranking.p_value_test is None else f", {ranking.p_value_test}"
    n, features, correction = len(ranking.relevant()), counted(len(ranking), "feature"), CORRECTIONS["fdr"]
    say(f"{n} of {features} {'is' if n == 1 else 'are'} relevant: p_adjusted is at most {ALPHA} ({correction}{test})")
    say(f"p_value: of the feature alone; p_adjusted: corrected for testing {features}")
    if ranking.p_given_others is not None:
        adds = p_value_columns(ranking.p_values, ranking.p_given_others)["adds"]
        say(f"adds: whether it tells what the other features do not; {counted(int(adds.sum()), 'feature')} here")


def print_ranking(ranking: "Ranking", k: int) -> None:
    """Print the k best features as a table."""
    from omnirank.core.ranking.certainty import p_value_columns, replicates_of

    best = ranking.order[:k]
    scores = ranking.scores[best]
    errors = ranking.standard_errors
    columns: dict[tuple[str, str], list[Any]] = {
        ("rank", "right"): list(range(1, len(best) + 1)),
        ("feature", "left"): [ranking.names[i] for i in best],
        ("score", "right"): numbers(scores, beside=() if errors is None else errors[best]),
    }
    if errors is not None:
        columns[f"± {replicates_of(ranking)}", "right"] = numbers(errors[best], beside=scores)
    for name, values in p_value_columns(ranking.p_values, ranking.p_given_others).items():
        if name in ("relevant", "adds"):
            columns[name, "left"] = ["yes" if relevant else "no" for relevant in values[best]]
        else:
            columns[name, "right"] = [f"{p:.4f}" if p >= 0.0001 else "<0.0001" for p in values[best]]
    if ranking.p_values is None:  # no room for both on a terminal
        columns["", "left"] = [bar(score, scores[0]) for score in scores]
    table(list(columns), list(zip(*columns.values(), strict=True)))


def _print_targets(ranking: "Ranking", k: int = 5) -> None:
    """Print the k best features for each of the first targets."""
    if ranking.per_target is None:
        return
    targets = ranking.per_target.names
    shown = targets[:_SHOWN_TARGETS]
    best = [", ".join(ranking.for_target(target).top(k)) for target in shown]
    table([("target", "left"), ("best features", "left")], list(zip(shown, best, strict=True)))
    if len(targets) > len(shown):
        say(f"... and {len(targets) - len(shown)} more targets: --csv and --out hold all")


def _frame(ranking: "Ranking", groups: "Redundancy | None") -> Any:
    """The table of a ranking, with scores for each target and representatives of features where there are any."""
    frame = ranking.to_frame()
    if ranking.per_target is not None:
        names = [f"score: {target}" for target in ranking.per_target.names]
        frame = frame.join(type(frame)(ranking.per_target.scores[:, ranking.order].T, columns=names))
    if groups is not None:
        standing = dict(groups.to_frame()[["feature", "representative"]].itertuples(index=False, name=None))
        frame = frame.assign(representative=[standing.get(name, name) for name in frame["feature"]])
    return frame


def _groups(ranking: "Ranking", data: "Dataset", association: float | None, jobs: int) -> "Redundancy | None":
    """The groups of features that stand for each other."""
    if association is None:
        return None
    from omnirank.evaluation.redundancy import redundancy

    return redundancy(ranking, data, threshold=association, n_jobs=jobs)


def _print_groups(groups: "Redundancy | None", k: int) -> None:
    """Print the groups of several features among the k best groups, and how many features are left."""
    if groups is None:
        return
    rows = [(g.representative, shortened(g.others, _SHOWN_REDUNDANT)) for g in groups.groups[:k] if g.others]
    if rows:
        table([("feature", "left"), ("stands also for", "left")], rows)
    hidden = sum(1 for group in groups.groups[k:] if group.others)
    if hidden:
        say(f"... and {counted(hidden, 'more group')} of several features: --top shows more of them")
    say(groups.summary)
