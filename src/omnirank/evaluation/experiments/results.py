"""What studies have found: measures of all jobs, tables over data sets, curves, times and failures."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from omnirank.core.errors import DataError, ParameterError
from omnirank.core.parameters import check, choice
from omnirank.core.ranking.ranking import Ranking
from omnirank.core.text import did_you_mean
from omnirank.core.types import PathLike
from omnirank.evaluation.cross import Curve, curve_area
from omnirank.evaluation.experiments.store import Member, Store, column_name
from omnirank.evaluation.statistics import latex_lines, latex_text, markdown_lines
from omnirank.tasks.measuring import MEASURES, primary_measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from omnirank.evaluation.statistics import Comparison

# What the positions of curves count.
_AXES = {"labelled": "labelled examples", "top": "top features", "n_trees": "trees"}
_SETTING = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")
_TOP = re.compile(r"(^| )top=\d+$")
_PLACE = ["data", "method", "labelled", "neighbors"]


@dataclass(frozen=True, eq=False)
class StudyResults:
    """The results of one study.

    Attributes
    ----------
    name : str
        Name of the study.
    facts : dict
        Order of data sets and methods, tasks, measures to report.
    jobs : DataFrame
        One row per job: data, method, choice, labelled, neighbors, seed, fold, state, seconds, error, key.
    figures : DataFrame
        One row per measure of a finished job: data, method, choice, labelled, neighbors, seed, fold, measure, value,
        n_test.
    """

    name: str
    facts: dict[str, Any]
    jobs: pd.DataFrame
    figures: pd.DataFrame

    @property
    def measures(self) -> list[str]:
        """What is reported by default: the measures that the plan names, else the primary ones of the tasks."""
        if self.facts["measures"]:
            return list(self.facts["measures"])
        return list(dict.fromkeys(primary_measure(task).name for task in self.facts["tasks"].values()))

    @property
    def recorded(self) -> list[str]:
        """Measures that were recorded."""
        return [name for name in MEASURES if name in set(self.figures["measure"])]

    @property
    def neighbor_counts(self) -> list[int]:
        """Numbers of neighbours that rankings were judged with; [0] where there is one setting only."""
        counts = sorted(set(self.jobs["neighbors"]) - {0})
        return [int(k) for k in counts] or [0]

    @property
    def labelled_counts(self) -> list[int]:
        """Numbers of labelled examples; [0] where no labels were hidden."""
        return sorted({int(count) for count in self.jobs["labelled"]})

    def _with_all_choices(self) -> StudyResults:
        """The study with all combinations of grids of which the best are reported."""
        return replace(self, facts=self.facts | {"best_of_grid": []})

    def means(self, measure: str | None = None) -> pd.DataFrame:
        """Return the means over folds and seeds: data, method, labelled, neighbors, measure, mean, n.

        Folds weigh as much as they have labelled test examples; those where a measure is undefined are left out. A mean
        is missing (NaN) where a job of its group is not done: that of the others would not be comparable. Of a grid
        with ``select = "best"`` the best combination is taken, for each data set and measure.

        Parameters
        ----------
        measure : str, optional
            Only this one.
        """
        figures = self.figures if measure is None else self.figures[self.figures["measure"] == measure]
        if figures.empty:
            return pd.DataFrame(columns=[*_PLACE, "measure", "mean", "n"])
        weights = figures["n_test"].where(figures["value"].notna(), 0)
        weighted = figures.assign(product=figures["value"].fillna(0.0) * weights, weight=weights)
        place = [*_PLACE, "choice", "measure"]
        sums = weighted.groupby(place, sort=False).agg(
            product=("product", "sum"), weight=("weight", "sum"), n=("value", "size")
        )
        means = sums.reset_index()
        planned = self.jobs.groupby([*_PLACE, "choice"]).size().rename("planned").reset_index()
        means = means.merge(planned, on=[*_PLACE, "choice"])
        whole = (means["n"] == means["planned"]) & (means["weight"] > 0)
        means["mean"] = (means["product"] / means["weight"].where(whole)).astype(np.float64)
        return self._best_choices(means.drop(columns=["planned", "product", "weight"]))

    def _best_choices(self, means: pd.DataFrame) -> pd.DataFrame:
        chosen = means["method"].isin(self.facts["best_of_grid"])
        better = means["measure"].map(lambda name: 1.0 if MEASURES[name].larger_is_better else -1.0)
        # best first; of equally good ones the first of the grid
        order = (means["mean"] * better).where(chosen).sort_values(ascending=False, kind="stable").index
        best = means.loc[order][chosen.loc[order]].drop_duplicates([*_PLACE, "measure"])
        plain = means[~chosen].copy()
        plain["method"] = _columns(plain)
        shown = pd.concat([plain, best]) if len(best) else plain
        columns = [*_PLACE, "measure"]
        return shown[[*columns, "mean", "n"]].sort_values(columns, key=self._places, ignore_index=True)

    def table(self, measure: str, neighbors: int | None = None, labelled: int | None = None) -> pd.DataFrame:
        """Return the means with data sets as rows and methods as columns, in the order of the plan.

        Parameters
        ----------
        measure : str
            The measure; data sets that do not have it are left out.
        neighbors : int, optional
            Number of neighbours; by default the first. Methods that predict themselves have none and are always there.
        labelled : int, optional
            Number of labelled examples; by default the normalised area under the curve over all numbers.
        """
        check("measure", measure, choice(*MEASURES))
        if self.recorded and measure not in self.recorded:
            raise DataError(f"study {self.name!r} has no {measure!r}; its data sets have {', '.join(self.recorded)}")
        means = self.means(measure)
        k = self.neighbor_counts[0] if neighbors is None else neighbors
        if k not in self.neighbor_counts:
            known = ", ".join(map(str, self.neighbor_counts)) if self.neighbor_counts != [0] else "none but the default"
            raise ParameterError(
                "neighbors", neighbors, f"the numbers of neighbours of study {self.name!r} are {known}"
            )
        means = means[means["neighbors"].isin([0, k])]
        if labelled is not None:
            means = means[means["labelled"] == labelled]
        areas = (
            means.sort_values("labelled")
            .groupby(["data", "method"])["mean"]
            .apply(lambda own: curve_area(own.to_numpy()))
        )
        return self._in_order(areas.unstack("method")) if len(areas) else pd.DataFrame()

    def deviations(self, measure: str, neighbors: int | None = None, labelled: int | None = None) -> pd.DataFrame:
        """Return the standard deviations over the seeds of what `table` returns, with the same parameters."""
        tables = [
            replace(self, jobs=self.jobs[self.jobs["seed"] == seed], figures=self.figures[self.figures["seed"] == seed])
            for seed in self.jobs["seed"].unique()
        ]
        cells = pd.concat([one.table(measure, neighbors, labelled).stack() for one in tables], axis=1)
        return self._in_order(cells.std(axis=1, ddof=1, skipna=False).unstack())

    def curves(
        self, measure: str, neighbors: int | None = None, over: str = "labelled", *, deviations: bool = False
    ) -> dict[str, pd.DataFrame]:
        """Return the means over a parameter: for each data set, one row per value and one column per method.

        Parameters
        ----------
        measure, neighbors
            As in `table`.
        over : str
            "labelled" (the number of labelled examples) or a parameter with several numbers in the grid of a method,
            such as "top", "n_trees" or "supervision". Methods without it have the same value everywhere. Of grids with
            ``select = "best"`` all combinations are returned.
        deviations : bool
            Whether to return standard deviations over the seeds instead.
        """
        study = self if over == "labelled" else self._with_all_choices()
        read = study.deviations if deviations else study.table
        if over == "labelled":
            tables: dict[Any, pd.DataFrame] = {n: read(measure, neighbors, n) for n in self.labelled_counts}
        else:
            tables = self._by_setting(read(measure, neighbors), over)
        names = list(dict.fromkeys(name for table in tables.values() for name in table.index))
        curves = {
            name: pd.DataFrame({place: table.loc[name] for place, table in tables.items() if name in table.index}).T
            for name in names
        }
        return {name: curve.rename_axis(over) for name, curve in curves.items()}

    def plot_curves(
        self, measure: str, data: str, neighbors: int | None = None, over: str = "labelled", **options: Any
    ) -> Axes:
        """Draw the curves of one data set, with bands of one standard deviation over the seeds where there are several.

        Of a grid with ``select = "best"`` the combination that is reported is marked.

        Parameters
        ----------
        measure, neighbors, over
            As in `curves`.
        data : str
            Name of the data set.
        **options
            Of `omnirank.plots.plot_curves`: ``pairs``, ``chosen``, ``ax``, ...
        """
        from omnirank.plots.curves import plot_curves

        curve = self.curves(measure, neighbors, over)[data]
        way, axis = MEASURES[measure].larger_is_better, _AXES.get(over, over)
        where = curve.index.to_numpy()
        curves = [Curve(where, curve[name].to_numpy(), measure, axis, way, str(name)) for name in curve.columns]
        if over != "labelled":
            options = {"chosen": [self._reported(curve, str(name), way) for name in curve.columns]} | options
        if self.jobs["seed"].nunique() > 1:
            spread = self.curves(measure, neighbors, over, deviations=True)[data]
            options = {"errors": [spread[name].to_numpy() for name in curve.columns]} | options
        return plot_curves(curves, **options)

    def _reported(self, curve: pd.DataFrame, name: str, larger_is_better: bool) -> float | None:
        """Where a curve has the best value of a grid of which only that is reported."""
        grid = curve[[column for column in curve if _method(str(column)) == _method(name)]].to_numpy()
        if _method(name) not in self.facts["best_of_grid"] or np.isnan(grid).all():
            return None
        best = np.nanmax(grid) if larger_is_better else np.nanmin(grid)
        return next((float(place) for place in curve.index.to_numpy()[curve[name] == best]), None)

    def ranks(self, measures: Sequence[str] | None = None, neighbors: int | None = None) -> pd.DataFrame:
        """Return average ranks: a row per method, in the order of the plan, and a column per measure; "seconds" is one.

        Parameters
        ----------
        measures : sequence of str, optional
            By default those that are reported, and seconds.
        neighbors : int, optional
            As in `table`.
        """
        names = [*self.measures, "seconds"] if measures is None else measures
        ranks = pd.DataFrame({name: self.compare(name, neighbors).average_ranks for name in names})
        return ranks.loc[sorted(ranks.index, key=PlanOrder(self.facts).column)]

    def rank_grid(self, measure: str, rows: str, columns: str, neighbors: int | None = None) -> pd.DataFrame:
        """Return the average ranks of a grid's combinations, by two of its parameters, for `omnirank.plots.plot_grid`.

        Combinations are ranked among each other and all other methods, also of a grid with ``select = "best"``.

        Parameters
        ----------
        measure, neighbors
            As in `table`; "seconds" is a measure here.
        rows, columns : str
            Two parameters of a grid; of others the ranks are averaged.
        """
        ranks = self._with_all_choices().compare(measure, neighbors).average_ranks
        settings = [_settings(str(name)) for name in ranks.index]
        both = [i for i, own in enumerate(settings) if rows in own and columns in own]
        if not both:
            raise DataError(f"no method of study {self.name!r} varies {rows!r} and {columns!r}")
        places = ([_number(settings[i][name]) for i in both] for name in (rows, columns))
        frame = pd.DataFrame(dict(zip((rows, columns), places, strict=True)) | {"rank": ranks.to_numpy()[both]})
        return frame.pivot_table(values="rank", index=rows, columns=columns)

    def _by_setting(self, table: pd.DataFrame, over: str) -> dict[Any, pd.DataFrame]:
        """Tables by the value of a parameter, with columns that are named without it."""
        settings = {column: _settings(str(column)) for column in table.columns}
        values = {column: _number(own[over]) for column, own in settings.items() if over in own}
        if not values or any(isinstance(value, str) for value in values.values()):
            known = sorted({name for own in settings.values() for name in own})
            there = f"parameters in grids: {', '.join(known) or 'none'}"
            raise DataError(f"no method of study {self.name!r} varies {over!r} over numbers; {there}")
        names = {column: _without(str(column), over) for column in table.columns}
        return {
            value: table[[c for c in table.columns if values.get(c, value) == value]].rename(columns=names)
            for value in sorted(set(values.values()))
        }

    def times(self) -> pd.DataFrame:
        """Return the median seconds of a fit, with data sets as rows and methods as columns.

        Of all folds and seeds; compiling is not part of them. Scores and sizes that come from one fit have its time.
        """
        done = self.jobs[self.jobs["state"] == "done"].copy()
        done["method"] = _columns(done).where(~done["method"].isin(self.facts["best_of_grid"]), done["method"])
        means = done.groupby(["data", "method"])["seconds"].median()
        return self._in_order(means.unstack("method")) if len(means) else pd.DataFrame()

    def compare(
        self, measure: str, neighbors: int | None = None, labelled: int | None = None, **options: Any
    ) -> Comparison:
        """Return the comparison of the methods over the data sets for which all of them have results.

        Parameters
        ----------
        measure, neighbors, labelled
            As in `table`; the measure may be "seconds", too.
        **options
            Of `omnirank.evaluation.statistics.compare_methods`: ``alpha``, ``control``, ...
        """
        from omnirank.evaluation.statistics import compare_methods

        is_time = measure == "seconds"
        table = self.times() if is_time else self.table(measure, neighbors, labelled)
        whole = table.dropna(axis="index", how="any")
        if whole.empty:
            raise DataError(f"study {self.name!r}: no data set has {measure!r} of all methods; run what is missing")
        return compare_methods(whole, not is_time and MEASURES[measure].larger_is_better, **options)

    def failures(self) -> pd.DataFrame:
        """Return the jobs that failed: data, method, choice, labelled, neighbors, seed, fold, error, traceback."""
        return self.jobs[self.jobs["state"] == "failed"].drop(columns=["state", "seconds"])

    def _in_order(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows and columns in the order of the plan; choices of a grid in theirs, at the place of the method."""
        order = PlanOrder(self.facts)
        return table.loc[sorted(table.index, key=order.data), sorted(table.columns, key=order.column)]

    def _places(self, values: pd.Series) -> pd.Series:
        """What rows of the means are sorted by."""
        order = PlanOrder(self.facts)
        places = {"data": order.data, "method": order.column}.get(str(values.name))
        return values if places is None else values.map({name: places(name) for name in values.unique()})


