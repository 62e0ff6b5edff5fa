"""Errors, seeds, the parallel helper, rankings and the method registry."""
