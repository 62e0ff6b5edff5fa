"""Runs of CLUS: its settings files as they are, and its output files with our results."""