@dataclass(frozen=True, eq=False)
class Results:
    """The results of all studies in a store, or in the stores of a folder."""

    studies: tuple[StudyResults, ...]

    def __iter__(self) -> Iterator[StudyResults]:
        return iter(self.studies)

    def __getitem__(self, name: str) -> StudyResults:
        for study in self.studies:
            if study.name == name:
                return study
        raise DataError(f"there is no study {name!r}; there are {', '.join(repr(s.name) for s in self.studies)}")


def store_files(path: PathLike) -> list[Path]:
    """Return the stores that a path stands for: itself, that beside a plan, or all ``.sqlite`` files of a folder."""
    path = Path(path)
    if path.is_dir():
        stores = sorted(path.glob("*.sqlite")) or sorted(path.glob("*/*.sqlite"))
        if not stores:
            raise DataError(f"the folder {str(path)!r} holds no store (.sqlite)")
        return stores
    store = path.with_suffix(".sqlite") if path.suffix == ".toml" else path
    if not path.exists() and not store.exists() and path.suffix in ("", ".toml"):
        raise DataError(f"there is no file or folder {str(path)!r}: give a store (.sqlite), a plan (.toml) or a folder")
    if path.suffix in (".csv", ".json"):
        advice = "om.Ranking.load reads the file of a ranking, omnirank compare-rankings compares two"
        raise DataError(f"{path}: not a store of experiments (.sqlite); {advice}")
    if not store.exists() and store.parent.is_dir():
        hint = did_you_mean(store.name, [file.name for file in store.parent.glob("*.sqlite")])
        raise DataError(f"there is no store {str(store)!r}{hint}: omnirank experiment run makes it")
    return [store]


