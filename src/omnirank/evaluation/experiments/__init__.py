"""Experiments that survive: a plan, a store of results that can be killed and continued, and tables of them."""

from importlib.resources import files

from omnirank.evaluation.experiments.plan import StudyPlan, read_plan
from omnirank.evaluation.experiments.results import Results, read_rankings, read_results
from omnirank.evaluation.experiments.run import RunSummary, run_plan
from omnirank.evaluation.experiments.store import Store

__all__ = [
    "Results",
    "RunSummary",
    "Store",
    "StudyPlan",
    "example_plan",
    "read_plan",
    "read_rankings",
    "read_results",
    "run_plan",
]


def example_plan() -> str:
    """Return the text of a plan on sample data that runs in under a minute.

    Examples
    --------
    >>> from omnirank.evaluation.experiments import example_plan
    >>> "[[method]]" in example_plan()
    True
    """
    return files(__name__).joinpath("example_plan.toml").read_text(encoding="utf-8")
