"""Runs of CLUS: its settings files as they are, and its output files with our results."""

from omnirank.clus.run import ClusRun, run_clus

__all__ = ["ClusRun", "run_clus"]