def read_results(path: PathLike) -> Results:
    """Read the results of the studies in a store, in the stores of a folder, or beside a plan.

    Parameters
    ----------
    path : str or Path
        A store (``.sqlite``), a plan (``.toml``) or a folder.

    Returns
    -------
    Results
        The studies, by name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "small.toml")
    ...     _ = path.write_text('''
    ...     folds = { n_folds = 2 }
    ...     data = [{ sample = "iris" }, { sample = "wine" }]
    ...     method = [{ use = "univariate" }, { use = "uniform" }]
    ...     ''')
    ...     _ = om.experiments.run_plan(path)
    ...     table = om.experiments.read_results(path)["small"].table("accuracy")
    >>> list(table.index), list(table.columns), bool((table > 0.9).all(axis=None))
    (['iris', 'wine'], ['univariate', 'uniform'], True)
    """
    studies: dict[str, StudyResults] = {}
    for file in store_files(path):
        with Store(file) as store:
            for name, facts in store.studies().items():
                if name in studies:
                    advice = "read the stores one by one, or name one study differently"
                    raise DataError(f"{file}: another store has a study {name!r}, too: {advice}")
                studies[name] = _study(name, facts, store.rows(name))
    if not studies:
        raise DataError(f"{str(path)!r} holds no study yet: omnirank experiment run PLAN fills a store")
    return Results(tuple(studies[name] for name in sorted(studies)))


