"""Data sets of several linked tables: relations, constructed features, and the trees over them."""
