"""Clustering space, split search, growing, pruning, the tree arrays and their export."""