def read_rankings(path: PathLike, study: str, data: str, method: str) -> dict[str, Ranking]:
    """Return the rankings that a study has kept (``keep_rankings = true``) of one data set and method.

    Parameters
    ----------
    path : str or Path
        As in `read_results`.
    study, data, method : str
        Names.

    Returns
    -------
    dict of str to Ranking
        By fold, seed and whatever else varies, as ``"seed=0 fold=2"``; ready for
        `omnirank.evaluation.stability.ranking_agreement`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import omnirank as om
    >>> plan = {"study": {"name": "small", "keep_rankings": True}, "folds": {"n_folds": 2}}
    >>> plan |= {"data": [{"sample": "iris"}], "method": [{"use": "univariate"}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder, "small.sqlite")
    ...     _ = om.experiments.run_plan(plan, store=store)
    ...     list(om.experiments.read_rankings(store, "small", "iris", "univariate"))
    ['seed=0 fold=0', 'seed=0 fold=1']
    """
    rankings: dict[str, Ranking] = {}
    places: set[tuple[str, str]] = set()
    studies: set[str] = set()
    for file in store_files(path):
        with Store(file) as store:
            studies |= set(store.studies())
            for member, row in store.rows(study):
                places.add((member.data, member.method))
                # rankings do not depend on how many neighbours judge them, nor on how many features are kept
                parts = [_TOP.sub("", member.choice), f"labelled={member.labelled}" if member.labelled else ""]
                name = " ".join([*filter(None, parts), f"seed={member.seed}", f"fold={member.fold}"])
                if (member.data, member.method) != (data, method) or name in rankings:
                    continue
                if (kept := store.ranking(row["key"])) is not None:
                    constant = kept.get("constant", ())
                    rankings[name] = Ranking(kept["names"], kept["scores"], method, constant=constant)
    if not rankings:
        _check_name(study, "study", studies)
        _check_name(data, "data set", {known for known, _ in places})
        _check_name(method, "method", {known for _, known in places})
        raise DataError(
            f"study {study!r} keeps no ranking of {data!r} by {method!r}: set keep_rankings = true in [study] before "
            "it is run"
        )
    return rankings


