"""Distances between examples with features of any kind, and exact neighbour search."""
