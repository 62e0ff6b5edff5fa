"""One HTML file that people open: what a ranking found, how sure it is, and how to repeat it."""

from omnirank.report.ranking_page import write_report

__all__ = ["write_report"]