def _check_name(name: str, kind: str, known: Collection[str]) -> None:
    if name not in known:
        there = ", ".join(repr(one) for one in sorted(known))
        raise DataError(f"there is no {kind} {name!r}{did_you_mean(name, known)}; there are {there}")


def _study(name: str, facts: dict[str, Any], rows: list[tuple[Member, dict[str, Any]]]) -> StudyResults:
    place = list(Member._fields)
    recorded = ["state", "seconds", "error", "traceback", "key"]
    order = PlanOrder(facts)
    ordered = sorted(rows, key=lambda row: order.member(row[0]))
    jobs = [(*member, *(row[key] for key in recorded)) for member, row in ordered]
    figures = [
        (*member, measure, np.nan if value is None else value, row["n_test"])
        for member, row in ordered
        for measure, value in row["figures"].items()
        if row["state"] == "done" and measure in MEASURES  # one of a user's own module may not be imported
    ]
    frame = pd.DataFrame(figures, columns=[*place, "measure", "value", "n_test"]).astype({"value": np.float64})
    return StudyResults(name, facts, pd.DataFrame(jobs, columns=[*place, *recorded]), frame)


def _columns(rows: pd.DataFrame) -> pd.Series:
    """The column of a table that each row belongs to."""
    return pd.Series([column_name(*pair) for pair in zip(rows["method"], rows["choice"], strict=True)], rows.index, str)


