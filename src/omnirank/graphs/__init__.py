"""Graphs of examples: features as columns, affinities of neighbours, and the scores that are products with them."""