def _settings(column: str) -> dict[str, str]:
    """The settings of a grid's combination, from the name of its column."""
    return dict(_SETTING.findall(column.rpartition(" (")[2].removesuffix(")"))) if " (" in column else {}


def _method(column: str) -> str:
    """The method of a column."""
    return column.rpartition(" (")[0] if _settings(column) else column


def _without(column: str, name: str) -> str:
    """The name of a column without one of its settings."""
    others = " ".join(f"{key}={value}" for key, value in _settings(column).items() if key != name)
    return column_name(_method(column), others)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


class PlanOrder:
    """The order of data sets, methods and choices in a plan."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self._data = {name: i for i, name in enumerate(facts["data"])}
        self._columns = {name: i for i, name in enumerate(facts["columns"])}

    def data(self, name: str) -> int:
        """Return the place of a data set."""
        return self._data.get(name, len(self._data))

    def column(self, name: str) -> tuple[int, str]:
        """Return the place of a column of a table: a method, or a choice of one."""
        method = self._columns.get(name.partition(" (")[0], len(self._columns))
        return self._columns.get(name, method), name

    def member(self, member: Member) -> tuple[Any, ...]:
        """Return the place of a job."""
        return self.data(member.data), self.column(column_name(member.method, member.choice)), member


def shown_numbers(table: pd.DataFrame, deviations: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the cells as text with four significant digits, and deviations with two; empty where a value is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.experiments.results import shown_numbers
    >>> shown_numbers(pd.DataFrame({"a": [0.123456, None]}), pd.DataFrame({"a": [0.0123, None]})).values.tolist()
    [['0.1235 ± 0.012'], ['']]
    """
    shown = table.map(lambda value: "" if math.isnan(value) else f"{value:.4g}")
    return shown if deviations is None else shown + deviations.map(lambda sd: "" if math.isnan(sd) else f" ± {sd:.2g}")


def markdown_table(
    table: pd.DataFrame, larger_is_better: bool | None = None, deviations: pd.DataFrame | None = None
) -> str:
    """Return a table as Markdown, the best value of each row in bold where a direction is given.

    Deviations, if given, are shown after the values.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.experiments.results import markdown_table
    >>> print(markdown_table(pd.DataFrame({"x": [0.5], "y": [0.25]}, index=["iris"]), larger_is_better=True))
    | data set | x | y |
    | --- | ---: | ---: |
    | iris | **0.5** | 0.25 |
    """
    cells = _marked(table, larger_is_better, "**{}**", deviations)
    return "\n".join(markdown_lines(["data set", *map(str, table.columns)], cells))


def latex_table(
    table: pd.DataFrame, larger_is_better: bool | None = None, deviations: pd.DataFrame | None = None
) -> str:
    r"""Return a table as a LaTeX tabular, the best value of each row in bold where a direction is given.

    Deviations, if given, are shown after the values.

    Examples
    --------
    >>> import pandas as pd
    >>> from omnirank.evaluation.experiments.results import latex_table
    >>> print(latex_table(pd.DataFrame({"k_1": [0.5]}, index=["iris"]), larger_is_better=True))
    \begin{tabular}{lr}
    \hline
    data set & k\_1 \\
    \hline
    iris & \textbf{0.5} \\
    \hline
    \end{tabular}
    """
    cells = _marked(table, larger_is_better, r"\textbf{{{}}}", deviations)
    header = ["data set", *(latex_text(str(name)) for name in table.columns)]
    lines = latex_lines(header, ([latex_text(name), *row] for name, *row in cells))
    return "\n".join(lines).replace("±", r"$\pm$")


def _marked(
    table: pd.DataFrame, larger_is_better: bool | None, mark: str, deviations: pd.DataFrame | None
) -> list[list[str]]:
    """The rows as text: name of the data set and cells."""
    shown = shown_numbers(table, deviations)
    if larger_is_better is not None:
        best = table.max(axis=1) if larger_is_better else table.min(axis=1)
        shown = shown.where(table.ne(best, axis=0), shown.map(mark.format))
    return [[str(name), *row] for name, row in zip(shown.index, shown.to_numpy().tolist(), strict=True)]
